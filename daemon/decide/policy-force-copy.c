// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * force_copy: on where tasks wait for shadow buffers, off again by a short trial.
 *
 *            waits                    quiet, or the interval is over
 *   OFF ──────────────▶ ON ────────────────────────────────▶ TRIAL (off)
 *    ▲                  │ ▲                                  │  │
 *    │  memory pressure │ └──────────── waits ───────────────┘  │
 *    └──────────────────┴─────────── time is over ◀─────────────┘
 *
 *   FROZEN: too many changes; the knob stays on, unless memory gets short.
 *
 * A trial has failed if waits come back within it, or within ForceCopyTrialIntervalMax after
 * it: a load that comes and goes is not done because it has gone. With each failure twice as
 * long a quiet and an interval are asked for, and only long times without need make up for one.
 */
#include <string.h>
#include "force-copy.h"

#define OFF "0"
#define ON "1"

/* REASON_NONE: nobody is disturbed enough. */
static enum reason need(const struct fc_call *x, const struct fc_window *w)
{
	double limit = (double)x->c->stall_us_per_s * (double)x->c->stall_window_us /
		       (double)USEC_PER_SEC;

	if (w->wait_us > 0 && w->wait_us >= limit)
		return REASON_STALL;
	if (w->max_us > 0 && w->max_us >= x->c->long_wait_us)
		return REASON_LONG_WAIT;
	return REASON_NONE;
}

/* --- memory --- */

static void note_pressure(const struct fc_call *x)
{
	/* Negative is unknown and never above. */
	if (x->s->memory_pressure > x->c->memory_pressure_max) {
		if (x->p->pressed_us == 0)
			x->p->pressed_us = x->now;
		x->p->pressed_last_us = x->now;
	} else {
		x->p->pressed_us = 0;
	}
}

static bool memory_forbids(const struct fc_call *x)
{
	if (x->p->pressed_us > 0)
		return true;
	/* Once it had to be turned off for memory, the pressure must have gone, not dipped. */
	return x->p->last_reason == REASON_MEMORY &&
	       x->now - x->p->pressed_last_us < x->c->memory_time_us;
}

/* --- changes --- */

static bool is_on(const struct knob_view *k)
{
	return strcmp(k->value, OFF) != 0;
}

static bool too_soon(const struct fc_call *x)
{
	return changes_too_soon(&x->p->changes, x->c, x->now);
}

static void fill(const struct fc_call *x, const char *to, enum reason reason)
{
	decision_fill(x->ret, KNOB_FORCE_COPY, x->k, to, reason);
}

/* On: what flaps is needed time and again, and the waits are what people notice. */
static int freeze(const struct fc_call *x)
{
	x->p->state = FC_FROZEN;
	x->p->since_us = x->now;
	fill(x, ON, REASON_FROZEN);
	changes_freeze(&x->p->changes, x->c, x->now, x->ret);
	return 1;
}

/* `why` is filled by the caller. Memory comes first: what frees it is never refused. */
static int change(const struct fc_call *x, const char *to, enum reason reason,
		  enum fc_state state)
{
	struct policy_force_copy *p = x->p;

	if (reason != REASON_MEMORY && changes_too_many(&p->changes, x->c, x->now, 1))
		return freeze(x);
	changes_note(&p->changes, x->now);
	p->last_reason = reason;
	p->state = state;
	p->since_us = x->now;
	p->quiet_since_us = 0;
	p->quiet_avoided = 0;
	/* What was before says nothing about what comes now. */
	memset(p->part, 0, sizeof(p->part));
	fill(x, to, reason);
	return 1;
}

/* --- the states --- */

/*
 * What frees memory is never refused: not in the middle of an interval, not by the breaker, not
 * for want of a measure. Only to a knob that refuses it is not said at each tick.
 */
static int step_memory(const struct fc_call *x)
{
	struct policy_force_copy *p = x->p;

	if (!is_on(x->k) || p->pressed_us == 0 || x->now - p->pressed_us < x->c->memory_time_us)
		return 0;
	if (p->last_reason == REASON_MEMORY && too_soon(x))
		return 0;
	fc_describe_memory(x);
	p->tried_us = p->calm_since_us = 0;
	return change(x, OFF, REASON_MEMORY, p->state == FC_FROZEN ? FC_FROZEN : FC_OFF);
}

/* Failures beyond those that still make a difference are not counted, so that they can be
 * forgiven. */
static void note_failure(const struct fc_call *x)
{
	uint64_t max = x->c->trial_interval_max_us;

	if (doubled_us(x->c->trial_interval_us, x->p->failures, max) < max ||
	    doubled_us(x->c->quiet_us, x->p->failures, max) < max)
		x->p->failures++;
}

/* Each long time off and without need makes up for one failure. */
static void forgive(const struct fc_call *x, bool needed)
{
	struct policy_force_copy *p = x->p;
	uint64_t max = x->c->trial_interval_max_us;

	if (needed || p->calm_since_us == 0)
		p->calm_since_us = x->now;
	for (; p->failures > 0 && x->now - p->calm_since_us >= max; p->failures--)
		p->calm_since_us += max;
}

