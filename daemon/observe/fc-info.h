/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ext4's own account of its fast commits since the mount, /proc/fs/ext4/DEVICE/fc_info
 * (fs/ext4/fast_commit.c: ext4_fc_info_show() prints it, ext4_fc_update_stats() and
 * ext4_fc_mark_ineligible() keep it). The file is there, all zero, for every ext4 of a kernel
 * from 5.10 on: that one can be read does not mean that there are fast commits.
 */
#ifndef FSTUNED_OBSERVE_FC_INFO_H
#define FSTUNED_OBSERVE_FC_INFO_H

#include <stddef.h>
#include <stdint.h>

#define FC_REASON_LEN 48  /* with the NUL; a longer name is cut */
#define FC_REASONS_MAX 32 /* kernels have 9 to 13; more are left out */
#define FC_INFO_MAX 16384 /* bytes of the file; kernels print 400 to 800 */

/*
 * An operation that fast commits cannot express, by the kernel's own name: which ones there
 * are, and in which order, differs between kernels.
 */
struct fc_reason {
	char name[FC_REASON_LEN]; /* printable ASCII, unique */
	uint64_t count;           /* operations, not commits: one full commit may settle many */
};

struct fc_info {
	uint64_t commits;    /* fast commits */
	uint64_t ineligible; /* calls that fell back to a full commit, failed ones included */
	uint64_t blocks;     /* written by fast commits */
	uint64_t average_us; /* of a fast commit, weighted 1:3 with those before; 0 unknown */
	unsigned n_reasons;
	struct fc_reason reasons[FC_REASONS_MAX]; /* in the kernel's order */
};

/*
 * Sections and lines of other kinds are passed over, and so is a last line without its
 * newline. -ENODATA, *ret untouched, unless commits, ineligible and blocks are all there.
 */
int fc_info_parse(struct fc_info *ret, const char *text, size_t len);

/* `name` as in /sys/class/block. -ENOENT: none there; -ENODATA, -EFBIG, -errno. */
int fc_info_read(const char *name, struct fc_info *ret);

#endif
