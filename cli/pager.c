// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <systemd/sd-login.h>
#include "../daemon/base/cleanup.h"
#include "term.h"

#define PAGER_WORDS_MAX 16

static pid_t pager_pid;

/*
 * Whether the pager would have rights that the person before the terminal was given for this
 * command alone: a pager can run a shell. SYSTEMD_PAGERSECURE decides, as for systemd's own
 * tools; sudo does not pass it on unless told to.
 */
static bool is_secure(void)
{
	const char *e = getenv("SYSTEMD_PAGERSECURE");
	uid_t owner;

	if (e)
		return strcmp(e, "0") != 0 && strcasecmp(e, "no") != 0 &&
		       strcasecmp(e, "false") != 0 && strcasecmp(e, "off") != 0;
	if (getenv("SUDO_UID") || getenv("PKEXEC_UID") || getuid() != geteuid())
		return true;
	return sd_pid_get_owner_uid(0, &owner) >= 0 && owner != geteuid();
}

/*
 * As systemd's tools choose: an empty one, and "cat", mean none. Only less is known to have a
 * secure mode.
 */
static const char *choose(bool secure)
{
	const char *pager = getenv("SYSTEMD_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (pager && (!*pager || strcmp(pager, "cat") == 0))
		return NULL;
	return pager && !secure ? pager : "less";
}

static _Noreturn void run(const char *pager, bool secure, int fd)
{
	_cleanup_free_ char *line = strdup(pager);
	char *words[PAGER_WORDS_MAX + 1], *save = NULL;
	size_t n = 0;

	dup2(fd, STDIN_FILENO);
	setenv("LESS", (secure ? NULL : getenv("SYSTEMD_LESS")) ?: "FRSX", 1);
	if (secure)
		setenv("LESSSECURE", "1", 1);
	else
		unsetenv("LESSSECURE");
	for (char *w = line ? strtok_r(line, " \t", &save) : NULL; w && n < PAGER_WORDS_MAX;
	     w = strtok_r(NULL, " \t", &save))
		words[n++] = w;
	words[n] = NULL;
	if (n)
		execvp(words[0], words);

	/* None to be had: pass on what comes. */
	for (char buf[4096];;) {
		ssize_t got = read(STDIN_FILENO, buf, sizeof(buf));

		if (got <= 0 || write(STDOUT_FILENO, buf, (size_t)got) != got)
			_exit(0);
	}
}

void pager_open(const struct term *t, bool wanted)
{
	bool secure = is_secure();
	const char *pager = choose(secure);
	int fd[2];

	if (!t->tty || !wanted || !pager || pipe(fd) < 0)
		return;
	fflush(stdout);
	pager_pid = fork();
	if (pager_pid == 0) {
		close(fd[1]);
		run(pager, secure, fd[0]);
	}
	if (pager_pid > 0)
		dup2(fd[1], STDOUT_FILENO);
	close(fd[0]);
	close(fd[1]);
}

int pager_close(void)
{
	int r = 0;

	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout))
		r = errno ? -errno : -EIO;
	if (fclose(stdout) != 0 && r == 0)
		r = -errno;
	if (pager_pid > 0)
		while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
			;
	return r;
}
