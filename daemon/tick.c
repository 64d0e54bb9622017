// SPDX-License-Identifier: GPL-2.0-or-later
/* The tick: observe, decide, act, for each device, in that order. */
#include <string.h>
#include "act/change-log.h"
#include "manager-internal.h"

/*
 * An event at least this long is sent with who waited and for whom; for shadow waits the
 * configuration's ForceCopyLongWait holds instead. A second is what people notice.
 */
#define OUTLIER_NS NSEC_PER_SEC

/* Ticks that events ask for are at least this far apart, so that a flood costs nothing. */
#define TICK_MIN_US (100 * USEC_PER_MSEC)

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

/* --- devices come and go --- */

static enum knob_mode configured_mode(const struct manager *m, const struct managed *d)
{
	if (manager_observe_only(m))
		return KNOB_OBSERVE;
	return d->config.force_copy_mode;
}

/* Begins a change of the policy's or the configuration's; its end is manager_on_done(). */
static void apply(struct manager *m, struct managed *d, const struct decision *what)
{
	int r = actuator_apply(m->actuator, d->device, &d->knobs[what->knob], what, false, 0);

	if (r < 0) {
		change_log(d->device->name, what, r);
		manager_record(m, d->device->name, what, r, -1);
	}
}

/* A value that the configuration decides: pinned, or to be given back. */
static void apply_configured(struct manager *m, struct managed *d)
{
	struct knob_state *k = &d->knobs[KNOB_FORCE_COPY];
	struct decision what = { .knob = KNOB_FORCE_COPY, .reason = REASON_CONFIGURED };
	enum knob_mode mode = configured_mode(m, d);
	const char *to;

	if (!k->supported || k->busy)
		return;
	if (mode == KNOB_MANUAL && strcmp(k->pinned_by, "configuration") == 0) {
		to = d->config.force_copy_value;
		snprintf(what.why, sizeof(what.why), "the configuration pins %s", to);
	} else if (mode == KNOB_OBSERVE && k->ours) {
		to = k->original;
		snprintf(what.why, sizeof(what.why), "the configuration allows advice only");
	} else {
		return;
	}
	if (!*to || strcmp(to, k->value) == 0)
		return;
	snprintf(what.from, sizeof(what.from), "%s", k->value);
	snprintf(what.to, sizeof(what.to), "%s", to);
	apply(m, d, &what);
}

static void adopt(struct manager *m, struct managed *d)
{
	struct knob_state *k = &d->knobs[KNOB_FORCE_COPY];
	bool known = k->supported && k->ours;
	int r = actuator_adopt(m->actuator, d->device, configured_mode(m, d), k);

	if (r > 0 && !known) {
		struct decision what = { .knob = KNOB_FORCE_COPY, .reason = REASON_ADOPTED };

		snprintf(what.from, sizeof(what.from), "%s", k->value);
		snprintf(what.to, sizeof(what.to), "%s", k->value);
		snprintf(what.why, sizeof(what.why), "a former run had set it (before: %s)",
			 k->original);
		policy_force_copy_adopt(&d->force_copy, &d->config, now_monotonic_us());
		manager_record(m, d->device->name, &what, 0, -1);
		change_log(d->device->name, &what, 0);
	}
	apply_configured(m, d);
}

static void track(struct manager *m, struct managed *d)
{
	int r;

	if (d->tracked || !d->device->has_journal)
		return;
	for (enum fs_kind fs = 0; fs < FS_KIND_MAX; fs++) {
		r = probe_open_fs(m->probe, fs);
		if (r < 0)
			log_debug_errno(r, "No probe of kind %d could be attached: %m",
					(int)fs);
	}
	r = probe_track(m->probe, d->device->id.dev, &d->slot);
	if (r < 0)
		log_warning_errno(r, "%s: cannot be measured: %m", d->device->name);
	else
		d->tracked = true;
}

