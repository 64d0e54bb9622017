/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One sample: what happened to one device in one tick. A plain value: decisions depend on
 * nothing else, so that the same samples give the same decisions anywhere.
 */
#ifndef FSTUNED_OBSERVE_SAMPLE_H
#define FSTUNED_OBSERVE_SAMPLE_H

#include "../base/hist.h"
#include "device.h"
#include "fc-info.h"
#include "probe.h"

/* Differences of /sys/dev/block/M:N/stat over the tick. */
struct service {
	bool known; /* false also for an f2fs on several devices: one is not all of it */
	bool flushes_known;                   /* those of the whole disk; only if `known` */
	uint64_t reads, writes, flushes;      /* completed requests */
	uint64_t read_us, write_us, flush_us; /* their time, summed */
	uint64_t busy_us;                     /* time with at least one in flight */
	uint64_t in_flight;                   /* at the end of the tick */
};

/* Differences of ext4's account of its fast commits, which is not read in every tick. */
struct fast_commits {
	bool known;           /* read for this sample, and once before */
	uint64_t interval_us; /* between the two */
	uint64_t commits, ineligible, blocks;
};

struct sample {
	uint64_t now_us;      /* CLOCK_MONOTONIC at the end of the tick */
	uint64_t interval_us; /* since this device's sample before; 0 for the first */
	uint32_t measured;    /* bit per enum fst_measure: available on this kernel */
	bool active; /* anything below but service times and fast commits is non-zero */

	struct hist hist[FST_MEASURE_MAX];
	uint64_t transactions;
	uint64_t blocks_logged;
	uint64_t fast_commit_blocks; /* written by the fast commits of hist[] */
	uint32_t block_size;         /* bytes; 0 unknown */

	/* of an f2fs */
	uint64_t merged_requests;      /* that the merging thread served */
	uint64_t overlapping_requests; /* that found another task waiting already */
	uint32_t waiting_requests;     /* now; 0 where that is not known */

	/* force_copy's own account, where the kernel gives one (.../force_copy_stats) */
	bool copy_known;
	uint64_t copied_blocks;
	uint64_t avoided_waits;

	/* the kernel's account; what each tick had of them is in hist[] */
	struct fast_commits fast_commits;
	struct service service;
	struct service journal_service; /* of an external journal's device; else not known */
	double memory_pressure; /* PSI memory "some" avg10 in percent; negative: unknown */
};

/* A block device's statistics as last read. */
struct stat_reading {
	uint64_t v[17];
	uint64_t time_us;
	bool have;
};

/*
 * What the probes have counted of a device, as last read: of struct fst_dev_stats what people
 * want to know, and only those histograms that there are, a device having a third of all.
 */
struct totals {
	char journal[FST_JOURNAL_NAME_LEN];
	uint64_t transactions, blocks_logged, handles;
	uint64_t ckpt_transactions, ckpt_forced, ckpt_written, ckpt_dropped;
	uint64_t fast_commit_blocks;
	struct fst_f2fs_counters f2fs;
	struct fst_hist *hist[FST_MEASURE_MAX]; /* NULL: nothing happened yet */
};

/* What is kept per device between samples; zero-initialise, free with sampler_done(). */
struct sampler {
	uint64_t last_us;
	uint64_t last_activity;
	struct totals *last; /* NULL until something happened */
	struct stat_reading stat, journal_stat;
	dev_t journal_dev; /* which that one is of */
	uint64_t last_copied, last_avoided;
	bool have_copy;
	/* as last read; NULL: the file system has no fast commits, as far as is known */
	struct fc_info *fast_commits;
	uint64_t fast_commits_us;         /* when that was tried last; 0: never */
	bool fast_commits_due;            /* something happened since */
	enum feature fast_commit_feature; /* what was known then */
};

void sampler_done(struct sampler *s);

/*
 * Fills *ret. Costs one memory read and no system call when the device had no events since
 * the sample before and `full` is false (then `active` is false and the histograms are
 * zero), but for the account of fast commits: where there is one it is read once more, some
 * seconds after the last event. `sysroot` as in device_list. 0 or -errno; on error *ret is a
 * valid empty sample.
 */
int sample_take(struct sampler *s, struct probe *p, const struct device *d, uint32_t slot,
		const char *sysroot, uint64_t now_us, double memory_pressure, bool full,
		struct sample *ret);

/* PSI memory "some" avg10 in percent, -1.0 if the kernel has none. */
double memory_pressure_read(void);

#endif
