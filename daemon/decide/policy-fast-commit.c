// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fast_commit: the value under which fsync is faster, found out by trials under stable load.
 *
 *                    load for FastCommitBaseline, interval over
 *   WATCH (a value) ────────────────────────────────────────────▶ TRIAL (the other)
 *    ▲         ▲                not better, or load changed        │         │
 *    │         └───────────────────────────────────────────────────┘         │
 *    └───────────────────────── better: that one is held ◀───────────────────┘
 *
 *   FROZEN: what is better changes all the time; the value stays.
 *
 * Neither is right in general: fast commits write less, but tasks do not share their flushes.
 * A trial that goes well costs nothing, so it lasts its time, and something that only looked
 * better for a moment is found out. One that goes badly ends as soon as that is certain. Each
 * trial that does not change the value doubles the time to the next.
 */
#include <string.h>
#include "policy.h"

/* A little less than a tick of 1 s with the default of 10 s, so that each tick is a point. */
#define POINTS_PER_TRIAL 12
/* In standard errors. Kept: by chance once in 700 trials. */
#define SURE 3
/*
 * Ended early: it is asked at every point, and of few of them the error is not well known (with
 * 5 + 2 points once in 200 beyond four).
 */
#define SURE_EARLY 4
/* Better and not sure of it: on to twice the length, which costs nothing if it is true. */
#define LONGER 2
/* So many points without load, one after the other, are its end; a disk may stall for one. */
#define EMPTY 2
/* Kept so often, one after the other, with no room for more changes: that flaps. */
#define FLIPS 2
/* So many times its length without enough points (nothing happens, long ticks): no trial. */
#define LONGEST 4

struct call {
	struct policy_fast_commit *p;
	const struct policy_config *c;
	const struct sample *s;
	const struct knob_view *k;
	struct decision *ret;
	uint64_t now, others_us;
};

const char *fast_commit_state_to_string(enum fast_commit_state s)
{
	static const char *const names[] = {
		[FAST_COMMIT_WATCH] = "watch",
		[FAST_COMMIT_TRIAL] = "trial",
		[FAST_COMMIT_FROZEN] = "frozen",
	};

	return (size_t)s < ELEMENTSOF(names) ? names[s] : "unknown";
}

static const char *value_of(bool on)
{
	return on ? "1" : "0";
}

static void fill(const struct call *x, bool on, enum reason reason)
{
	decision_fill(x->ret, KNOB_FAST_COMMIT, x->k, value_of(on), reason);
}

/* --- saying why --- */

static void format_side(char *buf, size_t size, const struct side_point *side)
{
	char mean[TIME_STR_MAX];
	double rate = point_rate(side);

	snprintf(buf, size, "%.*f fsync/s of %s", rate < 100, rate,
		 format_time_us(mean, sizeof(mean), (uint64_t)point_mean_us(side)));
}

static void describe_end(const struct fast_commit_trial *t, char *buf, size_t size)
{
	static const char *const ends[REASON_MAX] = {
		[REASON_TRIAL_KEPT] = "better, kept",
		[REASON_TRIAL_FAILED] = "not better",
		[REASON_TRIAL_VOID] = "the load or another knob changed, which says nothing",
	};
	char here[96], there[96];

	format_side(here, sizeof(here), &t->here);
	format_side(there, sizeof(there), &t->there);
	snprintf(buf, size, "with %s %s, with %s %s: %s", value_of(!t->on), here,
		 value_of(t->on), there, ends[t->end]);
}

void policy_fast_commit_note(const struct policy_fast_commit *p, char *buf, size_t size)
{
	*buf = '\0';
	if (p->last.end != REASON_NONE)
		describe_end(&p->last, buf, size);
}

static void describe_begin(const struct call *x)
{
	struct side_point here = side_total(&x->p->here);
	char side[96], load[TIME_STR_MAX];
	double us_per_s = point_rate(&here) * point_mean_us(&here);

	format_side(side, sizeof(side), &here);
	snprintf(x->ret->why, sizeof(x->ret->why), "with %s %s, together %s/s: trying %s",
		 value_of(x->p->on), side,
		 format_time_us(load, sizeof(load), (uint64_t)us_per_s), value_of(!x->p->on));
}

/* --- what happens --- */

