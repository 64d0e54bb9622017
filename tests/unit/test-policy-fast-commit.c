// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fast-commit-sim.h"

/* Eight tasks, 100 fsyncs a second, on twice as fast. */
static const struct disk_load twice = {
	.fsync_us = 80000, .ratio = 2, .tasks = 8, .noise = 0.02
};
static const struct disk_load half = {
	.fsync_us = 80000, .ratio = 0.5, .tasks = 8, .noise = 0.02
};
static const struct disk_load equal = {
	.fsync_us = 80000, .ratio = 1, .tasks = 8, .noise = 0.02
};
static const struct disk_load none = { .fsync_us = 1000, .ratio = 1, .per_s = 0 };

/* --- trials --- */

static void trial_comes_soon_and_the_better_value_is_kept(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);

	(void)state;
	assert_true(fast_run(&s, 60) <= 8);
	assert_int_equal(s.d.reason, REASON_TRIAL);
	assert_string_equal(s.d.to, "1");
	assert_int_equal(s.p.state, FAST_COMMIT_TRIAL);
	/* It goes well, so it takes its time: two commit intervals. */
	assert_in_range(fast_run(&s, 60), 10, 12);
	assert_int_equal(s.d.reason, REASON_TRIAL_KEPT);
	assert_string_equal(s.k.value, "1");
	assert_int_equal(s.writes, 1);
	assert_int_equal(s.notices, 1);
}

static void trial_of_a_worse_value_ends_early(void **state)
{
	struct fast_sim s = fast_sim_new(&half, false, 1);

	(void)state;
	fast_run(&s, 60);
	assert_string_equal(s.k.value, "1");
	assert_true(fast_run(&s, 60) <= 4);
	assert_int_equal(s.d.reason, REASON_TRIAL_FAILED);
	assert_string_equal(s.k.value, "0");
}

static void trial_without_a_difference_changes_nothing(void **state)
{
	struct fast_sim s = fast_sim_new(&equal, true, 1);

	(void)state;
	fast_run(&s, 60);
	assert_string_equal(s.k.value, "0");
	assert_in_range(fast_run(&s, 60), 10, 25);
	assert_int_equal(s.d.reason, REASON_TRIAL_FAILED);
	assert_string_equal(s.k.value, "1");
}

static void trial_says_why_and_what_came_of_it(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);
	char note[DECISION_WHY_MAX];

	(void)state;
	s.l.noise = 0;
	policy_fast_commit_note(&s.p, note, sizeof(note));
	assert_string_equal(note, "");
	fast_run(&s, 60);
	assert_string_equal(s.d.why, "with 0 100 fsync/s of 80ms, together 8.0s/s: trying 1");
	fast_run(&s, 60);
	assert_string_equal(s.d.why, "with 0 100 fsync/s of 80ms, with 1 200 fsync/s of 40ms: "
				     "better, kept");
	policy_fast_commit_note(&s.p, note, sizeof(note));
	assert_string_equal(note, s.d.why);
}

static void trials_come_at_doubling_intervals(void **state)
{
	struct fast_sim s = fast_sim_new(&half, false, 1);
	uint64_t expected = s.c.fast_interval_us, ended;

	(void)state;
	fast_run(&s, 60);
	for (unsigned i = 0; i < 8; i++) {
		fast_run(&s, 60);
		assert_int_equal(s.d.reason, REASON_TRIAL_FAILED);
		assert_int_equal(s.p.trial_interval_us, expected);
		ended = s.now;
		fast_run(&s, 4000);
		assert_int_equal(s.d.reason, REASON_TRIAL);
		assert_in_range(s.now - ended, expected, expected + 2 * SEC);
		expected = expected * 2 < s.c.fast_interval_max_us ? expected * 2
								   : s.c.fast_interval_max_us;
	}
}

