// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../daemon/base/cleanup.h"
#include "../../daemon/base/time-util.h"

static void time_is_a_sum_of_numbers_with_units(void **state _unused_)
{
	static const struct {
		const char *text;
		uint64_t us;
	} good[] = {
		{ "0", 0 },
		{ "5", 5 * USEC_PER_SEC },
		{ " 5 ", 5 * USEC_PER_SEC },
		{ "5s", 5 * USEC_PER_SEC },
		{ "5 s", 5 * USEC_PER_SEC },
		{ "250ms", 250000 },
		{ "7us", 7 },
		{ "1min 30s", 90 * USEC_PER_SEC },
		{ "1min30s", 90 * USEC_PER_SEC },
		{ "30s 1min", 90 * USEC_PER_SEC },
		{ "2h", 7200 * USEC_PER_SEC },
		{ "1d", 86400 * USEC_PER_SEC },
		{ "1.5s", 1500000 },
		{ "0.25", 250000 },
		{ "0.1ms", 100 },
		{ "infinity", USEC_INFINITY },
		{ "18446744073709551614us", USEC_INFINITY - 1 },
	};

	for (size_t i = 0; i < ELEMENTSOF(good); i++) {
		uint64_t us = 42;

		if (parse_time_us(good[i].text, &us) != 0 || us != good[i].us)
			fail_msg("'%s' gave %llu", good[i].text, (unsigned long long)us);
	}
}

static void what_is_no_time_is_refused_and_nothing_written(void **state _unused_)
{
	static const struct {
		const char *text;
		int error;
	} bad[] = {
		{ "", -EINVAL },
		{ " ", -EINVAL },
		{ "s", -EINVAL },
		{ "-5s", -EINVAL },
		{ "+5s", -EINVAL },
		{ "5 parsecs", -EINVAL },
		{ "5sec5", 0 }, /* a bare number is seconds, wherever it stands */
		{ "1,5s", -EINVAL },
		{ ".5s", -EINVAL },
		{ "0x10", -EINVAL },
		{ "1e3", -EINVAL },
		{ "infinite", -EINVAL },
		{ "1s infinity", -EINVAL },
		{ "18446744073709551615us", -ERANGE },
		{ "18446744073709551616us", -ERANGE },
		{ "99999999999999999999999", -ERANGE },
		{ "213503983d", -ERANGE },
		{ "213503982d 100d", -ERANGE },
	};

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		uint64_t us = 42;
		int r = parse_time_us(bad[i].text, &us);

		if (r != bad[i].error || (r < 0 && us != 42))
			fail_msg("'%s' gave %d, %llu", bad[i].text, r, (unsigned long long)us);
	}
}

static void exact_form_is_read_back(void **state _unused_)
{
	/* a fixed sequence over all magnitudes */
	uint64_t v = 1;
	char text[128];

	for (int i = 0; i < 20000; i++) {
		uint64_t us, in = v >> (i % 64);

		v = v * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		format_time_exact_us(text, sizeof(text), in);
		assert_int_equal(parse_time_us(text, &us), 0);
		assert_int_equal(us, in);
	}
	assert_string_equal(format_time_exact_us(text, sizeof(text), USEC_INFINITY),
			    "infinity");
	assert_string_equal(format_time_exact_us(text, sizeof(text), 90005000), "1min 30s 5ms");
}

static void form_for_people_is_short(void **state _unused_)
{
	static const struct {
		uint64_t us;
		const char *text;
	} forms[] = {
		{ 0, "0" },
		{ 1, "1us" },
		{ 870, "870us" },
		{ 999, "999us" },
		{ 1000, "1.0ms" },
		{ 9949, "9.9ms" },
		{ 9950, "10ms" },
		{ 27400, "27ms" },
		{ 999499, "999ms" },
		{ 999500, "1.0s" },
		{ 999999, "1.0s" },
		{ 1340000, "1.3s" },
		{ 59 * USEC_PER_SEC, "59s" },
		{ 60 * USEC_PER_SEC, "1.0min" },
		{ 240 * USEC_PER_SEC, "4.0min" },
		{ 7200 * USEC_PER_SEC, "2.0h" },
		{ 99 * UINT64_C(86400) * USEC_PER_SEC, "99d" },
		{ USEC_INFINITY, "inf" },
	};
	char text[TIME_STR_MAX];

	for (size_t i = 0; i < ELEMENTSOF(forms); i++)
		assert_string_equal(format_time_us(text, sizeof(text), forms[i].us),
				    forms[i].text);
}

static void form_for_people_has_three_digits_and_six_characters(void **state _unused_)
{
	const uint64_t end = 99 * UINT64_C(86400) * USEC_PER_SEC;
	char text[TIME_STR_MAX];

	for (uint64_t us = 1; us < end; us += us / 997 + 1) {
		unsigned digits = 0;

		format_time_us(text, sizeof(text), us);
		for (const char *p = text; *p; p++)
			digits += *p >= '0' && *p <= '9';
		if (strlen(text) > 6 || digits > 3)
			fail_msg("%llu us is written as %s", (unsigned long long)us, text);
	}
}

static void form_for_people_is_within_half_a_last_digit(void **state _unused_)
{
	const uint64_t end = 86400 * USEC_PER_SEC;
	char text[TIME_STR_MAX];

	for (uint64_t us = 1; us < end; us += us / 997 + 1) {
		uint64_t back;
		double error;

		assert_int_equal(parse_time_us(format_time_us(text, sizeof(text), us), &back),
				 0);
		error = ((double)back - (double)us) / (double)us;
		if (error > 0.0527 || error < -0.0527) /* 9.5 of 10 at worst */
			fail_msg("%llu us is written as %s", (unsigned long long)us, text);
	}
}

static void small_buffer_is_not_overrun(void **state _unused_)
{
	char text[8] = "1234567";

	format_time_exact_us(text, 4, 90005000);
	assert_string_equal(text, "1mi");
	assert_string_equal(text + 4, "567");
}

static void bytes_for_people_have_three_digits(void **state _unused_)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} forms[] = {
		{ 0, "0B" },         { 870, "870B" },         { 999, "999B" },
		{ 1000, "1.0kB" },   { 1234567, "1.2MB" },    { 999499, "999kB" },
		{ 999500, "1.0MB" }, { 27000000000, "27GB" }, { UINT64_MAX, "18EB" },
	};
	char text[BYTES_STR_MAX];

	for (size_t i = 0; i < ELEMENTSOF(forms); i++)
		assert_string_equal(format_bytes(text, sizeof(text), forms[i].bytes),
				    forms[i].text);
}

static void monotonic_clock_does_not_go_back(void **state _unused_)
{
	uint64_t before = now_monotonic_us();

	for (int i = 0; i < 1000; i++) {
		uint64_t now = now_monotonic_us();

		assert_true(now >= before);
		before = now;
	}
	assert_true(now_realtime_us() > UINT64_C(1700000000) * USEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_a_sum_of_numbers_with_units),
		cmocka_unit_test(what_is_no_time_is_refused_and_nothing_written),
		cmocka_unit_test(exact_form_is_read_back),
		cmocka_unit_test(form_for_people_is_short),
		cmocka_unit_test(form_for_people_has_three_digits_and_six_characters),
		cmocka_unit_test(form_for_people_is_within_half_a_last_digit),
		cmocka_unit_test(small_buffer_is_not_overrun),
		cmocka_unit_test(bytes_for_people_have_three_digits),
		cmocka_unit_test(monotonic_clock_does_not_go_back),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
