// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "policy-sim.h"

/* --- entering --- */

static void policy_enters_on_stall_rate(void **state)
{
	struct sim s = sim_new();

	(void)state;
	assert_true(run(&s, &stalling, 10 * SEC) <= 3 * SEC);
	assert_int_equal(s.d.reason, REASON_STALL);
	assert_string_equal(s.d.to, "1");
	assert_int_equal(s.d.knob, KNOB_FORCE_COPY);
	assert_false(s.d.advice);
	assert_int_equal(s.p.state, FC_ON);
}

static void policy_enters_as_soon_as_one_tick_fills_the_window(void **state)
{
	struct sim s = sim_new();
	struct load burst = { .waits = 200, .wait_us = MS, .blocks = 300 };

	(void)state;
	run(&s, &calm, 10 * SEC);
	/* 20 ms of waiting in a tenth of a second: limit times window */
	assert_int_equal(tick(&s, &burst, 100 * MS), 1);
	assert_int_equal(s.d.reason, REASON_STALL);
}

static void policy_enters_on_one_long_wait(void **state)
{
	struct sim s = sim_new();
	struct load one = { .waits = 1, .wait_us = 260 * MS, .blocks = 10 };

	(void)state;
	s.c.stall_us_per_s = 900 * MS; /* so that the rate is not what counts */
	run(&s, &calm, 10 * SEC);
	assert_int_equal(s.writes, 0);
	assert_int_equal(tick(&s, &one, SEC), 1);
	assert_int_equal(s.d.reason, REASON_LONG_WAIT);
	assert_string_equal(s.d.to, "1");
}

static void policy_ignores_what_is_below_the_floor(void **state)
{
	struct sim s = sim_new();
	/* 9.9 ms/s, each wait below the long one */
	struct load below = { .waits = 1, .wait_us = 9900, .blocks = 5000 };

	(void)state;
	assert_int_equal(run(&s, &below, 60 * MIN), 60 * MIN);
	assert_int_equal(s.writes, 0);
	assert_int_equal(s.p.state, FC_OFF);
}

static void policy_enters_with_ticks_of_any_length(void **state)
{
	static const uint64_t lengths[] = {
		10 * MS, 50 * MS, 300 * MS, SEC, 3 * SEC, 10 * SEC
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(lengths); i++) {
		/* just above and just below the limit; waits shorter than any tick */
		struct load above = { .waits = 1100, .wait_us = 10 }, below = above;
		struct sim s = sim_new();

		below.waits = 800;
		while (s.now < 1060 * SEC)
			assert_int_equal(tick(&s, &below, lengths[i]), 0);
		while (s.now < 1120 * SEC && !tick(&s, &above, lengths[i]))
			;
		assert_int_equal(s.p.state, FC_ON);
	}
}

static void policy_says_why_with_the_figures(void **state)
{
	struct sim s = sim_new();
	struct load l = { .waits = 75, .wait_us = 573, .blocks = 300 };

	(void)state;
	run(&s, &l, 10 * SEC);
	/* 75 waits in the first second fill the window of two; a quantile is its bucket's
	 * midpoint */
	assert_string_equal(s.d.why,
			    "shadow waits 21ms/s over 2.0s (p99 532us, longest 573us, 38/s); "
			    "copying costs 1.2MB/s");
}

static void policy_waits_for_the_first_interval(void **state)
{
	struct sim s = sim_new();
	struct sample sample = sample_at(s.now, 0);

	(void)state;
	sample_add(&sample, FST_SHADOW_WAIT, 1000, 100 * MS);
	assert_int_equal(feed(&s, &sample), 0);
}

/* --- leaving --- */

static void policy_leaves_after_quiet_windows(void **state)
{
	struct sim s = sim_new();
	uint64_t us;

	(void)state;
	turn_on(&s);
	run(&s, &copying, 5 * SEC);
	us = run(&s, &idle, 10 * MIN);
	assert_int_equal(s.d.reason, REASON_TRIAL);
	assert_string_equal(s.d.to, "0");
	assert_true(us >= s.c.quiet_us && us <= s.c.quiet_us + 5 * SEC);
	assert_int_equal(s.p.state, FC_TRIAL);

	/* The trial is uneventful: it stays off, and nothing more is written. */
	run(&s, &idle, MIN);
	assert_int_equal(s.p.state, FC_OFF);
	assert_int_equal(s.writes, 2);
}

