// SPDX-License-Identifier: GPL-2.0-or-later
/* The tick: observe, decide, act, for each device, in that order. */
#include <string.h>
#include "manager-internal.h"

/* Ticks that events ask for are at least this far apart, so that a flood costs nothing. */
#define TICK_MIN_US (100 * USEC_PER_MSEC)

/*
 * A paused policy sees a knob that is not its business, so that it goes on taking samples in
 * and begins anew, with fresh clocks, when it may decide again.
 */
static struct knob_view view_of_knob(const struct manager *m, const struct knob_state *k,
				     bool paused)
{
	struct knob_view v = {
		.supported = k->supported,
		.mode = k->mode,
		.ours = k->ours,
		.busy = k->busy,
	};

	memcpy(v.value, k->value, sizeof(v.value));
	if (v.mode == KNOB_AUTO && (*k->refused || manager_observe_only(m)))
		v.mode = KNOB_OBSERVE;
	if (paused)
		v.mode = KNOB_MANUAL;
	return v;
}

static bool is_notice(const struct decision *d)
{
	return strcmp(d->from, d->to) == 0;
}

static void act(struct manager *m, struct managed *d, const struct decision *what)
{
	if (what->advice || is_notice(what))
		manager_note(m, d->device->name, what, 0, -1);
	else
		manager_apply(m, d, what);
}

static void decide(struct manager *m, struct managed *d, const struct sample *s)
{
	bool paused = m->paused_until_us > s->now_us;

	for (enum knob_id id = 0; id < KNOB_MAX; id++) {
		struct knob_view knob = view_of_knob(m, &d->knobs[id], paused);
		struct decision what;

		if (policy_ops(id)->decide(&d->policy, &d->config, s, &knob, &what) > 0)
			act(m, d, &what);
	}
}

static void tick_device(struct manager *m, struct managed *d, uint64_t now, double pressure)
{
	struct knob_view knob;
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
	    device_set_journal(d->device, d->sampler.last->journal))
		manager_adopt_all(m, d);
	if (model_update(d->model, &s) < 0)
		(void)log_oom();
	decide(m, d, &s);
	knob = view_of_knob(m, &d->knobs[KNOB_FORCE_COPY], false);
	d->verdict = verdict_of(d->model, &knob, &d->policy.force_copy, &d->config, now,
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

/* The list and the knobs are looked at as often as that, also where mounts came between. */
int manager_schedule(struct manager *m)
{
	uint64_t at = m->last_tick_us +
		      (m->idle ? m->config.idle_interval_us : m->config.interval_us);
	uint64_t refresh = m->last_refresh_us + m->config.idle_interval_us;

	return schedule_at(m, refresh < at ? refresh : at);
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