static uint64_t point_us(const struct call *x)
{
	return x->c->fast_trial_us / POINTS_PER_TRIAL;
}

/* True if that completed a point. What was begun under the other value is left out. */
static bool take(const struct call *x, struct side *side, struct side_point *ret)
{
	const struct hist *h = &x->s->hist[FST_FSYNC];
	const struct side_point what = {
		.span_us = x->s->interval_us,
		.count = h->count,
		.time_us = (double)h->sum_ns / (double)NSEC_PER_USEC,
	};

	if (x->now - x->s->interval_us < x->p->unsettled_us + point_us(x) / 2)
		return false;
	return side_add(side, &what, point_us(x), ret);
}

static bool is_load(const struct call *x, const struct side_point *point)
{
	double rate = point_rate(point);

	return point->count > 0 && rate >= x->c->fsyncs_per_s &&
	       rate * point_mean_us(point) >= (double)x->c->fsync_us_per_s;
}

static void watch(const struct call *x)
{
	struct policy_fast_commit *p = x->p;

	p->state = FAST_COMMIT_WATCH;
	p->since_us = x->now;
	p->unsettled_us = x->now;
	p->empty = 0;
	p->here = p->there = (struct side){ 0 };
}

/* --- trials --- */

static void plan_next(const struct call *x)
{
	struct policy_fast_commit *p = x->p;

	p->trial_interval_us =
		doubled_us(x->c->fast_interval_us, p->trials++, x->c->fast_interval_max_us);
	p->next_trial_us = x->now + p->trial_interval_us;
}

static int freeze(const struct call *x)
{
	x->p->state = FAST_COMMIT_FROZEN;
	x->p->since_us = x->now;
	fill(x, x->p->on, REASON_FROZEN);
	changes_freeze(&x->p->changes, x->c, x->now, x->ret);
	return 1;
}

static int begin_trial(const struct call *x)
{
	struct policy_fast_commit *p = x->p;

	describe_begin(x);
	changes_note(&p->changes, x->now);
	p->state = FAST_COMMIT_TRIAL;
	p->since_us = x->now;
	p->unsettled_us = x->now;
	p->empty = 0;
	p->there = (struct side){ 0 };
	fill(x, !p->on, REASON_TRIAL);
	return 1;
}

static int end_trial(const struct call *x, enum reason end)
{
	struct policy_fast_commit *p = x->p;

	p->last = (struct fast_commit_trial){
		.end = end,
		.on = !p->on,
		.here = side_total(&p->here),
		.there = side_total(&p->there),
	};
	describe_end(&p->last, x->ret->why, sizeof(x->ret->why));
	if (end == REASON_TRIAL_KEPT) {
		p->on = !p->on;
		p->trials = 0;
		p->flips++;
		p->here = p->there;
		p->state = FAST_COMMIT_WATCH;
		p->since_us = x->now;
	} else {
		changes_note(&p->changes, x->now);
		p->flips = 0;
		watch(x);
	}
	plan_next(x);
	fill(x, p->on, end);
	return 1;
}

/* --- the states --- */

static bool is_ready(const struct call *x)
{
	const struct side *here = &x->p->here;

	return here->n > COMPARE_POINTS_MIN &&
	       side_total(here).span_us >= x->c->fast_baseline_us;
}

/* Another knob's change, ours, or a trial still have their effect. */
static bool too_soon(const struct call *x)
{
	return x->now < x->p->next_trial_us || changes_too_soon(&x->p->changes, x->c, x->now) ||
	       (x->others_us > 0 && x->now - x->others_us < x->c->change_interval_us);
}

/* True while there is load enough, and long enough, for a trial. */
static bool note_load(const struct call *x)
{
	struct policy_fast_commit *p = x->p;
	struct side_point point;

	if (!take(x, &p->here, &point))
		return false;
	p->empty = is_load(x, &point) ? 0 : p->empty + 1;
	if (p->empty >= EMPTY) {
		p->here = (struct side){ 0 };
		p->unsettled_us = x->now;
		p->advised = false;
	}
	return p->empty == 0 && is_ready(x);
}

