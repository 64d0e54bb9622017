// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "../observe/mount-lines.h"
#include "f2fs-options.h"

/* Length of the first option: up to a comma that is not in quotes, as security labels have. */
static size_t span(const char *options)
{
	bool quoted = false;
	size_t n = 0;

	for (; options[n] && (quoted || options[n] != ','); n++)
		if (options[n] == '"')
			quoted = !quoted;
	return n;
}

static void unquote(char *s)
{
	size_t n = strlen(s);

	if (n < 2 || s[0] != '"' || s[n - 1] != '"')
		return;
	memmove(s, s + 1, n - 2);
	s[n - 2] = '\0';
}

bool f2fs_option_next(char **rest, struct f2fs_option *ret)
{
	char *option = *rest;
	size_t n;

	if (!option || !*option)
		return false;
	n = span(option);
	*rest = option[n] ? option + n + 1 : NULL;
	option[n] = '\0';
	ret->key = strsep(&option, "=");
	ret->value = option;
	mount_unescape(ret->key);
	if (ret->value) {
		unquote(ret->value);
		mount_unescape(ret->value);
	}
	return true;
}

/* Is the option at `s`, `n` long, this one? */
static bool is(const char *s, size_t n, const char *key)
{
	return strlen(key) == n && memcmp(s, key, n) == 0;
}

/* Where KEY or noKEY stands; NULL. */
static const char *find_flag(const char *options, const char *key, size_t *ret_n)
{
	for (const char *s = options; *s;) {
		size_t n = span(s);

		if (is(s, n, key) ||
		    (n > 2 && memcmp(s, "no", 2) == 0 && is(s + 2, n - 2, key))) {
			*ret_n = n;
			return s;
		}
		s += n + (s[n] != '\0');
	}
	return NULL;
}

int f2fs_options_flag(const char *options, const char *key)
{
	size_t n;
	const char *s = find_flag(options, key, &n);

	return s ? is(s, n, key) : -ENOENT;
}

int f2fs_options_set(const char *options, const char *key, bool on,
		     char ret[static F2FS_OPTIONS_MAX])
{
	size_t n;
	const char *s = find_flag(options, key, &n);
	int len;

	if (!s)
		return -ENOENT;
	len = snprintf(ret, F2FS_OPTIONS_MAX, "%.*s%s%s%s", (int)(s - options), options,
		       on ? "" : "no", key, s + n);
	return len < 0 || len >= F2FS_OPTIONS_MAX ? -ENOBUFS : 0;
}

static const char *refusal_of(const struct f2fs_option *o)
{
	static const char *const journaled[] = { "usrjquota", "grpjquota", "prjjquota",
						 "jqfmt" };

	if (strcmp(o->key, "ro") == 0)
		return "the file system is read-only, and would become writable";
	for (size_t i = 0; i < ELEMENTSOF(journaled); i++)
		if (strcmp(o->key, journaled[i]) == 0)
			return "it has journaled quota, which cannot be given again";
	if (!o->value)
		return NULL;
	if (strcmp(o->key, "checkpoint") == 0)
		return "its checkpoints are disabled, and would be enabled for a moment";
	if (strcmp(o->key, "fsync_mode") == 0 && strcmp(o->value, "posix") != 0)
		return "its fsync_mode is not posix, and would be for a moment";
	if (strcmp(o->key, "errors") == 0 && strcmp(o->value, "continue") != 0)
		return "its errors= is not continue, and would be for a moment";
	return NULL;
}

const char *f2fs_options_refusal(const char *options)
{
	char copy[F2FS_OPTIONS_MAX], *rest = copy;
	struct f2fs_option o;
	bool lazytime = false;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", options) >= sizeof(copy))
		return "it has more options than can be given again";
	while (f2fs_option_next(&rest, &o)) {
		const char *why = refusal_of(&o);

		if (why)
			return why;
		lazytime = lazytime || strcmp(o.key, "lazytime") == 0;
	}
	return lazytime ? NULL : "it is mounted with nolazytime, which would be lost";
}

bool f2fs_options_same(const char *wanted, const char *found, char *why, size_t why_size)
{
	const char *w = wanted, *f = found;

	for (;;) {
		size_t nw = span(w), nf = span(f);

		if (nw != nf || memcmp(w, f, nw) != 0) {
			snprintf(why, why_size, "%.*s instead of %.*s", nf ? (int)nf : 7,
				 nf ? f : "nothing", nw ? (int)nw : 7, nw ? w : "nothing");
			return false;
		}
		if (!w[nw] && !f[nf])
			return true;
		w += nw + (w[nw] != '\0');
		f += nf + (f[nf] != '\0');
	}
}
