/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic on the histogram of bpf/fstuned.h. No allocation, no I/O. */
#ifndef FSTUNED_BASE_HIST_H
#define FSTUNED_BASE_HIST_H

#include <stdbool.h>
#include <stdint.h>
#include "../../bpf/fstuned.h"

/* A histogram over some time, as differences; 32 bits do for minutes of events. */
struct hist {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns; /* exact where a new record was set in that time, else a bucket's
			    midpoint */
	uint32_t slot[FST_HIST_SLOTS];
};

/* Upper bound of a slot in seconds; infinity for the last. */
double hist_bound_s(unsigned slot);

/* Geometric midpoint of a slot in ns; the bound itself for the first and the last. */
uint64_t hist_mid_ns(unsigned slot);

/* Slot of a duration, the same arithmetic as the probes'. */
unsigned hist_slot(uint64_t ns);

/* *ret = now - before. `before` may be NULL (nothing yet). Returns true if anything happened.
 */
bool hist_diff(const struct fst_hist *now, const struct fst_hist *before, struct hist *ret);

/* Adds `b` to `a`; saturates instead of wrapping. */
void hist_add(struct hist *a, const struct hist *b);

/* Quantile q in 0..1: a bucket's midpoint, at most 9.1 % off, never above max_ns. 0 if empty.
 */
uint64_t hist_quantile_ns(const struct hist *h, double q);

#endif
