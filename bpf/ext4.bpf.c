// SPDX-License-Identifier: GPL-2.0-or-later
/* ext4, by BTF: fsync and fast commits. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "fast-commit.bpf.h"
#include "kernel.h"

char LICENSE[] SEC("license") = "GPL";

/* fs/ext4/fsync.c, ext4_sync_file() */
SEC("tp_btf/ext4_sync_file_enter")
int BPF_PROG(fsync_enter)
{
	fsync_begin(FST_FSYNC);
	return 0;
}

SEC("tp_btf/ext4_sync_file_exit")
int BPF_PROG(fsync_exit, struct inode *inode)
{
	if (PASSED(inode))
		fsync_end_as(FST_FSYNC, inode->i_sb->s_dev);
	return 0;
}

/* fs/ext4/fast_commit.c, ext4_fc_commit(). 5.18 added the transaction's number, at the end. */
SEC("tp_btf/ext4_fc_commit_start")
int BPF_PROG(fc_start, struct super_block *sb)
{
	if (PASSED(sb))
		fast_commit_begin(sb->s_dev);
	return 0;
}

/* In ext4_fc_update_stats() there, since 5.17. */
SEC("tp_btf/ext4_fc_commit_stop")
int BPF_PROG(fc_stop, struct super_block *sb, int blocks, int status)
{
	if (PASSED(sb))
		fast_commit_end(sb->s_dev, blocks, status);
	return 0;
}

/*
 * In ext4_fc_perform_commit() there, new in 7.2: no handle could start while the fast commit
 * took a snapshot. Up to 6.12 none can during the whole of it.
 */
SEC("tp_btf/ext4_fc_lock_updates")
int BPF_PROG(fc_lock, struct super_block *sb, __u32 tid, __u64 locked_ns)
{
	struct fst_shared *sh = shared_get();
	struct fst_dev_stats *st;

	if (!PASSED(sb))
		return 0;
	st = stats_of(sh, sb->s_dev);
	if (st)
		record(sh, st, sb->s_dev, FST_FAST_COMMIT_LOCKED, locked_ns);
	return 0;
}
