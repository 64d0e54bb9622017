/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fast commit (fs/ext4/fast_commit.c, ext4_fc_commit()), shared by the ways to get at it.
 * Most are part of an fsync, which then knows what served it.
 */
#ifndef FAST_COMMIT_BPF_H
#define FAST_COMMIT_BPF_H

/* A fast commit is within an fsync. */
#define START_NESTED FST_FAST_COMMIT_OK
#include "fsync.bpf.h"

/* The fsync that this task is in, if it is in one, is to be counted as one of these. */
static __always_inline void fsync_served(enum fst_measure as)
{
	struct start *s = wait_find(FST_FSYNC, 0);

	if (!s)
		return;
	s->dev = as - FST_FSYNC;
	s->seal = start_seal(s, 0);
}

/* Elsewhere these tracepoints mean nothing: see fst_shared.fast_commits. */
static __always_inline void fast_commit_begin(__u32 dev)
{
	const struct fst_shared *sh = shared_get();
	__u32 slot = sh ? fst_device_slot(sh, dev) : FST_NO_SLOT;

	if (slot < FST_MAX_DEVICES && sh->fast_commits[slot])
		wait_begin(FST_FAST_COMMIT_OK, dev);
}

/*
 * `status` is EXT4_FC_STATUS_*, or, before 5.17, EXT4_FC_REASON_*: the same four, then another
 * way to fail. From 5.17 on the full commit of a fallback is over by now, unless the fast one
 * failed to begin (as it does until there was a full one since the mount).
 */
static __always_inline void fast_commit_end(__u32 dev, __u32 blocks, __u32 status)
{
	enum fst_measure m = FST_FAST_COMMIT_FAILED;
	struct fst_shared *sh = shared_get();
	struct fst_dev_stats *st = stats_of(sh, dev);
	__u64 start;
	__u32 none;

	if (!st || !sh->fast_commits[st->slot % FST_MAX_DEVICES])
		return;
	start = wait_take(FST_FAST_COMMIT_OK, 0, &none);
	if (!start)
		return;
	if (status < FST_FAST_COMMIT_FAILED - FST_FAST_COMMIT_OK)
		m = FST_FAST_COMMIT_OK + status;
	if (m == FST_FAST_COMMIT_OK)
		fsync_served(FST_FSYNC_FAST);
	else if (m != FST_FAST_COMMIT_SKIPPED)
		fsync_served(FST_FSYNC_FULL);
	__sync_fetch_and_add(&st->fast_commit_blocks, blocks);
	record(sh, st, dev, m, bpf_ktime_get_ns() - start);
}

#endif
