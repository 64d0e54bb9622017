/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounts by file system: what mountinfo says about each block device, taken together. */
#ifndef FSTUNED_OBSERVE_MOUNTINFO_H
#define FSTUNED_OBSERVE_MOUNTINFO_H

#include <stdbool.h>
#include <sys/types.h>
#include "../base/cleanup.h"

#define MOUNTINFO_SIZE_MAX (16 * 1024 * 1024)

struct mount_entry {
	dev_t dev;
	char *fstype;
	char *source;     /* as given to mount(8): "/dev/sda5" */
	char *mountpoint; /* the shortest that shows the file system's root, unescaped */
	char *options;    /* of the superblock */
	bool read_only;   /* the superblock, not one mount */
	unsigned n_mounts;
};

struct mounts {
	struct mount_entry *entries; /* sorted by dev; block devices only */
	size_t n;
};

/* Text of a mountinfo file; lines that are none are left out. -ENOMEM. */
int mounts_parse(struct mounts *ret, const char *text, size_t len);

/* Reads an open mountinfo from its beginning. -errno, -EFBIG. */
int mounts_read(struct mounts *ret, int fd);
void mounts_done(struct mounts *m);

const struct mount_entry *mounts_find(const struct mounts *m, dev_t dev);

/* By the last component of the source; NULL unless exactly one file system has it. */
const struct mount_entry *mounts_find_source(const struct mounts *m, const char *name);

#endif
