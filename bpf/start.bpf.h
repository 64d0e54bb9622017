/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start times of waits that begin and end in one task. Per object: each includes this.
 */
#ifndef START_BPF_H
#define START_BPF_H

#include "record.bpf.h"
#include "start-entry.h"

#define STARTS_MAX 1024    /* slots; a power of two, and all of them in 24 KiB */
#define OVERFLOW_MAX 8192  /* tasks more that wait at once; beyond, the oldest are lost */
#define TAG_MEASURE_BITS 5 /* a pid has at most 22 (include/linux/threads.h) */

/* Waits of this measure, if any, lie within others of the same object: slots of their own. */
#ifndef START_NESTED
#define START_NESTED FST_MEASURE_MAX
#endif

_Static_assert(FST_MEASURE_MAX <= 1 << TAG_MEASURE_BITS, "measures fit into a tag");

/*
 * Slots by thread id. An array is looked up without a call, so that the common case costs
 * two memory accesses; a hash would be inserted into and deleted from by each wait. A task
 * whose slot is taken goes to the overflow. Two that take one slot in the same instant may
 * lose a sample each; neither gets a time or a device of the other.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, START_NESTED < FST_MEASURE_MAX ? 2 * STARTS_MAX : STARTS_MAX);
	__type(key, __u32);
	__type(value, struct start);
} starts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, OVERFLOW_MAX);
	__type(key, __u32); /* tag */
	__type(value, struct start);
} overflow SEC(".maps");

static __always_inline __u32 start_tag(enum fst_measure m)
{
	return (__u32)bpf_get_current_pid_tgid() << TAG_MEASURE_BITS | m;
}

static __always_inline struct start *start_slot(enum fst_measure m, __u32 tag)
{
	__u32 slot = (tag >> TAG_MEASURE_BITS) % STARTS_MAX;

	if (m == START_NESTED)
		slot += STARTS_MAX;
	return bpf_map_lookup_elem(&starts, &slot);
}

/* A begin whose end was lost is overwritten by the same task's next. */
static __always_inline void wait_begin_on(enum fst_measure m, __u32 dev, __u64 object)
{
	__u32 tag = start_tag(m);
	struct start *s = start_slot(m, tag);
	struct start begun = { .ns = bpf_ktime_get_ns(), .dev = dev, .tag = tag };

	begun.seal = start_seal(&begun, object);
	if (UNLIKELY(!s || (s->ns && s->tag != tag)))
		bpf_map_update_elem(&overflow, &tag, &begun, BPF_ANY);
	else
		*s = begun;
}

static __always_inline void wait_begin(enum fst_measure m, __u32 dev)
{
	wait_begin_on(m, dev, 0);
}

/* Ends this task's wait. Returns when it began, 0 if no begin was seen. */
static __always_inline __u64 wait_take(enum fst_measure m, __u64 object, __u32 *dev)
{
	__u32 tag = start_tag(m);
	struct start *s = start_slot(m, tag);
	struct start begun;

	if (s) {
		begun = *s;
		if (start_is(&begun, tag, object)) {
			s->ns = 0;
			*dev = begun.dev;
			return begun.ns;
		}
	}
	s = bpf_map_lookup_elem(&overflow, &tag);
	if (!s || !start_is(s, tag, object))
		return 0;
	begun = *s;
	bpf_map_delete_elem(&overflow, &tag);
	*dev = begun.dev;
	return begun.ns;
}

/* This task's wait that has begun and not ended; NULL if there is none. */
static __always_inline struct start *wait_find(enum fst_measure m, __u64 object)
{
	__u32 tag = start_tag(m);
	struct start *s = start_slot(m, tag);

	if (s && start_is(s, tag, object))
		return s;
	s = bpf_map_lookup_elem(&overflow, &tag);
	return s && start_is(s, tag, object) ? s : NULL;
}

static __always_inline void wait_record(__u32 dev, enum fst_measure m, __u64 start)
{
	struct fst_dev_stats *st;
	struct fst_shared *sh;

	if (!start)
		return;
	sh = shared_get();
	st = stats_of(sh, dev);
	if (!st)
		return;
	record(sh, st, dev, m, bpf_ktime_get_ns() - start);
}

static __always_inline void wait_end_on(enum fst_measure m, __u64 object)
{
	__u32 dev = 0;
	__u64 start = wait_take(m, object, &dev);

	wait_record(dev, m, start);
}

static __always_inline void wait_end(enum fst_measure m)
{
	wait_end_on(m, 0);
}

#endif
