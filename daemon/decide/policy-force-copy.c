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
 *   FROZEN: too many changes; the knob stays as it is.
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

static unsigned recent_changes(const struct fc_call *x)
{
	const struct policy_force_copy *p = x->p;
	unsigned n = 0, kept = p->n_changes < FC_CHANGES_MAX ? p->n_changes : FC_CHANGES_MAX;

	for (unsigned i = 0; i < kept; i++)
		if (x->now - p->changes_us[i] < x->c->changes_window_us)
			n++;
	return n;
}

static bool too_soon(const struct fc_call *x)
{
	return x->p->last_change_us > 0 &&
	       x->now - x->p->last_change_us < x->c->change_interval_us;
}

static void fill(const struct fc_call *x, const char *to, enum reason reason)
{
	x->ret->knob = KNOB_FORCE_COPY;
	memcpy(x->ret->from, x->k->value, sizeof(x->ret->from));
	snprintf(x->ret->to, sizeof(x->ret->to), "%s", to);
	x->ret->reason = reason;
	x->ret->advice = false;
}

static int freeze(const struct fc_call *x, unsigned changes)
{
	char window[TIME_STR_MAX], lasting[TIME_STR_MAX];

	x->p->state = FC_FROZEN;
	x->p->since_us = x->now;
	x->p->frozen_until_us = x->now + x->c->freeze_us;
	fill(x, x->k->value, REASON_FROZEN);
	snprintf(x->ret->why, sizeof(x->ret->why), "%u changes in %s: stays %s for %s", changes,
		 format_time_us(window, sizeof(window), x->c->changes_window_us), x->k->value,
		 format_time_us(lasting, sizeof(lasting), x->c->freeze_us));
	return 1;
}

/* `why` is filled by the caller. Memory comes first: what frees it is never refused. */
static int change(const struct fc_call *x, const char *to, enum reason reason,
		  enum fc_state state)
{
	struct policy_force_copy *p = x->p;
	unsigned recent = recent_changes(x);

	if (reason != REASON_MEMORY &&
	    (recent >= x->c->changes_max || recent == FC_CHANGES_MAX))
		return freeze(x, recent);
	p->changes_us[p->n_changes++ % FC_CHANGES_MAX] = x->now;
	p->last_change_us = x->now;
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

static int turn_on(const struct fc_call *x, const struct fc_window *w, enum reason reason)
{
	struct policy_force_copy *p = x->p;
	double load = fc_per_second(w->blocks, w->span_us);
	uint64_t interval = x->c->trial_interval_us;

	if (reason == REASON_TRIAL_FAILED) {
		interval = p->trial_interval_us * 2;
		if (interval > x->c->trial_interval_max_us)
			interval = x->c->trial_interval_max_us;
	}
	(void)change(x, ON, reason, FC_ON);
	if (p->state == FC_FROZEN)
		return 1;
	p->trial_interval_us = interval;
	p->next_trial_us = x->now + interval;
	p->load_blocks_per_s = load;
	p->stall_before_us_per_s =
		(uint64_t)fc_per_second(w->wait_us, (double)x->c->stall_window_us);
	return 1;
}

static int step_off(const struct fc_call *x)
{
	struct fc_window w = fc_window_sum(x);
	enum reason reason = need(x, &w);

	if (reason == REASON_NONE || memory_forbids(x) || too_soon(x))
		return 0;
	fc_describe(x, &w, "");
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
 * A trial that failed shows that the quiet before it was not worth much: with each, twice as
 * much is asked for, as the interval under load doubles, and up to the same maximum.
 */
static uint64_t quiet_needed(const struct fc_call *x)
{
	uint64_t factor = 1, us;

	if (x->c->trial_interval_us > 0 && x->p->trial_interval_us > x->c->trial_interval_us)
		factor = x->p->trial_interval_us / x->c->trial_interval_us;
	if (__builtin_mul_overflow(x->c->quiet_us, factor, &us) ||
	    us > x->c->trial_interval_max_us)
		us = x->c->trial_interval_max_us;
	return us > x->c->quiet_us ? us : x->c->quiet_us;
}

static int step_on(const struct fc_call *x)
{
	struct policy_force_copy *p = x->p;
	struct fc_window w = fc_window_sum(x);

	note_quiet(x, &w);
	if (too_soon(x))
		return 0;
	if (p->pressed_us > 0 && x->now - p->pressed_us >= x->c->memory_time_us) {
		fc_describe_memory(x);
		return change(x, OFF, REASON_MEMORY, FC_OFF);
	}
	if (p->quiet_since_us > 0) {
		if (x->now - p->quiet_since_us < quiet_needed(x))
			return 0;
		fc_describe_quiet(x, &w);
		return change(x, OFF, REASON_TRIAL, FC_TRIAL);
	}
	/* Where waits are known to be avoided, no trial is needed to learn that. */
	if (p->copy_known || x->now < p->next_trial_us)
		return 0;
	fc_describe_interval(x, &w);
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
		p->trial_interval_us = 0;
		return 0;
	}
	if (need(x, &w) == REASON_NONE)
		return 0;
	/* Not too soon, however soon: the trial is to cost those who wait as little as can be.
	 */
	fc_describe(x, &w, "trial failed: ");
	return turn_on(x, &w, REASON_TRIAL_FAILED);
}

/* --- agreeing with what is there --- */

static bool is_on(const struct knob_view *k)
{
	return strcmp(k->value, OFF) != 0;
}

static void take_over(struct policy_force_copy *p, const struct policy_config *c,
		      uint64_t now_us)
{
	p->state = FC_ON;
	p->since_us = now_us;
	p->last_change_us = now_us;
	p->quiet_since_us = 0;
	p->quiet_avoided = 0;
	p->load_blocks_per_s = 0;
	p->stall_before_us_per_s = 0;
	if (p->trial_interval_us == 0)
		p->trial_interval_us = c->trial_interval_us;
	p->next_trial_us = now_us + p->trial_interval_us;
}

void policy_force_copy_adopt(struct policy_force_copy *p, const struct policy_config *c,
			     uint64_t now_us)
{
	p->trial_interval_us = 0;
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
		if (x->now < p->frozen_until_us)
			return;
		p->n_changes = 0;
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
	/* Blind for waits, every trial would succeed. */
	if (k->busy || !(s->measured & (1u << FST_SHADOW_WAIT)))
		return 0;
	if (k->mode == KNOB_OBSERVE)
		return step_observe(&x);
	p->advised = false;
	resynchronise(&x);

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
