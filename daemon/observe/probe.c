// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include "../../bpf/device-table.h"
#include "../base/log.h"
#include "bpf-log.h"
#include "probe-load.h"
#include "probe.h"

DEFINE_CLEANUP(struct ring_buffer *, ring_buffer__free)

struct tracked {
	bool used;
	bool draining; /* was used, and a program may still be at it */
	uint32_t kdev;
};

struct probe {
	struct kernel_caps caps;
	struct probe_maps maps;
	int maps_error;            /* -errno: there are no maps, so nothing is measured */
	struct fst_shared *shared; /* mapped; NULL without maps */
	struct ring_buffer *ring;
	probe_event_cb cb; /* during probe_consume() */
	void *cb_userdata;
	struct hook_state hooks[HOOK_MAX];
	struct {
		bool open;
		int result; /* of opening: not tried again until it is closed */
	} fs[FS_KIND_MAX];
	struct probe_measure measures[FST_MEASURE_MAX];
	struct tracked slots[FST_MAX_DEVICES];
	uint32_t slots_end;     /* no slot in use at or above it */
	int chunks[FST_CHUNKS]; /* of the map "stats"; made at first use, kept */
};

/* --- dev_t: the kernel's is major << 20 | minor (include/linux/kdev_t.h) --- */

#define KDEV_MINOR_BITS 20

uint32_t kdev_from_dev(dev_t dev)
{
	return major(dev) << KDEV_MINOR_BITS | minor(dev);
}

dev_t dev_from_kdev(uint32_t kdev)
{
	return makedev(kdev >> KDEV_MINOR_BITS, kdev & ((1U << KDEV_MINOR_BITS) - 1));
}

/* --- maps --- */

static int on_event(void *ctx, void *data, size_t size)
{
	struct probe *p = ctx;

	if (size >= sizeof(struct fst_event) && p->cb)
		p->cb(data, p->cb_userdata);
	return 0;
}

static int map_create(enum bpf_map_type type, const char *name, uint32_t key, uint32_t value,
		      uint32_t n, uint32_t flags, int inner)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags,
		    .inner_map_fd = (uint32_t)(inner >= 0 ? inner : 0));
	int fd = bpf_map_create(type, name, key, value, n, &opts);

	return fd < 0 ? -errno : fd;
}

static int chunk_create(void)
{
	return map_create(BPF_MAP_TYPE_ARRAY, "fst_chunk", sizeof(uint32_t),
			  sizeof(struct fst_dev_stats), FST_CHUNK_DEVICES, 0, -1);
}

/*
 * Takes some ten milliseconds: the kernel waits until every program that may have seen the
 * table before has ended (kernel/bpf/syscall.c, maybe_wait_bpf_programs()).
 */
static int chunk_publish(struct probe *p, uint32_t chunk)
{
	return bpf_map_update_elem(p->maps.stats, &chunk, &p->chunks[chunk], BPF_ANY) < 0
		       ? -errno
		       : 0;
}

static int create_maps(struct probe *p)
{
	struct probe_maps *m = &p->maps;
	void *shared;
	int r;

	p->chunks[0] = chunk_create();
	if (p->chunks[0] < 0)
		return p->chunks[0];
	m->stats = map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "fst_stats", sizeof(uint32_t),
			      sizeof(uint32_t), FST_CHUNKS, 0, p->chunks[0]);
	if (m->stats < 0)
		return m->stats;
	r = chunk_publish(p, 0);
	if (r < 0)
		return r;
	m->shared = map_create(BPF_MAP_TYPE_ARRAY, "fst_shared", sizeof(uint32_t),
			       sizeof(struct fst_shared), 1, BPF_F_MMAPABLE, -1);
	if (m->shared < 0)
		return m->shared;
	m->events =
		map_create(BPF_MAP_TYPE_RINGBUF, "fst_events", 0, 0, FST_EVENTS_BYTES, 0, -1);
	if (m->events < 0)
		return m->events;
	shared = mmap(NULL, sizeof(struct fst_shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      m->shared, 0);
	if (shared == MAP_FAILED)
		return -errno;
	p->shared = shared;
	p->ring = ring_buffer__new(m->events, on_event, p, NULL);
	return p->ring ? 0 : -errno;
}

/* --- life --- */

static void measures_reset(struct probe *p, enum fs_kind fs)
{
	for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++)
		if (measures[m].fs == fs) {
			p->measures[m].way = WAY_NONE;
			p->measures[m].absent = false;
			(void)snprintf(p->measures[m].why, sizeof(p->measures[m].why),
				       "not open");
		}
}

