// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "fake-root.h"
#include "../../daemon/observe/fc-info.h"

#define STATS "fc stats:\n14 commits\n3 ineligible\n29 numblks\n"

static struct fc_info parsed(const char *text)
{
	struct fc_info info;

	memset(&info, 'x', sizeof(info));
	assert_int_equal(fc_info_parse(&info, text, strlen(text)), 0);
	return info;
}

static void assert_refused(const char *text, size_t len)
{
	struct fc_info info, before;

	memset(&info, 'x', sizeof(info));
	before = info;
	assert_int_equal(fc_info_parse(&info, text, len), -ENODATA);
	assert_memory_equal(&info, &before, sizeof(info));
}

/* UINT64_MAX if there is no such reason. */
static uint64_t reason(const struct fc_info *info, const char *name)
{
	for (unsigned i = 0; i < info->n_reasons; i++)
		if (strcmp(info->reasons[i].name, name) == 0)
			return info->reasons[i].count;
	return UINT64_MAX;
}

/* --- kernels --- */

static void account_of_6_1_is_read_in_full(void **state _unused_)
{
	struct fc_info info = parsed("fc stats:\n1412 commits\n37 ineligible\n2961 numblks\n"
				     "3698us avg_commit_time\nIneligible reasons:\n"
				     "\"Extended attributes changed\":\t2\n"
				     "\"Cross rename\":\t0\n"
				     "\"Journal flag changed\":\t0\n"
				     "\"Insufficient memory\":\t0\n"
				     "\"Swap boot\":\t0\n"
				     "\"Resize\":\t0\n"
				     "\"Dir renamed\":\t33\n"
				     "\"Falloc range op\":\t1\n"
				     "\"Data journalling\":\t0\n"
				     "\"Encrypted filename\":\t0\n");

	assert_int_equal(info.commits, 1412);
	assert_int_equal(info.ineligible, 37);
	assert_int_equal(info.blocks, 2961);
	assert_int_equal(info.average_us, 3698);
	assert_int_equal(info.n_reasons, 10);
	assert_string_equal(info.reasons[0].name, "Extended attributes changed");
	assert_string_equal(info.reasons[9].name, "Encrypted filename");
	assert_int_equal(reason(&info, "Extended attributes changed"), 2);
	assert_int_equal(reason(&info, "Dir renamed"), 33);
	assert_int_equal(reason(&info, "Falloc range op"), 1);
	assert_int_equal(reason(&info, "Resize"), 0);
}

static void reasons_of_5_10_keep_their_own_names(void **state _unused_)
{
	struct fc_info info = parsed(STATS "170us avg_commit_time\nIneligible reasons:\n"
					   "\"Falloc range op\":\t4\n"
					   "\"FC Commit Failed\":\t6\n"
					   "\"(null)\":\t0\n");

	assert_int_equal(info.n_reasons, 3);
	assert_int_equal(reason(&info, "FC Commit Failed"), 6);
	assert_int_equal(reason(&info, "Data journalling"), UINT64_MAX);
}

static void sections_that_are_new_in_7_2_are_passed_over(void **state _unused_)
{
	struct fc_info info = parsed(STATS "512us avg_commit_time\nIneligible reasons:\n"
					   "\"Dir renamed\":\t1\n"
					   "\"fs-verity enable\":\t4\n"
					   "Snapshot stats:\n40 inodes\n55 ranges\n"
					   "3us lock_updates_avg\n20us lock_updates_max\n"
					   "99 commits\n99 ineligible\n99us avg_commit_time\n"
					   "Snapshot failures:\n0 es_miss\n1 nomem\n"
					   "\"no_snap\":\t7\n");

	assert_int_equal(info.commits, 14);
	assert_int_equal(info.ineligible, 3);
	assert_int_equal(info.average_us, 512);
	assert_int_equal(info.n_reasons, 2);
	assert_int_equal(reason(&info, "fs-verity enable"), 4);
}

