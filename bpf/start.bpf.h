/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start times of waits that begin and end in one task. Per object: each includes this.
 */
#ifndef START_BPF_H
#define START_BPF_H

#include "record.bpf.h"

struct start_key {
	__u32 pid;
	__u32 measure;
};

struct start {
	__u64 ns; /* 0: no wait in progress */
	__u32 dev;
	__u32 pid; /* again: an LRU map may give an entry away while it is written to */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, STARTS_MAX);
	__type(key, struct start_key);
	__type(value, struct start);
} starts SEC(".maps");

/*
 * An entry is disarmed at the end, not deleted, and armed in place the next time: a
 * task that waits once mostly waits again, and deleting and inserting costs several times
 * as much as that. A lost end is overwritten by the next begin; a lost begin finds nothing
 * armed and gives no sample; entries of dead tasks are the first to be evicted.
 */
static __always_inline void wait_begin(enum fst_measure m, __u32 dev)
{
	struct start_key key = { .pid = (__u32)bpf_get_current_pid_tgid(), .measure = m };
	struct start *s = bpf_map_lookup_elem(&starts, &key);

	if (s) {
		s->pid = key.pid;
		s->dev = dev;
		s->ns = bpf_ktime_get_ns();
	} else {
		struct start begun = { .ns = bpf_ktime_get_ns(), .dev = dev, .pid = key.pid };

		bpf_map_update_elem(&starts, &key, &begun, BPF_ANY);
	}
}

/* Ends this task's wait. Returns when it began, 0 if no begin was seen. */
static __always_inline __u64 wait_take(enum fst_measure m, __u32 *dev)
{
	struct start_key key = { .pid = (__u32)bpf_get_current_pid_tgid(), .measure = m };
	struct start *s = bpf_map_lookup_elem(&starts, &key);
	__u64 ns;

	if (!s || s->pid != key.pid)
		return 0;
	ns = s->ns;
	*dev = s->dev;
	s->ns = 0;
	return ns;
}

static __always_inline void wait_end(enum fst_measure m)
{
	__u32 dev = 0;
	__u64 start = wait_take(m, &dev), now;
	struct fst_dev_stats *st;

	if (!start)
		return;
	st = stats_of(dev);
	if (!st)
		return;
	now = bpf_ktime_get_ns();
	record(st, dev, m, now - start, now);
}

#endif