static int step_watch(const struct call *x)
{
	if (!note_load(x) || too_soon(x))
		return 0;
	/* There and back again: the way back must never be refused. */
	if (!changes_too_many(&x->p->changes, x->c, x->now, 2))
		return begin_trial(x);
	return x->p->flips >= FLIPS ? freeze(x) : 0;
}

static int step_trial(const struct call *x)
{
	struct policy_fast_commit *p = x->p;
	uint64_t length = x->c->fast_trial_us, span;
	struct side_point point;
	struct comparison d;

	if (take(x, &p->there, &point))
		p->empty = point.count ? 0 : p->empty + 1;
	if (x->others_us > p->since_us || p->empty >= EMPTY)
		return end_trial(x, REASON_TRIAL_VOID);
	span = side_total(&p->there).span_us;
	d = compare_sides(&p->here, &p->there);
	if (d.enough && !d.load_changed && d.gain < -x->c->fast_gain &&
	    comparison_is_sure(&d, SURE_EARLY))
		return end_trial(x, REASON_TRIAL_FAILED);
	if (!d.enough || span < length)
		return x->now - p->since_us < LONGEST * length
			       ? 0
			       : end_trial(x, REASON_TRIAL_VOID);
	if (d.load_changed)
		return end_trial(x, REASON_TRIAL_VOID);
	if (d.gain < x->c->fast_gain)
		return end_trial(x, REASON_TRIAL_FAILED);
	if (comparison_is_sure(&d, SURE))
		return end_trial(x, REASON_TRIAL_KEPT);
	return span < LONGER * length ? 0 : end_trial(x, REASON_TRIAL_FAILED);
}

/* Observe mode: says once, as long as there is load, what auto would do. */
static int step_observe(const struct call *x)
{
	if (!note_load(x) || x->p->advised)
		return 0;
	x->p->advised = true;
	describe_begin(x);
	fill(x, !x->p->on, REASON_TRIAL);
	x->ret->advice = true;
	return 1;
}

/* --- agreeing with what is there --- */

/* The state follows the knob: what refuses a write is not written to for ever. */
static void resynchronise(const struct call *x)
{
	struct policy_fast_commit *p = x->p;
	bool on = strcmp(x->k->value, "0") != 0;
	bool trial = p->state == FAST_COMMIT_TRIAL;

	if (p->state == FAST_COMMIT_FROZEN) {
		if (x->now < p->changes.frozen_until_us)
			return;
		changes_thaw(&p->changes);
		p->flips = 0;
		p->begun = false;
	}
	if (p->begun && on == (p->on != trial))
		return;
	if (p->begun)
		plan_next(x);
	p->begun = true;
	p->on = on;
	watch(x);
}

/* Changes are remembered: handing it over and back is no way around the breaker. */
static void forget(struct policy_fast_commit *p)
{
	*p = (struct policy_fast_commit){ .changes = p->changes };
}

void policy_fast_commit_adopt(struct policy_fast_commit *p)
{
	forget(p);
}

int policy_fast_commit(struct policy_fast_commit *p, const struct policy_config *c,
		       const struct sample *s, const struct knob_view *k, uint64_t others_us,
		       struct decision *ret)
{
	const struct call x = {
		.p = p,
		.c = c,
		.s = s,
		.k = k,
		.ret = ret,
		.now = s->now_us,
		.others_us = others_us,
	};

	*ret = (struct decision){ 0 };
	if (!k->supported || k->mode == KNOB_MANUAL || !*k->value) {
		forget(p);
		return 0;
	}
	if (k->busy) {
		p->unsettled_us = x.now;
		return 0;
	}
	/* Who may only advise has no trial to end, and nothing to keep hands off. */
	if (k->mode == KNOB_OBSERVE && p->state != FAST_COMMIT_WATCH)
		forget(p);
	resynchronise(&x);
	if (!(s->measured & (1u << FST_FSYNC)))
		return p->state == FAST_COMMIT_TRIAL ? end_trial(&x, REASON_TRIAL_VOID) : 0;
	if (k->mode == KNOB_OBSERVE)
		return step_observe(&x);

	switch (p->state) {
	case FAST_COMMIT_WATCH:
		return step_watch(&x);
	case FAST_COMMIT_TRIAL:
		return step_trial(&x);
	case FAST_COMMIT_FROZEN:
		break;
	}
	return 0;
}
