/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An f2fs checkpoint and its phases, as a machine that one tracepoint drives: shared by the
 * ways to get at it. fs/f2fs/checkpoint.c, f2fs_write_checkpoint() passes it three times, under
 * cp_global_sem, so the state lies in the device's entry. One that fails in its first phase, or
 * finds nothing to do, never gets to the last; the next one's begin replaces it.
 */
#ifndef CHECKPOINT_BPF_H
#define CHECKPOINT_BPF_H

#include "record.bpf.h"

/* In the order and with the numbers of 7.x's enum f2fs_cp_phase. */
enum f2fs_state {
	F2FS_START_BLOCK_OPS,
	F2FS_FINISH_BLOCK_OPS,
	F2FS_FINISH_CHECKPOINT,
	F2FS_STATE_UNKNOWN,
};

/* The words of kernels before 7.0: "start block_ops", "finish block_ops", "finish checkpoint".
 */
#define F2FS_STATE_WORDS 8 /* bytes that tell them apart */

static __always_inline enum f2fs_state f2fs_state_of_words(const char *words)
{
	char at[F2FS_STATE_WORDS];

	if (bpf_probe_read_kernel(at, sizeof(at), words))
		return F2FS_STATE_UNKNOWN;
	if (at[0] == 's')
		return F2FS_START_BLOCK_OPS;
	return at[7] == 'b' ? F2FS_FINISH_BLOCK_OPS : F2FS_FINISH_CHECKPOINT;
}

static __always_inline void checkpoint_step(__u32 dev, enum f2fs_state state)
{
	struct fst_shared *sh = shared_get();
	struct fst_dev_stats *st = stats_of(sh, dev);
	struct fst_commit_state *c;
	__u64 now, start;

	if (!st)
		return;
	c = &st->commit;
	now = bpf_ktime_get_ns();
	if (state == F2FS_START_BLOCK_OPS) {
		actor_current(&st->committer);
		c->phase = FST_F2FS_BLOCK_OPS;
		c->phase_ns = now;
		c->start_ns = now;
	} else if (state == F2FS_FINISH_BLOCK_OPS && c->start_ns) {
		record(sh, st, dev, FST_F2FS_BLOCK_OPS, now - c->phase_ns);
		c->phase = FST_F2FS_WRITE;
		c->phase_ns = now;
	} else if (state == F2FS_FINISH_CHECKPOINT && c->start_ns) {
		start = c->start_ns;
		c->start_ns = 0;
		if (c->phase == FST_F2FS_WRITE)
			record(sh, st, dev, FST_F2FS_WRITE, now - c->phase_ns);
		record(sh, st, dev, FST_F2FS_CHECKPOINT, now - start);
	}
}

#endif
