// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>
#include "../daemon/base/cleanup.h"
#include "term.h"

/*
 * Unicode's format characters, which show nothing and change how what stands around them is
 * shown, and the separators of lines and paragraphs: iswprint(3) is true of them.
 */
static bool is_format(wchar_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0xad, 0xad },       { 0x600, 0x605 },     { 0x61c, 0x61c },
		{ 0x6dd, 0x6dd },     { 0x70f, 0x70f },     { 0x890, 0x891 },
		{ 0x8e2, 0x8e2 },     { 0x180e, 0x180e },   { 0x200b, 0x200f },
		{ 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0xfeff, 0xfeff },
		{ 0xfff9, 0xfffb },   { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd },
		{ 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe007f },
	};

	for (size_t i = 0; i < ELEMENTSOF(ranges); i++)
		if ((uint32_t)c >= ranges[i].first && (uint32_t)c <= ranges[i].last)
			return true;
	return false;
}

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
	*ret_width = iswprint((wint_t)c) && !is_format(c) ? wcwidth(c) : -1;
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

void text_show(const struct term *t, const char *text)
{
	while (t->tty && *text) {
		size_t len = strcspn(text, "\n");
		_cleanup_free_ char *line = strndup(text, len);
		_cleanup_free_ char *clean = line ? text_printable(line) : NULL;

		fputs(clean ?: "?", stdout);
		text += len;
		if (*text) {
			putchar('\n');
			text++;
		}
	}
	fputs(text, stdout);
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
