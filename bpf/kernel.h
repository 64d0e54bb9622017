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
	void *s_fs_info;
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

/* include/linux/types.h */
typedef struct {
	int counter;
} atomic_t;

typedef struct {
	__s64 counter;
} atomic64_t;

/* include/linux/rwsem.h */
struct rw_semaphore {
	atomic64_t count;
};

/*
 * fs/f2fs/f2fs.h. Before 5.18 there is no struct f2fs_rwsem, its members are plain semaphores.
 */
struct f2fs_rwsem {
	struct rw_semaphore internal_rwsem;
};

struct ckpt_req_control {
	atomic_t issued_ckpt; /* checkpoints of the merging thread */
	atomic_t total_ckpt;  /* requests that they served */
};

struct f2fs_sb_info {
	struct super_block *sb;
	struct f2fs_rwsem cp_global_sem; /* checkpoint procedure */
	struct f2fs_rwsem cp_rwsem;      /* operations; a checkpoint writes */
	struct f2fs_rwsem node_write;    /* node writes; a checkpoint writes */
	struct f2fs_rwsem node_change;   /* node changes; a checkpoint writes */
	struct f2fs_rwsem gc_lock;       /* GC writes, and who wants a checkpoint */
	struct ckpt_req_control cprc_info;
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

/*
 * kernel/locking/rwsem.c, the same from 5.10 to 7.2: bit 0 of a semaphore's count is its
 * writer, from bit 8 on there are its readers; the sign bit is a guard against too many of
 * them.
 */
#define RWSEM_WRITER_LOCKED 1
#define RWSEM_READERS(count) ((count) >> 8 & ~(1ULL << 55))

#endif
