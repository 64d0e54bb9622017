// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../bpf/hist.bpf.h"
#include "../../daemon/base/hist.h"

/* Half a bucket, geometrically: what a quantile may be off. */
#define HALF_BUCKET exp2(1.0 / 8)

/* Reproducible randomness: xorshift64*. */
static uint64_t random_u64(void)
{
	static uint64_t x = UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* A duration whose logarithm is uniform over all that 64 bits hold. */
static uint64_t random_duration_ns(void)
{
	return random_u64() >> (random_u64() % 64);
}

/* Smallest slot whose bound is not below `units` of 2^-30 s: the definition. */
static unsigned reference_slot(long double units)
{
	for (unsigned i = 0; i < FST_HIST_SLOTS - 1; i++)
		if (units <= exp2l(FST_HIST_MIN_EXP + i / 4.0L))
			return i;
	return FST_HIST_SLOTS - 1;
}

/* What the slot's integer arithmetic makes of a duration, without its overflow. */
static unsigned __int128 units_of(uint64_t ns)
{
	return (unsigned __int128)ns * 1125900 >> 20;
}

static void slot_is_the_definition_for_every_small_duration(void **state)
{
	(void)state;
	for (uint64_t ns = 0; ns < 100000; ns++)
		assert_int_equal(hist_slot(ns), reference_slot((long double)units_of(ns)));
}

static void slot_is_the_definition_over_the_whole_range(void **state)
{
	(void)state;
	for (int i = 0; i < 300000; i++) {
		uint64_t ns = random_duration_ns();

		assert_int_equal(hist_slot(ns), reference_slot((long double)units_of(ns)));
	}
}

/* The exact unit is 2^-30 s; integer arithmetic is off by 1e-7 and by less than one unit. */
static void slot_agrees_with_exact_seconds_but_at_a_bound(void **state)
{
	(void)state;
	for (int i = 0; i < 300000; i++) {
		uint64_t ns = random_duration_ns();
		long double exact = (long double)ns * exp2l(30) / 1e9L;
		unsigned least = reference_slot(exact * (1 - 1e-7L) - 1);
		unsigned most = reference_slot(exact * (1 + 1e-7L));
		unsigned slot = hist_slot(ns);

		assert_in_range(slot, least, most);
	}
}

static void power_of_two_belongs_to_the_slot_that_it_bounds(void **state)
{
	(void)state;
	for (unsigned e = FST_HIST_MIN_EXP; e <= FST_HIST_MAX_EXP; e++) {
		/* The longest duration of at most 2^e units, and the next one. */
		uint64_t ns =
			(uint64_t)((((unsigned __int128)(1ULL << e) + 1) << 20) / 1125900);

		while (units_of(ns) > 1ULL << e)
			ns--;
		assert_true(units_of(ns) <= 1ULL << e && units_of(ns + 1) > 1ULL << e);
		assert_int_equal(hist_slot(ns), (e - FST_HIST_MIN_EXP) * 4);
		assert_int_equal(hist_slot(ns + 1), (e - FST_HIST_MIN_EXP) * 4 + 1);
	}
}

static void slot_never_falls_as_durations_grow(void **state)
{
	unsigned before = 0;

	(void)state;
	for (uint64_t ns = 1; ns < UINT64_MAX / 2; ns += 1 + ns / 997) {
		unsigned slot = hist_slot(ns);

		assert_true(slot >= before && slot < FST_HIST_SLOTS);
		before = slot;
	}
	assert_int_equal(before, FST_HIST_SLOTS - 1);
}

static void huge_durations_go_above_the_grid(void **state)
{
	const uint64_t huge[] = { FST_HIST_CLAMP_NS - 1, FST_HIST_CLAMP_NS,
				  FST_HIST_CLAMP_NS + 1, INT64_MAX, UINT64_MAX };

	(void)state;
	/* The clamp is where the product would overflow, or sooner, and above the grid. */
	assert_true(FST_HIST_CLAMP_NS < UINT64_MAX / 1125900);
	assert_true(units_of(FST_HIST_CLAMP_NS) > 1ULL << FST_HIST_MAX_EXP);
	for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++)
		assert_int_equal(hist_slot(huge[i]), FST_HIST_SLOTS - 1);
}

static void bounds_are_the_grid_of_native_histograms(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FST_HIST_SLOTS - 1; i++) {
		/* Schema 2: index k ends at 2^(k/4) seconds. */
		double k = round(log2(hist_bound_s(i)) * 4);

		assert_true(fabs(hist_bound_s(i) / exp2(k / 4) - 1) < 1e-12);
		assert_int_equal((int)k, (int)i - 80);
	}
	assert_true(isinf(hist_bound_s(FST_HIST_SLOTS - 1)));
	assert_true(fabs(hist_bound_s(FST_HIST_SLOTS - 2) - 64) < 1e-9);
}

static void midpoint_lies_in_its_own_slot(void **state)
{
	(void)state;
	for (unsigned i = 1; i < FST_HIST_SLOTS - 1; i++)
		assert_int_equal(hist_slot(hist_mid_ns(i)), i);
}

