/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One crashed disk: recovered by the kernel (a mount) and by e2fsck, promises checked after
 * each, and e2fsck -fn has to find it clean.
 */
#ifndef FSTUNED_CRASH_EXAMINE_H
#define FSTUNED_CRASH_EXAMINE_H

#include "promise.h"

struct verdict {
	int lost;    /* promises that were not kept, or that cannot be looked at */
	int unclean; /* e2fsck -fn found something, or recovery itself failed */
	/*
	 * It found only that counts are wrong. A stock kernel's replay of a fast commit
	 * (ext4_fc_replay_create() in fs/ext4/fast_commit.c) makes directories without counting
	 * them, their blocks, or their link to the parent.
	 */
	int miscounted;
};

struct scene {
	const char *image;  /* the disk, a file ... */
	const char *device; /* ... and the loop device over it */
	const char *dir;    /* where to mount it */
	uint64_t seed;
	unsigned workers;
	bool xattrs;
	FILE *out; /* gets a line for each thing that is wrong; NULL: nobody does */
};

/* Negative errno if it could not be done, which says nothing about the disk. */
int examine_kernel(const struct scene *s, const struct progress progress[WORLD_WORKERS],
		   struct verdict *ret);
int examine_e2fsck(const struct scene *s, const struct progress progress[WORLD_WORKERS],
		   struct verdict *ret);

/* Whether the file, what `e2fsck -fn` said, complains of wrong counts and of nothing else. */
bool said_only_counts(const char *path);

#endif
