// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include "hist.h"
#include "time-util.h"
#include "../../bpf/hist.bpf.h"

/*
 * 2^(eighths / 8) units of 2^-30 s, in seconds. A table: libm, which nothing else here needs,
 * would be a sixteenth of the daemon's resident memory.
 */
static double grid_s(unsigned eighths)
{
	static const double root[] = {
		1,
		1.09050773266525766,
		1.18920711500272107,
		1.29683955465100967,
		1.41421356237309505,
		1.54221082540794082,
		1.68179283050742909,
		1.83400808640934246,
	};

	return ldexp(root[eighths % 8], (int)(eighths / 8) - 30);
}

double hist_bound_s(unsigned slot)
{
	if (slot >= FST_HIST_SLOTS - 1)
		return INFINITY;
	return grid_s(FST_HIST_MIN_EXP * 8 + slot * 2);
}

uint64_t hist_mid_ns(unsigned slot)
{
	double s;

	if (slot == 0)
		s = hist_bound_s(0);
	else if (slot >= FST_HIST_SLOTS - 1)
		s = hist_bound_s(FST_HIST_SLOTS - 2);
	else
		s = grid_s(FST_HIST_MIN_EXP * 8 + slot * 2 - 1);
	return (uint64_t)(s * 1e9 + 0.5);
}

unsigned hist_slot(uint64_t ns)
{
	return fst_hist_slot(ns);
}

bool hist_diff(const struct fst_hist *now, const struct fst_hist *before, struct hist *ret)
{
	static const struct fst_hist nothing;
	unsigned highest = 0;

	if (!before)
		before = &nothing;

	*ret = (struct hist){ 0 };
	/*
	 * By the slots alone: a copy made in the middle of an update may have a slot that its
	 * count lacks. A difference by counts would pass that sample over, and the next one
	 * would start behind it.
	 */
	for (unsigned i = 0; i < FST_HIST_SLOTS; i++) {
		uint64_t d = now->slot[i] - before->slot[i];

		ret->slot[i] = d > UINT32_MAX ? UINT32_MAX : (uint32_t)d;
		ret->count += ret->slot[i];
		if (d)
			highest = i;
	}
	ret->sum_ns = now->sum_ns - before->sum_ns;
	if (now->max_ns > before->max_ns)
		ret->max_ns = now->max_ns;
	else if (ret->count)
		ret->max_ns = hist_mid_ns(highest);
	return ret->count || ret->sum_ns;
}

void hist_add(struct hist *a, const struct hist *b)
{
	a->count += b->count;
	a->sum_ns += b->sum_ns;
	if (b->max_ns > a->max_ns)
		a->max_ns = b->max_ns;
	for (unsigned i = 0; i < FST_HIST_SLOTS; i++)
		if (__builtin_add_overflow(a->slot[i], b->slot[i], &a->slot[i]))
			a->slot[i] = UINT32_MAX;
}

uint64_t hist_quantile_ns(const struct hist *h, double q)
{
	uint64_t total = 0, seen = 0, rank, mid;

	for (unsigned i = 0; i < FST_HIST_SLOTS; i++)
		total += h->slot[i];
	if (total == 0)
		return 0;

	rank = (uint64_t)ceil(q * (double)total);
	if (rank < 1)
		rank = 1;
	for (unsigned i = 0; i < FST_HIST_SLOTS; i++) {
		seen += h->slot[i];
		if (seen >= rank) {
			mid = hist_mid_ns(i);
			return h->max_ns && mid > h->max_ns ? h->max_ns : mid;
		}
	}
	return h->max_ns;
}
