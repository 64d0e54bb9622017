// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f2fs, by BTF: checkpoints and their phases, who waits for one, the thread that merges
 * requests, waits for the semaphores with which a checkpoint stops everybody else, fsync. User
 * space loads of each pair of twins (fentry, kprobe) at most one.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "checkpoint.bpf.h"
#include "fsync.bpf.h"
#include "kernel.h"

char LICENSE[] SEC("license") = "GPL";

/* Which f2fs is at which address: see the member f2fs of struct fst_shared. */
static __always_inline void f2fs_seen(struct fst_shared *sh, __u32 dev, const void *sbi)
{
	for (__u32 i = 0; i < FST_F2FS_MAX && i < sh->f2fs_end; i++)
		if (sh->f2fs[i].dev == dev)
			sh->f2fs[i].sbi = (__u64)sbi;
}

/* NULL: not seen, or more of them than are watched. */
static __always_inline void *f2fs_of(const struct fst_shared *sh, __u32 dev)
{
	for (__u32 i = 0; sh && dev && i < FST_F2FS_MAX && i < sh->f2fs_end; i++)
		if (sh->f2fs[i].dev == dev)
			return (void *)sh->f2fs[i].sbi;
	return NULL;
}

/* --- checkpoint --- */

/* 7.x passes a number where there were words before: user space looks at the BTF. */
const volatile bool state_is_number SEC(".rodata.number") = false;

SEC("tp_btf/f2fs_write_checkpoint")
int BPF_PROG(ckpt, struct super_block *sb, int reason, const char *state)
{
	struct fst_shared *sh = shared_get();

	if (!PASSED(sb) || !sh)
		return 0;
	f2fs_seen(sh, sb->s_dev, sb->s_fs_info);
	checkpoint_step(sb->s_dev, state_is_number ? (enum f2fs_state)(__u16)(__u64)state
						   : f2fs_state_of_words(state));
	return 0;
}

/* --- a task wants a checkpoint and waits until it is done --- */

/*
 * How many wait at once. An end that is not seen would make this one too many for good, so
 * after this long without anybody coming or going nobody is believed to wait.
 */
#define WAITING_FORGET_NS (600ULL * 1000 * 1000 * 1000)

static __always_inline void waiting_enter(struct fst_f2fs_counters *c)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 n;

	if (now - c->waiting_ns > WAITING_FORGET_NS)
		c->waiting = 0;
	c->waiting_ns = now;
	__sync_fetch_and_add(&c->waiting, 1);
	n = *(volatile __u32 *)&c->waiting;
	if (n > c->waiting_max)
		c->waiting_max = n;
	if (n > 1)
		__sync_fetch_and_add(&c->overlapping, 1);
}

static __always_inline void waiting_leave(struct fst_f2fs_counters *c)
{
	c->waiting_ns = bpf_ktime_get_ns();
	if (c->waiting)
		__sync_fetch_and_add(&c->waiting, -1);
}

/* fs/f2fs/checkpoint.c: int f2fs_issue_checkpoint(struct f2fs_sb_info *), since 5.12 */
SEC("fentry/f2fs_issue_checkpoint")
int BPF_PROG(issue_enter, struct f2fs_sb_info *sbi)
{
	struct fst_shared *sh = shared_get();
	__u32 dev = sbi->sb->s_dev;
	struct fst_dev_stats *st = stats_of(sh, dev);

	if (!st)
		return 0;
	f2fs_seen(sh, dev, sbi);
	waiting_enter(&st->f2fs);
	wait_begin(FST_F2FS_REQUEST, dev);
	return 0;
}

SEC("fexit/f2fs_issue_checkpoint")
int BPF_PROG(issue_exit)
{
	__u32 dev = 0;
	__u64 start = wait_take(FST_F2FS_REQUEST, 0, &dev);
	struct fst_dev_stats *st = start ? stats_of(shared_get(), dev) : NULL;

	if (st)
		waiting_leave(&st->f2fs);
	wait_record(dev, FST_F2FS_REQUEST, start);
	return 0;
}

/* Instances of a kretprobe run out, so ends are missed: the number of those waiting would
 * drift. */
SEC("kprobe/f2fs_issue_checkpoint")
int BPF_KPROBE(issue_kenter, struct f2fs_sb_info *sbi)
{
	wait_begin(FST_F2FS_REQUEST, BPF_CORE_READ(sbi, sb, s_dev));
	return 0;
}

SEC("kretprobe/f2fs_issue_checkpoint")
int BPF_KPROBE(issue_kexit)
{
	wait_end(FST_F2FS_REQUEST);
	return 0;
}

/*
 * fs/f2fs/super.c: int f2fs_sync_fs(struct super_block *, int wait), which issues the
 * checkpoint in kernels without the function above. Without `wait` it does nothing.
 */
