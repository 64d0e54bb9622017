// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "samples.h"

/* `n` seconds of so many operations of so long. */
static struct side side_of(unsigned n, uint64_t per_s, double mean_us)
{
	struct side s = { 0 };

	for (unsigned i = 0; i < n; i++)
		assert_true(side_add(
			&s, &(struct side_point){ SEC, per_s, (double)per_s * mean_us }, SEC,
			NULL));
	return s;
}

static struct comparison compare(struct side a, struct side b)
{
	return compare_sides(&a, &b);
}

static void short_ticks_are_put_together(void **state)
{
	const struct side_point tick = { 300 * MS, 3, 6000 };
	struct side_point whole = { 0 };
	struct side s = { 0 };

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_false(side_add(&s, &tick, SEC, &whole));
	assert_int_equal(s.n, 0);
	assert_true(side_add(&s, &tick, SEC, &whole));
	assert_int_equal(whole.span_us, 1200 * MS);
	assert_int_equal(whole.count, 12);
	assert_true(point_rate(&whole) == 10);
	assert_true(point_mean_us(&whole) == 2000);
	/* No time is no point, however much is said to have happened in it. */
	assert_false(side_add(&s, &(struct side_point){ 0, 9, 9 }, 0, NULL));
}

static void only_the_newest_points_count(void **state)
{
	struct side s = side_of(SIDE_POINTS, 100, 1000);

	(void)state;
	for (unsigned i = 0; i < SIDE_POINTS; i++)
		side_add(&s, &(struct side_point){ SEC, 50, 50 * 3000 }, SEC, NULL);
	assert_int_equal(s.n, SIDE_POINTS);
	assert_int_equal(side_total(&s).count, 50 * SIDE_POINTS);
	assert_int_equal(side_total(&s).span_us, SIDE_POINTS * SEC);
}

static void closed_loop_is_compared_by_its_rate(void **state)
{
	/* Eight tasks, and 20 ms between two fsyncs: less is gained than an fsync is faster. */
	struct comparison c = compare(side_of(5, 80, 80000), side_of(5, 133, 40000));

	(void)state;
	assert_true(c.enough && !c.load_changed);
	assert_true(fabs(c.gain - 2 * (133.0 - 80) / (133 + 80)) < 1e-6);
	c = compare(side_of(5, 133, 40000), side_of(5, 80, 80000));
	assert_true(c.enough && !c.load_changed);
	assert_true(fabs(c.gain + 2 * (133.0 - 80) / (133 + 80)) < 1e-6);
}

static void open_loop_is_compared_by_the_time(void **state)
{
	struct comparison c = compare(side_of(5, 60, 9000), side_of(5, 61, 6000));

	(void)state;
	assert_true(c.enough && !c.load_changed);
	assert_true(fabs(c.gain - 0.4) < 1e-6);
}

static void more_tasks_are_another_load(void **state)
{
	(void)state;
	assert_true(compare(side_of(5, 100, 80000), side_of(5, 150, 90000)).load_changed);
	assert_true(compare(side_of(5, 100, 80000), side_of(5, 50, 70000)).load_changed);
	/* Twice as often, each as long as before. */
	assert_true(compare(side_of(5, 100, 8000), side_of(5, 200, 8000)).load_changed);
}

static void nothing_at_all_is_another_load(void **state)
{
	struct comparison c = compare(side_of(5, 100, 80000), side_of(5, 0, 0));

	(void)state;
	assert_true(c.enough && c.load_changed);
	assert_false(compare(side_of(5, 0, 0), side_of(5, 100, 80000)).enough);
	assert_false(compare(side_of(5, 100, 1000), side_of(1, 100, 1000)).enough);
	assert_false(compare(side_of(1, 100, 1000), side_of(5, 100, 1000)).enough);
}

/* A few equal seconds are no certainty, many are more; scatter takes it away. */
static void error_comes_from_points_and_their_scatter(void **state)
{
	struct comparison few = compare(side_of(5, 100, 80000), side_of(2, 100, 80000));
	struct comparison more = compare(side_of(10, 100, 80000), side_of(10, 100, 80000));
	struct side wild = { 0 };

	(void)state;
	assert_true(few.variance > more.variance);
	assert_true(more.variance > 0.0001);
	for (unsigned i = 0; i < 10; i++) {
		uint64_t n = i % 2 ? 50 : 150;

		side_add(&wild, &(struct side_point){ SEC, n, 8e6 }, SEC, NULL);
	}
	assert_true(compare(side_of(10, 100, 80000), wild).variance > 4 * more.variance);
}

/* One second of ten in which hardly anything moved counts as what it is. */
static void stall_is_paid_for(void **state)
{
	struct side stalling = side_of(8, 110, 8e6 / 110);

	(void)state;
	side_add(&stalling, &(struct side_point){ SEC, 0, 0 }, SEC, NULL);
	/* What eight tasks waited in it ends in the next. */
	side_add(&stalling, &(struct side_point){ SEC, 110, 16e6 }, SEC, NULL);
	assert_true(fabs(compare(side_of(10, 110, 8e6 / 110), stalling).gain -
			 2 * (9.0 - 10) / (9 + 10)) < 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_ticks_are_put_together),
		cmocka_unit_test(only_the_newest_points_count),
		cmocka_unit_test(closed_loop_is_compared_by_its_rate),
		cmocka_unit_test(open_loop_is_compared_by_the_time),
		cmocka_unit_test(more_tasks_are_another_load),
		cmocka_unit_test(nothing_at_all_is_another_load),
		cmocka_unit_test(error_comes_from_points_and_their_scatter),
		cmocka_unit_test(stall_is_paid_for),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
