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

static void remember(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len >= 8 && strncmp(text, "libbpf: ", 8) == 0) {
			text += 8;
			len -= 8;
		}
		if (!is_frame(text, len))
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