SEC("fentry/f2fs_sync_fs")
int BPF_PROG(sync_enter, struct super_block *sb, int wait)
{
	if (wait)
		wait_begin(FST_F2FS_REQUEST, sb->s_dev);
	return 0;
}

SEC("fexit/f2fs_sync_fs")
int BPF_PROG(sync_exit)
{
	wait_end(FST_F2FS_REQUEST);
	return 0;
}

SEC("kprobe/f2fs_sync_fs")
int BPF_KPROBE(sync_kenter, struct super_block *sb, int wait)
{
	if (wait)
		wait_begin(FST_F2FS_REQUEST, BPF_CORE_READ(sb, s_dev));
	return 0;
}

SEC("kretprobe/f2fs_sync_fs")
int BPF_KPROBE(sync_kexit)
{
	wait_end(FST_F2FS_REQUEST);
	return 0;
}

/* --- the merging thread serves all that wait with one checkpoint --- */

static __always_inline void merge_begin(__u32 dev, __u32 issued, __u32 total)
{
	struct fst_dev_stats *st = stats_of(shared_get(), dev);

	if (!st)
		return;
	st->f2fs.issued = issued;
	st->f2fs.total = total;
	wait_begin(FST_F2FS_MERGE, dev);
}

/* Nothing was issued: nobody was waiting any more. */
static __always_inline void merge_end(__u32 dev, __u64 start, __u32 issued, __u32 total)
{
	struct fst_dev_stats *st = start ? stats_of(shared_get(), dev) : NULL;

	if (!st || issued == st->f2fs.issued)
		return;
	__sync_fetch_and_add(&st->f2fs.merged_requests, total - st->f2fs.total);
	wait_record(dev, FST_F2FS_MERGE, start);
}

/* fs/f2fs/checkpoint.c: static void __checkpoint_and_complete_reqs(struct f2fs_sb_info *) */
SEC("fentry/__checkpoint_and_complete_reqs")
int BPF_PROG(merge_enter, struct f2fs_sb_info *sbi)
{
	merge_begin(sbi->sb->s_dev, sbi->cprc_info.issued_ckpt.counter,
		    sbi->cprc_info.total_ckpt.counter);
	return 0;
}

SEC("fexit/__checkpoint_and_complete_reqs")
int BPF_PROG(merge_exit, struct f2fs_sb_info *sbi)
{
	__u32 dev = 0;
	__u64 start = wait_take(FST_F2FS_MERGE, 0, &dev);

	merge_end(dev, start, sbi->cprc_info.issued_ckpt.counter,
		  sbi->cprc_info.total_ckpt.counter);
	return 0;
}

SEC("kprobe/__checkpoint_and_complete_reqs")
int BPF_KPROBE(merge_kenter, struct f2fs_sb_info *sbi)
{
	struct fst_shared *sh = shared_get();
	__u32 dev = BPF_CORE_READ(sbi, sb, s_dev);

	if (!sh)
		return 0;
	f2fs_seen(sh, dev, sbi);
	merge_begin(dev, BPF_CORE_READ(sbi, cprc_info.issued_ckpt.counter),
		    BPF_CORE_READ(sbi, cprc_info.total_ckpt.counter));
	return 0;
}

/* A return has no arguments: it is the file system that the begin has shown. */
SEC("kretprobe/__checkpoint_and_complete_reqs")
int BPF_KPROBE(merge_kexit)
{
	__u32 dev = 0;
	__u64 start = wait_take(FST_F2FS_MERGE, 0, &dev);
	struct f2fs_sb_info *sbi = f2fs_of(shared_get(), dev);

	if (sbi)
		merge_end(dev, start, BPF_CORE_READ(sbi, cprc_info.issued_ckpt.counter),
			  BPF_CORE_READ(sbi, cprc_info.total_ckpt.counter));
	return 0;
}

/* --- semaphores --- */

/* Where in an f2fs_sb_info the semaphore proper lies. */
#define SEMAPHORE(name)                                                      \
	(bpf_core_field_offset(struct f2fs_sb_info, name) +                  \
	 (bpf_core_field_exists(struct f2fs_rwsem, internal_rwsem)           \
		  ? bpf_core_field_offset(struct f2fs_rwsem, internal_rwsem) \
		  : 0))

/*
 * The verifier allows to compare a pointer with a number, but not to calculate with it, which
 * clang would if it knew how the number came about.
 */
#define OPAQUE(number)                           \
	({                                       \
		__u64 opaque = (number);         \
		asm volatile("" : "+r"(opaque)); \
		opaque;                          \
	})

