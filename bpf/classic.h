/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classic tracepoints, for kernels without BTF: where fields lie in their records. User space
 * reads that from the format files (observe/tracepoint.h) and puts it into the array "at" of
 * the objects before it loads them; no field of a record lies beyond 64 KiB. 0: the record has
 * no such field, where it may lack it.
 */
#ifndef FSTUNED_CLASSIC_H
#define FSTUNED_CLASSIC_H

enum classic_field {
	CLASSIC_COMMIT_DEV, /* jbd2_start_commit, _flushing, _logging: one class, one layout */
	CLASSIC_COMMIT_TID,
	CLASSIC_RUN_DEV, /* jbd2_run_stats */
	CLASSIC_RUN_TID,
	CLASSIC_RUN_HANDLES,
	CLASSIC_RUN_BLOCKS,
	CLASSIC_END_DEV, /* jbd2_end_commit */
	CLASSIC_END_TID,
	CLASSIC_CHECKPOINT_DEV, /* jbd2_checkpoint_stats */
	CLASSIC_CHECKPOINT_FORCED,
	CLASSIC_CHECKPOINT_WRITTEN,
	CLASSIC_CHECKPOINT_DROPPED,
	CLASSIC_FSYNC_DEV,    /* ext4_sync_file_exit */
	CLASSIC_FC_START_DEV, /* ext4_fc_commit_start */
	CLASSIC_FC_STOP_DEV,  /* ext4_fc_commit_stop */
	CLASSIC_FC_STOP_BLOCKS,
	CLASSIC_FC_STOP_STATUS,
	CLASSIC_F2FS_CKPT_DEV, /* f2fs_write_checkpoint, and one of these three: */
	CLASSIC_F2FS_CKPT_MSG,
	CLASSIC_F2FS_CKPT_WORDS,
	CLASSIC_F2FS_CKPT_PHASE,
	CLASSIC_F2FS_FSYNC_DEV, /* f2fs_sync_file_exit */
	CLASSIC_FIELD_MAX,
};

#ifdef __bpf__
const volatile __u16 at[CLASSIC_FIELD_MAX] SEC(".rodata.at");

/* The low 32 bits of a field. */
static __always_inline __u32 classic_field(void *record, enum classic_field f)
{
	__u32 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), record + at[f]);
	return v;
}
#endif

#endif
