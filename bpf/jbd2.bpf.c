// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jbd2, by BTF: commits and their phases, checkpoints, and what tasks wait for. Covers every
 * file system on jbd2. A device is the file system's, also with an external journal. User
 * space loads of each pair of twins (fentry, kprobe) at most one.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "commit.bpf.h"
#include "kernel.h"
#include "start.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* False where the kernel is locked down against reading its memory (confidentiality). */
const volatile bool may_read_kernel SEC(".rodata.may_read") = true;

/* --- commit: fs/jbd2/commit.c, jbd2_journal_commit_transaction() --- */

/* The transaction is about to be locked against new handles. */
SEC("tp_btf/jbd2_start_commit")
int BPF_PROG(commit_start, struct journal_s *journal, struct transaction_s *transaction)
{
	struct fst_dev_stats *st;

	if (!PASSED(journal) || !PASSED(transaction))
		return 0;
	st = stats_of(shared_get(), journal->j_fs_dev->bd_dev);
	if (!st)
		return 0;
	if (may_read_kernel && !st->journal[0])
		bpf_probe_read_kernel_str(st->journal, sizeof(st->journal), journal->j_devname);
	commit_begin(st, transaction->t_tid);
	return 0;
}

/* All handles are closed; ordered data is submitted next. */
SEC("tp_btf/jbd2_commit_flushing")
int BPF_PROG(commit_flush, struct journal_s *journal, struct transaction_s *transaction)
{
	if (PASSED(journal) && PASSED(transaction))
		commit_step(journal->j_fs_dev->bd_dev, transaction->t_tid, FST_COMMIT_LOCKING,
			    FST_COMMIT_FLUSHING);
	return 0;
}

/* Ordered data is submitted; metadata is written next, then both are waited for. */
SEC("tp_btf/jbd2_commit_logging")
int BPF_PROG(commit_log, struct journal_s *journal, struct transaction_s *transaction)
{
	if (PASSED(journal) && PASSED(transaction))
		commit_step(journal->j_fs_dev->bd_dev, transaction->t_tid, FST_COMMIT_FLUSHING,
			    FST_COMMIT_LOGGING);
	return 0;
}

/* The commit record is about to be written, with the flush before it. */
SEC("fentry/journal_submit_commit_record")
int BPF_PROG(commit_rec_enter, struct journal_s *journal, struct transaction_s *transaction)
{
	commit_step(journal->j_fs_dev->bd_dev, transaction->t_tid, FST_COMMIT_LOGGING,
		    FST_COMMIT_RECORD);
	return 0;
}

/*
 * The transaction is durable. `tid` was unsigned long until 6.2 (and in stable lines until
 * 5.10.163, 5.15.87, 6.1.4), tid_t since: as a full register it is the same number in both.
 */
SEC("tp_btf/jbd2_run_stats")
int BPF_PROG(commit_stats, __u32 dev, __u64 tid, struct transaction_run_stats_s *run)
{
	if (PASSED(run))
		commit_durable(dev, tid, run->rs_handle_count, run->rs_blocks_logged);
	return 0;
}

/* Callbacks are done, waiters are about to be woken. */
SEC("tp_btf/jbd2_end_commit")
int BPF_PROG(commit_end, struct journal_s *journal, struct transaction_s *transaction)
{
	if (PASSED(journal) && PASSED(transaction))
		commit_finish(journal->j_fs_dev->bd_dev, transaction->t_tid);
	return 0;
}

/* fs/jbd2/checkpoint.c, __jbd2_journal_drop_transaction() and its callers: a transaction
 * leaves the journal. */
SEC("tp_btf/jbd2_checkpoint_stats")
int BPF_PROG(ckpt_stats, __u32 dev, __u64 tid, struct transaction_chp_stats_s *chp)
{
	if (PASSED(chp))
		checkpoint_count(dev, chp->cs_forced_to_close, chp->cs_written,
				 chp->cs_dropped);
	return 0;
}

/* --- checkpoint: a task writes back what keeps the journal full --- */

/* fs/jbd2/checkpoint.c: int jbd2_log_do_checkpoint(journal_t *) */
SEC("fentry/jbd2_log_do_checkpoint")
int BPF_PROG(ckpt_enter, struct journal_s *journal)
{
	wait_begin(FST_CHECKPOINT, journal->j_fs_dev->bd_dev);
	return 0;
}

SEC("fexit/jbd2_log_do_checkpoint")
int BPF_PROG(ckpt_exit)
{
	wait_end(FST_CHECKPOINT);
	return 0;
}

SEC("kprobe/jbd2_log_do_checkpoint")
int BPF_KPROBE(ckpt_kenter, struct journal_s *journal)
{
	wait_begin(FST_CHECKPOINT, BPF_CORE_READ(journal, j_fs_dev, bd_dev));
	return 0;
}

SEC("kretprobe/jbd2_log_do_checkpoint")
int BPF_KPROBE(ckpt_kexit)
{
	wait_end(FST_CHECKPOINT);
	return 0;
}