static void policy_takes_a_lower_load_for_quiet_only_below_the_ratio(void **state)
{
	struct load third = { .blocks = 100 }, tenth = { .blocks = 30 };
	struct sim s = sim_new();

	(void)state;
	turn_on(&s);
	run(&s, &third, 5 * MIN); /* no trial in quiet; the interval is ten minutes */
	assert_int_equal(s.writes, 1);
	run(&s, &tenth, 3 * MIN);
	assert_int_equal(s.d.reason, REASON_TRIAL);
	assert_non_null(strstr(s.d.why, "30 blocks/s"));
}

static void policy_no_trial_while_avoided_waits_pay(void **state)
{
	struct sim s = sim_new();
	uint64_t us;

	(void)state;
	turn_on(&s);
	/* 75 of 600 us are 45 ms in a second, of which 10 are too much */
	assert_int_equal(run(&s, &saving, 8 * 60 * MIN), 8 * 60 * MIN);
	assert_int_equal(s.writes, 1);
	/* and once they stop, quiet is measured from then */
	us = run(&s, &saved, 10 * MIN);
	assert_int_equal(s.d.reason, REASON_TRIAL);
	assert_true(us >= s.c.quiet_us && us <= s.c.quiet_us + 5 * SEC);
	assert_non_null(strstr(s.d.why, "0 waits avoided"));
}

/* A count is no time: what the waits would take now, nobody knows. */
static void policy_tries_without_though_waits_are_avoided(void **state)
{
	struct load few = { .blocks = 300, .copy_known = true, .avoided = 1 };
	struct load hiccup = { .waits = 1, .wait_us = 300 * MS };
	struct sim s = sim_new();

	(void)state;
	tick(&s, &hiccup, SEC);
	assert_int_equal(s.p.state, FC_ON);
	assert_int_equal(run(&s, &few, 24 * 60 * MIN), s.c.trial_interval_max_us);
	assert_int_equal(s.d.reason, REASON_TRIAL);
	assert_non_null(strstr(s.d.why, "1.00 waits/s avoided over 4.0h"));
	run(&s, &calm, MIN);
	assert_int_equal(s.p.state, FC_OFF);

	/* Also where they paid once: that gets old. */
	turn_on(&s);
	assert_in_range(run(&s, &saving, 48 * 60 * MIN), 8 * 60 * MIN, 24 * 60 * MIN);
	assert_int_equal(s.d.reason, REASON_TRIAL);
}

static void policy_does_not_stay_on_for_a_rare_avoided_wait(void **state)
{
	struct sim s = sim_new();
	struct load rare = { .blocks = 300, .copy_known = true };

	(void)state;
	turn_on(&s);
	for (unsigned i = 0; i < 300 && s.writes == 1; i++) {
		rare.avoided = i % 20 == 0; /* one in twenty seconds: half the floor */
		tick(&s, &rare, SEC);
	}
	assert_int_equal(s.d.reason, REASON_TRIAL);
}

static void policy_tries_without_when_the_benefit_is_unknown(void **state)
{
	struct sim s = sim_new();
	uint64_t us;

	(void)state;
	turn_on(&s);
	us = run(&s, &copying, 60 * MIN);
	assert_int_equal(s.d.reason, REASON_TRIAL);
	assert_int_equal(us, s.c.trial_interval_us);
	/* Under load but without waits the trial shows that it is not needed. */
	run(&s, &calm, MIN);
	assert_int_equal(s.p.state, FC_OFF);
	assert_int_equal(s.writes, 2);
}

