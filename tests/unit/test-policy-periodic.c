// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads that come and go: what no single episode shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "policy-sim.h"

struct outcome {
	unsigned bursts;  /* seconds of load */
	unsigned stalled; /* of them, those that began without the knob */
	unsigned copying; /* seconds with it */
};

/* Bursts of `burst_s` each `period_s`, for `us`. */
static struct outcome periodic(struct sim *s, unsigned burst_s, unsigned period_s, bool counted,
			       uint64_t us)
{
	struct outcome o = { 0 };
	uint64_t begin = s->now;

	for (unsigned i = 0; s->now - begin < us; i++) {
		bool burst = i % period_s < burst_s, on = *s->k.value == '1';
		struct load l = burst ? on ? copying : stalling : idle;

		if (on && counted) {
			l.copy_known = true;
			l.avoided = burst ? stalling.waits : 0;
		}
		o.bursts += burst;
		o.stalled += burst && !on;
		o.copying += on;
		tick(s, &l, SEC);
	}
	return o;
}

/* From bursts that hardly part to one in six hours. */
static const unsigned periods[] = { 12,   30,   61,   119,  125,   131,  135, 142,
				    150,  180,  240,  300,  420,   600,  790, 1200,
				    1777, 3600, 5400, 7200, 14400, 21600 };

/*
 * Whatever the period: what is lost is learned from, so that the number of bursts which begin
 * without the knob grows as the logarithm of time, then as ForceCopyTrialIntervalMax says.
 */
static void policy_learns_from_bursts_of_any_period(void **state)
{
	const uint64_t day = 24 * USEC_PER_HOUR;

	(void)state;
	for (size_t i = 0; i < 2 * ELEMENTSOF(periods); i++) {
		unsigned period = periods[i / 2], allowed;
		struct sim s = sim_new();
		struct outcome o = periodic(&s, 5, period, i % 2, day);

		print_message("# every %us%s: %u of %u burst seconds without, %u changes, on "
			      "%u%% of the time\n",
			      period, i % 2 ? ", counted" : "", o.stalled, o.bursts, s.writes,
			      o.copying / 864);
		/* Doublings from 2 min to 4 h, and a trial in each four hours since. */
		allowed = 10 + (unsigned)(day / s.c.trial_interval_max_us);
		assert_true(o.stalled <= allowed);
		assert_true(s.writes <= 2 * allowed);
		assert_int_equal(s.notices, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policy_learns_from_bursts_of_any_period),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
