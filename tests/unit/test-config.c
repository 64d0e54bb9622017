// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "config-text.h"
#include "../../daemon/base/log.h"
#include "../../daemon/base/time-util.h"

/* --- values --- */

static void every_kind_of_value_is_read(void **state _unused_)
{
	struct config c;
	const char *log = parse(&c, "[Manager]\nMode=observe\nInterval=500ms\n"
				    "IdleInterval = 1min 30s\nLogLevel=debug\nHistorySize=7\n"
				    "[Policy]\nForceCopy=1\nForceCopyStall=1.5ms\n"
				    "ForceCopyQuietRatio=25%\nMemoryPressureMax=12.5\n"
				    "ForceCopyAvoided=0.25\nChangesMax=3\n");

	assert_string_equal(log, "");
	assert_true(c.observe_only);
	assert_int_equal(c.interval_us, 500000);
	assert_int_equal(c.idle_interval_us, 90 * USEC_PER_SEC);
	assert_int_equal(c.log_level, LOG_DEBUG);
	assert_int_equal(c.history_size, 7);
	assert_int_equal(c.policy.knob[KNOB_FORCE_COPY].mode, KNOB_MANUAL);
	assert_string_equal(c.policy.knob[KNOB_FORCE_COPY].value, "1");
	assert_int_equal(c.policy.stall_us_per_s, 1500);
	assert_true(c.policy.quiet_ratio == 0.25);
	assert_true(c.policy.memory_pressure_max == 12.5);
	assert_true(c.policy.avoided_per_s == 0.25);
	assert_int_equal(c.policy.changes_max, 3);
	assert_int_equal(c.warnings, 0);
	config_done(&c);
}

static void real_time_priority_needs_to_be_allowed(void **state _unused_)
{
	const struct device sda = { .name = "sda" }, sdb = { .name = "sdb" };
	struct policy_config p;
	struct config c;

	assert_string_equal(parse(&c, "[Policy]\nRealTimeIoprio=yes\nCkptThreadIoprio=rt,0\n"
				      "CheckpointMerge=auto\n"
				      "[Device sdb]\nRealTimeIoprio=no\n"),
			    "");
	assert_int_equal(c.policy.knob[KNOB_CHECKPOINT_MERGE].mode, KNOB_AUTO);
	config_for_device(&c, &sda, &p);
	assert_int_equal(p.knob[KNOB_CKPT_THREAD_IOPRIO].mode, KNOB_MANUAL);
	assert_string_equal(p.knob[KNOB_CKPT_THREAD_IOPRIO].value, "rt,0");
	config_for_device(&c, &sdb, &p);
	assert_int_equal(p.knob[KNOB_CKPT_THREAD_IOPRIO].mode, KNOB_OBSERVE);
	config_done(&c);
}

static void ratio_without_percent_sign_is_a_share(void **state _unused_)
{
	struct config c;

	parse(&c, "[Policy]\nForceCopyQuietRatio=0.5\n");
	assert_true(c.policy.quiet_ratio == 0.5);
	config_done(&c);
}