static void value_that_was_kept_is_doubted_after_the_first_interval(void **state)
{
	struct fast_sim s = fast_sim_new(&half, false, 1);
	uint64_t kept;

	(void)state;
	s.c.changes_max = CHANGES_KEPT;
	fast_go(&s, 400);
	assert_true(s.p.trial_interval_us > s.c.fast_interval_us);
	/* Another load, to which the other value is right: found by the next trial. */
	s.l = twice;
	for (unsigned i = 0; i < 20 && s.d.reason != REASON_TRIAL_KEPT; i++)
		fast_run(&s, 4000);
	assert_int_equal(s.d.reason, REASON_TRIAL_KEPT);
	kept = s.now;
	fast_run(&s, 4000);
	assert_int_equal(s.d.reason, REASON_TRIAL);
	assert_in_range(s.now - kept, s.c.fast_interval_us, s.c.fast_interval_us + 2 * SEC);
}

/* --- when there is none --- */

static void nothing_is_tried_without_load(void **state)
{
	static const struct disk_load loads[] = {
		{ .fsync_us = 80000, .ratio = 2, .per_s = 0 },
		{ .fsync_us = 80000, .ratio = 2, .per_s = 5 }, /* too few */
		{ .fsync_us = 100, .ratio = 2, .per_s = 300 }, /* 30 ms/s: too short */
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(loads); i++) {
		struct fast_sim s = fast_sim_new(&loads[i], true, i);

		fast_go(&s, 600);
		assert_int_equal(s.writes, 0);
	}
}

static void bursts_shorter_than_the_baseline_are_left_alone(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		s.l = twice;
		fast_go(&s, 4);
		s.l = none;
		fast_go(&s, 5);
	}
	assert_int_equal(s.writes, 0);
}

/* As a full commit may, that has much to write. */
static void stall_of_a_second_is_no_end_of_the_load(void **state)
{
	struct fast_sim s = fast_sim_new(&half, false, 1);

	(void)state;
	for (unsigned i = 0; i < 12 && s.writes == 0; i++) {
		s.l = i % 4 == 3 ? none : twice;
		fast_tick(&s);
	}
	assert_int_equal(s.writes, 1);
}

static void load_that_ends_in_a_trial_says_nothing(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);

	(void)state;
	fast_run(&s, 60);
	fast_go(&s, 4);
	s.l = none;
	fast_run(&s, 60);
	assert_int_equal(s.d.reason, REASON_TRIAL_VOID);
	assert_string_equal(s.k.value, "0");
	/* And is tried again, when there is load again. */
	fast_go(&s, 120);
	assert_int_equal(s.writes, 2);
	s.l = twice;
	assert_true(fast_run(&s, 60) <= 10);
	assert_int_equal(s.d.reason, REASON_TRIAL);
}

static void other_load_in_a_trial_says_nothing(void **state)
{
	static const unsigned tasks[] = { 2, 32 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(tasks); i++) {
		struct fast_sim s = fast_sim_new(&equal, false, i);

		fast_run(&s, 60);
		s.l.tasks = tasks[i];
		/* As a disk does it: with more tasks more fsyncs, and each takes longer. */
		s.l.fsync_us = tasks[i] > 8 ? 160000 : 40000;
		fast_run(&s, 60);
		assert_int_equal(s.d.reason, REASON_TRIAL_VOID);
		assert_string_equal(s.k.value, "0");
		assert_non_null(strstr(s.d.why, "the load or another knob changed"));
	}
}

static void open_loop_with_another_rate_says_nothing(void **state)
{
	struct disk_load l = { .fsync_us = 9000, .ratio = 1, .per_s = 60, .noise = 0.05 };
	struct fast_sim s = fast_sim_new(&l, false, 3);

	(void)state;
	fast_run(&s, 60);
	s.l.per_s = 180;
	fast_run(&s, 60);
	assert_int_equal(s.d.reason, REASON_TRIAL_VOID);
}

static void change_of_another_knob_in_a_trial_ends_it(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);

	(void)state;
	fast_run(&s, 60);
	fast_go(&s, 3);
	s.others_us = s.now;
	assert_int_equal(fast_tick(&s), 1);
	assert_int_equal(s.d.reason, REASON_TRIAL_VOID);
	assert_string_equal(s.k.value, "0");
}

