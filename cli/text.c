// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>
#include "../daemon/base/cleanup.h"
#include "term.h"

/*
 * One character: its bytes, and its columns in *ret_width; -1 where it is none or would not be
 * shown.
 */
static size_t next_char(const char *s, int *ret_width)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t n = mbrtowc(&c, s, MB_CUR_MAX, &state);

	if (n == 0 || n >= (size_t)-2) {
		*ret_width = -1;
		return *s ? 1 : 0;
	}
	*ret_width = iswprint((wint_t)c) ? wcwidth(c) : -1;
	return n;
}

size_t text_width(const char *s)
{
	size_t width = 0, n;
	int w;

	for (; (n = next_char(s, &w)) > 0; s += n)
		width += w > 0 ? (size_t)w : 0;
	return width;
}

char *text_printable(const char *s)
{
	char *copy = malloc(strlen(s) * 4 + 1), *to = copy;
	size_t n;
	int w;

	if (!copy)
		return NULL;
	for (; (n = next_char(s, &w)) > 0; s += n) {
		if (w < 0) {
			for (size_t i = 0; i < n; i++)
				to += sprintf(to, "\\x%02x", (unsigned char)s[i]);
			continue;
		}
		memcpy(to, s, n);
		to += n;
	}
	*to = '\0';
	return copy;
}

char *text_shorten(const char *s, size_t width)
{
	const char *ellipsis = "\u2026";
	size_t have;
	char *copy;
	int w;

	if (next_char(ellipsis, &w) == 1)
		ellipsis = "~"; /* no UTF-8 here */
	have = text_width(s);
	if (have <= width)
		return strdup(s);
	/* The end of a path says most. */
	while (*s && have > width - 1) {
		size_t n = next_char(s, &w);

		have -= w > 0 ? (size_t)w : 0;
		s += n;
	}
	return asprintf(&copy, "%s%s", ellipsis, s) < 0 ? NULL : copy;
}

void text_wrapped(const char *s, size_t indent, size_t width)
{
	size_t at = indent;
	bool begun = false;

	while (*s) {
		size_t len = strcspn(s, " "), columns;
		_cleanup_free_ char *word = strndup(s, len);

		columns = word ? text_width(word) : len;
		if (begun && at + 1 + columns > width) {
			printf("\n%*s", (int)indent, "");
			at = indent;
			begun = false;
		}
		printf("%s%.*s", begun ? " " : "", (int)len, s);
		at += columns + begun;
		begun = true;
		s += len;
		s += strspn(s, " ");
	}
}