static void policy_returns_at_once_when_a_trial_fails(void **state)
{
	struct sim s = sim_new();

	(void)state;
	turn_on(&s);
	run(&s, &copying, 60 * MIN);
	assert_int_equal(s.p.state, FC_TRIAL);
	assert_int_equal(run(&s, &stalling, MIN), SEC); /* not after change_interval */
	assert_int_equal(s.d.reason, REASON_TRIAL_FAILED);
	assert_string_equal(s.d.to, "1");
	assert_int_equal(s.p.state, FC_ON);
}

static void policy_returns_at_once_on_a_long_wait_in_a_trial(void **state)
{
	struct sim s = sim_new();
	struct load one = { .waits = 1, .wait_us = 300 * MS };

	(void)state;
	s.c.stall_us_per_s = 900 * MS;
	run(&s, &one, SEC);
	run(&s, &copying, 60 * MIN);
	assert_int_equal(s.p.state, FC_TRIAL);
	assert_int_equal(tick(&s, &one, SEC), 1);
	assert_int_equal(s.d.reason, REASON_TRIAL_FAILED);
}

static void policy_trial_counts_only_its_own_waits(void **state)
{
	struct load before = { .waits = 1, .wait_us = 15 * MS, .blocks = 300 };
	struct load during = { .waits = 1, .wait_us = 6 * MS, .blocks = 300 };
	struct sim s = sim_new();

	(void)state;
	turn_on(&s);
	run(&s, &copying, s.c.trial_interval_us - SEC);
	/* 15 ms while on and 6 ms in the trial are too much together, not apart */
	assert_int_equal(tick(&s, &before, SEC), 1);
	assert_int_equal(s.p.state, FC_TRIAL);
	assert_int_equal(tick(&s, &during, SEC), 0);
	assert_int_equal(s.p.state, FC_TRIAL);
}

static void policy_trial_interval_doubles_to_its_maximum(void **state)
{
	struct sim s = sim_new();
	uint64_t expected = s.c.trial_interval_us;

	(void)state;
	turn_on(&s);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(run(&s, &copying, 24 * 60 * MIN), expected);
		assert_int_equal(s.d.reason, REASON_TRIAL);
		run(&s, &stalling, MIN);
		assert_int_equal(s.d.reason, REASON_TRIAL_FAILED);
		expected = expected * 2 < s.c.trial_interval_max_us ? expected * 2
								    : s.c.trial_interval_max_us;
	}
	assert_int_equal(expected, s.c.trial_interval_max_us);

	/* A trial that ends well starts it anew, if that holds. */
	run(&s, &copying, 24 * 60 * MIN);
	run(&s, &calm, 48 * 60 * MIN);
	assert_int_equal(s.p.state, FC_OFF);
	turn_on(&s);
	assert_int_equal(run(&s, &copying, 24 * 60 * MIN), s.c.trial_interval_us);
}

static void policy_asks_for_twice_the_quiet_after_each_failed_trial(void **state)
{
	struct sim s = sim_new();

	(void)state;
	turn_on(&s);
	for (uint64_t needed = s.c.quiet_us; needed < 8 * s.c.quiet_us; needed *= 2) {
		uint64_t us = run(&s, &idle, 60 * MIN);

		assert_int_equal(s.d.reason, REASON_TRIAL);
		assert_in_range(us, needed, needed + 5 * SEC);
		run(&s, &stalling, 5 * SEC);
		assert_int_equal(s.d.reason, REASON_TRIAL_FAILED);
	}
	/* a trial that went well has failed after all if it is needed again soon after */
	run(&s, &idle, 60 * MIN);
	run(&s, &idle, 60 * MIN);
	assert_int_equal(s.p.state, FC_OFF);
	turn_on(&s);
	assert_non_null(strstr(s.d.why, "again 60min after a trial: "));
	assert_in_range(run(&s, &idle, 60 * MIN), 16 * s.c.quiet_us,
			16 * s.c.quiet_us + 5 * SEC);
	/* and a long time without need forgives one failure of four */
	run(&s, &idle, s.c.trial_interval_max_us + MIN);
	turn_on(&s);
	assert_in_range(run(&s, &idle, 60 * MIN), 8 * s.c.quiet_us, 8 * s.c.quiet_us + 5 * SEC);
}