static void begin_on(struct policy_force_copy *p, const struct policy_config *c,
		     uint64_t now_us)
{
	p->trial_interval_us =
		doubled_us(c->trial_interval_us, p->failures, c->trial_interval_max_us);
	p->next_trial_us = now_us + p->trial_interval_us;
	p->judged_us = now_us;
	p->judged_avoided = 0;
	p->tried_us = 0;
	p->calm_since_us = 0;
}

/* A typical wait: without the longest, which may be the odd one. */
static double typical_wait_us(const struct fc_window *w)
{
	double us = w->wait_us - (double)w->max_us;

	return w->count > 1 && us > 0 ? us / (w->count - 1) : 0;
}

static int turn_on(const struct fc_call *x, const struct fc_window *w, enum reason reason)
{
	struct policy_force_copy *p = x->p;

	(void)change(x, ON, reason, FC_ON);
	begin_on(p, x->c, x->now);
	p->load_blocks_per_s = fc_per_second(w->blocks, w->span_us);
	p->stall_before_us_per_s =
		(uint64_t)fc_per_second(w->wait_us, (double)x->c->stall_window_us);
	p->wait_us = typical_wait_us(w);
	return 1;
}

static int step_off(const struct fc_call *x)
{
	struct policy_force_copy *p = x->p;
	struct fc_window w = fc_window_sum(x);
	enum reason reason = need(x, &w);
	char after[TIME_STR_MAX], before[TIME_STR_MAX + 32] = "";

	forgive(x, reason != REASON_NONE);
	if (reason == REASON_NONE || memory_forbids(x) || too_soon(x))
		return 0;
	if (p->tried_us > 0 && x->now - p->tried_us < x->c->trial_interval_max_us) {
		snprintf(before, sizeof(before), "again %s after a trial: ",
			 format_time_us(after, sizeof(after), x->now - p->tried_us));
		note_failure(x);
	}
	fc_describe(x, &w, before);
	return turn_on(x, &w, reason);
}

/* Keeps quiet_since_us: since when it has not been needed, as far as can be told. */
static void note_quiet(const struct fc_call *x, const struct fc_window *w)
{
	struct policy_force_copy *p = x->p;
	double load = fc_per_second(w->blocks, w->span_us);
	bool quiet;

	if (x->s->interval_us == 0)
		return;
	if (p->load_blocks_per_s <= 0 && w->span_us >= (double)x->c->stall_window_us)
		p->load_blocks_per_s = load;

	if (need(x, w) != REASON_NONE) {
		quiet = false; /* waits although it is on: certainly not quiet */
	} else if (p->copy_known) {
		uint64_t avoided = x->s->copy_known ? x->s->avoided_waits : 0;
		double allowed =
			x->c->avoided_per_s * (double)x->c->quiet_us / (double)USEC_PER_SEC;

		if (p->quiet_since_us > 0)
			p->quiet_avoided += avoided;
		quiet = p->quiet_since_us > 0 ? (double)p->quiet_avoided <= allowed
					      : avoided == 0;
	} else {
		quiet = load <= x->c->quiet_ratio * p->load_blocks_per_s;
	}

	if (!quiet) {
		p->quiet_since_us = 0;
		p->quiet_avoided = 0;
	} else if (p->quiet_since_us == 0) {
		/* Not from the sample's begin: a long one may have been anything. */
		p->quiet_since_us = x->now;
	}
}

/*
 * Where avoided waits are counted, is what they save known to be worth it? A count is no time,
 * so it is taken for what waits cost when the knob was turned on; that grows old, and each time
 * counts half. True: once in ForceCopyTrialIntervalMax, if not.
 */
static bool is_doubtful(const struct fc_call *x, double *ret_avoided_per_s)
{
	struct policy_force_copy *p = x->p;
	double per_s;

	if (x->s->copy_known)
		p->judged_avoided += x->s->avoided_waits;
	if (x->now - p->judged_us < x->c->trial_interval_max_us)
		return false;
	per_s = fc_per_second((double)p->judged_avoided, (double)(x->now - p->judged_us));
	*ret_avoided_per_s = per_s;
	if (per_s * p->wait_us < (double)x->c->stall_us_per_s)
		return true;
	p->wait_us /= 2;
	p->judged_us = x->now;
	p->judged_avoided = 0;
	return false;
}

static int step_on(const struct fc_call *x)
{
	struct policy_force_copy *p = x->p;
	struct fc_window w = fc_window_sum(x);
	uint64_t quiet_us =
		doubled_us(x->c->quiet_us, p->failures, x->c->trial_interval_max_us);
	double avoided_per_s = 0;
	bool doubtful = is_doubtful(x, &avoided_per_s);

	note_quiet(x, &w);
	if (too_soon(x))
		return 0;
	if (p->quiet_since_us > 0 && x->now - p->quiet_since_us >= quiet_us)
		fc_describe_quiet(x, &w);
	else if (p->copy_known && doubtful)
		fc_describe_judgement(x, avoided_per_s);
	else if (!p->copy_known && p->quiet_since_us == 0 && x->now >= p->next_trial_us)
		fc_describe_interval(x, &w);
	else
		return 0;
	return change(x, OFF, REASON_TRIAL, FC_TRIAL);
}