int probe_new(struct probe **ret, const struct kernel_caps *caps)
{
	_cleanup_(probe_freep) struct probe *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	bpf_log_open();
	p->caps = *caps;
	p->maps = (struct probe_maps){ -EBADF, -EBADF, -EBADF };
	for (size_t i = 0; i < FST_CHUNKS; i++)
		p->chunks[i] = -EBADF;
	for (enum fs_kind fs = 0; fs < FS_KIND_MAX; fs++)
		measures_reset(p, fs);
	p->maps_error = create_maps(p);
	if (p->maps_error < 0)
		log_warning_errno(p->maps_error,
				  "BPF maps cannot be made, nothing is measured: %m");
	*ret = TAKE_PTR(p);
	return 0;
}

void probe_free(struct probe *p)
{
	if (!p)
		return;
	for (enum fs_kind fs = 0; fs < FS_KIND_MAX; fs++)
		hooks_detach(p->hooks, fs);
	ring_buffer__free(p->ring);
	if (p->shared)
		(void)munmap(p->shared, sizeof(*p->shared));
	for (size_t i = 0; i < FST_CHUNKS; i++)
		safe_close(p->chunks[i]);
	safe_close(p->maps.stats);
	safe_close(p->maps.shared);
	safe_close(p->maps.events);
	free(p);
}

/* --- file systems and measures --- */

static void settle_one_way(struct probe *p, enum fst_measure m)
{
	const struct measure *t = &measures[m];
	struct probe_measure *pm = &p->measures[m];

	for (size_t i = 0; i < t->n_needs; i++)
		if (p->hooks[t->needs[i]].way != pm->way) {
			(void)snprintf(pm->why, sizeof(pm->why), "%s: %s goes by %s",
				       way_to_string(pm->way), hooks[t->needs[i]].target,
				       way_to_string(p->hooks[t->needs[i]].way));
			pm->way = WAY_NONE;
			return;
		}
}

/* A measure goes the worst way that one of its hooks goes; without one of them, none. */
static void measure_settle(struct probe *p, enum fst_measure m)
{
	const struct measure *t = &measures[m];
	const struct hook_state *worst = NULL;

	for (size_t i = 0; i < t->n_needs; i++) {
		const struct hook *h = &hooks[t->needs[i]];
		const struct hook_state *s = &p->hooks[t->needs[i]];

		if (s->way == WAY_NONE && h->has_instead)
			s = &p->hooks[h->instead];
		if (!worst || s->way == WAY_NONE ||
		    (worst->way != WAY_NONE && s->way > worst->way))
			worst = s;
		if (s->way == WAY_NONE)
			break;
	}
	p->measures[m] = (struct probe_measure){ .way = worst->way };
	(void)snprintf(p->measures[m].why, sizeof(p->measures[m].why), "%s", worst->why);
	if (worst->way == WAY_NONE)
		p->measures[m].absent = hooks[worst - p->hooks].may_lack && worst->absent;
	else if (t->one_way)
		settle_one_way(p, m);
}

static void measures_log(const struct probe *p, enum fs_kind fs)
{
	for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++) {
		const struct probe_measure *pm = &p->measures[m];

		if (measures[m].fs != fs)
			continue;
		if (pm->absent)
			log_debug("%s: nothing of the kind in this kernel", measures[m].name);
		else if (pm->way == WAY_NONE)
			log_info("%s: unavailable: %s", measures[m].name, pm->why);
		else
			log_debug("%s: by %s%s%s", measures[m].name, way_to_string(pm->way),
				  pm->why[0] ? ", since " : "", pm->why);
	}
}

int probe_open_fs(struct probe *p, enum fs_kind fs)
{
	if (p->fs[fs].open)
		return p->fs[fs].result;
	p->fs[fs].open = true;
	if (p->maps_error < 0) {
		p->fs[fs].result = p->maps_error;
		for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++)
			if (measures[m].fs == fs)
				(void)snprintf(p->measures[m].why, sizeof(p->measures[m].why),
					       "BPF maps cannot be made (%s)",
					       strerrorname_np(-p->maps_error));
		return p->maps_error;
	}
	p->fs[fs].result = hooks_attach(p->hooks, fs, &p->caps, &p->maps);
	for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++)
		if (measures[m].fs == fs)
			measure_settle(p, m);
	measures_log(p, fs);
	return p->fs[fs].result;
}