static void policy_stays_on_while_waits_go_on_although_it_is_on(void **state)
{
	struct sim s = sim_new();
	struct load failing = saved;

	(void)state;
	failing.waits = stalling.waits;
	failing.wait_us = stalling.wait_us;
	failing.blocks = 1;
	turn_on(&s);
	assert_int_equal(run(&s, &failing, 30 * MIN), 30 * MIN);
	assert_int_equal(s.p.state, FC_ON);
}

/* --- bounds --- */

static void policy_keeps_the_change_interval(void **state)
{
	struct sim s = sim_new();
	uint64_t us;

	(void)state;
	s.c.quiet_us = SEC;
	s.c.trial_us = SEC;
	turn_on(&s);
	us = run(&s, &idle, MIN);
	assert_string_equal(s.d.to, "0");
	assert_true(us >= s.c.change_interval_us);
	run(&s, &idle, 3 * SEC);
	assert_int_equal(s.p.state, FC_OFF); /* the trial is over: an ordinary change */
	us = run(&s, &stalling, MIN);
	assert_string_equal(s.d.to, "1");
	assert_true(us + 3 * SEC >= s.c.change_interval_us);
}

/* Quiet and trials that grow no longer. */
static struct sim flapping(void)
{
	struct sim s = sim_new();
	unsigned guard = 0;

	s.c.quiet_us = s.c.trial_us = s.c.trial_interval_us = s.c.trial_interval_max_us = SEC;
	while (s.p.state != FC_FROZEN && guard++ < 100) {
		run(&s, &stalling, MIN);
		if (s.p.state == FC_FROZEN)
			break;
		run(&s, &idle, MIN);
		run(&s, &idle, 3 * SEC); /* the trial ends well */
	}
	assert_int_equal(s.p.state, FC_FROZEN);
	assert_int_equal(s.d.reason, REASON_FROZEN);
	return s;
}

static void policy_freezes_when_flapping(void **state)
{
	struct sim s = flapping();

	(void)state;
	/* with what removes the waits */
	assert_int_equal(s.writes, s.c.changes_max + 1);
	assert_string_equal(s.d.from, "0");
	assert_string_equal(s.d.to, "1");
	assert_non_null(strstr(s.d.why, "stays 1 for 30min"));

	/* Hands off, then as before. */
	assert_int_equal(run(&s, &idle, s.c.freeze_us - SEC), s.c.freeze_us - SEC);
	run(&s, &idle, 5 * MIN);
	assert_int_equal(s.writes, s.c.changes_max + 2);
	assert_int_equal(s.d.reason, REASON_TRIAL);
}

static void policy_forgets_the_changes_when_it_thaws(void **state)
{
	struct sim s = sim_new();

	(void)state;
	s.c.changes_max = 1;
	s.c.freeze_us = MIN; /* shorter than the window in which changes count */
	turn_on(&s);
	run(&s, &idle, 10 * MIN);
	assert_int_equal(s.d.reason, REASON_FROZEN);
	run(&s, &idle, 10 * MIN);
	assert_int_equal(s.d.reason, REASON_TRIAL);
	assert_int_equal(s.writes, 2);
}

static void policy_memory_pressure_forbids(void **state)
{
	struct load squeezed = stalling;
	struct sim s = sim_new();

	(void)state;
	squeezed.memory = s.c.memory_pressure_max + 0.5;
	assert_int_equal(run(&s, &squeezed, 10 * MIN), 10 * MIN);
	assert_int_equal(s.p.state, FC_OFF);
	squeezed.memory = s.c.memory_pressure_max;
	assert_true(run(&s, &squeezed, MIN) <= 3 * SEC);
}

