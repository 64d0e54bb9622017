// SPDX-License-Identifier: GPL-2.0-or-later
/* Looking at knobs: adopting, checking, pinning. Writing is in apply.c, giving back in
 * restore.c.
 */
#include <limits.h>
#include <string.h>
#include "../base/log.h"
#include "../base/time-util.h"
#include "actuator-internal.h"

/* --- begin and end --- */

int sysroot_resolve(const char *sysroot, char **ret)
{
	char *s;

	if (!sysroot || !*sysroot)
		s = strdup("");
	else
		s = realpath(sysroot, NULL);
	if (!s)
		return -errno;
	*ret = s;
	return 0;
}

int actuator_new(struct actuator **ret, sd_event *event, const char *runtime_dir,
		 const char *sysroot, actuator_done_cb done, void *userdata)
{
	_cleanup_(actuator_freep) struct actuator *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	a->event = sd_event_ref(event);
	a->done = done;
	a->userdata = userdata;
	r = sysroot_resolve(sysroot, &a->sysroot);
	if (r < 0)
		return r;
	r = ledger_open(&a->ledger, runtime_dir);
	if (r == -EBADMSG)
		log_error("%s: not a ledger of this version, renamed to .bad; knobs that are "
			  "set count as somebody else's",
			  a->ledger.path);
	else if (r < 0)
		return r;
	*ret = TAKE_PTR(a);
	return 0;
}

void actuator_free(struct actuator *a)
{
	uint64_t until_us = now_monotonic_us() + ACTUATOR_DEADLINE_US;

	while (a->changes) {
		struct change *c = a->changes;

		a->changes = c->next;
		change_abandon(c, until_us);
	}
	ledger_close(&a->ledger);
	free(a->sysroot);
	sd_event_unref(a->event);
	free(a);
}

struct ledger *actuator_ledger(struct actuator *a)
{
	return &a->ledger;
}

void actuator_forget(struct actuator *a, const struct device_id *id)
{
	for (struct change *c = a->changes; c; c = c->next)
		if (device_id_equal(&c->intent.id, id))
			c->k = NULL;
}

/* --- entries --- */

bool entry_is_void(const struct ledger_entry *e, const char *value)
{
	return !e->pinned && strcmp(value, e->original) == 0 &&
	       strcmp(value, knob_ops(e->knob)->initial) == 0;
}

int entry_is_stale(const struct ledger_entry *e)
{
	struct device_id id;
	int r = device_id_read(e->device, &id);

	/* -EINVAL: a name that no device can have. */
	if (r == -ENODEV || r == -EINVAL)
		return 1;
	return r < 0 ? r : !device_id_equal(&id, &e->id);
}

struct ledger_entry entry_of(struct actuator *a, const struct device *d,
			     const struct knob_state *k)
{
	const struct ledger_entry *old = ledger_find(&a->ledger, &d->id, k->id);
	struct ledger_entry e = { .id = d->id, .knob = k->id };

	if (old)
		e = *old;
	else
		memcpy(e.original, k->value, sizeof(e.original));
	snprintf(e.device, sizeof(e.device), "%s", d->name);
	memcpy(e.path, k->path, sizeof(e.path));
	e.time_us = now_realtime_us();
	return e;
}

bool entry_settle(struct ledger *l, struct ledger_entry *e, const char *value)
{
	bool none = entry_is_void(e, value);
	int r;

	e->state = e->pinned ? LEDGER_PINNED : LEDGER_APPLIED;
	e->from_pinned = false;
	snprintf(e->from, sizeof(e->from), "%s", value);
	snprintf(e->written, sizeof(e->written), "%s", value);
	r = none ? ledger_remove(l, &e->id, e->knob) : ledger_put(l, e);
	if (r < 0)
		log_warning_errno(r, "%s: %s=%s is not in %s: %m", e->device,
				  knob_ops(e->knob)->name, value, l->path);
	return !none;
}

static void set_pinned(struct ledger_entry *e, const char *by)
{
	e->pinned = true;
	snprintf(e->by, sizeof(e->by), "%s", by);
	e->reason = strcmp(by, PINNED_BY_FOREIGN) == 0 ? REASON_FOREIGN : REASON_ADMINISTRATOR;
}

