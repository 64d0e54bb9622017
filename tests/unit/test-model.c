// SPDX-License-Identifier: GPL-2.0-or-later
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "samples.h"

#define BEGIN (1000 * SEC) /* a multiple of the parts' length */

static struct model *model(void)
{
	struct model *m = NULL;

	assert_int_equal(model_new(&m), 0);
	return m;
}

static void update(struct model *m, uint64_t now, unsigned n, uint64_t us)
{
	struct sample s = sample_at(now, SEC);

	sample_add(&s, FST_COMMIT, n, us);
	assert_int_equal(model_update(m, &s), 0);
}

static struct hist window(const struct model *m, uint64_t now, uint64_t *span)
{
	struct hist h;

	model_window(m, FST_COMMIT, now, &h, span);
	return h;
}

static void model_begins_empty_and_idle(void **state)
{
	_cleanup_(model_freep) struct model *m = model();
	uint64_t span, copied, avoided;
	struct service service;

	(void)state;
	assert_int_equal(window(m, BEGIN, &span).count, 0);
	assert_int_equal(span, 0);
	assert_true(model_idle(m, BEGIN));
	model_service(m, BEGIN, &service);
	assert_false(service.known);
	assert_false(model_copy(m, BEGIN, &copied, &avoided));
	assert_true(model_memory_pressure(m) < 0);
}

static void model_sums_the_last_minute(void **state)
{
	_cleanup_(model_freep) struct model *m = model();
	uint64_t span, now = BEGIN;
	struct hist h;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		now += SEC;
		update(m, now, 2, 5 * MS);
		h = window(m, now, &span);
		if (i < 50) {
			assert_int_equal(h.count, 2 * (i + 1));
			assert_int_equal(span, (i + 1) * SEC);
		} else {
			assert_in_range(span, 50 * SEC, 60 * SEC);
		}
		/* The rate over the span is right at any time. */
		assert_true(h.count >= 2 * (span / SEC) && h.count <= 2 * (span / SEC + 1));
		assert_int_equal(h.sum_ns, h.count * 5 * MS * NSEC_PER_USEC);
		assert_int_equal(h.max_ns, 5 * MS * NSEC_PER_USEC);
	}
}

static void model_forgets_after_a_minute(void **state)
{
	_cleanup_(model_freep) struct model *m = model();

	(void)state;
	update(m, BEGIN + SEC, 100, MS);
	assert_int_equal(window(m, BEGIN + 59 * SEC, NULL).count, 100);
	assert_false(model_idle(m, BEGIN + 59 * SEC));
	assert_int_equal(window(m, BEGIN + 60 * SEC, NULL).count, 0);
	assert_true(model_idle(m, BEGIN + 60 * SEC));
	/* also if there was no sample in between, and much later */
	assert_int_equal(window(m, BEGIN + 600 * MIN, NULL).count, 0);
	update(m, BEGIN + 600 * MIN, 1, MS);
	assert_int_equal(window(m, BEGIN + 600 * MIN, NULL).count, 1);
}

static void model_quantiles_are_those_of_the_window(void **state)
{
	_cleanup_(model_freep) struct model *m = model();
	struct hist h;

	(void)state;
	update(m, BEGIN + SEC, 1000, 400 * MS); /* will have aged out */
	for (unsigned i = 1; i <= 60; i++)
		update(m, BEGIN + MIN + i * SEC, i % 2 ? 99 : 1, i % 2 ? MS : 80 * MS);
	h = window(m, BEGIN + 2 * MIN - SEC, NULL);
	assert_in_range(hist_quantile_ns(&h, 0.5), 900 * 1000, 1100 * 1000);
	assert_in_range(hist_quantile_ns(&h, 0.995), 72000 * 1000, 80000 * 1000);
	assert_int_equal(h.max_ns, 80 * MS * NSEC_PER_USEC);
}

static void model_span_covers_a_long_tick(void **state)
{
	_cleanup_(model_freep) struct model *m = model();
	struct sample s = sample_at(BEGIN + 10 * MIN, 9 * MIN);
	uint64_t span;

	(void)state;
	sample_add(&s, FST_COMMIT, 540, MS);
	assert_int_equal(model_update(m, &s), 0);
	/* One a second, however long the tick was. */
	assert_int_equal(window(m, s.now_us, &span).count, 540);
	assert_int_equal(span, 9 * MIN);
}

