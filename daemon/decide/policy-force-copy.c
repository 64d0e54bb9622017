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
#include "policy.h"

#define OFF "0"
#define ON "1"

/* What all steps of one call look at. */
struct call {
	struct policy_force_copy *p;
	const struct policy_config *c;
	const struct sample *s;
	const struct knob_view *k;
	struct decision *ret;
	uint64_t now;
};

/* --- the window --- */

struct window {
	double wait_us, count, blocks;
	double span_us; /* how much of the window is known */
	uint64_t max_us;
};

/*
 * Takes the sample's waits in. Short samples are put together, so that the parts always reach
 * back over the whole window, however fast the ticks come.
 */
static void window_add(const struct call *x)
{
	struct policy_force_copy *p = x->p;
	const struct hist *h = &x->s->hist[FST_SHADOW_WAIT];
	__typeof__(p->part[0]) *part = &p->part[p->head];

	if (x->s->interval_us == 0)
		return; /* no time, no rate */
	if (part->end_us == 0 ||
	    part->span_us >= x->c->stall_window_us / (FC_WINDOW_PARTS - 1)) {
		p->head = (p->head + 1) % FC_WINDOW_PARTS;
		part = &p->part[p->head];
		memset(part, 0, sizeof(*part));
	}
	part->end_us = x->now;
	part->span_us += x->s->interval_us;
	part->wait_us += h->sum_ns / NSEC_PER_USEC;
	part->count += h->count;
	part->blocks += x->s->blocks_logged;
	if (h->count > 0 && h->max_ns / NSEC_PER_USEC > part->max_us)
		part->max_us = h->max_ns / NSEC_PER_USEC;
}

/*
 * The last stall_window_us. Of a part that reaches out of it (a long tick, a suspended
 * machine) the share within counts: nobody knows when in it the waits were.
 */
static struct window window_sum(const struct call *x)
{
	uint64_t length = x->c->stall_window_us;
	uint64_t begin = x->now > length ? x->now - length : 0;
	struct window w = { 0 };

	for (unsigned i = 0; i < FC_WINDOW_PARTS; i++) {
		__typeof__(x->p->part[0]) *part = &x->p->part[i];
		uint64_t part_begin = part->end_us - part->span_us;
		double share = 1;

		if (part->end_us == 0 || part->end_us <= begin || part->span_us == 0)
			continue;
		if (part->span_us > part->end_us || part_begin < begin)
			share = (double)(part->end_us - begin) / (double)part->span_us;
		w.wait_us += share * (double)part->wait_us;
		w.count += share * (double)part->count;
		w.blocks += share * (double)part->blocks;
		w.span_us += share * (double)part->span_us;
		if (part->max_us > w.max_us)
			w.max_us = part->max_us;
	}
	return w;
}

static double per_second(double amount, double us)
{
	return us > 0 ? amount * (double)USEC_PER_SEC / us : 0;
}

uint64_t policy_force_copy_stall_us_per_s(const struct policy_force_copy *p)
{
	double wait_us = 0, span_us = 0;

	for (unsigned i = 0; i < FC_WINDOW_PARTS; i++) {
		wait_us += (double)p->part[i].wait_us;
		span_us += (double)p->part[i].span_us;
	}
	return (uint64_t)per_second(wait_us, span_us);
}

/* REASON_NONE: nobody is disturbed enough. */
static enum reason need(const struct call *x, const struct window *w)
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

static void note_pressure(const struct call *x)
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

static bool memory_forbids(const struct call *x)
{
	if (x->p->pressed_us > 0)
		return true;
	/* Once it had to be turned off for memory, the pressure must have gone, not dipped. */
	return x->p->last_reason == REASON_MEMORY &&
	       x->now - x->p->pressed_last_us < x->c->memory_time_us;
}

/* --- saying why --- */

static void describe(const struct call *x, const struct window *w, const char *before)
{
	char rate[TIME_STR_MAX], length[TIME_STR_MAX], p99[TIME_STR_MAX], longest[TIME_STR_MAX];
	char price[BYTES_STR_MAX];
	double window_us = (double)x->c->stall_window_us;
	double blocks = per_second(w->blocks, w->span_us);
	const struct hist *h = &x->s->hist[FST_SHADOW_WAIT];
	uint64_t p99_us = hist_quantile_ns(h, 0.99) / NSEC_PER_USEC;

	if (x->s->block_size > 0)
		format_bytes(price, sizeof(price),
			     (uint64_t)(blocks * (double)x->s->block_size));
	else
		snprintf(price, sizeof(price), "%.0f blocks", blocks);
	snprintf(
		x->ret->why, sizeof(x->ret->why),
		"%sshadow waits %s/s over %s (p99 %s, longest %s, %.*f/s); copying costs %s/s",
		before,
		format_time_us(rate, sizeof(rate), (uint64_t)per_second(w->wait_us, window_us)),
		format_time_us(length, sizeof(length), x->c->stall_window_us),
		format_time_us(p99, sizeof(p99), p99_us),
		format_time_us(longest, sizeof(longest), w->max_us),
		per_second(w->count, window_us) < 10 ? 1 : 0, per_second(w->count, window_us),
		price);
}

