/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every program does with a duration: the maps that all objects share, the sample
 * itself and the event that an outlier sends.
 */
#ifndef RECORD_BPF_H
#define RECORD_BPF_H

#include <stddef.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "device-table.h"
#include "hist.bpf.h"

/* Out of the way of what runs each time: code is mostly cold here, so its length counts. */
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * Counters by slot. Arrays, not a hash: each program looks its device up, and what an array
 * needs for that is compiled into it, where a hash is a call into code that is cold each
 * time. In chunks, so that there is memory for about as many devices as there are.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, FST_CHUNKS);
	__type(key, __u32);
	__type(value, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, FST_CHUNK_DEVICES);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, sizeof(struct fst_dev_stats));
		});
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

static __always_inline struct fst_shared *shared_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&shared, &zero);
}

/* Where to count for a device; NULL if it is not tracked. */
static __always_inline struct fst_dev_stats *stats_of(const struct fst_shared *sh, __u32 dev)
{
	__u32 slot, chunk;
	void *in;

	if (!sh)
		return NULL;
	slot = fst_device_slot(sh, dev);
	chunk = slot / FST_CHUNK_DEVICES; /* of none: beyond the array */
	in = bpf_map_lookup_elem(&stats, &chunk);
	if (!in)
		return NULL;
	slot %= FST_CHUNK_DEVICES;
	return bpf_map_lookup_elem(in, &slot);
}

static __always_inline void actor_current(struct fst_actor *a)
{
	__u64 id = bpf_get_current_pid_tgid();

	a->cgroup = bpf_get_current_cgroup_id();
	a->pid = (__u32)id;
	a->tgid = id >> 32;
	bpf_get_current_comm(a->comm, sizeof(a->comm));
}

/* Rare, so a function: inlined, it would lie between what runs each time. */
static __attribute__((noinline)) void event_send(struct fst_shared *sh,
						 const struct fst_dev_stats *st, __u32 dev,
						 __u32 type_measure, __u64 ns)
{
	struct fst_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&sh->events_lost, 1);
		return;
	}
	e->ts_ns = bpf_ktime_get_ns();
	e->duration_ns = ns;
	e->dev = dev;
	e->type = type_measure >> 16;
	e->measure = type_measure & 0xffff;
	actor_current(&e->waiter);
	e->committer = st->committer;
	bpf_ringbuf_submit(e, 0);
}

/* A sample of `ns`. */
static __always_inline void record(struct fst_shared *sh, struct fst_dev_stats *st, __u32 dev,
				   enum fst_measure m, __u64 ns)
{
	__u64 i = m;

	/* Never true; said again for the verifier where m came from a map. */
	asm volatile("" : "+r"(i));
	if (i >= FST_MEASURE_MAX)
		return;
	fst_hist_update(&st->hist[i], ns);
	__sync_fetch_and_add(&sh->activity[st->slot % FST_MAX_DEVICES], 1);
	if (UNLIKELY(sh->outlier_ns[i] && ns >= sh->outlier_ns[i]))
		event_send(sh, st, dev, FST_EVENT_OUTLIER << 16 | (__u32)i, ns);
	/* Two samples at once may both see it armed: user space is woken twice, no harm. */
	if (UNLIKELY(sh->wake_armed)) {
		sh->wake_armed = 0;
		event_send(sh, st, dev, FST_EVENT_WAKE << 16 | (__u32)i, ns);
	}
}

#endif
