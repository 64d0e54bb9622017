// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices come and go, and so do their knobs; what the configuration says of each. */
#include <string.h>
#include "manager-internal.h"

/*
 * An event at least this long is sent with who waited and for whom; for shadow waits the
 * configuration's ForceCopyLongWait holds instead. A second is what people notice.
 */
#define OUTLIER_NS NSEC_PER_SEC

bool manager_observe_only(const struct manager *m)
{
	return m->options.observe_only || (m->config.observe_only && !m->options.automatic);
}

static void managed_free(struct managed *d)
{
	sampler_done(&d->sampler);
	if (d->model)
		model_free(d->model);
	free(d);
}

DEFINE_CLEANUP(struct managed *, managed_free)

struct managed *manager_find(struct manager *m, dev_t dev)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (m->devices[i]->device->id.dev == dev)
			return m->devices[i];
	return NULL;
}

struct managed *manager_find_id(struct manager *m, const struct device_id *id)
{
	struct managed *d = manager_find(m, id->dev);

	return d && device_id_equal(&d->device->id, id) ? d : NULL;
}

/* --- knobs --- */

static struct decision found(const struct knob_state *k, enum reason reason, const char *from)
{
	struct decision what = { .knob = k->id, .reason = reason };

	snprintf(what.from, sizeof(what.from), "%s", from);
	snprintf(what.to, sizeof(what.to), "%s", k->value);
	return what;
}

void manager_apply(struct manager *m, struct managed *d, const struct decision *what)
{
	int r = actuator_apply(m->actuator, d->device, &d->knobs[what->knob], what, false, 0);

	if (r < 0)
		manager_note(m, d->device->name, what, r, -1);
}

static enum knob_mode configured(const struct manager *m, const struct managed *d,
				 enum knob_id id)
{
	return manager_observe_only(m) ? KNOB_OBSERVE : d->config.knob[id].mode;
}

/* A value that the configuration decides: pinned, or to be given back. */
static void apply_configured(struct manager *m, struct managed *d, enum knob_id id)
{
	struct knob_state *k = &d->knobs[id];
	struct decision what = found(k, REASON_CONFIGURED, k->value);
	enum knob_mode mode = configured(m, d, id);
	const char *to = d->config.knob[id].value;

	if (!k->supported || *k->refused || k->busy)
		return;
	if (mode == KNOB_MANUAL && k->mode == KNOB_MANUAL &&
	    strcmp(k->pinned_by, PINNED_BY_CONFIGURATION) == 0) {
		snprintf(what.why, sizeof(what.why), "the configuration pins %s", to);
	} else if (mode == KNOB_OBSERVE && k->ours) {
		to = k->original;
		snprintf(what.why, sizeof(what.why), "the configuration allows advice only");
	} else {
		return;
	}
	if (!*to || strcmp(to, k->value) == 0)
		return;
	snprintf(what.to, sizeof(what.to), "%s", to);
	manager_apply(m, d, &what);
}

void manager_adopt(struct manager *m, struct managed *d, enum knob_id id)
{
	struct knob_state *k = &d->knobs[id];
	bool known = k->supported && k->ours;

	k->id = id;
	if (k->busy) {
		/* manager_on_done() comes back to it */
		d->adopt_again |= 1u << id;
		return;
	}
	d->adopt_again &= ~(1u << id);
	if (actuator_adopt(m->actuator, d->device, configured(m, d, id), k) > 0 && !known) {
		struct decision what = found(k, REASON_ADOPTED, k->value);

		snprintf(what.why, sizeof(what.why), "a former run had set it (before: %s)",
			 k->original);
		policy_ops(id)->adopt(&d->policy, &d->config, now_monotonic_us());
		manager_note(m, d->device->name, &what, 0, -1);
	}
	apply_configured(m, d, id);
}

void manager_adopt_all(struct manager *m, struct managed *d)
{
	for (enum knob_id id = 0; id < KNOB_MAX; id++)
		manager_adopt(m, d, id);
}

void manager_check(struct manager *m, struct managed *d, enum knob_id id)
{
	struct knob_state *k = &d->knobs[id];
	bool supported = k->supported;
	char before[KNOB_VALUE_MAX];

	if (k->busy)
		return;
	memcpy(before, k->value, sizeof(before));
	if (actuator_check(m->actuator, d->device, k) > 0) {
		struct decision what = found(k, REASON_FOREIGN, before);

		snprintf(what.why, sizeof(what.why),
			 "somebody else wrote %s: pinned until fstunectl auto", k->value);
		manager_note(m, d->device->name, &what, 0, -1);
	}
	if (k->supported && !supported)
		manager_adopt(m, d, id);
}

/* --- devices --- */

static void track(struct manager *m, struct managed *d)
{
	bool any = false;
	int r;

	if (d->tracked)
		return;
	for (enum fs_kind fs = 0; fs < FS_KIND_MAX; fs++) {
		if (!fs_kind_concerns(fs, d->device))
			continue;
		any = true;
		r = probe_open_fs(m->probe, fs);
		if (r < 0)
			log_debug_errno(r, "No probe of kind %d could be attached: %m",
					(int)fs);
	}
	if (!any)
		return;
	r = probe_track(m->probe, d->device->id.dev, &d->slot);
	if (r < 0 && !d->track_failed)
		log_warning_errno(r, "%s: cannot be measured: %s", d->device->name,
				  r == -ENOSPC ? "too many devices" : strerror(-r));
	d->track_failed = r < 0;
	d->tracked = r >= 0;
	if (d->tracked && d->device->type == DEVICE_F2FS &&
	    probe_watch_semaphores(m->probe, d->device->id.dev) < 0)
		log_info("%s: waits for its semaphores are not measured: too many f2fs",
			 d->device->name);
}

