/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A commit and its phases, as a machine that the hooks drive: shared by the ways to get at
 * them. A journal commits one transaction at a time, in one thread, so the state lies in the
 * device's entry. Each step names the phases that it may end: one that was not begun, because
 * a hook is missing or tracking began in the middle, gives no sample.
 */
#ifndef COMMIT_BPF_H
#define COMMIT_BPF_H

#include "record.bpf.h"

/* The commit in flight if it is `tid`; NULL if its start was not seen. */
static __always_inline struct fst_dev_stats *commit_of(const struct fst_shared *sh, __u32 dev,
						       __u32 tid)
{
	struct fst_dev_stats *st = stats_of(sh, dev);

	return st && st->commit.start_ns && st->commit.tid == tid ? st : NULL;
}

static __always_inline void commit_begin(struct fst_dev_stats *st, __u32 tid)
{
	__u64 now = bpf_ktime_get_ns();

	if (st->requester.pid && st->requester_tid == tid)
		st->committer = st->requester;
	else
		st->committer.pid = 0;
	st->commit.tid = tid;
	st->commit.phase = FST_COMMIT_LOCKING;
	st->commit.phase_ns = now;
	st->commit.start_ns = now;
}

/* Ends `ended`, begins `begun`. */
static __always_inline void commit_step(__u32 dev, __u32 tid, enum fst_measure ended,
					enum fst_measure begun)
{
	struct fst_shared *sh = shared_get();
	struct fst_dev_stats *st = commit_of(sh, dev, tid);
	__u64 now;

	if (!st)
		return;
	now = bpf_ktime_get_ns();
	if (st->commit.phase == ended)
		record(sh, st, dev, ended, now - st->commit.phase_ns);
	st->commit.phase = begun;
	st->commit.phase_ns = now;
}

/* The transaction is durable. Without a hook on the record, logging ends here. */
static __always_inline void commit_durable(__u32 dev, __u32 tid, __u32 handles, __u32 blocks)
{
	struct fst_shared *sh = shared_get();
	struct fst_dev_stats *st = stats_of(sh, dev);
	__u64 now;

	if (!st)
		return;
	__sync_fetch_and_add(&st->transactions, 1);
	__sync_fetch_and_add(&st->handles, handles);
	__sync_fetch_and_add(&st->blocks_logged, blocks);
	if (!st->commit.start_ns || st->commit.tid != tid)
		return;
	now = bpf_ktime_get_ns();
	if (st->commit.phase == FST_COMMIT_RECORD || st->commit.phase == FST_COMMIT_LOGGING)
		record(sh, st, dev, st->commit.phase, now - st->commit.phase_ns);
	st->commit.phase = FST_COMMIT_CALLBACK;
	st->commit.phase_ns = now;
}

static __always_inline void commit_finish(__u32 dev, __u32 tid)
{
	struct fst_shared *sh = shared_get();
	struct fst_dev_stats *st = commit_of(sh, dev, tid);
	__u64 now, start;

	if (!st)
		return;
	now = bpf_ktime_get_ns();
	start = st->commit.start_ns;
	st->commit.start_ns = 0;
	if (st->commit.phase == FST_COMMIT_CALLBACK)
		record(sh, st, dev, FST_COMMIT_CALLBACK, now - st->commit.phase_ns);
	record(sh, st, dev, FST_COMMIT, now - start);
}

static __always_inline void checkpoint_count(__u32 dev, __u32 forced, __u32 written,
					     __u32 dropped)
{
	struct fst_dev_stats *st = stats_of(shared_get(), dev);

	if (!st)
		return;
	__sync_fetch_and_add(&st->ckpt_transactions, 1);
	__sync_fetch_and_add(&st->ckpt_forced, forced);
	__sync_fetch_and_add(&st->ckpt_written, written);
	__sync_fetch_and_add(&st->ckpt_dropped, dropped);
}

#endif