static void untrack(struct manager *m, struct managed *d)
{
	bool last = true;

	if (!d->tracked)
		return;
	(void)probe_untrack(m->probe, d->device->id.dev);
	d->tracked = false;
	for (size_t i = 0; i < m->n_devices; i++)
		last = last && !m->devices[i]->tracked;
	for (enum fs_kind fs = 0; last && fs < FS_KIND_MAX; fs++)
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
	adopt(m, d);
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
	if (!d->knobs[KNOB_FORCE_COPY].busy)
		adopt(m, d);
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

/* What somebody else did to a knob since it was last looked at. */
static void check_knobs(struct manager *m, struct managed *d)
{
	struct knob_state *k = &d->knobs[KNOB_FORCE_COPY];
	char before[KNOB_VALUE_MAX];

	if (k->busy)
		return;
	snprintf(before, sizeof(before), "%s", k->value);
	if (actuator_check(m->actuator, d->device, k) > 0) {
		struct decision what = { .knob = KNOB_FORCE_COPY, .reason = REASON_FOREIGN };

		snprintf(what.from, sizeof(what.from), "%s", before);
		snprintf(what.to, sizeof(what.to), "%s", k->value);
		snprintf(what.why, sizeof(what.why),
			 "somebody else wrote %s: pinned until fstunectl auto", k->value);
		manager_record(m, d->device->name, &what, 0, -1);
		change_log(d->device->name, &what, 0);
	}
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
	for (size_t i = 0; i < m->n_devices; i++)
		check_knobs(m, m->devices[i]);
	/* The bus may have come up after us, or come back. */
	(void)bus_connect_system(m->bus);
	m->last_refresh_us = now_monotonic_us();
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

void manager_configure_devices(struct manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++) {
		struct managed *d = m->devices[i];

		config_for_device(&m->config, d->device, &d->config);
		if (!d->knobs[KNOB_FORCE_COPY].busy)
			adopt(m, d);
	}
	set_outlier_thresholds(m);
}

/* --- the tick --- */

static void view_of_knob(const struct manager *m, const struct managed *d,
			 struct knob_view *ret)
{
	const struct knob_state *k = &d->knobs[KNOB_FORCE_COPY];

	*ret = (struct knob_view){
		.supported = k->supported,
		.mode = k->mode == KNOB_AUTO && manager_observe_only(m) ? KNOB_OBSERVE
									: k->mode,
		.ours = k->ours,
		.busy = k->busy,
	};
	memcpy(ret->value, k->value, sizeof(ret->value));
}

static bool is_notice(const struct decision *d)
{
	return strcmp(d->from, d->to) == 0;
}

static void act(struct manager *m, struct managed *d, const struct decision *what)
{
	if (what->advice || is_notice(what)) {
		change_log(d->device->name, what, 0);
		manager_record(m, d->device->name, what, 0, -1);
	} else {
		apply(m, d, what);
	}
}

static void tick_device(struct manager *m, struct managed *d, uint64_t now, double pressure)
{
	struct knob_view knob;
	struct decision what;
	struct sample s;
	int r;

	if (!d->tracked)
		return;
	r = sample_take(&d->sampler, m->probe, d->device, d->slot, m->options.sysroot, now,
			pressure, false, &s);
	if (r < 0)
		log_debug_errno(r, "%s: no sample: %m", d->device->name);
	d->active = s.active;
	/* The journal's own word for its name is better than what was guessed before. */
	if (d->sampler.last && *d->sampler.last->journal &&
	    strcmp(d->sampler.last->journal, d->device->journal) != 0) {
		memcpy(d->device->journal, d->sampler.last->journal,
		       sizeof(d->device->journal));
		if (!d->knobs[KNOB_FORCE_COPY].busy)
			adopt(m, d);
	}
	if (model_update(d->model, &s) < 0)
		(void)log_oom();

	view_of_knob(m, d, &knob);
	if (m->paused_until_us <= now &&
	    policy_force_copy(&d->force_copy, &d->config, &s, &knob, &what) > 0)
		act(m, d, &what);
	view_of_knob(m, d, &knob);
	d->verdict = verdict_of(d->model, &knob, &d->force_copy, &d->config, now,
				d->verdict_text, sizeof(d->verdict_text));
}

void manager_tick(struct manager *m)
{
	uint64_t now = now_monotonic_us();
	double pressure;
	bool active = false;

	if (now - m->last_refresh_us >= m->config.idle_interval_us)
		manager_refresh(m);
	pressure = m->n_devices > 0 ? memory_pressure_read() : -1;
	for (size_t i = 0; i < m->n_devices; i++) {
		tick_device(m, m->devices[i], now, pressure);
		active = active || m->devices[i]->active;
	}
	m->ticks++;
	m->last_tick_us = now;
	m->idle = !active;
	if (m->idle)
		probe_arm_wake(m->probe);
}

static int schedule_at(struct manager *m, uint64_t at_us)
{
	int r = sd_event_source_set_time(m->tick_source, at_us);

	return r < 0 ? r : sd_event_source_set_enabled(m->tick_source, SD_EVENT_ONESHOT);
}

int manager_schedule(struct manager *m)
{
	return schedule_at(m, m->last_tick_us + (m->idle ? m->config.idle_interval_us
							 : m->config.interval_us));
}

int manager_schedule_now(struct manager *m)
{
	uint64_t now = now_monotonic_us(), at = m->last_tick_us + TICK_MIN_US;

	return schedule_at(m, at > now ? at : now);
}

void manager_on_event(const struct fst_event *event, void *userdata)
{
	struct manager *m = userdata;
	struct managed *d;

	if (event->type == FST_EVENT_OUTLIER) {
		d = manager_find(m, dev_from_kdev(event->dev));
		if (!d)
			return;
		d->outliers[d->outlier_next] = (struct outlier){
			.time_us = now_realtime_us() -
				   (now_monotonic_us() - event->ts_ns / NSEC_PER_USEC),
			.event = *event,
		};
		d->outlier_next = (d->outlier_next + 1) % OUTLIERS_MAX;
		if (d->n_outliers < OUTLIERS_MAX)
			d->n_outliers++;
		if (event->measure != FST_SHADOW_WAIT)
			return;
	}
	/* Woken from idleness, or somebody waited long for a shadow buffer: look now. */
	m->idle = false;
	(void)manager_schedule_now(m);
}
