/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is logged between capture() and logged() goes to memory instead of stderr. */
#ifndef TEST_CAPTURE_H
#define TEST_CAPTURE_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int capture_stderr = -1, capture_fd = -1;

static inline void capture(void)
{
	capture_fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(capture_fd >= 0);
	capture_stderr = dup(STDERR_FILENO);
	assert_true(dup2(capture_fd, STDERR_FILENO) >= 0);
}

/* The text is valid until the next call. */
static inline const char *logged(void)
{
	static char text[16384];
	ssize_t n = pread(capture_fd, text, sizeof(text) - 1, 0);

	dup2(capture_stderr, STDERR_FILENO);
	close(capture_stderr);
	close(capture_fd);
	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

/* How often `what` is in `text`. */
static inline unsigned count_of(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

#endif
