// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A change: intent to the ledger, compare, write, read back, then the ledger again. After a
 * SIGKILL between any two of these, ledger_claim() tells from intent and value which it was.
 */
#include <string.h>
#include "../base/log.h"
#include "../base/time-util.h"
#include "actuator-internal.h"
#include "change-log.h"

/* What the thread has; plain values, nothing of the loop's. */
struct job {
	const struct knob_ops *ops;
	char path[256];
	char from[KNOB_VALUE_MAX];
	char to[KNOB_VALUE_MAX];
	char found[KNOB_VALUE_MAX]; /* last read; "" if it could not be */
	bool wrote;                 /* tried to */
	char detail[160];           /* of a failure, beyond its errno; "" */
};

static int job_read(struct job *j)
{
	int r = j->ops->read(j->path, j->found);

	if (r < 0)
		*j->found = '\0';
	return r;
}

static int job_run(void *arg)
{
	struct job *j = arg;
	int r, q;

	r = job_read(j);
	if (r < 0)
		return r;
	if (strcmp(j->found, j->from) != 0)
		return -EBUSY;
	j->wrote = true;
	r = knob_write(j->ops, j->path, j->to, j->detail, sizeof(j->detail));
	q = job_read(j);
	if (r < 0 || q < 0)
		return r < 0 ? r : q;
	return strcmp(j->found, j->to) == 0 ? 0 : -EIO;
}

/* --- its end --- */

static void end_done(struct change *c)
{
	struct ledger_entry *e = &c->intent;
	bool ours = entry_settle(&c->actuator->ledger, e, c->decision.to) && !e->pinned;
	struct knob_state *k = c->k;

	if (!k)
		return;
	memcpy(k->value, c->decision.to, sizeof(k->value));
	memcpy(k->original, e->original, sizeof(k->original));
	k->ours = ours;
	if (e->pinned) {
		k->mode = KNOB_MANUAL;
		snprintf(k->pinned_by, sizeof(k->pinned_by), "%s", e->by);
	}
}

/* The knob still is what it was: so is the ledger. */
static void end_undone(struct change *c)
{
	struct ledger *l = &c->actuator->ledger;
	int r = c->had_before ? ledger_put(l, &c->before)
			      : ledger_remove(l, &c->intent.id, c->intent.knob);

	if (r < 0)
		log_warning_errno(r, "%s: %s keeps an intent that came to nothing: %m",
				  c->intent.device, l->path);
}

static void end_vanished(struct change *c)
{
	int r = ledger_remove(&c->actuator->ledger, &c->intent.id, c->intent.knob);

	/* Its identity is gone with it: nothing will take it for another's. */
	if (r < 0)
		log_debug_errno(r, "%s: %m", c->actuator->ledger.path);
	if (!c->k)
		return;
	c->k->supported = c->k->ours = false;
	*c->k->value = '\0';
	snprintf(c->k->why, sizeof(c->k->why), "it went away");
}

/* Brings ledger and state to what the thread has found. Returns how it ended. */
static int end(struct change *c, const struct job *j, int r)
{
	const struct ledger_entry *base = c->had_before ? &c->before : &c->intent;
	bool done;

	if (c->k)
		c->k->busy = c->k->stuck = false;
	/* It counts what is there, not what a write says of itself. */
	done = j->wrote && strcmp(j->found, j->to) == 0;
	/* -EUCLEAN: and more than was asked for has changed with it. */
	if (done && r != -EUCLEAN)
		r = 0;
	if (done)
		end_done(c);
	else if (r == -ENOENT || r == -ENODEV)
		end_vanished(c);
	else if (*j->found && strcmp(j->found, j->from) != 0)
		pin_foreign(&c->actuator->ledger, base, c->k, j->found);
	else if (*j->found)
		end_undone(c);
	/* Unreadable: the intent stays, and is decided when it can be read again. */
	return r;
}

static void change_free(struct change *c)
{
	if (c->worker)
		worker_free(c->worker);
	free(c);
}
DEFINE_CLEANUP(struct change *, change_free)

static void unlink_change(struct change *c)
{
	struct change **p = &c->actuator->changes;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
}

