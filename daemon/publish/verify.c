// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "status-internal.h"
#include "status.h"

/* Reads the knob and says how that compares. `actual` stays empty where nothing was read. */
static const char *compare(const struct knob_state *k, char actual[static KNOB_VALUE_MAX],
			   const char **error)
{
	int r;

	*error = NULL;
	if (k->busy) {
		*error = "a change is in progress";
		return "unknown";
	}
	r = knob_ops(k->id)->read(k->path, actual);
	if (r < 0) {
		actual[0] = '\0';
		*error = strerror(-r);
		return "unknown";
	}
	return strcmp(actual, k->value) == 0 ? "same" : "differs";
}

static void put_knob(struct doc *j, const struct device *d, const struct knob_state *k)
{
	char actual[KNOB_VALUE_MAX] = "";
	const char *error, *state = compare(k, actual, &error);

	doc_open_object(j, NULL);
	doc_str(j, "device", d->name);
	doc_str(j, "knob", knob_ops(k->id)->name);
	doc_str(j, "believed", *k->value ? k->value : NULL);
	doc_str(j, "actual", *actual ? actual : NULL);
	doc_str(j, "state", state);
	doc_str(j, "error", error);
	doc_close(j);
}

static const struct knob_state *find_knob(const struct view *v, const struct ledger_entry *e)
{
	for (size_t i = 0; i < v->n_devices; i++)
		if (device_id_equal(&v->devices[i].device->id, &e->id))
			return &v->devices[i].knobs[e->knob];
	return NULL;
}

/* What is answered for, and cannot be looked at: its file has gone, or holds no value. */
static void put_entry(struct doc *j, const struct ledger_entry *e, const struct knob_state *k)
{
	doc_open_object(j, NULL);
	doc_str(j, "device", e->device);
	doc_str(j, "knob", knob_ops(e->knob)->name);
	doc_str(j, "believed", e->written);
	doc_str(j, "actual", NULL);
	doc_str(j, "state", "unknown");
	doc_str(j, "error", k ? k->why : "its file system is not seen");
	doc_close(j);
}

static void put_ledger(struct doc *j, const struct view *v)
{
	for (size_t i = 0; v->ledger && i < v->ledger->n; i++) {
		const struct ledger_entry *e = &v->ledger->entries[i];
		const struct knob_state *k = find_knob(v, e);

		if (!k || !k->supported)
			put_entry(j, e, k);
	}
}

int status_verify(const struct view *v, char **ret)
{
	_cleanup_(doc_done) struct doc j = { 0 };

	doc_open_object(&j, NULL);
	doc_open_array(&j, "knobs");
	for (size_t i = 0; i < v->n_devices; i++)
		for (enum knob_id id = 0; id < KNOB_MAX; id++)
			if (v->devices[i].knobs[id].supported)
				put_knob(&j, v->devices[i].device, &v->devices[i].knobs[id]);
	put_ledger(&j, v);
	doc_close(&j);
	return doc_finish(&j, ret);
}
