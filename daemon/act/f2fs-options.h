/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The superblock options of an f2fs as mountinfo has them (fs/f2fs/super.c,
 * f2fs_show_options(), after the flags of fs/proc_namespace.c, show_sb_opts()): what they say,
 * and whether all of them can be given again. Pure.
 */
#ifndef FSTUNED_ACT_F2FS_OPTIONS_H
#define FSTUNED_ACT_F2FS_OPTIONS_H

#include "../base/cleanup.h"

/* The kernel itself takes no more than a page of them. */
#define F2FS_OPTIONS_MAX 4096

struct f2fs_option {
	char *key;
	char *value; /* NULL: a flag */
};

/* Takes the next one off *rest, in place, unescaped and unquoted. False at the end. */
bool f2fs_option_next(char **rest, struct f2fs_option *ret);

/* Of an option that is KEY or noKEY: 1, 0; -ENOENT: neither is there; -ENOBUFS. */
int f2fs_options_flag(const char *options, const char *key);

/* The same list with KEY or noKEY as wanted. -ENOENT: neither is there; -ENOBUFS. */
int f2fs_options_set(const char *options, const char *key, bool on,
		     char ret[static F2FS_OPTIONS_MAX]);

/*
 * Why giving all options again would not leave the file system as it is, or not for every
 * moment in between; NULL if it would. The kernel sets every option to its default before it
 * reads what is given (fs/f2fs/super.c, default_options()).
 */
const char *f2fs_options_refusal(const char *options);

/* True if both lists are the same; else the first difference, as a clause, in `why`. */
bool f2fs_options_same(const char *wanted, const char *found, char *why, size_t why_size);

#endif