static void lines_that_are_not_known_are_passed_over(void **state _unused_)
{
	struct fc_info info = parsed("fc stats:\n5 failed\n14 commits\n\n3 ineligible\n"
				     "1 commits and more\nnumblks 8\n29 numblks\n7us\n"
				     "Ineligible reasons:\nsoon\n\"Resize\":\t1\n");

	assert_int_equal(info.commits, 14);
	assert_int_equal(info.blocks, 29);
	assert_int_equal(info.average_us, 0);
	assert_int_equal(info.n_reasons, 1);
}

/* --- faults --- */

static void account_without_its_three_counters_is_none(void **state _unused_)
{
	static const char *const bad[] = {
		"",
		"\n",
		"fc stats:\n",
		"fc stats:\n1 commits\n2 ineligible\n",
		"fc stats:\n1 commits\n2 numblks\n",
		"fc stats:\n1 ineligible\n2 numblks\n",
		"fc stats:\n commits\n2 ineligible\n3 numblks\n",
		"fc stats:\n-1 commits\n2 ineligible\n3 numblks\n",
		"fc stats:\n1commits\n2 ineligible\n3 numblks\n",
		"1 commits\n2 ineligible\n3 numblks\n",
		"some stats:\n1 commits\n2 ineligible\n3 numblks\n",
		"Ineligible reasons:\n1 commits\n2 ineligible\n3 numblks\n",
		"fast commits: 1\nineligible: 2\nblocks: 3\n",
	};

	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		assert_refused(bad[i], strlen(bad[i]));
	assert_refused(NULL, 0);
}

static void line_that_was_cut_is_no_number(void **state _unused_)
{
	static const char text[] = STATS "512us avg_commit_time\nIneligible reasons:\n"
					 "\"Dir renamed\":\t12345\n";
	const char *fourth = strstr(text, "\n512us") + 1;

	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		/* In memory of its own, so that a sanitizer sees what is read behind it. */
		_cleanup_free_ char *cut = malloc(len + 1);
		struct fc_info info;

		assert_non_null(cut);
		memcpy(cut, text, len);
		if (text + len < fourth) {
			assert_refused(cut, len);
			continue;
		}
		assert_int_equal(fc_info_parse(&info, cut, len), 0);
		assert_int_equal(info.commits, 14);
		assert_int_equal(info.blocks, 29);
		assert_int_equal(info.n_reasons, 0);
	}
	assert_int_equal(parsed(text).reasons[0].count, 12345);
}

static void number_too_large_is_not_taken_for_another(void **state _unused_)
{
	struct fc_info info = parsed("fc stats:\n18446744073709551615 commits\n"
				     "18446744073709551616 ineligible\n"
				     "3 ineligible\n4 numblks\n"
				     "99999999999999999999999us avg_commit_time\n"
				     "Ineligible reasons:\n"
				     "\"Resize\":\t18446744073709551616\n"
				     "\"Swap boot\":\t18446744073709551615\n");

	assert_int_equal(info.commits, UINT64_MAX);
	assert_int_equal(info.ineligible, 3);
	assert_int_equal(info.average_us, 0);
	assert_int_equal(reason(&info, "Resize"), UINT64_MAX);
	assert_int_equal(info.n_reasons, 1);
	assert_int_equal(info.reasons[0].count, UINT64_MAX);
}

static void reason_s_count_beyond_an_int_is_unsigned(void **state _unused_)
{
	struct fc_info info = parsed(STATS "Ineligible reasons:\n"
					   "\"Dir renamed\":\t-2147483648\n"
					   "\"Resize\":\t-1\n"
					   "\"Swap boot\":\t-2147483649\n"
					   "\"Cross rename\":\t-0\n"
					   "\"Falloc range op\":\t--1\n");

	assert_int_equal(info.n_reasons, 2);
	assert_int_equal(reason(&info, "Dir renamed"), UINT64_C(2147483648));
	assert_int_equal(reason(&info, "Resize"), UINT32_MAX);
}

static void same_name_twice_is_one_reason(void **state _unused_)
{
	struct fc_info info = parsed(STATS "Ineligible reasons:\n"
					   "\"Resize\":\t1\n"
					   "\"Dir renamed\":\t3\n"
					   "\"Resize\":\t4\n"
					   "\"Dir renamed\":\t18446744073709551615\n");

	assert_int_equal(info.n_reasons, 2);
	assert_int_equal(reason(&info, "Resize"), 5);
	assert_int_equal(info.reasons[1].count, UINT64_MAX);
}