/* In the log, and so that the history has the knob's own words for a failure. */
static void tell(struct change *c, const struct job *j, int r)
{
	char why[DECISION_WHY_MAX];

	if (r < 0 && *j->detail) {
		memcpy(why, c->decision.why, sizeof(why));
		snprintf(c->decision.why, sizeof(c->decision.why), "%s; %.90s", j->detail, why);
	}
	change_log(c->intent.device, &c->decision, r);
}

static void on_end(void *arg, int r, void *userdata)
{
	_cleanup_(change_freep) struct change *c = userdata;
	struct actuator *a = c->actuator;

	unlink_change(c);
	r = end(c, arg, r);
	tell(c, arg, r);
	a->done(&c->intent.id, &c->decision, r, ((struct job *)arg)->detail, c->uid,
		a->userdata);
}

static void on_late(void *userdata)
{
	struct change *c = userdata;

	if (c->k)
		c->k->stuck = true;
	change_log_stuck(c->intent.device, &c->decision, ACTUATOR_DEADLINE_US);
}

void change_abandon(struct change *c, uint64_t until_us)
{
	_cleanup_(change_freep) struct change *mine = c;
	uint64_t now_us = now_monotonic_us();
	int r;

	mine->k = NULL;
	if (!worker_wait(mine->worker, until_us > now_us ? until_us - now_us : 0, &r)) {
		log_warning("%s: %s is left with a write in progress", mine->intent.device,
			    knob_ops(mine->intent.knob)->name);
		return;
	}
	r = end(mine, worker_arg(mine->worker), r);
	tell(mine, worker_arg(mine->worker), r);
}

/* --- its begin --- */

static int start(struct change *c, const struct knob_state *k)
{
	static const struct worker_ops ops = {
		.run = job_run,
		.done = on_end,
		.late = on_late,
		.deadline_us = ACTUATOR_DEADLINE_US,
	};
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->ops = knob_ops(k->id);
	memcpy(j->path, k->path, sizeof(j->path));
	memcpy(j->from, c->decision.from, sizeof(j->from));
	memcpy(j->to, c->decision.to, sizeof(j->to));
	return worker_start(&c->worker, c->actuator->event, &ops, j, c);
}

static void fill_intent(struct change *c, const struct device *dev, const struct knob_state *k,
			const char *by)
{
	const struct ledger_entry *old = ledger_find(&c->actuator->ledger, &dev->id, k->id);
	struct ledger_entry *e = &c->intent;

	c->had_before = old != NULL;
	if (old)
		c->before = *old;
	*e = entry_of(c->actuator, dev, k);
	e->from_pinned = e->pinned;
	e->state = LEDGER_INTENT;
	e->pinned = *by != '\0';
	snprintf(e->by, sizeof(e->by), "%s", by);
	e->reason = c->decision.reason;
	memcpy(e->from, c->decision.from, sizeof(e->from));
	memcpy(e->written, c->decision.to, sizeof(e->written));
}

static int begin(struct actuator *a, const struct device *dev, struct knob_state *k,
		 const struct decision *d, const char *by, uid_t uid)
{
	_cleanup_(change_freep) struct change *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->actuator = a;
	c->k = k;
	c->decision = *d;
	c->uid = uid;
	fill_intent(c, dev, k, by);
	r = ledger_put(&a->ledger, &c->intent);
	if (r < 0)
		return r;
	r = start(c, k);
	if (r < 0) {
		end_undone(c);
		return r;
	}
	k->busy = true;
	c->next = a->changes;
	a->changes = TAKE_PTR(c);
	return 0;
}

int actuator_apply(struct actuator *a, const struct device *dev, struct knob_state *k,
		   const struct decision *d, bool pin, uid_t uid)
{
	char by[sizeof(k->pinned_by)] = "";
	int r;

	if (!k->supported || *k->refused)
		return -EOPNOTSUPP;
	if (k->busy)
		return -EBUSY;
	if (!*d->from || !*d->to)
		return -EINVAL;
	if (pin)
		snprintf(by, sizeof(by), "fstunectl (uid %u)", uid);
	if (strcmp(d->to, k->value) != 0)
		return begin(a, dev, k, d, by, uid);

	r = pin ? actuator_pin(a, dev, k, true, by) : 0;
	if (r < 0)
		return r;
	change_log(dev->name, d, 0);
	a->done(&dev->id, d, 0, "", uid, a->userdata);
	return 0;
}