void probe_close_fs(struct probe *p, enum fs_kind fs)
{
	if (!p->fs[fs].open)
		return;
	hooks_detach(p->hooks, fs);
	measures_reset(p, fs);
	p->fs[fs].open = false;
}

const struct probe_measure *probe_measure(const struct probe *p, enum fst_measure m)
{
	return &p->measures[m];
}

/* --- devices --- */

static uint32_t find_slot(const struct probe *p, uint32_t kdev)
{
	for (uint32_t i = 0; i < p->slots_end; i++)
		if (p->slots[i].used && p->slots[i].kdev == kdev)
			return i;
	return FST_NO_SLOT;
}

static uint32_t free_slot(const struct probe *p)
{
	uint32_t i = 0;

	while (i < p->slots_end && p->slots[i].used)
		i++;
	return i;
}

/* The table's place that holds the entry; NULL if there is none. 0: a free place. */
static uint64_t *find_place(const struct probe *p, uint32_t kdev, uint64_t entry)
{
	for (uint32_t i = 0; i < FST_DEVICE_PLACES; i++) {
		uint64_t *place = (uint64_t *)&p->shared->device[fst_device_place(kdev, i)];

		if (*place == entry)
			return place;
	}
	return NULL;
}

int probe_watch_semaphores(struct probe *p, dev_t dev)
{
	for (uint32_t i = 0; p->shared && i < FST_F2FS_MAX; i++) {
		struct fst_f2fs_sb *sb = &p->shared->f2fs[i];

		if (sb->dev)
			continue;
		sb->sbi = 0;
		__atomic_store_n(&sb->dev, kdev_from_dev(dev), __ATOMIC_RELEASE);
		if (i >= p->shared->f2fs_end)
			__atomic_store_n(&p->shared->f2fs_end, i + 1, __ATOMIC_RELEASE);
		return 0;
	}
	return p->shared ? -ENOSPC : 0;
}

/* Its address may soon be something else's. */
static void unwatch_semaphores(struct probe *p, uint32_t kdev)
{
	uint32_t end = p->shared->f2fs_end;

	for (uint32_t i = 0; i < end; i++)
		if (p->shared->f2fs[i].dev == kdev) {
			__atomic_store_n(&p->shared->f2fs[i].dev, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&p->shared->f2fs[i].sbi, 0, __ATOMIC_RELAXED);
		}
	while (end && !p->shared->f2fs[end - 1].dev)
		end--;
	__atomic_store_n(&p->shared->f2fs_end, end, __ATOMIC_RELAXED);
}

/*
 * A program that looked the device up before it went counts into the slot after that. Whoever
 * gets the slot next must not inherit it: waits for all programs, once for all slots that
 * were left so far.
 */
static int slots_drain(struct probe *p)
{
	int r = chunk_publish(p, 0);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < FST_MAX_DEVICES; i++)
		if (!p->slots[i].used)
			p->slots[i].draining = false;
	return 0;
}

static int counters_write(struct probe *p, uint32_t slot)
{
	_cleanup_free_ struct fst_dev_stats *fresh = calloc(1, sizeof(*fresh));
	uint32_t chunk = slot / FST_CHUNK_DEVICES, at = slot % FST_CHUNK_DEVICES;
	int r;

	if (!fresh)
		return -ENOMEM;
	if (p->chunks[chunk] < 0) {
		p->chunks[chunk] = chunk_create();
		if (p->chunks[chunk] < 0)
			return p->chunks[chunk];
		r = chunk_publish(p, chunk);
		if (r < 0) {
			p->chunks[chunk] = safe_close(p->chunks[chunk]);
			return r;
		}
	}
	fresh->slot = slot;
	return bpf_map_update_elem(p->chunks[chunk], &at, fresh, BPF_ANY) < 0 ? -errno : 0;
}

/* Counters first, then the table: from there on programs count. */
static int begin_counting(struct probe *p, uint32_t kdev, uint32_t slot)
{
	uint64_t *place = find_place(p, kdev, 0);
	int r;

	if (!place)
		return -ENOSPC;
	r = p->slots[slot].draining ? slots_drain(p) : 0;
	if (r < 0)
		return r;
	r = counters_write(p, slot);
	if (r < 0)
		return r;
	__atomic_store_n(&p->shared->activity[slot], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->shared->fast_commits[slot], 0, __ATOMIC_RELAXED);
	__atomic_store_n(place, (uint64_t)slot << 32 | kdev, __ATOMIC_RELEASE);
	return 0;
}

