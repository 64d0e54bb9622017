/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of documents that several of them share. */
#ifndef FSTUNED_PUBLISH_STATUS_INTERNAL_H
#define FSTUNED_PUBLISH_STATUS_INTERNAL_H

#include "json.h"
#include "view.h"

/* How `m` is got; a view without probes measures nothing. Never NULL. */
const struct probe_measure *view_measure(const struct view *v, enum fst_measure m);

/* Is there a device that `m` is of, and a kernel that does what it measures? */
bool view_needs(const struct view *v, enum fst_measure m);
bool view_needs_kind(const struct view *v, enum fs_kind fs);

/* NULL: no such device in the view. */
const struct device_view *view_device(const struct view *v, const char *name);

/* The i-th entry of the history, oldest first. */
const struct history_entry *view_history(const struct view *v, size_t i);

/* Members of the open object: a measure over span_us; a knob. */
void status_put_window(struct doc *j, const struct hist *h, uint64_t span_us);
void status_put_knob(struct doc *j, const struct knob_state *k);

/* One object each. `deep`: with what only `status DEVICE` shows. */
void status_put_device(struct doc *j, const struct view *v, const struct device_view *dv,
		       bool deep);
void status_put_decision(struct doc *j, const struct history_entry *e);

#endif