static void policy_memory_pressure_turns_off_what_lasts(void **state)
{
	struct load squeezed = saving, again = stalling;
	struct sim s = sim_new();
	uint64_t us;

	(void)state;
	turn_on(&s);
	squeezed.memory = 40;
	/* A dip of pressure is not enough, nor is a spike. */
	run(&s, &squeezed, s.c.memory_time_us / 2);
	run(&s, &saving, MIN);
	assert_int_equal(s.writes, 1);
	us = run(&s, &squeezed, MIN);
	assert_int_equal(s.d.reason, REASON_MEMORY);
	assert_string_equal(s.d.to, "0");
	assert_true(us >= s.c.memory_time_us && us <= s.c.memory_time_us + 2 * SEC);
	assert_non_null(strstr(s.d.why, "40 %"));

	/* The pressure has gone: not back at once, but in a while. */
	run(&s, &squeezed, MIN);
	us = run(&s, &again, MIN);
	assert_string_equal(s.d.to, "1");
	assert_true(us >= s.c.memory_time_us - SEC && us <= s.c.memory_time_us + 3 * SEC);
}

static void policy_memory_comes_before_the_breaker(void **state)
{
	struct load squeezed = saving;
	struct sim s = sim_new(), frozen = flapping();

	(void)state;
	s.c.changes_max = 1;
	turn_on(&s);
	squeezed.memory = 40;
	run(&s, &squeezed, MIN);
	assert_string_equal(s.k.value, "0");
	assert_int_equal(s.d.reason, REASON_MEMORY);

	/* also when it has tripped, and then nothing turns it on before its time */
	run(&frozen, &saving, MIN);
	run(&frozen, &squeezed, frozen.c.memory_time_us + 2 * SEC);
	assert_string_equal(frozen.k.value, "0");
	assert_int_equal(frozen.d.reason, REASON_MEMORY);
	assert_int_equal(frozen.p.state, FC_FROZEN);
	assert_int_equal(run(&frozen, &stalling, 25 * MIN), 25 * MIN);
	run(&frozen, &stalling, 10 * MIN);
	assert_int_equal(frozen.p.state, FC_ON);
}

static void policy_memory_waits_for_no_interval(void **state)
{
	struct load squeezed = saving;
	struct sim s = sim_new();

	(void)state;
	s.c.change_interval_us = 60 * MIN;
	turn_on(&s);
	squeezed.memory = 40;
	assert_in_range(run(&s, &squeezed, 60 * MIN), s.c.memory_time_us,
			s.c.memory_time_us + 2 * SEC);
	assert_int_equal(s.d.reason, REASON_MEMORY);
	/* but a knob that refuses is not written at each tick */
	memcpy(s.k.value, "1", 2);
	s.refuses = true;
	s.writes = 0;
	run(&s, &squeezed, 59 * MIN);
	assert_int_equal(s.writes, 0);
}

static void policy_memory_needs_no_measure(void **state)
{
	struct sim s = sim_new();
	unsigned i;

	(void)state;
	turn_on(&s);
	for (i = 0; i < 60 && s.k.value[0] == '1'; i++) {
		struct sample sample = sample_of(&s, &copying, SEC);

		sample.measured = 1u << FST_COMMIT;
		sample.memory_pressure = 40;
		feed(&s, &sample);
	}
	assert_in_range(i, 1, 59);
	assert_int_equal(s.d.reason, REASON_MEMORY);
}

static void policy_memory_pressure_ends_a_trial_without_a_write(void **state)
{
	struct load squeezed = stalling;
	struct sim s = sim_new();

	(void)state;
	turn_on(&s);
	run(&s, &copying, 60 * MIN);
	assert_int_equal(s.p.state, FC_TRIAL);
	squeezed.memory = 40;
	run(&s, &squeezed, MIN);
	assert_int_equal(s.p.state, FC_OFF);
	assert_int_equal(s.writes, 2);
}

/* --- what the knob says --- */