static void long_names_are_cut_and_many_left_out(void **state _unused_)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct fc_info info;

	assert_non_null(f);
	fputs(STATS "Ineligible reasons:\n", f);
	for (int i = 0; i < 2; i++)
		fprintf(f, "\"%0*d%d\":\t1\n", FC_REASON_LEN - 1, 0, i);
	for (int i = 0; i < 100; i++)
		fprintf(f, "\"reason %d\":\t%d\n", i, i);
	assert_int_equal(fclose(f), 0);
	info = parsed(text);
	assert_int_equal(info.n_reasons, FC_REASONS_MAX);
	assert_int_equal(strlen(info.reasons[0].name), FC_REASON_LEN - 1);
	assert_int_equal(info.reasons[0].count, 2);
	assert_string_equal(info.reasons[FC_REASONS_MAX - 1].name, "reason 30");
}

static void bytes_that_are_no_text_are_no_name(void **state _unused_)
{
	static const char text[] =
		"fc stats:\n1 commits\n\0\n2 ineligible\n3 numblks\n4\0numblks\n"
		"Ineligible reasons:\n"
		"\"a\0b\":\t1\n"
		"\"a\tb\":\t1\n"
		"\"a\xff\":\t1\n"
		"\"\":\t1\n"
		"\"\n\"\"\n\":\n\"a\"\n\"a\":\n\"a\":\t\n\"a\":\t1 \n\"a\" 1\n"
		"\"a\":\t1\0\n"
		"\"a \"quoted\": one\":\t2\n";
	struct fc_info info;

	assert_int_equal(fc_info_parse(&info, text, sizeof(text) - 1), 0);
	assert_int_equal(info.ineligible, 2);
	assert_int_equal(info.blocks, 3);
	assert_int_equal(info.n_reasons, 1);
	assert_int_equal(reason(&info, "a \"quoted\": one"), 2);
}

/* --- the file --- */

static void file_is_that_of_the_device(void **state)
{
	const struct fake_root *f = *state;
	struct fc_info info;

	assert_int_equal(fc_info_read("sda5", &info), -ENOENT);
	fake_file(f, "/proc/fs/ext4/sda5/fc_info", STATS);
	fake_file(f, "/proc/fs/ext4/cciss!c0d0p1/fc_info", "nothing of the kind\n");
	assert_int_equal(fc_info_read("sda5", &info), 0);
	assert_int_equal(info.commits, 14);
	assert_int_equal(fc_info_read("cciss!c0d0p1", &info), -ENODATA);
}

static void endless_file_is_refused(void **state)
{
	const struct fake_root *f = *state;
	_cleanup_free_ char *text = malloc(FC_INFO_MAX + 2);
	struct fc_info info;

	assert_non_null(text);
	memset(text, '\n', FC_INFO_MAX + 1);
	text[FC_INFO_MAX + 1] = '\0';
	fake_file(f, "/proc/fs/ext4/sda5/fc_info", text);
	assert_int_equal(fc_info_read("sda5", &info), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(account_of_6_1_is_read_in_full),
		cmocka_unit_test(reasons_of_5_10_keep_their_own_names),
		cmocka_unit_test(sections_that_are_new_in_7_2_are_passed_over),
		cmocka_unit_test(lines_that_are_not_known_are_passed_over),
		cmocka_unit_test(account_without_its_three_counters_is_none),
		cmocka_unit_test(line_that_was_cut_is_no_number),
		cmocka_unit_test(number_too_large_is_not_taken_for_another),
		cmocka_unit_test(reason_s_count_beyond_an_int_is_unsigned),
		cmocka_unit_test(same_name_twice_is_one_reason),
		cmocka_unit_test(long_names_are_cut_and_many_left_out),
		cmocka_unit_test(bytes_that_are_no_text_are_no_name),
		cmocka_unit_test_setup_teardown(file_is_that_of_the_device, fake_setup,
						fake_teardown),
		cmocka_unit_test_setup_teardown(endless_file_is_refused, fake_setup,
						fake_teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