static void bad_value_keeps_what_was_and_says_what_is_allowed(void **state _unused_)
{
	static const struct {
		const char *line, *says;
	} bad[] = {
		{ "[Manager]\nMode=on", "auto or observe" },
		{ "[Manager]\nInterval=1ms", "from 100ms to 1min" },
		{ "[Manager]\nInterval=infinity", "from 100ms to 1min" },
		{ "[Manager]\nInterval=soon", "such as 5ms" },
		{ "[Policy]\nCheckpointMerge=2", "auto, observe, 0 or 1" },
		{ "[Policy]\nCkptThreadIoprio=be,8", "be,0 to be,7 or rt,0 to rt,7" },
		{ "[Policy]\nCkptThreadIoprio=1", "be,0 to be,7" },
		{ "[Policy]\nRealTimeIoprio=1", "yes or no" },
		{ "[Manager]\nLogLevel=loud", "debug, info, notice, warning or err" },
		{ "[Manager]\nHistorySize=0", "whole number from 1 to 10000" },
		{ "[Manager]\nHistorySize=-1", "whole number from 1 to 10000" },
		{ "[Manager]\nHistorySize=99999999999999999999", "from 1 to 10000" },
		{ "[Manager]\nHistorySize=4294967297", "from 1 to 10000" },
		{ "[Policy]\nForceCopy=yes", "auto, observe, 0 or 1" },
		{ "[Policy]\nForceCopyQuietRatio=200%", "from 0% to 100%" },
		{ "[Policy]\nForceCopyQuietRatio=nan", "from 0% to 100%" },
		{ "[Policy]\nMemoryPressureMax=-1%", "from 0% to 100%" },
		{ "[Policy]\nMemoryPressureMax=%", "from 0% to 100%" },
		{ "[Policy]\nMemoryPressureMax=1.2.3", "from 0% to 100%" },
		{ "[Policy]\nForceCopyAvoided=1e3", "from 0 to 1000000" },
		{ "[Policy]\nChangesMax=33", "from 1 to 32" },
	};

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		struct config c, defaults = { 0 };
		const char *log = parse(&c, bad[i].line);

		config_defaults(&defaults);
		assert_int_equal(c.warnings, 1);
		assert_non_null(strstr(log, "t.conf:2: "));
		assert_non_null(strstr(log, bad[i].says));
		assert_memory_equal(&c.policy, &defaults.policy, sizeof(c.policy));
		assert_int_equal(c.interval_us, defaults.interval_us);
		assert_int_equal(c.history_size, defaults.history_size);
		assert_int_equal(c.log_level, defaults.log_level);
		assert_false(c.observe_only);
		config_done(&c);
	}
}

static void empty_value_takes_back_what_was_set(void **state _unused_)
{
	struct config c;

	parse(&c, "[Policy]\nForceCopy=0\nForceCopyStall=1s\n");
	parse_over(&c, "[Policy]\nForceCopy=\nForceCopyStall=  \n");
	assert_int_equal(c.policy.knob[KNOB_FORCE_COPY].mode, KNOB_AUTO);
	assert_string_equal(c.policy.knob[KNOB_FORCE_COPY].value, "");
	assert_int_equal(c.policy.stall_us_per_s, policy_config_default.stall_us_per_s);
	for (size_t i = 0; i < c.n_origins; i++)
		assert_null(c.origins[i].file);
	config_done(&c);
}

/* Every value that a key can have is written so that reading it gives the same. */
static void value_survives_being_written_and_read(void **state _unused_)
{
	for (size_t i = 0; i < config_n_keys; i++) {
		const struct config_key *k = &config_keys[i];
		char a[CONFIG_VALUE_STR_MAX], b[CONFIG_VALUE_STR_MAX], why[256];
		struct config from = { 0 }, to = { 0 };

		config_defaults(&from);
		config_key_format(k, config_key_base(k, &from), a, sizeof(a));
		assert_int_equal(
			config_key_parse(k, config_key_base(k, &to), a, why, sizeof(why)), 0);
		config_key_format(k, config_key_base(k, &to), b, sizeof(b));
		assert_string_equal(a, b);
		memset(&to, 0, sizeof(to));
		config_key_copy(k, config_key_base(k, &to), config_key_base(k, &from));
		config_key_format(k, config_key_base(k, &to), b, sizeof(b));
		assert_string_equal(a, b);
	}
}

static void bounds_of_every_key_are_themselves_allowed(void **state _unused_)
{
	for (size_t i = 0; i < config_n_keys; i++) {
		const struct config_key *k = &config_keys[i];
		char text[64], why[256];
		struct config c = { 0 };

		if (k->type != CONFIG_TIME)
			continue;
		assert_true(k->min < k->max);
		format_time_exact_us(text, sizeof(text), k->min);
		assert_int_equal(
			config_key_parse(k, config_key_base(k, &c), text, why, sizeof(why)), 0);
		format_time_exact_us(text, sizeof(text), k->max);
		assert_int_equal(
			config_key_parse(k, config_key_base(k, &c), text, why, sizeof(why)), 0);
		format_time_exact_us(text, sizeof(text), k->max + 1);
		assert_int_equal(
			config_key_parse(k, config_key_base(k, &c), text, why, sizeof(why)),
			-EINVAL);
	}
}