static void change_of_another_knob_is_waited_out(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);

	(void)state;
	fast_go(&s, 5);
	s.others_us = s.now;
	assert_in_range(fast_run(&s, 60), 9, 12);
	assert_int_equal(s.d.reason, REASON_TRIAL);
}

/* By the table of all policies: force_copy is that other knob. */
static void change_of_force_copy_is_another_knobs(void **state)
{
	const struct policy_ops *ops = policy_ops(KNOB_FAST_COMMIT);
	struct policy_state p = { 0 };
	struct policy_summary summary;
	struct fast_sim s = fast_sim_new(&twice, false, 1);

	(void)state;
	fast_run(&s, 60);
	p.fast_commit = s.p;
	ops->summarise(&p, &summary);
	assert_string_equal(summary.state, "trial");
	assert_int_equal(summary.since_us, s.now);
	assert_string_equal(summary.note, "");

	s.now += SEC;
	p.force_copy.changes.last_us = s.now;
	assert_int_equal(ops->decide(&p, &s.c,
				     &(struct sample){ .now_us = s.now,
						       .interval_us = SEC,
						       .measured = UINT32_MAX },
				     &s.k, &s.d),
			 1);
	assert_int_equal(s.d.reason, REASON_TRIAL_VOID);
	ops->summarise(&p, &summary);
	assert_string_equal(summary.state, "watch");
	assert_int_equal(summary.next_trial_us, s.now + s.c.fast_interval_us);
	assert_true(*summary.note);
}

static void blind_policy_ends_its_trial(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);
	struct sample sample;

	(void)state;
	fast_run(&s, 60);
	sample = sample_at(s.now + SEC, SEC);
	sample.measured = 0;
	assert_int_equal(fast_feed(&s, &sample), 1);
	assert_int_equal(s.d.reason, REASON_TRIAL_VOID);
	sample.now_us += MIN;
	assert_int_equal(fast_feed(&s, &sample), 0);
}

/* --- the knob --- */

static void knob_of_an_administrator_is_left_alone(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);

	(void)state;
	s.k.mode = KNOB_MANUAL;
	fast_go(&s, 100);
	s.k.mode = KNOB_AUTO;
	s.k.supported = false;
	fast_go(&s, 100);
	assert_int_equal(s.writes, 0);
	/* Handed over, it is as if it had just been mounted. */
	s.k.supported = true;
	assert_true(fast_run(&s, 60) <= 8);
}

static void knob_that_refuses_is_not_written_to_for_ever(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);

	(void)state;
	s.refuses = true;
	fast_go(&s, 600);
	assert_in_range(s.writes, 2, 5);
}

static void way_back_that_is_refused_is_tried_again(void **state)
{
	struct fast_sim s = fast_sim_new(&half, false, 1);

	(void)state;
	fast_run(&s, 60);
	s.refuses = true;
	fast_run(&s, 60);
	assert_int_equal(s.d.reason, REASON_TRIAL_FAILED);
	assert_string_equal(s.k.value, "1");
	s.refuses = false;
	fast_go(&s, 300);
	assert_string_equal(s.k.value, "0");
}

static void write_in_progress_is_waited_for(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);

	(void)state;
	fast_run(&s, 60);
	s.k.value[0] = '0';
	s.k.busy = true;
	fast_go(&s, 30);
	assert_int_equal(s.writes, 1);
	s.k.value[0] = '1';
	s.k.busy = false;
	fast_run(&s, 60);
	assert_int_equal(s.d.reason, REASON_TRIAL_KEPT);
}

static void advice_is_given_once_while_the_load_lasts(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, true, 1);

	(void)state;
	s.k.mode = KNOB_OBSERVE;
	assert_true(fast_run(&s, 60) <= 8);
	assert_string_equal(s.d.to, "0");
	fast_go(&s, 300);
	assert_int_equal(s.advices, 1);
	assert_int_equal(s.writes, 0);
	s.l = none;
	fast_go(&s, 10);
	s.l = twice;
	fast_go(&s, 300);
	assert_int_equal(s.advices, 2);
}

