/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contract between the BPF programs and user space: keys, histogram, events.
 * Plain C types only; both sides include it. A device is always the kernel's own
 * encoding of dev_t (major << 20 | minor), never user space's.
 */
#ifndef FSTUNED_H
#define FSTUNED_H

#ifndef __VMLINUX_TYPES__
#include <linux/types.h>
#endif

/* What is measured. One histogram each; the order is not an interface outside this tree. */
enum fst_measure {
	FST_COMMIT,           /* jbd2_start_commit .. jbd2_end_commit */
	FST_COMMIT_LOCKING,   /* waiting for open handles */
	FST_COMMIT_FLUSHING,  /* submitting ordered data */
	FST_COMMIT_LOGGING,   /* logging metadata, waiting for ordered data */
	FST_COMMIT_RECORD,    /* commit record and its flush */
	FST_COMMIT_CALLBACK,  /* after the commit is durable */
	FST_CHECKPOINT,       /* a task inside jbd2_log_do_checkpoint */
	FST_LOG_SPACE_WAIT,   /* a task inside __jbd2_log_wait_for_space */
	FST_TRANSACTION_WAIT, /* a handle inside wait_transaction_locked */
	FST_COMMIT_WAIT,      /* a task inside jbd2_log_wait_commit */
	FST_SHADOW_WAIT,      /* a task waiting for BH_Shadow of a journaled buffer */
	/*
	 * ext4_sync_file_enter .. _exit. Programs count each fsync once, as one of these three;
	 * probe_read() makes the first the sum of all.
	 */
	FST_FSYNC,
	FST_FSYNC_FAST, /* made durable by a fast commit of its own */
	FST_FSYNC_FULL, /* asked for a fast commit and fell back to a full one */
	/* ext4_fc_commit_start .. _stop, in the order of the kernel's EXT4_FC_STATUS_* */
	FST_FAST_COMMIT_OK,
	FST_FAST_COMMIT_INELIGIBLE, /* with the full commit that it fell back to */
	FST_FAST_COMMIT_SKIPPED,    /* somebody else's commit had done it */
	FST_FAST_COMMIT_FAILED,
	FST_FAST_COMMIT_LOCKED, /* ext4_fc_lock_updates: handles are kept from starting */

	FST_F2FS_CHECKPOINT, /* f2fs_write_checkpoint, its first to its last state */
	FST_F2FS_BLOCK_OPS,  /* stopping the file system's operations */
	FST_F2FS_WRITE,      /* writing what the checkpoint is made of */
	FST_F2FS_REQUEST,    /* a task inside f2fs_issue_checkpoint (5.10: f2fs_sync_fs) */
	FST_F2FS_MERGE,      /* the merging thread serving all that wait, once */
	/* waits for the semaphores of struct f2fs_sb_info */
	FST_F2FS_READER_WAIT,
	FST_F2FS_WRITER_READERS, /* a checkpoint or GC finds readers inside */
	FST_F2FS_WRITER_WRITER,  /* or another of its kind */
	FST_F2FS_FSYNC,          /* f2fs_sync_file_enter .. _exit */
	FST_MEASURE_MAX,
};

/*
 * Histogram: bounds are 2^(k/4) in units of 2^-30 s, so that they are exactly the grid
 * of a Prometheus native histogram of schema 2 in seconds. Slot 0 holds what is at most
 * 2^10 units (about 1 us); slot i holds (2^(10+(i-1)/4), 2^(10+i/4)]; the last slot holds
 * what is above 2^36 units (64 s).
 */
#define FST_HIST_MIN_EXP 10
#define FST_HIST_MAX_EXP 36
#define FST_HIST_GRID ((FST_HIST_MAX_EXP - FST_HIST_MIN_EXP) * 4)
#define FST_HIST_SLOTS (FST_HIST_GRID + 2)

struct fst_hist {
	__u64 count; /* the slots' sum: probe_read() adds them up, programs do not count it */
	__u64 sum_ns;
	__u64 max_ns; /* since tracking began; plain store, a racing smaller value may win */
	__u64 slot[FST_HIST_SLOTS];
};

#define FST_COMM_LEN 16
#define FST_JOURNAL_NAME_LEN 56 /* BDEVNAME_SIZE + 24, as journal_t has it */
#define FST_MAX_DEVICES 1024    /* power of two: slots are masked with it */
#define FST_CHUNK_DEVICES 16    /* devices whose counters lie in one chunk */
#define FST_DEVICE_TABLE 4096   /* places to find a slot by device: a power of two */
#define FST_CHUNKS (FST_MAX_DEVICES / FST_CHUNK_DEVICES)
#define FST_F2FS_MAX 32 /* f2fs whose semaphores are watched: each is compared at each wait */