/* --- text --- */

static void white_space_comments_and_crlf_do_not_matter(void **state _unused_)
{
	struct config c;
	const char *log = parse(&c, "\xef\xbb\xbf# one\r\n  ; two\r\n\r\n \t[Manager] \r\n"
				    "\tHistorySize \t=\t 9  \r\nMode=observe");

	assert_string_equal(log, "");
	assert_int_equal(c.history_size, 9);
	assert_true(c.observe_only);
	config_done(&c);
}

static void backslash_continues_a_line(void **state _unused_)
{
	struct config c;
	const char *log = parse(&c, "[Manager]\nIdleInterval=1min\\\n# between\n  30s\n"
				    "Hist\\\\\nHistorySize=3\\");

	assert_int_equal(c.idle_interval_us, 90 * USEC_PER_SEC);
	assert_int_equal(c.history_size, 3);
	/* two backslashes continue nothing; the number is that of the line's beginning */
	assert_non_null(strstr(log, "t.conf:5: 'Hist\\\\' is no assignment"));
	assert_int_equal(c.warnings, 1);
	config_done(&c);
}

static void fault_in_a_continued_line_has_the_number_of_its_beginning(void **state _unused_)
{
	struct config c;
	const char *log = parse(&c, "[Manager]\nInterval=\\\n\\\nnever\nHistorySize=x\n");

	assert_non_null(strstr(log, "t.conf:2: Interval=never"));
	assert_non_null(strstr(log, "t.conf:5: HistorySize=x"));
	config_done(&c);
}

static void what_is_unknown_is_a_warning_with_file_and_line(void **state _unused_)
{
	struct config c;
	const char *log = parse(&c, "Mode=observe\n[Manger]\nMode=observe\n[manager]\n"
				    "[Manager\nMode=observe\n[Manager]\nmode=observe\n=1\n"
				    "Mode\nForceCopy=1\n[X-Other]\nanything\n[]\n[Device]\n"
				    "[Policy]\nMode=observe\n");

	assert_non_null(strstr(log, "t.conf:1: 'Mode' stands before any section"));
	assert_non_null(strstr(log, "t.conf:2: Unknown section [Manger]"));
	assert_non_null(strstr(log, "t.conf:4: Unknown section [manager]"));
	assert_non_null(strstr(log, "t.conf:5: Section header '[Manager' without ']'"));
	assert_non_null(strstr(log, "t.conf:8: Unknown key 'mode' in [Manager]"));
	assert_non_null(strstr(log, "t.conf:9: '=1' is no assignment"));
	assert_non_null(strstr(log, "t.conf:10: 'Mode' is no assignment"));
	assert_null(strstr(log, "t.conf:13"));
	assert_non_null(strstr(log, "1 more"));
	assert_int_equal(c.warnings, 11);
	assert_false(c.observe_only);
	assert_int_equal(c.policy.knob[KNOB_FORCE_COPY].mode, KNOB_AUTO);
	config_done(&c);
}

static void flood_of_faults_is_logged_in_part_and_counted(void **state _unused_)
{
	char text[4096] = "[Policy]\n";
	struct config c;
	const char *log;

	for (int i = 0; i < 200; i++)
		strcat(text, "Wrong=1\n");
	log = parse(&c, text);
	assert_int_equal(c.warnings, 200);
	assert_int_equal(count_of(log, "\n"), CONFIG_WARNINGS_MAX + 1);
	assert_non_null(strstr(log, "t.conf: 190 more"));
	config_done(&c);
}