void pin_foreign(struct ledger *l, const struct ledger_entry *base, struct knob_state *k,
		 const char *value)
{
	struct ledger_entry e = *base;

	set_pinned(&e, PINNED_BY_FOREIGN);
	(void)entry_settle(l, &e, value);
	if (!k)
		return;
	if (value != k->value)
		snprintf(k->value, sizeof(k->value), "%s", value);
	k->mode = KNOB_MANUAL;
	k->ours = false;
	snprintf(k->pinned_by, sizeof(k->pinned_by), "%s", PINNED_BY_FOREIGN);
	memcpy(k->original, e.original, sizeof(k->original));
}

/* --- adopting --- */

/* Probes and reads. False: not supported, k->why says why. */
static bool look(struct actuator *a, const struct device *d, struct knob_state *k)
{
	const struct knob_ops *ops = knob_ops(k->id);
	int r;

	k->supported = false;
	*k->why = *k->refused = *k->path = *k->value = '\0';
	if (!knob_concerns(k->id, d)) {
		snprintf(k->why, sizeof(k->why), "not a knob of %s", d->fstype);
		return false;
	}
	r = ops->probe(d, a->sysroot, k->path, sizeof(k->path), k->why, sizeof(k->why));
	if (r < 0)
		return false;
	if (r > 0) {
		memcpy(k->refused, k->why, sizeof(k->refused));
		*k->why = '\0';
	}
	r = ops->read(k->path, k->value);
	if (r < 0) {
		*k->value = '\0';
		snprintf(k->why, sizeof(k->why), "%.100s: %s", k->path,
			 r == -EBADMSG ? "holds no value of this knob" : strerror(-r));
		return false;
	}
	k->supported = true;
	return true;
}

struct named {
	const struct device *device;
	enum knob_id knob;
};

static bool is_not_former(const struct ledger_entry *e, void *userdata)
{
	const struct named *n = userdata;

	return e->knob != n->knob || strcmp(e->device, n->device->name) != 0 ||
	       device_id_equal(&e->id, &n->device->id);
}

static bool is_not_stale(const struct ledger_entry *e, void *userdata _unused_)
{
	if (entry_is_stale(e) <= 0)
		return true;
	log_debug("%s: the ledger's %s is of a mount that is gone, dropped", e->device,
		  knob_ops(e->knob)->name);
	return false;
}

static void prune(struct actuator *a,
		  bool (*keep)(const struct ledger_entry *e, void *userdata), void *userdata)
{
	int r = ledger_prune(&a->ledger, keep, userdata);

	/* No harm: it will be found again. */
	if (r < 0)
		log_debug_errno(r, "%s: %m", a->ledger.path);
}

void actuator_prune(struct actuator *a)
{
	prune(a, is_not_stale, NULL);
}

/* A pin that did not get into the ledger (no space) holds as long as we run. */
static bool has_pin(const struct knob_state *k)
{
	return k->mode == KNOB_MANUAL && *k->pinned_by &&
	       strcmp(k->pinned_by, PINNED_BY_CONFIGURATION) != 0;
}

/* It cannot be read, for now: whose it is does not change by that. */
static void keep_pin(struct knob_state *k, const struct knob_state *before,
		     const struct ledger_entry *e)
{
	const char *by = e && e->pinned ? e->by : has_pin(before) ? before->pinned_by : NULL;

	if (!by)
		return;
	k->mode = KNOB_MANUAL;
	snprintf(k->pinned_by, sizeof(k->pinned_by), "%s", by);
}

/* No entry. What the configuration says, unless somebody must have set it. */
static void adopt_unclaimed(struct knob_state *k, const struct knob_state *before)
{
	bool set = strcmp(k->value, knob_ops(k->id)->initial) != 0;

	k->mode = k->configured;
	if (has_pin(before)) {
		k->mode = KNOB_MANUAL;
		memcpy(k->pinned_by, before->pinned_by, sizeof(k->pinned_by));
	} else if (k->mode == KNOB_AUTO && set && !knob_ops(k->id)->any_at_mount) {
		k->mode = KNOB_MANUAL;
		snprintf(k->pinned_by, sizeof(k->pinned_by), "%s", PINNED_BY_FOREIGN);
	}
}