/* Who: a task, as outlier events name it. */
struct fst_actor {
	__u64 cgroup; /* cgroup v2 id, 0 when unknown */
	__u32 pid;    /* thread id */
	__u32 tgid;
	char comm[FST_COMM_LEN];
};

/*
 * The commit in flight, or an f2fs's checkpoint. A journal commits one transaction at a time, a
 * checkpoint excludes others, so this needs no map.
 */
struct fst_commit_state {
	__u64 start_ns; /* 0: none in flight */
	__u64 phase_ns; /* begin of the present phase */
	__u32 tid;
	__u32 phase; /* enum fst_measure of the present phase */
};

/* Of an f2fs. */
struct fst_f2fs_counters {
	__u64 merged_requests; /* that the merging thread has served (cprc_info.total_ckpt) */
	__u64 overlapping;     /* requests that found another task waiting already */
	__u64 waiting_ns;      /* when that last changed */
	__u32 waiting;         /* tasks inside f2fs_issue_checkpoint now; see f2fs.bpf.c */
	__u32 waiting_max;     /* since tracking began */
	__u32 issued, total;   /* cprc_info's, before the thread's present batch */
};

/*
 * Everything of one tracked device. The map "stats" is an array of chunks, which are arrays
 * of these: a device's slot, which user space gives it, says which. Counters only grow.
 */
struct fst_dev_stats {
	__u32 slot;
	__u32 pad;
	struct fst_commit_state commit; /* f2fs: tid 0 */
	__u32 requester_tid;            /* newest transaction that anybody waited for */
	__u32 pad2;
	struct fst_actor requester; /* the first task that waited for it */
	/* who asked for commit.tid, or does the checkpoint; pid 0: nobody known */
	struct fst_actor committer;
	char journal[FST_JOURNAL_NAME_LEN]; /* j_devname, empty until a commit was seen */
	/* from jbd2_run_stats */
	__u64 transactions;
	__u64 blocks_logged;
	__u64 handles;
	/* from jbd2_checkpoint_stats: transactions leaving the journal, their buffers' fate */
	__u64 ckpt_transactions;
	__u64 ckpt_forced;
	__u64 ckpt_written;
	__u64 ckpt_dropped;
	__u64 fast_commit_blocks; /* from ext4_fc_commit_stop */
	struct fst_f2fs_counters f2fs;
	struct fst_hist hist[FST_MEASURE_MAX];
};

/*
 * One page-backed element of the map "shared" (BPF_F_MMAPABLE array, key 0), so that user
 * space learns for nothing which devices had events.
 */
struct fst_shared {
	__u64 outlier_ns[FST_MEASURE_MAX]; /* an event this long or longer is sent; 0: never */
	__u64 events_lost;                 /* ring buffer full */
	__u32 wake_armed; /* set by user space: the next sample sends FST_EVENT_WAKE, clears it
			   */
	__u32 pad;
	__u64 activity[FST_MAX_DEVICES]; /* samples per device slot, only grows */
	/*
	 * Set by user space per slot: the file system has fast commits. Before 5.17 every fsync
	 * of any ext4 passes the tracepoints of fast commits.
	 */
	__u8 fast_commits[FST_MAX_DEVICES];
	/*
	 * Tracked devices, hashed (device-table.h): slot << 32 | device, 0: free. One that is
	 * not here is not measured.
	 */
	__u64 device[FST_DEVICE_TABLE];
	/*
	 * Of tracked f2fs: `dev` is user space's to write, `sbi` (the address of its struct
	 * f2fs_sb_info) that of the programs that see one. f2fs_end: none in use at or above.
	 */
	struct fst_f2fs_sb {
		__u64 sbi; /* 0: not seen yet */
		__u32 dev; /* 0: free */
		__u32 pad;
	} f2fs[FST_F2FS_MAX];
	__u32 f2fs_end;
	__u32 pad2;
};

enum fst_event_type {
	FST_EVENT_OUTLIER,
	FST_EVENT_WAKE, /* first sample after wake_armed was set */
};

/* Of the ring buffer: some 570 events. Each byte is mapped twice and counts as resident. */
#define FST_EVENTS_BYTES (64 * 1024)

/* Element of the ring buffer "events". */
struct fst_event {
	__u64 ts_ns; /* CLOCK_MONOTONIC, end of the wait */
	__u64 duration_ns;
	__u32 dev;
	__u16 type;    /* enum fst_event_type */
	__u16 measure; /* enum fst_measure */
	struct fst_actor waiter;
	struct fst_actor
		committer; /* who asked for the commit in flight; pid 0: nobody known */
};

#endif
