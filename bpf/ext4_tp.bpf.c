// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ext4 by classic tracepoints: fsync and fast commits where there is no BTF. See ext4.bpf.c
 * and jbd2_tp.bpf.c.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "classic.h"
#include "fast-commit.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("tracepoint/ext4/ext4_sync_file_enter")
int fsync_enter(void *ctx)
{
	fsync_begin(FST_FSYNC);
	return 0;
}

SEC("tracepoint/ext4/ext4_sync_file_exit")
int fsync_exit(void *ctx)
{
	fsync_end_as(FST_FSYNC, classic_field(ctx, CLASSIC_FSYNC_DEV));
	return 0;
}

SEC("tracepoint/ext4/ext4_fc_commit_start")
int fc_start(void *ctx)
{
	fast_commit_begin(classic_field(ctx, CLASSIC_FC_START_DEV));
	return 0;
}

SEC("tracepoint/ext4/ext4_fc_commit_stop")
int fc_stop(void *ctx)
{
	fast_commit_end(classic_field(ctx, CLASSIC_FC_STOP_DEV),
			classic_field(ctx, CLASSIC_FC_STOP_BLOCKS),
			classic_field(ctx, CLASSIC_FC_STOP_STATUS));
	return 0;
}
