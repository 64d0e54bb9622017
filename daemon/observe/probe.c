// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include "../base/log.h"
#include "bpf-log.h"
#include "probe-load.h"
#include "probe.h"

DEFINE_CLEANUP(struct ring_buffer *, ring_buffer__free)

struct tracked {
	bool used;
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
	uint32_t slots_end; /* no slot in use at or above it */
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
		      uint32_t n, uint32_t flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create(type, name, key, value, n, &opts);

	return fd < 0 ? -errno : fd;
}

static int create_maps(struct probe *p)
{
	struct probe_maps *m = &p->maps;
	void *shared;

	m->stats = map_create(BPF_MAP_TYPE_HASH, "fst_stats", sizeof(uint32_t),
			      sizeof(struct fst_dev_stats), FST_MAX_DEVICES, BPF_F_NO_PREALLOC);
	if (m->stats < 0)
		return m->stats;
	m->shared = map_create(BPF_MAP_TYPE_ARRAY, "fst_shared", sizeof(uint32_t),
			       sizeof(struct fst_shared), 1, BPF_F_MMAPABLE);
	if (m->shared < 0)
		return m->shared;
	m->events = map_create(BPF_MAP_TYPE_RINGBUF, "fst_events", 0, 0, FST_EVENTS_BYTES, 0);
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
	safe_close(p->maps.stats);
	safe_close(p->maps.shared);
	safe_close(p->maps.events);
	free(p);
}

/* --- file systems and measures --- */

/* A measure goes the worst way that one of its hooks goes; without one of them, none. */
static void measure_settle(struct probe *p, enum fst_measure m)
{
	const struct measure *t = &measures[m];
	const struct hook_state *worst = NULL;

	for (size_t i = 0; i < t->n_needs; i++) {
		const struct hook_state *s = &p->hooks[t->needs[i]];

		if (!worst || s->way == WAY_NONE ||
		    (worst->way != WAY_NONE && s->way > worst->way))
			worst = s;
		if (s->way == WAY_NONE)
			break;
	}
	p->measures[m].way = worst->way;
	(void)snprintf(p->measures[m].why, sizeof(p->measures[m].why), "%s", worst->why);
}

static void measures_log(const struct probe *p, enum fs_kind fs)
{
	for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++) {
		const struct probe_measure *pm = &p->measures[m];

		if (measures[m].fs != fs)
			continue;
		if (pm->way == WAY_NONE)
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
	return FST_MAX_DEVICES;
}

static uint32_t free_slot(const struct probe *p)
{
	uint32_t i = 0;

	while (i < p->slots_end && p->slots[i].used)
		i++;
	return i;
}

int probe_track(struct probe *p, dev_t dev, uint32_t *ret_slot)
{
	_cleanup_free_ struct fst_dev_stats *fresh = NULL;
	uint32_t kdev = kdev_from_dev(dev), slot = find_slot(p, kdev);

	if (slot < FST_MAX_DEVICES) {
		*ret_slot = slot;
		return 0;
	}
	slot = free_slot(p);
	if (slot >= FST_MAX_DEVICES)
		return -ENOSPC;
	if (p->maps_error == 0) {
		fresh = calloc(1, sizeof(*fresh));
		if (!fresh)
			return -ENOMEM;
		fresh->slot = slot;
		if (bpf_map_update_elem(p->maps.stats, &kdev, fresh, BPF_NOEXIST) < 0)
			return -errno;
		__atomic_store_n(&p->shared->activity[slot], 0, __ATOMIC_RELAXED);
	}
	p->slots[slot] = (struct tracked){ .used = true, .kdev = kdev };
	if (slot >= p->slots_end)
		p->slots_end = slot + 1;
	*ret_slot = slot;
	return 0;
}

int probe_untrack(struct probe *p, dev_t dev)
{
	uint32_t kdev = kdev_from_dev(dev), slot = find_slot(p, kdev);

	if (slot >= FST_MAX_DEVICES)
		return -ENOENT;
	p->slots[slot].used = false;
	while (p->slots_end && !p->slots[p->slots_end - 1].used)
		p->slots_end--;
	if (p->maps_error == 0 && bpf_map_delete_elem(p->maps.stats, &kdev) < 0)
		return -errno;
	return 0;
}

uint64_t probe_activity(const struct probe *p, uint32_t slot)
{
	if (!p->shared || slot >= FST_MAX_DEVICES)
		return 0;
	return __atomic_load_n(&p->shared->activity[slot], __ATOMIC_RELAXED);
}

int probe_read(struct probe *p, dev_t dev, struct fst_dev_stats *ret)
{
	uint32_t kdev = kdev_from_dev(dev);

	if (p->maps_error < 0)
		return -ENOENT;
	return bpf_map_lookup_elem(p->maps.stats, &kdev, ret) < 0 ? -errno : 0;
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
