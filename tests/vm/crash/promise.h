/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be found after a crash. In the guest's kernel: ext4_sync_file() in fs/ext4/fsync.c
 * and sync_filesystem() in fs/sync.c, with or without fs/ext4/fast_commit.c below.
 *
 * When fsync() has returned, of that object there is what was when it was called, or anything
 * that came later:
 * - of a file, its names, all of them and no other: each change of a name also changes the
 * inode, in the same transaction, and that is the one that is committed. Its first name too,
 * which POSIX does not promise. Not where the directories that lead to it are by now: a
 * directory that is renamed is another inode.
 * - its size, its content up to there, its extended attribute;
 * - of a directory, its own name, and its entries as a whole.
 * fdatasync() promises size and content, and some name: a new file's first transaction is one
 * that fdatasync() waits for. syncfs() promises all of that of everything.
 *
 * A state is something that was between two operations; several things of one object need not
 * be of the same state, since nobody promised it. Beyond the promised content there may be
 * bytes that were written or zeroes, and nothing else, ever.
 */
#ifndef FSTUNED_CRASH_PROMISE_H
#define FSTUNED_CRASH_PROMISE_H

#include <stdio.h>
#include "mark.h"

/* The states that a text (names, a listing) may be in. */
struct choice {
	char **states;
	size_t n;
	unsigned since; /* operations before the promise; 0: nothing is promised */
};

struct expectation {
	bool is_dir;
	unsigned created; /* operations until it was there */
	struct choice names, listing, xattr;
	unsigned data_since;
	uint32_t size_min, size_max; /* of a file that exists */
};

struct expectations {
	unsigned worker;
	struct expectation *objects;
	size_t n_objects;
};

/*
 * What may be found of a worker that has come as far as `progress` says. The world must be new;
 * it is used up. -ENOMEM.
 */
int promises(struct expectations **ret, struct world *w, uint64_t seed,
	     const struct progress *progress);
void expectations_free(struct expectations *e);
DEFINE_CLEANUP(struct expectations *, expectations_free)

/* One name in the tree that was found. */
struct found {
	unsigned dir; /* the number of the directory */
	char name[WORLD_NAME];
	bool is_dir;
	unsigned object; /* of a directory; of a file whose content says so ... */
	bool known;      /* ... and only then */
	uint64_t size;
	uint64_t good;    /* so many bytes are as they must be */
	uint64_t strange; /* the first that is neither so nor zero; UINT64_MAX: none */
	uint32_t xattr;
};

/*
 * Says on `out`, if that is not NULL, what is missing or wrong, a line each. Returns the number
 * of such, -ENOMEM.
 */
int promises_check(const struct expectations *e, const struct found *found, size_t n,
		   FILE *out);

#endif