static void describe_quiet(const struct call *x, const struct window *w)
{
	char quiet[TIME_STR_MAX];

	format_time_us(quiet, sizeof(quiet), x->now - x->p->quiet_since_us);
	if (x->p->copy_known)
		snprintf(x->ret->why, sizeof(x->ret->why),
			 "%llu waits avoided in %s: trying without",
			 (unsigned long long)x->p->quiet_avoided, quiet);
	else
		snprintf(x->ret->why, sizeof(x->ret->why),
			 "quiet for %s (%.0f blocks/s logged, %.0f when it was turned on): "
			 "trying without",
			 quiet, per_second(w->blocks, w->span_us), x->p->load_blocks_per_s);
}

static void describe_interval(const struct call *x, const struct window *w)
{
	char on[TIME_STR_MAX], price[BYTES_STR_MAX];
	double blocks = per_second(w->blocks, w->span_us);

	snprintf(x->ret->why, sizeof(x->ret->why),
		 "on for %s, what it saves is not known, copying costs %s/s: trying without",
		 format_time_us(on, sizeof(on), x->now - x->p->since_us),
		 format_bytes(price, sizeof(price),
			      (uint64_t)(blocks * (double)x->s->block_size)));
}

static void describe_memory(const struct call *x)
{
	char lasting[TIME_STR_MAX];

	snprintf(x->ret->why, sizeof(x->ret->why),
		 "memory pressure %.0f %% for %s, at most %.0f %% allowed",
		 x->s->memory_pressure,
		 format_time_us(lasting, sizeof(lasting), x->now - x->p->pressed_us),
		 x->c->memory_pressure_max);
}

/* --- changes --- */

static unsigned recent_changes(const struct call *x)
{
	const struct policy_force_copy *p = x->p;
	unsigned n = 0, kept = p->n_changes < FC_CHANGES_MAX ? p->n_changes : FC_CHANGES_MAX;

	for (unsigned i = 0; i < kept; i++)
		if (x->now - p->changes_us[i] < x->c->changes_window_us)
			n++;
	return n;
}

static bool too_soon(const struct call *x)
{
	return x->p->last_change_us > 0 &&
	       x->now - x->p->last_change_us < x->c->change_interval_us;
}

static void fill(const struct call *x, const char *to, enum reason reason)
{
	x->ret->knob = KNOB_FORCE_COPY;
	memcpy(x->ret->from, x->k->value, sizeof(x->ret->from));
	snprintf(x->ret->to, sizeof(x->ret->to), "%s", to);
	x->ret->reason = reason;
	x->ret->advice = false;
}

static int freeze(const struct call *x, unsigned changes)
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
static int change(const struct call *x, const char *to, enum reason reason, enum fc_state state)
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

static int turn_on(const struct call *x, const struct window *w, enum reason reason)
{
	struct policy_force_copy *p = x->p;
	double load = per_second(w->blocks, w->span_us);
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
		(uint64_t)per_second(w->wait_us, (double)x->c->stall_window_us);
	return 1;
}

static int step_off(const struct call *x)
{
	struct window w = window_sum(x);
	enum reason reason = need(x, &w);

	if (reason == REASON_NONE || memory_forbids(x) || too_soon(x))
		return 0;
	describe(x, &w, "");
	return turn_on(x, &w, reason);
}

/* Keeps quiet_since_us: since when it has not been needed, as far as can be told. */
static void note_quiet(const struct call *x, const struct window *w)
{
	struct policy_force_copy *p = x->p;
	double load = per_second(w->blocks, w->span_us);
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
static uint64_t quiet_needed(const struct call *x)
{
	uint64_t factor = 1, us;

	if (x->c->trial_interval_us > 0 && x->p->trial_interval_us > x->c->trial_interval_us)
		factor = x->p->trial_interval_us / x->c->trial_interval_us;
	if (__builtin_mul_overflow(x->c->quiet_us, factor, &us) ||
	    us > x->c->trial_interval_max_us)
		us = x->c->trial_interval_max_us;
	return us > x->c->quiet_us ? us : x->c->quiet_us;
}

static int step_on(const struct call *x)
{
	struct policy_force_copy *p = x->p;
	struct window w = window_sum(x);

	note_quiet(x, &w);
	if (too_soon(x))
		return 0;
	if (p->pressed_us > 0 && x->now - p->pressed_us >= x->c->memory_time_us) {
		describe_memory(x);
		return change(x, OFF, REASON_MEMORY, FC_OFF);
	}
	if (p->quiet_since_us > 0) {
		if (x->now - p->quiet_since_us < quiet_needed(x))
			return 0;
		describe_quiet(x, &w);
		return change(x, OFF, REASON_TRIAL, FC_TRIAL);
	}
	/* Where waits are known to be avoided, no trial is needed to learn that. */
	if (p->copy_known || x->now < p->next_trial_us)
		return 0;
	describe_interval(x, &w);
	return change(x, OFF, REASON_TRIAL, FC_TRIAL);
}

static int step_trial(const struct call *x)
{
	struct policy_force_copy *p = x->p;
	struct window w = window_sum(x);

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
	describe(x, &w, "trial failed: ");
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
static void resynchronise(const struct call *x)
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
static int step_observe(const struct call *x)
{
	struct policy_force_copy *p = x->p;
	struct window w = window_sum(x);
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
	describe(x, &w, "");
	fill(x, ON, reason);
	x->ret->advice = true;
	return 1;
}

int policy_force_copy(struct policy_force_copy *p, const struct policy_config *c,
		      const struct sample *s, const struct knob_view *k, struct decision *ret)
{
	const struct call x = { .p = p, .c = c, .s = s, .k = k, .ret = ret, .now = s->now_us };

	*ret = (struct decision){ 0 };
	note_pressure(&x);
	window_add(&x);
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
