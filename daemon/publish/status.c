// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "../base/units.h"
#include "status-internal.h"
#include "status.h"

const struct probe_measure *view_measure(const struct view *v, enum fst_measure m)
{
	static const struct probe_measure none = { .way = WAY_NONE,
						   .why = "the probes could not be set up" };

	return v->probe ? probe_measure(v->probe, m) : &none;
}

bool view_needs_kind(const struct view *v, enum fs_kind fs)
{
	for (size_t i = 0; i < v->n_devices; i++)
		if (fs_kind_concerns(fs, v->devices[i].device))
			return true;
	return false;
}

bool view_needs(const struct view *v, enum fst_measure m)
{
	return view_needs_kind(v, measure_fs_kind(m)) && !view_measure(v, m)->absent;
}

const struct device_view *view_device(const struct view *v, const char *name)
{
	for (size_t i = 0; i < v->n_devices; i++)
		if (strcmp(v->devices[i].device->name, name) == 0)
			return &v->devices[i];
	return NULL;
}

const struct history_entry *view_history(const struct view *v, size_t i)
{
	return &v->history[(v->history_first + i) % v->history_max];
}

void status_put_knob(struct doc *j, const struct knob_state *k)
{
	const struct knob_ops *ops = knob_ops(k->id);

	doc_str(j, "knob", ops->name);
	doc_bool(j, "supported", k->supported);
	doc_str(j, "why", k->supported || !*k->why ? NULL : k->why);
	doc_str(j, "refused", *k->refused ? k->refused : NULL);
	doc_str(j, "value", *k->value ? k->value : NULL);
	doc_str(j, "mode", knob_mode_to_string(k->mode));
	doc_str(j, "pinned_by", *k->pinned_by ? k->pinned_by : NULL);
	doc_bool(j, "ours", k->ours);
	doc_bool(j, "busy", k->busy);
	doc_bool(j, "stuck", k->stuck);
	doc_str(j, "original", *k->original ? k->original : NULL);
	doc_str(j, "initial", ops->initial);
	doc_str(j, "values", ops->unit);
	doc_str(j, "path", *k->path ? k->path : NULL);
	doc_str(j, "cost", ops->cost);
}

void status_put_decision(struct doc *j, const struct history_entry *e)
{
	const struct decision *d = &e->decision;

	doc_open_object(j, NULL);
	doc_u64(j, "time_us", e->time_us);
	doc_str(j, "device", e->device);
	doc_str(j, "knob", knob_ops(d->knob)->name);
	doc_str(j, "from", *d->from ? d->from : NULL);
	doc_str(j, "to", d->to);
	doc_str(j, "reason", reason_to_string(d->reason));
	doc_str(j, "why", d->why);
	doc_str(j, "result", d->advice ? "advised" : e->result < 0 ? "refused" : "applied");
	doc_str(j, "error", !d->advice && e->result < 0 ? strerror(-e->result) : NULL);
	if (e->uid < 0)
		doc_null(j, "uid");
	else
		doc_i64(j, "uid", e->uid);
	doc_close(j);
}

static void put_measures(struct doc *j, const struct view *v)
{
	doc_open_array(j, "measures");
	for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++) {
		const struct probe_measure *pm = view_measure(v, m);

		doc_open_object(j, NULL);
		doc_str(j, "measure", measure_to_string(m));
		doc_str(j, "way", way_to_string(pm->way));
		doc_str(j, "why", *pm->why ? pm->why : NULL);
		doc_bool(j, "needed", view_needs(v, m));
		doc_close(j);
	}
	doc_close(j);
}

static void put_daemon(struct doc *j, const struct view *v)
{
	bool paused = v->paused_until_us > v->now_us;

	doc_str(j, "version", FSTUNED_VERSION);
	doc_str(j, "kernel", v->caps->release);
	doc_str(j, "state", paused ? "paused" : v->observe_only ? "observing" : "auto");
	if (paused && v->paused_until_us != USEC_INFINITY)
		doc_u64(j, "paused_for_us", v->paused_until_us - v->now_us);
	else
		doc_null(j, "paused_for_us");
	doc_u64(j, "uptime_us", v->now_us - v->start_us);
	doc_u64(j, "ticks", v->ticks);
	doc_u64(j, "events_lost", v->probe ? probe_events_lost(v->probe) : 0);
	doc_u64(j, "log_dropped", v->log_dropped);
	doc_str(j, "lockdown", v->caps->lockdown);
	put_measures(j, v);
}

int status_describe(const struct view *v, const char *device, char **ret)
{
	_cleanup_(doc_done) struct doc j = { 0 };
	const struct device_view *one = NULL;

	if (device && *device) {
		one = view_device(v, device);
		if (!one)
			return -ENODEV;
	}

	doc_open_object(&j, NULL);
	put_daemon(&j, v);
	doc_open_array(&j, "devices");
	if (one)
		status_put_device(&j, v, one, true);
	else
		for (size_t i = 0; i < v->n_devices; i++)
			status_put_device(&j, v, &v->devices[i], false);
	doc_close(&j);
	return doc_finish(&j, ret);
}

int status_get(const struct view *v, const char *device, const char *knob, char **ret)
{
	_cleanup_(doc_done) struct doc j = { 0 };
	const struct device_view *dv = view_device(v, device);
	enum knob_id id = KNOB_MAX;

	if (!dv)
		return -ENODEV;
	if (knob && *knob && knob_from_string(knob, &id) < 0)
		return -ENOENT;

	doc_open_object(&j, NULL);
	doc_str(&j, "device", dv->device->name);
	doc_open_array(&j, "knobs");
	for (enum knob_id i = 0; i < KNOB_MAX; i++)
		if (id == KNOB_MAX ? knob_concerns(i, dv->device) : i == id) {
			doc_open_object(&j, NULL);
			status_put_knob(&j, &dv->knobs[i]);
			doc_close(&j);
		}
	doc_close(&j);
	return doc_finish(&j, ret);
}

int status_history(const struct view *v, const char *device, uint64_t since_us, char **ret)
{
	_cleanup_(doc_done) struct doc j = { 0 };

	doc_open_object(&j, NULL);
	doc_open_array(&j, "history");
	for (size_t i = 0; i < v->n_history; i++) {
		const struct history_entry *e = view_history(v, i);

		if (e->time_us >= since_us &&
		    (!device || !*device || strcmp(e->device, device) == 0))
			status_put_decision(&j, e);
	}
	doc_close(&j);
	return doc_finish(&j, ret);
}
