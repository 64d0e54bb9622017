// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/libbpf.h>
#include <string.h>
#include "../base/log.h"
#include "bpf-log.h"

/* One loop, one thread: libbpf is called from there alone. */
static char last[160];

/* What stands around a reason: the log's frame, its statistics, "it did not work". */
static bool is_frame(const char *line, size_t len)
{
	static const char *const begins[] = { "--",
					      "processed ",
					      "; ",
					      "prog '",
					      "failed to load object",
					      "verification time",
					      "stack depth" };

	for (size_t i = 0; i < ELEMENTSOF(begins); i++)
		if (strncmp(line, begins[i], strlen(begins[i])) == 0)
			return true;
	return len == 0;
}

/*
 * A relocation that this kernel's BTF cannot satisfy, such as "[55] struct journal_s.j_fs_dev
 * (0:0 @ offset 0)" after these words and its kind: what it is about is the name.
 */
static bool remember_relocation(const char *line, size_t len)
{
	static const char begin[] = "failed to resolve CO-RE relocation <";
	const char *name, *end = line + len;

	if (strncmp(line, begin, strlen(begin)) != 0)
		return false;
	name = memmem(line, len, "] ", 2);
	if (!name)
		return false;
	name += 2;
	end = memmem(name, (size_t)(end - name), " (", 2) ?: end;
	(void)snprintf(last, sizeof(last), "no BTF of %.*s", (int)(end - name), name);
	return true;
}

static void remember(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len >= 8 && strncmp(text, "libbpf: ", 8) == 0) {
			text += 8;
			len -= 8;
		}
		if (!is_frame(text, len) && !remember_relocation(text, len))
			(void)snprintf(last, sizeof(last), "%.*s", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

_printf_(2, 0) static int print(enum libbpf_print_level level, const char *format, va_list ap)
{
	_cleanup_free_ char *text = NULL;

	if (level == LIBBPF_DEBUG)
		return 0;
	/* A verifier's log can have megabytes; what it comes to stands at its end. */
	if (vasprintf(&text, format, ap) < 0) {
		text = NULL;
		return 0;
	}
	if (level == LIBBPF_WARN)
		remember(text);
	text[strcspn(text, "\n")] = '\0';
	log_debug("%s", text);
	return 0;
}

void bpf_log_open(void)
{
	(void)libbpf_set_print(print);
}

void bpf_log_clear(void)
{
	last[0] = '\0';
}

const char *bpf_log_last(void)
{
	return last;
}
