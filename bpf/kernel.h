/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few kernel structs that are read, and of each only those fields. Offsets are the
 * running kernel's (CO-RE); a flavour ___suffix stands where kernels differ.
 */
#ifndef FSTUNED_KERNEL_H
#define FSTUNED_KERNEL_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/blk_types.h */
struct block_device {
	__u32 bd_dev;
};

/* include/linux/fs.h */
struct super_block {
	__u32 s_dev;
};

struct inode {
	struct super_block *i_sb;
};

/* include/linux/buffer_head.h; b_private is the journal_head of a journaled buffer. */
struct buffer_head {
	unsigned long b_state;
	struct block_device *b_bdev;
	void *b_private;
};

/* include/linux/jbd2.h */
struct journal_s {
	struct block_device *j_fs_dev; /* the file system's, also with an external journal */
	char j_devname[56];            /* the journal's directory in /proc/fs/jbd2 */
};

struct transaction_s {
	__u32 t_tid;
};

struct transaction_run_stats_s {
	__u32 rs_handle_count;
	__u32 rs_blocks_logged;
};

struct transaction_chp_stats_s {
	__u32 cs_forced_to_close;
	__u32 cs_written;
	__u32 cs_dropped;
};

#pragma clang attribute pop

/*
 * Whatever a module's tracepoint passes may be NULL for all that the verifier knows, since 6.13
 * and 6.12's stable line (kernel/bpf/btf.c, btf_ctx_access()). It never is.
 */
#define PASSED(pointer) __builtin_expect(!!(pointer), 1)

/*
 * include/linux/jbd2.h. The value here only marks the name: BH_Shadow is 23 from 5.10 to
 * 6.12 and 24 in 6.18 and 7.2, as the bits before it in include/linux/buffer_head.h came and
 * went.
 */
enum jbd_state_bits { BH_Shadow = 23 };

/* Of kernels whose jbd2 is a module without BTF: 5.10. */
#define BH_SHADOW_WITHOUT_BTF 23

#endif