int probe_track(struct probe *p, dev_t dev, uint32_t *ret_slot)
{
	uint32_t kdev = kdev_from_dev(dev), slot = find_slot(p, kdev);
	int r;

	if (slot != FST_NO_SLOT) {
		*ret_slot = slot;
		return 0;
	}
	slot = free_slot(p);
	if (slot >= FST_MAX_DEVICES)
		return -ENOSPC;
	r = p->maps_error < 0 ? 0 : begin_counting(p, kdev, slot);
	if (r < 0)
		return r;
	p->slots[slot] = (struct tracked){ .used = true, .kdev = kdev };
	if (slot >= p->slots_end)
		p->slots_end = slot + 1;
	*ret_slot = slot;
	return 0;
}

int probe_untrack(struct probe *p, dev_t dev)
{
	uint32_t kdev = kdev_from_dev(dev), slot = find_slot(p, kdev);
	uint64_t *place;

	if (slot == FST_NO_SLOT)
		return -ENOENT;
	place = p->shared ? find_place(p, kdev, (uint64_t)slot << 32 | kdev) : NULL;
	if (place)
		__atomic_store_n(place, 0, __ATOMIC_RELAXED);
	if (p->shared)
		unwatch_semaphores(p, kdev);
	p->slots[slot] = (struct tracked){ .draining = p->maps_error == 0 };
	while (p->slots_end && !p->slots[p->slots_end - 1].used)
		p->slots_end--;
	return 0;
}

void probe_count_fast_commits(struct probe *p, uint32_t slot)
{
	if (p->shared && slot < FST_MAX_DEVICES)
		__atomic_store_n(&p->shared->fast_commits[slot], 1, __ATOMIC_RELAXED);
}

uint64_t probe_activity(const struct probe *p, uint32_t slot)
{
	if (!p->shared || slot >= FST_MAX_DEVICES)
		return 0;
	return __atomic_load_n(&p->shared->activity[slot], __ATOMIC_RELAXED);
}

static void count_samples(struct fst_hist *h)
{
	h->count = 0;
	for (size_t i = 0; i < FST_HIST_SLOTS; i++)
		h->count += h->slot[i];
}

static void add_samples(struct fst_hist *to, const struct fst_hist *from)
{
	to->count += from->count;
	to->sum_ns += from->sum_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	for (size_t i = 0; i < FST_HIST_SLOTS; i++)
		to->slot[i] += from->slot[i];
}

int probe_read(struct probe *p, dev_t dev, struct fst_dev_stats *ret)
{
	uint32_t slot =
		p->shared ? fst_device_slot(p->shared, kdev_from_dev(dev)) : FST_NO_SLOT;
	uint32_t at = slot % FST_CHUNK_DEVICES;

	if (slot == FST_NO_SLOT)
		return -ENOENT;
	if (bpf_map_lookup_elem(p->chunks[slot / FST_CHUNK_DEVICES], &at, ret) < 0)
		return -errno;
	for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++)
		count_samples(&ret->hist[m]);
	add_samples(&ret->hist[FST_FSYNC], &ret->hist[FST_FSYNC_FAST]);
	add_samples(&ret->hist[FST_FSYNC], &ret->hist[FST_FSYNC_FULL]);
	return 0;
}

/* --- events --- */

void probe_set_outlier_ns(struct probe *p, enum fst_measure m, uint64_t ns)
{
	if (p->shared)
		__atomic_store_n(&p->shared->outlier_ns[m], ns, __ATOMIC_RELAXED);
}

void probe_arm_wake(struct probe *p)
{
	if (p->shared)
		__atomic_store_n(&p->shared->wake_armed, 1, __ATOMIC_RELAXED);
}

int probe_event_fd(const struct probe *p)
{
	return p->ring ? ring_buffer__epoll_fd(p->ring) : -1;
}

int probe_consume(struct probe *p, probe_event_cb cb, void *userdata)
{
	int n;

	if (!p->ring)
		return 0;
	p->cb = cb;
	p->cb_userdata = userdata;
	n = ring_buffer__consume(p->ring);
	p->cb = NULL;
	return n;
}

uint64_t probe_events_lost(const struct probe *p)
{
	return p->shared ? __atomic_load_n(&p->shared->events_lost, __ATOMIC_RELAXED) : 0;
}