static void model_sums_service_times(void **state)
{
	_cleanup_(model_freep) struct model *m = model();
	struct service service;

	(void)state;
	for (unsigned i = 1; i <= 3; i++) {
		struct sample s = sample_at(BEGIN + i * 5 * SEC, 5 * SEC);

		s.service = (struct service){
			.known = i != 2,
			.writes = 10,
			.write_us = 20 * MS,
			.flushes = 1,
			.flush_us = 7 * MS,
			.reads = 2,
			.read_us = MS,
			.busy_us = 100 * MS,
			.in_flight = i,
		};
		s.journal_service = (struct service){
			.known = i != 1, .flushes_known = i == 3, .flushes = 2, .flush_us = MS
		};
		assert_int_equal(model_update(m, &s), 0);
	}
	model_service(m, BEGIN + 20 * SEC, &service);
	assert_true(service.known);
	assert_int_equal(service.writes, 20);
	assert_int_equal(service.write_us, 40 * MS);
	assert_int_equal(service.flushes, 2);
	assert_int_equal(service.flush_us, 14 * MS);
	assert_int_equal(service.reads, 4);
	assert_int_equal(service.read_us, 2 * MS);
	assert_int_equal(service.busy_us, 200 * MS);
	assert_int_equal(service.in_flight, 3);
	assert_false(service.flushes_known);
	model_journal_service(m, BEGIN + 20 * SEC, &service);
	assert_true(service.known && service.flushes_known);
	assert_int_equal(service.flushes, 4);
	assert_int_equal(service.flush_us, 2 * MS);
	model_service(m, BEGIN + 10 * MIN, &service);
	assert_false(service.known);
}

static void model_sums_what_was_copied_and_avoided(void **state)
{
	_cleanup_(model_freep) struct model *m = model();
	uint64_t copied, avoided;

	(void)state;
	for (unsigned i = 1; i <= 20; i++) {
		struct sample s = sample_at(BEGIN + i * SEC, SEC);

		s.active = s.copy_known = i % 2;
		s.copied_blocks = 30;
		s.avoided_waits = 4;
		assert_int_equal(model_update(m, &s), 0);
	}
	assert_true(model_copy(m, BEGIN + 20 * SEC, &copied, &avoided));
	assert_int_equal(copied, 300);
	assert_int_equal(avoided, 40);
}

/*
 * Ten busy devices are to fit into a daemon of 1 MiB, and rest gives it back. Nothing makes a
 * device busy with all of these at once.
 */
static void model_memory_follows_what_happens(void **state)
{
	_cleanup_(model_freep) struct model *m = model();
	size_t empty = mallinfo2().uordblks, busy;
	uint64_t now = BEGIN;

	(void)state;
	for (unsigned i = 0; i < 120; i++) {
		struct sample s = sample_at(now += SEC, SEC);

		/* No device has both a journal and what an f2fs waits for. */
		for (enum fst_measure f = 0; f < FST_MEASURE_MAX; f++)
			if (measure_fs_kind(f) != FS_F2FS)
				sample_add(&s, f, 3, MS);
		assert_int_equal(model_update(m, &s), 0);
	}
	busy = mallinfo2().uordblks;
	assert_true(busy - empty <= 56 * 1024);
	for (unsigned i = 0; i < 60; i++)
		update(m, now += SEC, 0, 0);
	assert_int_equal(mallinfo2().uordblks, empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(model_begins_empty_and_idle),
		cmocka_unit_test(model_sums_the_last_minute),
		cmocka_unit_test(model_forgets_after_a_minute),
		cmocka_unit_test(model_quantiles_are_those_of_the_window),
		cmocka_unit_test(model_span_covers_a_long_tick),
		cmocka_unit_test(model_sums_service_times),
		cmocka_unit_test(model_sums_what_was_copied_and_avoided),
		cmocka_unit_test(model_memory_follows_what_happens),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