/* `e` is the ledger's entry brought up to date; `settled` if it says no more than that one. */
static void adopt_claimed(struct actuator *a, struct ledger_entry *e, bool settled,
			  enum ledger_claim claim, struct knob_state *k)
{
	memcpy(k->original, e->original, sizeof(k->original));
	switch (claim) {
	case CLAIM_NONE:
		break;
	case CLAIM_OURS:
		e->pinned = false;
		*e->by = '\0';
		k->ours = settled || entry_settle(&a->ledger, e, k->value);
		k->mode = k->configured;
		break;
	case CLAIM_PINNED:
		e->pinned = true;
		if (!*e->by) /* an intent to unpin that came to nothing */
			snprintf(e->by, sizeof(e->by), "%s", PINNED_BY_ADMINISTRATOR);
		if (!settled)
			(void)entry_settle(&a->ledger, e, k->value);
		k->mode = KNOB_MANUAL;
		snprintf(k->pinned_by, sizeof(k->pinned_by), "%s", e->by);
		break;
	case CLAIM_FOREIGN:
		log_notice("%s: %s is %s, neither %s nor what it was before: somebody else's",
			   e->device, knob_ops(e->knob)->name, k->value, e->written);
		pin_foreign(&a->ledger, e, k, k->value);
		break;
	}
}

int actuator_adopt(struct actuator *a, const struct device *d, enum knob_mode configured,
		   struct knob_state *k)
{
	const struct knob_state before = *k;
	const struct ledger_entry *old;
	struct ledger_entry e;
	enum ledger_claim claim;

	if (k->busy)
		return -EBUSY;
	*k = (struct knob_state){
		.id = before.id,
		.mode = configured,
		.configured = configured,
	};
	if (configured == KNOB_MANUAL)
		snprintf(k->pinned_by, sizeof(k->pinned_by), "%s", PINNED_BY_CONFIGURATION);
	prune(a, is_not_former, &(struct named){ d, k->id });
	old = ledger_find(&a->ledger, &d->id, k->id);
	if (!look(a, d, k)) {
		keep_pin(k, &before, old);
		return 0;
	}
	claim = ledger_claim(old, k->value);
	if (claim == CLAIM_NONE) {
		adopt_unclaimed(k, &before);
		return 0;
	}
	e = entry_of(a, d, k);
	adopt_claimed(a, &e, old->state != LEDGER_INTENT && strcmp(old->path, e.path) == 0,
		      claim, k);
	return k->ours;
}

int actuator_check(struct actuator *a, const struct device *d, struct knob_state *k)
{
	char value[KNOB_VALUE_MAX];
	struct ledger_entry e;
	int r;

	if (k->busy)
		return 0;
	r = k->supported && !*k->refused ? knob_ops(k->id)->read(k->path, value) : -ENOENT;
	if (r < 0) {
		/* It may have gone, come, or moved with its module; what forbids it may have
		 * gone. */
		r = actuator_adopt(a, d, k->configured, k);
		return r < 0 ? r : 0;
	}
	if (strcmp(value, k->value) == 0)
		return 0;
	e = entry_of(a, d, k);
	pin_foreign(&a->ledger, &e, k, value);
	return 1;
}

/* --- pins --- */

int actuator_pin(struct actuator *a, const struct device *dev, struct knob_state *k, bool pin,
		 const char *by)
{
	struct ledger_entry e;
	bool ours;
	int r;

	if (!k->supported)
		return -EOPNOTSUPP;
	if (k->busy)
		return -EBUSY;
	e = entry_of(a, dev, k);
	e.pinned = false;
	*e.by = '\0';
	e.reason = REASON_ADMINISTRATOR;
	if (pin)
		set_pinned(&e, by);
	e.state = pin ? LEDGER_PINNED : LEDGER_APPLIED;
	e.from_pinned = false;
	memcpy(e.from, k->value, sizeof(e.from));
	memcpy(e.written, k->value, sizeof(e.written));
	ours = !pin && !entry_is_void(&e, k->value);
	r = pin || ours ? ledger_put(&a->ledger, &e) : ledger_remove(&a->ledger, &e.id, e.knob);
	if (r < 0)
		return r;

	k->ours = ours;
	memcpy(k->original, e.original, sizeof(k->original));
	snprintf(k->pinned_by, sizeof(k->pinned_by), "%s", e.by);
	if (pin)
		k->mode = KNOB_MANUAL;
	else
		k->mode = k->configured == KNOB_OBSERVE ? KNOB_OBSERVE : KNOB_AUTO;
	return 0;
}