static void trial_that_may_only_advise_any_more_is_forgotten(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);

	(void)state;
	fast_run(&s, 60);
	s.k.mode = KNOB_OBSERVE;
	fast_go(&s, 60);
	assert_int_equal(s.writes, 1);
	assert_int_equal(s.p.state, FAST_COMMIT_WATCH);
	assert_true(s.p.on);
}

/* --- too many changes --- */

/* What is right changes whenever the policy has found out. */
static void flapping_freezes_where_it_is(void **state)
{
	struct fast_sim s = fast_sim_new(&twice, false, 1);
	unsigned writes;

	(void)state;
	while (s.now < 1000 * SEC + 60 * MIN && s.d.reason != REASON_FROZEN) {
		fast_tick(&s);
		s.l.ratio = s.p.on ? 0.5 : 2;
	}
	assert_int_equal(s.d.reason, REASON_FROZEN);
	assert_string_equal(s.d.from, s.d.to);
	assert_true(s.writes <= s.c.changes_max);
	writes = s.writes;
	fast_go(&s, 29 * 60);
	assert_int_equal(s.writes, writes);
	/* And is over in time. */
	assert_true(fast_run(&s, 120) < 120);
	assert_int_equal(s.d.reason, REASON_TRIAL);
}

/* It is better not tried than left where it is worse. */
static void trial_waits_until_there_is_room_for_the_way_back(void **state)
{
	struct fast_sim s = fast_sim_new(&half, false, 1);

	(void)state;
	s.c.changes_max = 3;
	fast_run(&s, 60);
	fast_run(&s, 60);
	assert_int_equal(s.d.reason, REASON_TRIAL_FAILED);
	assert_int_equal(fast_run(&s, 550), 550);
	assert_true(fast_run(&s, 60) < 60);
	assert_int_equal(s.d.reason, REASON_TRIAL);
	fast_run(&s, 60);
	assert_string_equal(s.k.value, "0");
}

static void handing_over_is_no_way_around_the_breaker(void **state)
{
	struct fast_sim s = fast_sim_new(&half, false, 1);

	(void)state;
	while (s.now < 1000 * SEC + s.c.changes_window_us - MIN) {
		policy_fast_commit_adopt(&s.p);
		fast_run(&s, 30);
		fast_run(&s, 30);
	}
	assert_in_range(s.writes, 2, s.c.changes_max);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trial_comes_soon_and_the_better_value_is_kept),
		cmocka_unit_test(trial_of_a_worse_value_ends_early),
		cmocka_unit_test(trial_without_a_difference_changes_nothing),
		cmocka_unit_test(trial_says_why_and_what_came_of_it),
		cmocka_unit_test(trials_come_at_doubling_intervals),
		cmocka_unit_test(value_that_was_kept_is_doubted_after_the_first_interval),
		cmocka_unit_test(nothing_is_tried_without_load),
		cmocka_unit_test(bursts_shorter_than_the_baseline_are_left_alone),
		cmocka_unit_test(stall_of_a_second_is_no_end_of_the_load),
		cmocka_unit_test(load_that_ends_in_a_trial_says_nothing),
		cmocka_unit_test(other_load_in_a_trial_says_nothing),
		cmocka_unit_test(open_loop_with_another_rate_says_nothing),
		cmocka_unit_test(change_of_another_knob_in_a_trial_ends_it),
		cmocka_unit_test(change_of_another_knob_is_waited_out),
		cmocka_unit_test(change_of_force_copy_is_another_knobs),
		cmocka_unit_test(blind_policy_ends_its_trial),
		cmocka_unit_test(knob_of_an_administrator_is_left_alone),
		cmocka_unit_test(knob_that_refuses_is_not_written_to_for_ever),
		cmocka_unit_test(way_back_that_is_refused_is_tried_again),
		cmocka_unit_test(write_in_progress_is_waited_for),
		cmocka_unit_test(advice_is_given_once_while_the_load_lasts),
		cmocka_unit_test(trial_that_may_only_advise_any_more_is_forgotten),
		cmocka_unit_test(flapping_freezes_where_it_is),
		cmocka_unit_test(trial_waits_until_there_is_room_for_the_way_back),
		cmocka_unit_test(handing_over_is_no_way_around_the_breaker),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