/* --- log space: a task waits for room in the journal --- */

/* fs/jbd2/checkpoint.c: void __jbd2_log_wait_for_space(journal_t *) */
SEC("fentry/__jbd2_log_wait_for_space")
int BPF_PROG(space_enter, struct journal_s *journal)
{
	wait_begin(FST_LOG_SPACE_WAIT, journal->j_fs_dev->bd_dev);
	return 0;
}

SEC("fexit/__jbd2_log_wait_for_space")
int BPF_PROG(space_exit)
{
	wait_end(FST_LOG_SPACE_WAIT);
	return 0;
}

SEC("kprobe/__jbd2_log_wait_for_space")
int BPF_KPROBE(space_kenter, struct journal_s *journal)
{
	wait_begin(FST_LOG_SPACE_WAIT, BPF_CORE_READ(journal, j_fs_dev, bd_dev));
	return 0;
}

SEC("kretprobe/__jbd2_log_wait_for_space")
int BPF_KPROBE(space_kexit)
{
	wait_end(FST_LOG_SPACE_WAIT);
	return 0;
}

/* --- a handle waits until the locked transaction is out of the way --- */

/* fs/jbd2/transaction.c: static void wait_transaction_locked(journal_t *) */
SEC("fentry/wait_transaction_locked")
int BPF_PROG(locked_enter, struct journal_s *journal)
{
	wait_begin(FST_TRANSACTION_WAIT, journal->j_fs_dev->bd_dev);
	return 0;
}

SEC("fexit/wait_transaction_locked")
int BPF_PROG(locked_exit)
{
	wait_end(FST_TRANSACTION_WAIT);
	return 0;
}

/* --- a task waits for a commit --- */

/*
 * Remembers who asked. A task that asks may come before the commit begins or after; the
 * first one is it. The transaction is claimed before the rest is written, so that of two
 * that come at once mostly one writes; both writing leaves a mixture in a name, no more.
 */
static __always_inline void commit_requested(struct fst_dev_stats *st, __u32 tid)
{
	if (st->commit.start_ns && st->commit.tid == tid) {
		if (!st->committer.pid)
			actor_current(&st->committer);
	} else if (!st->requester.pid || (__s32)(tid - st->requester_tid) > 0) {
		st->requester_tid = tid;
		actor_current(&st->requester);
	}
}

/* fs/jbd2/journal.c: int jbd2_log_wait_commit(journal_t *, tid_t) */
SEC("fentry/jbd2_log_wait_commit")
int BPF_PROG(waitc_enter, struct journal_s *journal, __u32 tid)
{
	__u32 dev = journal->j_fs_dev->bd_dev;
	struct fst_dev_stats *st = stats_of(shared_get(), dev);

	if (!st)
		return 0;
	commit_requested(st, tid);
	wait_begin(FST_COMMIT_WAIT, dev);
	return 0;
}

SEC("fexit/jbd2_log_wait_commit")
int BPF_PROG(waitc_exit)
{
	wait_end(FST_COMMIT_WAIT);
	return 0;
}

/* --- shadow wait: a task wants to write a buffer that the commit writes to the journal --- */

static __always_inline int shadow_bit(void)
{
	if (bpf_core_enum_value_exists(enum jbd_state_bits, BH_Shadow))
		return bpf_core_enum_value(enum jbd_state_bits, BH_Shadow);
	return BH_SHADOW_WITHOUT_BTF;
}

/*
 * kernel/sched/wait_bit.c: out_of_line_wait_on_bit(void *word, int bit, ...), here from
 * do_get_write_access() in fs/jbd2/transaction.c. Others wait on the same bit number of
 * other words, which are not in a buffer_head: so the word is believed to be a buffer's
 * b_state only if what would be its b_private is a journal_head that points back
 * (b_bh, its first member). A read of anything else fails and gives 0, no more.
 */
SEC("fentry/out_of_line_wait_on_bit")
int BPF_PROG(shadow_enter, void *word, int bit)
{
	struct buffer_head *bh;
	void *journal_head = NULL, *back = NULL;

	if (bit != shadow_bit())
		return 0;
	bh = word - bpf_core_field_offset(struct buffer_head, b_state);
	if (bpf_core_read(&journal_head, sizeof(journal_head), &bh->b_private) || !journal_head)
		return 0;
	if (bpf_probe_read_kernel(&back, sizeof(back), journal_head) || back != bh)
		return 0;
	wait_begin_on(FST_SHADOW_WAIT, BPF_CORE_READ(bh, b_bdev, bd_dev), (__u64)word);
	return 0;
}

/* Of any word with that bit: the one that was waited for ends the wait, the others nothing. */
SEC("fexit/out_of_line_wait_on_bit")
int BPF_PROG(shadow_exit, void *word, int bit)
{
	if (bit == shadow_bit())
		wait_end_on(FST_SHADOW_WAIT, (__u64)word);
	return 0;
}
