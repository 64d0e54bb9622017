// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f2fs by classic tracepoints: checkpoints and their phases, fsync, where there is no BTF. See
 * f2fs.bpf.c and jbd2_tp.bpf.c.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "checkpoint.bpf.h"
#include "classic.h"
#include "fsync.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * The record has a pointer to the words (5.10), or the words themselves at a place that it
 * names in the low 16 bits (6.1, 6.12), or a number.
 */
static __always_inline enum f2fs_state state_of(void *record)
{
	const __u32 high = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(__u32) : 0;
	const char *words = NULL;

	if (at[CLASSIC_F2FS_CKPT_PHASE])
		return (__u16)classic_field(record, CLASSIC_F2FS_CKPT_PHASE);
	if (at[CLASSIC_F2FS_CKPT_WORDS])
		words = record + (classic_field(record, CLASSIC_F2FS_CKPT_WORDS) & 0xffff);
	else
		bpf_probe_read_kernel(&words, sizeof(words),
				      record + at[CLASSIC_F2FS_CKPT_MSG] - high);
	return f2fs_state_of_words(words);
}

SEC("tracepoint/f2fs/f2fs_write_checkpoint")
int ckpt(void *ctx)
{
	checkpoint_step(classic_field(ctx, CLASSIC_F2FS_CKPT_DEV), state_of(ctx));
	return 0;
}

SEC("tracepoint/f2fs/f2fs_sync_file_enter")
int fsync_enter(void *ctx)
{
	fsync_begin(FST_F2FS_FSYNC);
	return 0;
}

SEC("tracepoint/f2fs/f2fs_sync_file_exit")
int fsync_exit(void *ctx)
{
	fsync_end(FST_F2FS_FSYNC, classic_field(ctx, CLASSIC_F2FS_FSYNC_DEV));
	return 0;
}
