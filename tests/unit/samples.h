/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples for tests of decide: what the probes would have counted. */
#ifndef FSTUNED_TESTS_SAMPLES_H
#define FSTUNED_TESTS_SAMPLES_H

#include "../../daemon/decide/policy.h"

#define MS USEC_PER_MSEC
#define SEC USEC_PER_SEC
#define MIN USEC_PER_MINUTE

/* `n` waits of `us` each. */
static inline void sample_add(struct sample *s, enum fst_measure m, unsigned n, uint64_t us)
{
	uint64_t ns = us * NSEC_PER_USEC;
	struct hist *h = &s->hist[m];

	if (n == 0)
		return;
	h->count += n;
	h->sum_ns += n * ns;
	h->slot[hist_slot(ns)] += n;
	if (ns > h->max_ns)
		h->max_ns = ns;
	s->active = true;
}

static inline struct sample sample_at(uint64_t now_us, uint64_t interval_us)
{
	return (struct sample){
		.now_us = now_us,
		.interval_us = interval_us,
		.measured = (1u << FST_MEASURE_MAX) - 1,
		.block_size = 4096,
		.memory_pressure = -1,
	};
}

#endif
