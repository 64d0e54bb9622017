/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of force_copy's policy, shared by its files: policy-force-copy.c, force-copy-window.c,
 * -why.c. */
#ifndef FSTUNED_DECIDE_FORCE_COPY_H
#define FSTUNED_DECIDE_FORCE_COPY_H

#include "policy.h"

/* What all steps of one call look at. */
struct fc_call {
	struct policy_force_copy *p;
	const struct policy_config *c;
	const struct sample *s;
	const struct knob_view *k;
	struct decision *ret;
	uint64_t now;
};

/* The waits of the last stall_window_us. */
struct fc_window {
	double wait_us, count, blocks;
	double span_us; /* how much of the window is known */
	uint64_t max_us;
};

void fc_window_add(const struct fc_call *x);
struct fc_window fc_window_sum(const struct fc_call *x);

/* 0 in no time. */
double fc_per_second(double amount, double us);

/* Each fills the decision's `why`. */
void fc_describe(const struct fc_call *x, const struct fc_window *w, const char *before);
void fc_describe_quiet(const struct fc_call *x, const struct fc_window *w);
void fc_describe_judgement(const struct fc_call *x, double avoided_per_s);
void fc_describe_interval(const struct fc_call *x, const struct fc_window *w);
void fc_describe_memory(const struct fc_call *x);

#endif
