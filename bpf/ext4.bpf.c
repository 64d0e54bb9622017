// SPDX-License-Identifier: GPL-2.0-or-later
/* ext4, by BTF: fsync. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "fsync.bpf.h"
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
		fsync_end(FST_FSYNC, inode->i_sb->s_dev);
	return 0;
}