static void policy_leaves_alone_what_it_may_not_turn(void **state)
{
	static const struct knob_view views[] = {
		{ .supported = false, .mode = KNOB_AUTO, .value = "" },
		{ .supported = true, .mode = KNOB_MANUAL, .value = "0" },
		{ .supported = true, .mode = KNOB_AUTO, .value = "0", .busy = true },
		{ .supported = true, .mode = KNOB_AUTO, .value = "" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(views); i++) {
		struct sim s = sim_new();

		s.k = views[i];
		assert_int_equal(run(&s, &stalling, 5 * MIN), 5 * MIN);
	}
}

static void policy_is_blind_without_the_measure(void **state)
{
	struct sim s = sim_new();

	(void)state;
	turn_on(&s);
	for (unsigned i = 0; i < 3600; i++) {
		struct sample sample = sample_of(&s, &copying, SEC);

		sample.measured = 1u << FST_COMMIT;
		assert_int_equal(feed(&s, &sample), 0);
	}
}

static void policy_observe_advises_once_per_episode(void **state)
{
	struct sim s = sim_new();

	(void)state;
	s.k.mode = KNOB_OBSERVE;
	run(&s, &stalling, 5 * SEC);
	run(&s, &stalling, 10 * MIN);
	assert_int_equal(s.advices, 1);
	assert_true(s.d.advice || s.advices == 1);
	assert_int_equal(s.writes, 0);
	/* A pause is not the end of it, quiet is. */
	run(&s, &idle, MIN);
	run(&s, &stalling, MIN);
	assert_int_equal(s.advices, 1);
	run(&s, &idle, 5 * MIN);
	run(&s, &stalling, MIN);
	assert_int_equal(s.advices, 2);
	assert_int_equal(s.writes, 0);
	assert_string_equal(s.k.value, "0");
}

static void policy_never_writes_what_is_there(void **state)
{
	static const struct load *const loads[] = { &stalling, &copying, &idle,
						    &saving,   &saved,   &calm };
	struct sim s = sim_new();
	uint32_t random = 7;

	(void)state;
	s.c.quiet_us = 20 * SEC;
	s.c.trial_interval_us = MIN;
	s.c.changes_max = 1000;
	for (unsigned i = 0; i < 20000; i++) {
		char before[KNOB_VALUE_MAX];

		random = random * 1664525 + 1013904223;
		memcpy(before, s.k.value, sizeof(before));
		if (tick(&s, loads[(random >> 16) / 64 % ELEMENTSOF(loads)],
			 SEC + (random >> 8) % SEC) &&
		    s.d.reason != REASON_FROZEN)
			assert_string_not_equal(s.d.to, before);
		/* Somebody changes it behind the policy's back now and then. */
		if ((random >> 24) % 50 == 0)
			s.k.value[0] = s.k.value[0] == '0' ? '1' : '0';
	}
	assert_true(s.writes > 10);
}

static void policy_does_not_write_for_ever_to_a_knob_that_refuses(void **state)
{
	struct sim s = sim_new();

	(void)state;
	s.refuses = true;
	for (unsigned i = 0; i < 3600; i++)
		tick(&s, &stalling, SEC);
	/* Twice until frozen in an hour, with the freeze between them. */
	assert_true(s.writes <= 2 * (s.c.changes_max + 1));
	assert_true(s.writes > s.c.changes_max);
	assert_string_equal(s.k.value, "0");
}

static void policy_follows_a_knob_that_is_found_on(void **state)
{
	struct sim s = sim_new();

	(void)state;
	memcpy(s.k.value, "1", 2);
	run(&s, &saving, MIN);
	assert_int_equal(s.p.state, FC_ON);
	assert_int_equal(s.writes, 0);
}

static void policy_adopts_what_a_former_run_has_set(void **state)
{
	struct sim s = sim_new();
	uint64_t us;

	(void)state;
	memcpy(s.k.value, "1", 2);
	s.k.ours = true;
	policy_force_copy_adopt(&s.p, &s.c, s.now);
	assert_int_equal(s.p.state, FC_ON);
	/* The load is learned from what comes. */
	run(&s, &copying, MIN);
	assert_true(s.p.load_blocks_per_s > 290 && s.p.load_blocks_per_s < 310);
	us = run(&s, &idle, 10 * MIN);
	assert_int_equal(s.d.reason, REASON_TRIAL);
	assert_true(us >= s.c.quiet_us);
}

static void policy_starts_anew_after_a_pin(void **state)
{
	struct sim s = sim_new();

	(void)state;
	turn_on(&s);
	s.k.mode = KNOB_MANUAL;
	memcpy(s.k.value, "0", 2);
	run(&s, &stalling, MIN);
	assert_int_equal(s.p.state, FC_OFF);
	s.k.mode = KNOB_AUTO;
	assert_int_equal(tick(&s, &stalling, SEC), 1);
	assert_string_equal(s.d.to, "1");
}

/* --- time --- */

static void policy_clock_gap_proves_nothing(void **state)
{
	struct load little = { .waits = 1, .wait_us = 50 * MS, .blocks = 300 };
	struct sim s = sim_new();
	struct sample sample;

	(void)state;
	/* Off: waits of a whole night in one sample are no stall of now. */
	run(&s, &calm, 10 * SEC);
	sample = sample_at(s.now + 8 * 60 * MIN, 8 * 60 * MIN);
	sample_add(&sample, FST_SHADOW_WAIT, 100, 50 * MS);
	s.now = sample.now_us;
	assert_int_equal(feed(&s, &sample), 0);
	assert_int_equal(tick(&s, &calm, SEC), 0);

	/* On: a night with few blocks per second is no quiet as long as load goes on. */
	turn_on(&s);
	s.c.trial_interval_us = s.c.trial_interval_max_us = USEC_PER_HOUR * 1000;
	s.p.next_trial_us = s.now + s.c.trial_interval_us;
	run(&s, &copying, MIN);
	sample = sample_of(&s, &idle, 8 * 60 * MIN);
	sample.blocks_logged = 300;
	sample.active = true;
	assert_int_equal(feed(&s, &sample), 0);
	assert_int_equal(run(&s, &copying, 10 * MIN), 10 * MIN);
	assert_int_equal(run(&s, &little, 10 * MIN), 10 * MIN);
	assert_int_equal(s.p.state, FC_ON);
}

static void policy_same_samples_same_decisions(void **state)
{
	struct sim a = sim_new(), b = sim_new(), fork = { 0 };
	uint32_t random = 42;

	(void)state;
	a.c.quiet_us = b.c.quiet_us = 20 * SEC;
	a.c.trial_interval_us = b.c.trial_interval_us = MIN;
	for (unsigned i = 0; i < 20000; i++) {
		struct load l = { .blocks = random >> 22, .waits = (random >> 12) % 50 };
		uint64_t us = 1 + random % (2 * SEC);

		l.wait_us = (random >> 4) % 2 ? MS : 10;
		random = random * 1664525 + 1013904223;
		/* The state is a plain value: a copy goes on as the original does. */
		if (i == 10000)
			fork = a;
		assert_int_equal(tick(&a, &l, us), tick(&b, &l, us));
		if (i >= 10000) {
			tick(&fork, &l, us);
			assert_memory_equal(&a.d, &fork.d, sizeof(a.d));
		}
		assert_memory_equal(&a.d, &b.d, sizeof(a.d));
	}
	assert_memory_equal(&a.p, &b.p, sizeof(a.p));
	assert_true(a.writes > 10);
}

static void policy_stall_rate_is_that_of_the_recent_ticks(void **state)
{
	struct load l = { .waits = 4, .wait_us = MS };
	struct sim s = sim_new();

	(void)state;
	assert_int_equal(policy_force_copy_stall_us_per_s(&s.p, &s.c, s.now), 0);
	run(&s, &l, MIN);
	assert_int_equal(policy_force_copy_stall_us_per_s(&s.p, &s.c, s.now), 4 * MS);
	/* and of no longer ago than the window */
	assert_int_equal(
		policy_force_copy_stall_us_per_s(&s.p, &s.c, s.now + s.c.stall_window_us / 2),
		4 * MS);
	assert_int_equal(
		policy_force_copy_stall_us_per_s(&s.p, &s.c, s.now + s.c.stall_window_us), 0);
	/* a long pause and a calm second: the waits before it are not now's */
	s.now += 60 * MIN;
	tick(&s, &idle, SEC);
	assert_int_equal(policy_force_copy_stall_us_per_s(&s.p, &s.c, s.now), 0);
}

static void names_are_as_documented(void **state)
{
	(void)state;
	assert_string_equal(knob_mode_to_string(KNOB_OBSERVE), "observe");
	assert_int_equal(knob_mode_from_string("auto"), KNOB_AUTO);
	assert_int_equal(knob_mode_from_string("manual"), KNOB_MANUAL);
	assert_int_equal(knob_mode_from_string("Auto"), -EINVAL);
	assert_int_equal(knob_mode_from_string(""), -EINVAL);
	assert_string_equal(fc_state_to_string(FC_TRIAL), "trial");
	for (unsigned i = 0; i < REASON_MAX; i++)
		assert_string_not_equal(reason_to_string((enum reason)i), "unknown");
	assert_string_equal(reason_to_string(REASON_MAX), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policy_enters_on_stall_rate),
		cmocka_unit_test(policy_enters_as_soon_as_one_tick_fills_the_window),
		cmocka_unit_test(policy_enters_on_one_long_wait),
		cmocka_unit_test(policy_ignores_what_is_below_the_floor),
		cmocka_unit_test(policy_enters_with_ticks_of_any_length),
		cmocka_unit_test(policy_says_why_with_the_figures),
		cmocka_unit_test(policy_waits_for_the_first_interval),
		cmocka_unit_test(policy_leaves_after_quiet_windows),
		cmocka_unit_test(policy_takes_a_lower_load_for_quiet_only_below_the_ratio),
		cmocka_unit_test(policy_no_trial_while_avoided_waits_pay),
		cmocka_unit_test(policy_tries_without_though_waits_are_avoided),
		cmocka_unit_test(policy_does_not_stay_on_for_a_rare_avoided_wait),
		cmocka_unit_test(policy_tries_without_when_the_benefit_is_unknown),
		cmocka_unit_test(policy_returns_at_once_when_a_trial_fails),
		cmocka_unit_test(policy_returns_at_once_on_a_long_wait_in_a_trial),
		cmocka_unit_test(policy_trial_counts_only_its_own_waits),
		cmocka_unit_test(policy_trial_interval_doubles_to_its_maximum),
		cmocka_unit_test(policy_asks_for_twice_the_quiet_after_each_failed_trial),
		cmocka_unit_test(policy_stays_on_while_waits_go_on_although_it_is_on),
		cmocka_unit_test(policy_keeps_the_change_interval),
		cmocka_unit_test(policy_freezes_when_flapping),
		cmocka_unit_test(policy_forgets_the_changes_when_it_thaws),
		cmocka_unit_test(policy_memory_pressure_forbids),
		cmocka_unit_test(policy_memory_pressure_turns_off_what_lasts),
		cmocka_unit_test(policy_memory_comes_before_the_breaker),
		cmocka_unit_test(policy_memory_waits_for_no_interval),
		cmocka_unit_test(policy_memory_needs_no_measure),
		cmocka_unit_test(policy_memory_pressure_ends_a_trial_without_a_write),
		cmocka_unit_test(policy_leaves_alone_what_it_may_not_turn),
		cmocka_unit_test(policy_is_blind_without_the_measure),
		cmocka_unit_test(policy_observe_advises_once_per_episode),
		cmocka_unit_test(policy_never_writes_what_is_there),
		cmocka_unit_test(policy_does_not_write_for_ever_to_a_knob_that_refuses),
		cmocka_unit_test(policy_follows_a_knob_that_is_found_on),
		cmocka_unit_test(policy_adopts_what_a_former_run_has_set),
		cmocka_unit_test(policy_starts_anew_after_a_pin),
		cmocka_unit_test(policy_clock_gap_proves_nothing),
		cmocka_unit_test(policy_same_samples_same_decisions),
		cmocka_unit_test(policy_stall_rate_is_that_of_the_recent_ticks),
		cmocka_unit_test(names_are_as_documented),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