#define RETURN_IF(sem, number)                       \
	do {                                         \
		__u64 address = (number);            \
		if ((__u64)(sem) == OPAQUE(address)) \
			return address;              \
	} while (0)

/*
 * The address of a semaphore as a number, and in *dev whose it is; 0 if it is none of an f2fs's
 * own. Most are somebody else's, so first of all it has to lie in what is known to be an
 * f2fs_sb_info.
 */
static __always_inline __u64 semaphore_of(const struct fst_shared *sh, const void *sem,
					  __u32 *dev)
{
	if (!sh)
		return 0;
	for (__u32 i = 0; i < FST_F2FS_MAX && i < sh->f2fs_end; i++) {
		__u64 sbi = sh->f2fs[i].sbi;

		if ((__u64)sem < OPAQUE(sbi) ||
		    (__u64)sem >= OPAQUE(sbi + bpf_core_type_size(struct f2fs_sb_info)))
			continue;
		*dev = sh->f2fs[i].dev;
		RETURN_IF(sem, sbi + SEMAPHORE(cp_rwsem));
		RETURN_IF(sem, sbi + SEMAPHORE(node_change));
		RETURN_IF(sem, sbi + SEMAPHORE(node_write));
		RETURN_IF(sem, sbi + SEMAPHORE(gc_lock));
		RETURN_IF(sem, sbi + SEMAPHORE(cp_global_sem));
		return 0;
	}
	return 0;
}

/*
 * fs/f2fs/checkpoint.c: void f2fs_sb_read_slowpath(struct f2fs_sb_info *, struct f2fs_rwsem *),
 * of kernels with a switch unfair_rwsem per file system. Unfair readers wait in it and never
 * come to the function below.
 */
SEC("fentry/f2fs_sb_read_slowpath")
int BPF_PROG(sb_reader_enter, struct f2fs_sb_info *sbi)
{
	wait_begin(FST_F2FS_READER_WAIT, sbi->sb->s_dev);
	return 0;
}

SEC("fexit/f2fs_sb_read_slowpath")
int BPF_PROG(sb_reader_exit)
{
	wait_end(FST_F2FS_READER_WAIT);
	return 0;
}

/* kernel/locking/rwsem.c: rwsem_down_read_slowpath(struct rw_semaphore *, ...) */
SEC("fentry/rwsem_down_read_slowpath")
int BPF_PROG(reader_enter, struct rw_semaphore *sem)
{
	__u32 dev = 0;
	__u64 address = semaphore_of(shared_get(), sem, &dev);

	if (UNLIKELY(address))
		wait_begin_on(FST_F2FS_READER_WAIT, dev, address);
	return 0;
}

SEC("fexit/rwsem_down_read_slowpath")
int BPF_PROG(reader_exit, struct rw_semaphore *sem)
{
	__u32 dev;
	__u64 address = semaphore_of(shared_get(), sem, &dev);

	if (UNLIKELY(address))
		wait_end_on(FST_F2FS_READER_WAIT, address);
	return 0;
}

/*
 * kernel/locking/rwsem.c: rwsem_down_write_slowpath(struct rw_semaphore *, int). Whom it finds
 * inside is what counts: unfair semaphores help where those are readers.
 */
SEC("fentry/rwsem_down_write_slowpath")
int BPF_PROG(writer_enter, struct rw_semaphore *sem)
{
	__u32 dev = 0;
	__u64 address = semaphore_of(shared_get(), sem, &dev), count;

	if (!UNLIKELY(address))
		return 0;
	count = sem->count.counter;
	wait_begin_on(!(count & RWSEM_WRITER_LOCKED) && RWSEM_READERS(count)
			      ? FST_F2FS_WRITER_READERS
			      : FST_F2FS_WRITER_WRITER,
		      dev, address);
	return 0;
}

SEC("fexit/rwsem_down_write_slowpath")
int BPF_PROG(writer_exit, struct rw_semaphore *sem)
{
	__u32 dev;
	__u64 address = semaphore_of(shared_get(), sem, &dev);

	if (!UNLIKELY(address))
		return 0;
	wait_end_on(FST_F2FS_WRITER_READERS, address);
	wait_end_on(FST_F2FS_WRITER_WRITER, address);
	return 0;
}

/* --- fsync: fs/f2fs/file.c, f2fs_do_sync_file() --- */

SEC("tp_btf/f2fs_sync_file_enter")
int BPF_PROG(fsync_enter)
{
	fsync_begin(FST_F2FS_FSYNC);
	return 0;
}

SEC("tp_btf/f2fs_sync_file_exit")
int BPF_PROG(fsync_exit, struct inode *inode)
{
	if (PASSED(inode))
		fsync_end(FST_F2FS_FSYNC, inode->i_sb->s_dev);
	return 0;
}