static int step_trial(const struct fc_call *x)
{
	struct policy_force_copy *p = x->p;
	struct fc_window w = fc_window_sum(x);

	/* Without load nothing was learned, but then nothing is needed: waits would turn it on.
	 */
	if (memory_forbids(x) ||
	    (need(x, &w) == REASON_NONE && x->now - p->since_us >= x->c->trial_us)) {
		p->state = FC_OFF;
		p->since_us = x->now;
		p->tried_us = memory_forbids(x) ? 0 : x->now;
		p->calm_since_us = 0;
		return 0;
	}
	if (need(x, &w) == REASON_NONE)
		return 0;
	/* Not too soon, however soon: the trial is to cost those who wait as little as can be.
	 */
	fc_describe(x, &w, "trial failed: ");
	note_failure(x);
	return turn_on(x, &w, REASON_TRIAL_FAILED);
}

/* --- agreeing with what is there --- */

static void take_over(struct policy_force_copy *p, const struct policy_config *c,
		      uint64_t now_us)
{
	p->state = FC_ON;
	p->since_us = now_us;
	p->changes.last_us = now_us;
	p->quiet_since_us = 0;
	p->quiet_avoided = 0;
	p->load_blocks_per_s = 0;
	p->stall_before_us_per_s = 0;
	p->wait_us = 0;
	begin_on(p, c, now_us);
}

void policy_force_copy_adopt(struct policy_force_copy *p, const struct policy_config *c,
			     uint64_t now_us)
{
	p->failures = 0;
	p->last_reason = REASON_ADOPTED;
	take_over(p, c, now_us);
}

/*
 * A write that failed, a pin that was lifted: the state follows the knob, never the knob the
 * state; that is what keeps a knob which refuses from being written for ever.
 */
static void resynchronise(const struct fc_call *x)
{
	struct policy_force_copy *p = x->p;

	if (p->state == FC_FROZEN) {
		if (x->now < p->changes.frozen_until_us)
			return;
		changes_thaw(&p->changes);
		p->state = FC_OFF;
		p->since_us = x->now;
	}
	if (p->state == FC_ON && !is_on(x->k)) {
		p->state = FC_OFF;
		p->since_us = x->now;
	} else if (p->state != FC_ON && is_on(x->k)) {
		take_over(p, x->c, x->now);
	}
}

static void rest(struct policy_force_copy *p)
{
	p->state = FC_OFF;
	p->quiet_since_us = 0;
	p->quiet_avoided = 0;
	p->failures = 0;
	p->tried_us = p->calm_since_us = 0;
	p->trial_interval_us = 0;
	p->advised = false;
}

/* Observe mode: says once per episode what auto would do. */
static int step_observe(const struct fc_call *x)
{
	struct policy_force_copy *p = x->p;
	struct fc_window w = fc_window_sum(x);
	enum reason reason = need(x, &w);

	p->state = FC_OFF;
	if (is_on(x->k))
		return 0;
	if (reason == REASON_NONE) {
		if (p->quiet_since_us == 0)
			p->quiet_since_us = x->now;
		if (x->now - p->quiet_since_us >= x->c->quiet_us)
			p->advised = false;
		return 0;
	}
	p->quiet_since_us = 0;
	if (p->advised || memory_forbids(x))
		return 0;
	p->advised = true;
	fc_describe(x, &w, "");
	fill(x, ON, reason);
	x->ret->advice = true;
	return 1;
}

static bool is_measured(const struct sample *s)
{
	return s->measured & (1u << FST_SHADOW_WAIT);
}

int policy_force_copy(struct policy_force_copy *p, const struct policy_config *c,
		      const struct sample *s, const struct knob_view *k, struct decision *ret)
{
	const struct fc_call x = {
		.p = p, .c = c, .s = s, .k = k, .ret = ret, .now = s->now_us
	};

	*ret = (struct decision){ 0 };
	note_pressure(&x);
	fc_window_add(&x);
	/* A sample of a tick without events need not have asked the kernel. */
	if (s->copy_known || s->active)
		p->copy_known = s->copy_known;

	if (!k->supported || k->mode == KNOB_MANUAL || !*k->value) {
		rest(p);
		return 0;
	}
	if (k->busy)
		return 0;
	if (k->mode == KNOB_OBSERVE)
		return is_measured(s) ? step_observe(&x) : 0;
	p->advised = false;
	resynchronise(&x);
	if (step_memory(&x))
		return 1;
	/* Blind for waits, every trial would succeed. */
	if (!is_measured(s))
		return 0;

	switch (p->state) {
	case FC_OFF:
		return step_off(&x);
	case FC_ON:
		return step_on(&x);
	case FC_TRIAL:
		return step_trial(&x);
	case FC_FROZEN:
		break;
	}
	return 0;
}
