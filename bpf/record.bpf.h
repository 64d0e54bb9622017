/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every program does with a duration: the maps that all objects share, start times, the
 * sample itself and the event that an outlier sends.
 */
#ifndef RECORD_BPF_H
#define RECORD_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "fstuned.h"
#include "hist.bpf.h"

/* One entry per tracked device, made and removed by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, FST_MAX_DEVICES);
	__type(key, __u32);
	__type(value, struct fst_dev_stats);
} stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct fst_shared);
} shared SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, FST_EVENTS_BYTES);
} events SEC(".maps");

static __always_inline struct fst_dev_stats *stats_of(__u32 dev)
{
	return bpf_map_lookup_elem(&stats, &dev);
}

static __always_inline void actor_current(struct fst_actor *a)
{
	__u64 id = bpf_get_current_pid_tgid();

	a->cgroup = bpf_get_current_cgroup_id();
	a->pid = (__u32)id;
	a->tgid = id >> 32;
	bpf_get_current_comm(a->comm, sizeof(a->comm));
}

static __always_inline void event_send(struct fst_shared *sh, const struct fst_dev_stats *st,
				       __u32 dev, enum fst_event_type type, enum fst_measure m,
				       __u64 ns, __u64 now)
{
	struct fst_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&sh->events_lost, 1);
		return;
	}
	e->ts_ns = now;
	e->duration_ns = ns;
	e->dev = dev;
	e->type = type;
	e->measure = m;
	actor_current(&e->waiter);
	e->committer = st->committer;
	bpf_ringbuf_submit(e, 0);
}

/* A sample of `ns`, ended at `now`. */
static __always_inline void record(struct fst_dev_stats *st, __u32 dev, enum fst_measure m,
				   __u64 ns, __u64 now)
{
	__u32 zero = 0;
	struct fst_shared *sh = bpf_map_lookup_elem(&shared, &zero);
	__u64 i = m;

	/* Never true; said again for the verifier where m came from a map. */
	asm volatile("" : "+r"(i));
	if (i >= FST_MEASURE_MAX || !sh)
		return;
	fst_hist_update(&st->hist[i], ns);
	__sync_fetch_and_add(&sh->activity[st->slot % FST_MAX_DEVICES], 1);
	if (sh->outlier_ns[i] && ns >= sh->outlier_ns[i])
		event_send(sh, st, dev, FST_EVENT_OUTLIER, m, ns, now);
	/* Two samples at once may both see it armed: user space is woken twice, no harm. */
	if (sh->wake_armed) {
		sh->wake_armed = 0;
		event_send(sh, st, dev, FST_EVENT_WAKE, m, ns, now);
	}
}

#endif