static bool is_needed(const struct manager *m, enum fs_kind fs)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (m->devices[i]->tracked && fs_kind_concerns(fs, m->devices[i]->device))
			return true;
	return false;
}

/* At once, not with the next sample, which may be that of the fsync that is to be counted. */
static void count_fast_commits(struct manager *m, const struct managed *d)
{
	if (d->tracked && d->device->fast_commit == FEATURE_YES)
		probe_count_fast_commits(m->probe, d->slot);
}

static void untrack(struct manager *m, struct managed *d)
{
	if (!d->tracked)
		return;
	(void)probe_untrack(m->probe, d->device->id.dev);
	d->tracked = false;
	/* What is still open keeps the file system's module from being unloaded. */
	for (enum fs_kind fs = 0; fs < FS_KIND_MAX; fs++)
		if (!is_needed(m, fs))
			probe_close_fs(m->probe, fs);
}

static int by_name(const void *a, const void *b)
{
	const struct managed *const *x = a, *const *y = b;

	return strcmp((*x)->device->name, (*y)->device->name);
}

static void on_added(struct device *device, void *userdata)
{
	_cleanup_(managed_freep) struct managed *d = calloc(1, sizeof(*d));
	struct manager *m = userdata;
	struct managed **bigger;

	bigger = reallocarray(m->devices, m->n_devices + 1, sizeof(*bigger));
	if (bigger)
		m->devices = bigger;
	if (!d || !bigger || model_new(&d->model) < 0) {
		(void)log_oom();
		return;
	}
	d->device = device;
	config_for_device(&m->config, device, &d->config);
	log_debug("%s: %s found, journal %s", device->name, device->fstype,
		  *device->journal ? device->journal : "none");
	track(m, d);
	manager_adopt_all(m, d);
	m->devices[m->n_devices++] = TAKE_PTR(d);
	qsort(m->devices, m->n_devices, sizeof(struct managed *), by_name);
}

static void on_changed(struct device *device, void *userdata)
{
	struct manager *m = userdata;
	struct managed *d = manager_find_id(m, &device->id);

	if (!d)
		return;
	/* A UUID, a label or a mount point may be what a [Device] section names. */
	config_for_device(&m->config, device, &d->config);
	track(m, d);
	count_fast_commits(m, d);
	manager_adopt_all(m, d);
}

static void forget(struct manager *m, size_t i)
{
	struct managed *d = m->devices[i];

	log_debug("%s: gone", d->device->name);
	actuator_forget(m->actuator, &d->device->id);
	untrack(m, d);
	memmove(&m->devices[i], &m->devices[i + 1],
		(m->n_devices - i - 1) * sizeof(struct managed *));
	m->n_devices--;
	managed_free(d);
}

static void on_removed(struct device *device, void *userdata)
{
	struct manager *m = userdata;

	for (size_t i = 0; i < m->n_devices; i++)
		if (m->devices[i]->device == device) {
			forget(m, i);
			return;
		}
}

void manager_forget_devices(struct manager *m)
{
	while (m->n_devices > 0)
		forget(m, m->n_devices - 1);
	free(m->devices);
	m->devices = NULL;
}

static void set_outlier_thresholds(struct manager *m)
{
	uint64_t shadow_us = m->config.policy.long_wait_us;

	for (size_t i = 0; i < m->n_devices; i++)
		if (m->devices[i]->config.long_wait_us < shadow_us)
			shadow_us = m->devices[i]->config.long_wait_us;
	for (enum fst_measure f = 0; f < FST_MEASURE_MAX; f++)
		probe_set_outlier_ns(m->probe, f,
				     f == FST_SHADOW_WAIT ? shadow_us * NSEC_PER_USEC
							  : OUTLIER_NS);
}

void manager_refresh(struct manager *m)
{
	static const struct device_events events = {
		.added = on_added,
		.changed = on_changed,
		.removed = on_removed,
	};
	int r = device_list_refresh(&m->list, &events, m);

	if (r < 0)
		log_warning_errno(r, "Cannot read the list of file systems: %m");
	for (size_t i = 0; i < m->n_devices; i++) {
		/* There may be room for it now. */
		track(m, m->devices[i]);
		for (enum knob_id id = 0; id < KNOB_MAX; id++)
			manager_check(m, m->devices[i], id);
	}
	actuator_prune(m->actuator);
	/* A device that came, or a name that it got, may have a threshold of its own. */
	set_outlier_thresholds(m);
	/* The bus may have come up after us, or come back. */
	(void)bus_connect_system(m->bus);
	(void)bus_check(m->bus);
	m->last_refresh_us = now_monotonic_us();
}

void manager_configure_devices(struct manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++) {
		struct managed *d = m->devices[i];

		config_for_device(&m->config, d->device, &d->config);
		manager_adopt_all(m, d);
	}
	set_outlier_thresholds(m);
}