static void binary_file_is_one_warning(void **state _unused_)
{
	static const char binary[] = "[Policy]\nForceCopy=1\n\0\x7f"
				     "ELF\n\n\n";
	struct config c;

	assert_int_equal(config_init(&c), 0);
	capture();
	assert_int_equal(config_parse(&c, "t.conf", binary, sizeof(binary)), 0);
	assert_int_equal(count_of(logged(), "\n"), 1);
	assert_int_equal(c.warnings, 1);
	assert_int_equal(c.policy.knob[KNOB_FORCE_COPY].mode, KNOB_AUTO);
	config_done(&c);
}

static void line_that_is_not_utf8_is_ignored(void **state _unused_)
{
	static const char *const bad[] = {
		"\xff",         "\xc0\xaf",         "\xe2\x82",
		"\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x80\x80\x80",
		"\xe0\x80\x80", "\x1b[2J",
	};

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		char text[64];
		struct config c;

		snprintf(text, sizeof(text), "[Device %s]\n[Manager]\nHistorySize=2\n", bad[i]);
		assert_non_null(strstr(parse(&c, text), "t.conf:1: Not UTF-8 text"));
		assert_int_equal(c.n_devices, 0);
		assert_int_equal(c.history_size, 2);
		config_done(&c);
	}
}

static void utf8_of_every_length_is_text(void **state _unused_)
{
	struct config c;

	assert_string_equal(parse(&c, "[Device LABEL=a\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xbe]\n"),
			    "");
	assert_int_equal(c.n_devices, 1);
	config_done(&c);
}

static void line_too_long_is_ignored_with_its_continuations(void **state _unused_)
{
	char text[3 * CONFIG_LINE_MAX] = "[Manager]\nHistorySize=5\\\n";
	size_t n = strlen(text);
	struct config c;
	const char *log;

	memset(text + n, ' ', CONFIG_LINE_MAX);
	strcpy(text + n + CONFIG_LINE_MAX, "7\\\n8\nInterval=2s\n");
	/* blanks before a continuation do not count; these do */
	text[n] = 'x';
	log = parse(&c, text);
	assert_non_null(strstr(log, "t.conf:2: Line of more than 2048 bytes"));
	assert_int_equal(c.warnings, 1);
	assert_int_equal(c.history_size, 1000);
	assert_int_equal(c.interval_us, 2 * USEC_PER_SEC);
	config_done(&c);
}

static void line_of_the_greatest_length_is_read(void **state _unused_)
{
	char text[CONFIG_LINE_MAX + 64] = "[Manager]\nHistorySize=5";
	size_t begin = strlen("[Manager]\n"), n = strlen(text);
	struct config c;

	memset(text + n, ' ', CONFIG_LINE_MAX - (n - begin));
	strcpy(text + begin + CONFIG_LINE_MAX, "\n");
	assert_string_equal(parse(&c, text), "");
	assert_int_equal(c.history_size, 5);
	config_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value_is_read),
		cmocka_unit_test(real_time_priority_needs_to_be_allowed),
		cmocka_unit_test(ratio_without_percent_sign_is_a_share),
		cmocka_unit_test(bad_value_keeps_what_was_and_says_what_is_allowed),
		cmocka_unit_test(empty_value_takes_back_what_was_set),
		cmocka_unit_test(value_survives_being_written_and_read),
		cmocka_unit_test(bounds_of_every_key_are_themselves_allowed),
		cmocka_unit_test(white_space_comments_and_crlf_do_not_matter),
		cmocka_unit_test(backslash_continues_a_line),
		cmocka_unit_test(fault_in_a_continued_line_has_the_number_of_its_beginning),
		cmocka_unit_test(what_is_unknown_is_a_warning_with_file_and_line),
		cmocka_unit_test(flood_of_faults_is_logged_in_part_and_counted),
		cmocka_unit_test(binary_file_is_one_warning),
		cmocka_unit_test(line_that_is_not_utf8_is_ignored),
		cmocka_unit_test(utf8_of_every_length_is_text),
		cmocka_unit_test(line_too_long_is_ignored_with_its_continuations),
		cmocka_unit_test(line_of_the_greatest_length_is_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	log_open("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
