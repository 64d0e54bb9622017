/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory that discovery takes for the root: /proc, /sys, /run and /dev as a test wants. */
#ifndef TEST_FAKE_ROOT_H
#define TEST_FAKE_ROOT_H

#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include "../../daemon/observe/discover.h"

struct fake_root {
	char top[64];
};

static inline void fake_path(const struct fake_root *f, char path[static PATH_MAX],
			     const char *name)
{
	assert_true(snprintf(path, PATH_MAX, "%s%s", f->top, name) < PATH_MAX);
}

/* Makes all directories of `name`, and itself if it ends in a slash. */
static inline void fake_dirs(const struct fake_root *f, const char *name)
{
	char path[PATH_MAX];

	fake_path(f, path, name);
	for (char *p = path + strlen(f->top) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
}

/* Written anew in place: an open descriptor sees it. */
static inline void fake_file(const struct fake_root *f, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	fake_dirs(f, name);
	fake_path(f, path, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static inline void fake_link(const struct fake_root *f, const char *name, const char *target)
{
	char path[PATH_MAX];

	fake_dirs(f, name);
	fake_path(f, path, name);
	assert_int_equal(symlink(target, path), 0);
}

static inline void _printf_(3, 4)
	fake_filef(const struct fake_root *f, const char *text, const char *format, ...)
{
	char name[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(name, sizeof(name), format, ap);
	va_end(ap);
	fake_file(f, name, text);
}

static inline int fake_remove_one(const char *path, const struct stat *st _unused_,
				  int type _unused_, struct FTW *ftw _unused_)
{
	return remove(path);
}

static inline void fake_remove(const struct fake_root *f, const char *name)
{
	char path[PATH_MAX];

	fake_path(f, path, name);
	assert_int_equal(nftw(path, fake_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline int fake_setup(void **state)
{
	struct fake_root *f = calloc(1, sizeof(*f));

	strcpy(f->top, "/tmp/fs-tuned-unit-XXXXXX");
	assert_non_null(mkdtemp(f->top));
	discover_set_root(f->top);
	*state = f;
	return 0;
}

static inline int fake_teardown(void **state)
{
	struct fake_root *f = *state;

	fake_remove(f, "");
	discover_set_root("");
	free(f);
	return 0;
}

#endif
