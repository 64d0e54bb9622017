/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF side: objects, maps, attachments. One set of objects per file system, opened
 * when that file system is first seen and closed after its last unmount. A hook that is
 * missing takes one measure down, with a reason, and nothing else.
 */
#ifndef FSTUNED_OBSERVE_PROBE_H
#define FSTUNED_OBSERVE_PROBE_H

#include <stdint.h>
#include "../../bpf/fstuned.h"
#include "../base/cleanup.h"
#include "kernel.h"

enum fs_kind {
	FS_JBD2, /* jbd2 itself: ext4, ext3, ocfs2 */
	FS_EXT4,
	FS_F2FS,
	FS_KIND_MAX,
};

/* Are these the probes that measure this device? One may be measured by several kinds. */
struct device;
bool fs_kind_concerns(enum fs_kind fs, const struct device *d);

struct probe_measure {
	enum way way;  /* WAY_NONE: unavailable */
	bool absent;   /* and nothing is missed: this kernel does nothing of the kind */
	char why[160]; /* why not, or why not a better way; may be empty */
};

struct probe;

/* Creates the maps shared by all objects; opens no object yet. */
int probe_new(struct probe **ret, const struct kernel_caps *caps);
void probe_free(struct probe *p);
DEFINE_CLEANUP(struct probe *, probe_free)

/*
 * Loads and attaches what `fs` needs; a second call does nothing. 0 also when some measures
 * stay unavailable; -errno when none could be attached (ask probe_measure() for why).
 */
int probe_open_fs(struct probe *p, enum fs_kind fs);
void probe_close_fs(struct probe *p, enum fs_kind fs);

/* How a measure is got now. Never NULL. Before its object is open: WAY_NONE, "not open". */
const struct probe_measure *probe_measure(const struct probe *p, enum fst_measure m);

/* "commit", "commit_locking", ... "fast_commit_ok": metrics, JSON and logs use it. */
const char *measure_to_string(enum fst_measure m);
enum fs_kind measure_fs_kind(enum fst_measure m);
const char *fs_kind_to_string(enum fs_kind fs); /* "jbd2", "ext4", "f2fs" */

/*
 * Begins to count for a device (user space's dev_t); *ret_slot is its activity slot.
 * -ENOSPC beyond FST_MAX_DEVICES. Untracking drops its counters.
 */
int probe_track(struct probe *p, dev_t dev, uint32_t *ret_slot);
int probe_untrack(struct probe *p, dev_t dev);

/* A tracked device is known to have fast commits: from now on they are counted, too. */
void probe_count_fast_commits(struct probe *p, uint32_t slot);
/*
 * Begins to watch an f2fs's own semaphores, until it is untracked. -ENOSPC beyond FST_F2FS_MAX:
 * everything else of it is measured all the same.
 */
int probe_watch_semaphores(struct probe *p, dev_t dev);

/* Samples so far of a slot: one memory read, no system call. */
uint64_t probe_activity(const struct probe *p, uint32_t slot);

/*
 * Copies a device's counters, with each histogram's count, and FST_FSYNC as the sum of all
 * fsyncs. -ENOENT if it is not tracked.
 */
int probe_read(struct probe *p, dev_t dev, struct fst_dev_stats *ret);

/* An event this long or longer is sent as FST_EVENT_OUTLIER. 0: never. */
void probe_set_outlier_ns(struct probe *p, enum fst_measure m, uint64_t ns);

/* The next sample of any device sends one FST_EVENT_WAKE: lets the daemon sleep till then. */
void probe_arm_wake(struct probe *p);

/* Poll for EPOLLIN, then consume. -1 if there is no ring buffer. */
int probe_event_fd(const struct probe *p);
typedef void (*probe_event_cb)(const struct fst_event *event, void *userdata);
int probe_consume(struct probe *p, probe_event_cb cb, void *userdata);

uint64_t probe_events_lost(const struct probe *p);

/* Kernel's dev_t encoding and user space's. */
uint32_t kdev_from_dev(dev_t dev);
dev_t dev_from_kdev(uint32_t kdev);

#endif