static void count_ns(struct fst_hist *h, uint64_t ns)
{
	h->slot[hist_slot(ns)]++;
	h->count++;
	h->sum_ns += ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void quantile_is_off_by_half_a_bucket_at_most(void **state)
{
	static const double qs[] = { 0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
	static uint64_t samples[20000];

	(void)state;
	for (int round = 0; round < 20; round++) {
		size_t n = 1 + random_u64() % (sizeof(samples) / sizeof(samples[0]));
		struct fst_hist counted = { 0 };
		struct hist h;

		for (size_t i = 0; i < n; i++) {
			/* 2 us to 32 s: inside the grid, where the promise holds */
			samples[i] =
				(uint64_t)(2000 * exp2((double)(random_u64() % 24000) / 1000));
			count_ns(&counted, samples[i]);
		}
		qsort(samples, n, sizeof(samples[0]), compare_u64);
		assert_true(hist_diff(&counted, NULL, &h));
		for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++) {
			size_t rank = (size_t)ceil(qs[i] * (double)n);
			double truth = (double)samples[rank ? rank - 1 : 0];
			double got = (double)hist_quantile_ns(&h, qs[i]);

			assert_true(got <= truth * HALF_BUCKET * 1.0001);
			assert_true(got >= truth / HALF_BUCKET / 1.0001);
			assert_true((uint64_t)got <= h.max_ns);
		}
	}
}

static void quantile_of_nothing_is_zero(void **state)
{
	struct hist h = { 0 };

	(void)state;
	assert_int_equal(hist_quantile_ns(&h, 0.5), 0);
}

static void quantile_of_one_sample_does_not_exceed_it(void **state)
{
	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t ns = random_duration_ns();
		struct fst_hist one = { 0 };
		struct hist h;

		count_ns(&one, ns);
		assert_true(hist_diff(&one, NULL, &h));
		if (ns)
			assert_true(hist_quantile_ns(&h, 0.99) <= ns);
	}
}

static void difference_is_what_came_between(void **state)
{
	struct fst_hist before = { 0 }, now;
	struct hist d;

	(void)state;
	count_ns(&before, 5000);
	count_ns(&before, 70000000);
	now = before;
	assert_false(hist_diff(&now, &before, &d));
	assert_int_equal(d.count, 0);

	count_ns(&now, 6000000);
	count_ns(&now, 6000001);
	assert_true(hist_diff(&now, &before, &d));
	assert_int_equal(d.count, 2);
	assert_int_equal(d.sum_ns, 12000001);
	assert_int_equal(d.slot[hist_slot(6000000)], 2);
	assert_int_equal(d.slot[hist_slot(5000)], 0);
	/* No new record: the maximum is a bucket's midpoint, and near. */
	assert_true(fabs(log2((double)d.max_ns / 6000001)) <= 1.0 / 8 + 1e-6);

	before = now;
	count_ns(&now, 123456789);
	assert_true(hist_diff(&now, &before, &d));
	assert_int_equal(d.max_ns, 123456789); /* a new record is exact */
}

/*
 * Copied in the middle of an update, at any point of it: over this difference and the next,
 * nothing is lost or counted twice.
 */
static void differences_survive_torn_reads(void **state)
{
	struct fst_hist begin = { 0 }, end;
	const uint64_t ns = 2000000;

	(void)state;
	count_ns(&begin, 1000000);
	end = begin;
	count_ns(&end, ns);
	for (unsigned done = 0; done < 16; done++) {
		struct fst_hist torn = begin;
		struct hist first, second;

		if (done & 1)
			torn.slot[hist_slot(ns)] = end.slot[hist_slot(ns)];
		if (done & 2)
			torn.sum_ns = end.sum_ns;
		if (done & 4)
			torn.count = end.count;
		if (done & 8)
			torn.max_ns = end.max_ns;
		(void)hist_diff(&torn, &begin, &first);
		(void)hist_diff(&end, &torn, &second);
		assert_int_equal(first.count + second.count, 1);
		assert_int_equal(first.sum_ns + second.sum_ns, ns);
		assert_int_equal(first.slot[hist_slot(ns)] + second.slot[hist_slot(ns)], 1);
	}
}

static void addition_saturates(void **state)
{
	struct hist a = { .count = 1, .max_ns = 5 },
		    b = { .count = 2, .sum_ns = 7, .max_ns = 9 };

	(void)state;
	a.slot[3] = UINT32_MAX - 1;
	b.slot[3] = 5;
	b.slot[4] = 6;
	hist_add(&a, &b);
	assert_int_equal(a.slot[3], UINT32_MAX);
	assert_int_equal(a.slot[4], 6);
	assert_int_equal(a.count, 3);
	assert_int_equal(a.sum_ns, 7);
	assert_int_equal(a.max_ns, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slot_is_the_definition_for_every_small_duration),
		cmocka_unit_test(slot_is_the_definition_over_the_whole_range),
		cmocka_unit_test(slot_agrees_with_exact_seconds_but_at_a_bound),
		cmocka_unit_test(power_of_two_belongs_to_the_slot_that_it_bounds),
		cmocka_unit_test(slot_never_falls_as_durations_grow),
		cmocka_unit_test(huge_durations_go_above_the_grid),
		cmocka_unit_test(bounds_are_the_grid_of_native_histograms),
		cmocka_unit_test(midpoint_lies_in_its_own_slot),
		cmocka_unit_test(quantile_is_off_by_half_a_bucket_at_most),
		cmocka_unit_test(quantile_of_nothing_is_zero),
		cmocka_unit_test(quantile_of_one_sample_does_not_exceed_it),
		cmocka_unit_test(difference_is_what_came_between),
		cmocka_unit_test(differences_survive_torn_reads),
		cmocka_unit_test(addition_saturates),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
