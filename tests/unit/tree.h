/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A throw-away directory with the /proc files of a journal in it, and a runtime directory. */
#ifndef FSTUNED_TESTS_TREE_H
#define FSTUNED_TESTS_TREE_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include "../../daemon/base/file.h"

struct tree {
	char root[64];
	char run[80];
};

static inline int tree_unlink(const char *path, const struct stat *st, int type,
			      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void tree_init(struct tree *t)
{
	snprintf(t->root, sizeof(t->root), "/tmp/fstuned-test.XXXXXX");
	assert_non_null(mkdtemp(t->root));
	snprintf(t->run, sizeof(t->run), "%s/run", t->root);
	assert_int_equal(mkdir(t->run, 0700), 0);
}

static inline void tree_done(struct tree *t)
{
	assert_int_equal(nftw(t->root, tree_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline const char *tree_path(const struct tree *t, const char *name)
{
	static char path[4][PATH_MAX];
	static unsigned next;
	char *p = path[next++ % ELEMENTSOF(path)];

	snprintf(p, PATH_MAX, "%s/%s", t->root, name);
	return p;
}

/* Makes the file and the directories above it. */
static inline void tree_write(const struct tree *t, const char *name, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", tree_path(t, name));
	for (char *p = path + strlen(t->root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
	}
	assert_int_equal(write_file_atomic(path, text, strlen(text), 0600), 0);
}

static inline const char *tree_read(const struct tree *t, const char *name)
{
	static char text[4096];

	if (read_small_at(AT_FDCWD, tree_path(t, name), text, sizeof(text)) < 0)
		return NULL;
	return text;
}

#endif
