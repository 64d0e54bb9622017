/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histogram and start-time helpers. fst_hist_slot() is plain arithmetic and is compiled
 * into user space too, so that both sides share one definition of a slot.
 */
#ifndef HIST_BPF_H
#define HIST_BPF_H

#include "fstuned.h"

/* Beyond this (about 2.4 h) the product below would overflow; it is "above 64 s" anyway. */
#define FST_HIST_CLAMP_NS (1ULL << 43)

/*
 * Slot of a duration. In units of 2^-30 s, u = ns * 2^30 / 10^9, here with an error below
 * 1e-7. Then log2(u) in quarters, rounded up: normalise u so that its highest bit is bit
 * 63 and compare with 2^(1/4), 2^(1/2), 2^(3/4) at that scale. Those are irrational, so only a
 * whole power of two ever equals a bound.
 */
static inline __attribute__((always_inline)) unsigned int fst_hist_slot(unsigned long long ns)
{
	unsigned long long u, n;
	unsigned int e = 63, slot;

	if (ns > FST_HIST_CLAMP_NS)
		ns = FST_HIST_CLAMP_NS;
	u = (ns * 1125900ULL) >> 20;
	if (u <= 1ULL << FST_HIST_MIN_EXP)
		return 0;

	n = u;
	if (!(n >> 32)) {
		n <<= 32;
		e -= 32;
	}
	if (!(n >> 48)) {
		n <<= 16;
		e -= 16;
	}
	if (!(n >> 56)) {
		n <<= 8;
		e -= 8;
	}
	if (!(n >> 60)) {
		n <<= 4;
		e -= 4;
	}
	if (!(n >> 62)) {
		n <<= 2;
		e -= 2;
	}
	if (!(n >> 63)) {
		n <<= 1;
		e -= 1;
	}

	slot = (e - FST_HIST_MIN_EXP) * 4;
	if (n > 15511800964685064948ULL) /* 2^63 * 2^(3/4) */
		slot += 4;
	else if (n > 13043817825332782212ULL) /* 2^63 * 2^(1/2) */
		slot += 3;
	else if (n > 10968499650544839023ULL) /* 2^63 * 2^(1/4) */
		slot += 2;
	else if (n > 1ULL << 63)
		slot += 1;

	return slot > FST_HIST_GRID ? FST_HIST_SLOTS - 1 : slot;
}

#ifdef __bpf__
/*
 * Adds a sample; `count` is left to the reader, who gets it by adding up the slots.
 * The updates are not one: a reader between them has a slot without its time.
 */
static inline __attribute__((always_inline)) void fst_hist_update(struct fst_hist *h,
								  unsigned long long ns)
{
	unsigned long long slot = fst_hist_slot(ns);

	/* Never true. The verifier cannot know, and clang, which does, must not see that. */
	asm volatile("" : "+r"(slot));
	if (slot >= FST_HIST_SLOTS)
		return;
	__sync_fetch_and_add(&h->slot[slot], 1);
	__sync_fetch_and_add(&h->sum_ns, ns);
	if (ns > h->max_ns)
		h->max_ns = ns;
}
#endif

#endif
