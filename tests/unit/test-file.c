// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/sysmacros.h>
#include <cmocka.h>
#include "fake-root.h"
#include "../../daemon/base/file.h"

static char path[PATH_MAX];

/* A file in the test's directory; its path is in `path`. */
static void make(const struct fake_root *f, const char *text)
{
	fake_file(f, "/file", text);
	fake_path(f, path, "/file");
}

static void assert_content(const char *text)
{
	char buf[256];

	assert_int_equal(read_small_at(AT_FDCWD, path, buf, sizeof(buf)), strlen(text));
	assert_string_equal(buf, text);
}

/* --- reading --- */

static void small_file_loses_one_newline_only(void **state)
{
	char buf[16];

	make(*state, "abc\n\n");
	assert_int_equal(read_small_at(AT_FDCWD, path, buf, sizeof(buf)), 4);
	assert_string_equal(buf, "abc\n");
	make(*state, "");
	assert_int_equal(read_small_at(AT_FDCWD, path, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
}

static void file_larger_than_the_buffer_is_refused(void **state)
{
	char buf[4];

	make(*state, "abc");
	assert_int_equal(read_small_at(AT_FDCWD, path, buf, sizeof(buf)), 3);
	make(*state, "abcd");
	assert_int_equal(read_small_at(AT_FDCWD, path, buf, sizeof(buf)), -EFBIG);
}

static void path_is_relative_to_the_directory_given(void **state)
{
	struct fake_root *f = *state;
	int dir = open(f->top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char buf[16];

	make(f, "x");
	assert_int_equal(read_small_at(dir, "file", buf, sizeof(buf)), 1);
	assert_int_equal(read_small_at(dir, "none", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(read_small_at(dir, ".", buf, sizeof(buf)), -EISDIR);
	close(dir);
}

static void number_is_decimal_and_alone(void **state)
{
	static const struct {
		const char *text;
		int result;
		unsigned long long value;
	} cases[] = {
		{ "0\n", 0, 0 },
		{ " 12 \n", 0, 12 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "\n", -EINVAL, 0 },
		{ "1 2", -EINVAL, 0 },
		{ "0x1", -EINVAL, 0 },
		{ "1\n2", -EINVAL, 0 },
		{ "00000000000000000000000000000000001", -EFBIG, 0 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		unsigned long long v = 0;

		make(*state, cases[i].text);
		assert_int_equal(read_u64_at(AT_FDCWD, path, &v), cases[i].result);
		if (cases[i].result == 0)
			assert_int_equal(v, cases[i].value);
	}
	assert_int_equal(read_u64_at(AT_FDCWD, "/nonexistent", &(unsigned long long){ 0 }),
			 -ENOENT);
}

static void whole_file_is_read_up_to_the_limit(void **state)
{
	_cleanup_free_ char *big = malloc(10001), *text = NULL;
	size_t len;

	memset(big, 'x', 10000);
	big[10000] = '\0';
	make(*state, big);
	assert_int_equal(read_full_file(path, 10000, true, &text, &len), 0);
	assert_int_equal(len, 10000);
	assert_string_equal(text, big);
	assert_int_equal(read_full_file(path, 9999, true, &text, &len), -EFBIG);
}

static void zero_bytes_are_kept(void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	make(*state, "");
	assert_int_equal(write_file_atomic(path, "a\0b", 3, 0600), 0);
	assert_int_equal(read_full_file(path, 100, true, &text, &len), 0);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "a\0b", 4);
}

static void only_a_regular_file_is_read_where_that_is_asked(void **state)
{
	struct fake_root *f = *state;
	char *text = NULL;

	assert_int_equal(read_full_file(f->top, 100, true, &text, NULL), -EISDIR);
	assert_int_equal(read_full_file(f->top, 100, false, &text, NULL), -EISDIR);
	assert_int_equal(read_full_file("/dev/null", 100, true, &text, NULL), -EINVAL);
	assert_int_equal(read_full_file("/dev/zero", 100, false, &text, NULL), -EFBIG);
	/* a FIFO without a writer must not hang */
	fake_path(f, path, "/fifo");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(read_full_file(path, 100, true, &text, NULL), -EINVAL);
	assert_null(text);
	assert_int_equal(read_full_file("/dev/null", 100, false, &text, NULL), 0);
	assert_string_equal(text, "");
	free(text);
}

/* --- writing --- */

static void write_changes_what_is_there_and_makes_nothing(void **state)
{
	make(*state, "0");
	assert_int_equal(write_string(path, "1"), 0);
	assert_content("1");
	strcat(path, ".none");
	assert_int_equal(write_string(path, "1"), -ENOENT);
	assert_int_equal(access(path, F_OK), -1);
}

static void failed_write_says_why(void **state _unused_)
{
	assert_int_equal(write_string("/dev/full", "1"), -ENOSPC);
}

static void atomic_write_replaces_file_and_mode(void **state)
{
	struct stat st;

	make(*state, "old and longer");
	assert_int_equal(write_file_atomic(path, "new", 3, 0600), 0);
	assert_content("new");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	strcat(path, ".tmp");
	assert_int_equal(access(path, F_OK), -1);
}

static void atomic_write_that_fails_leaves_nothing_behind(void **state)
{
	struct fake_root *f = *state;
	char tmp[PATH_MAX];

	fake_dirs(f, "/target/x/");
	fake_path(f, path, "/target");
	fake_path(f, tmp, "/target.tmp");
	assert_true(write_file_atomic(path, "new", 3, 0600) < 0);
	assert_int_equal(access(tmp, F_OK), -1);
	assert_int_equal(write_file_atomic("/nonexistent/x", "new", 3, 0600), -ENOENT);
}

static void atomic_write_does_not_follow_a_planted_link(void **state)
{
	struct fake_root *f = *state;

	make(f, "victim");
	fake_link(f, "/ledger.tmp", path);
	fake_path(f, path, "/ledger");
	/* The link is in the way, and only that. */
	assert_int_equal(write_file_atomic(path, "new", 3, 0600), 0);
	assert_content("new");
	fake_path(f, path, "/file");
	assert_content("victim");
}

static void atomic_write_to_a_path_too_long_is_refused(void **state _unused_)
{
	memset(path, 'x', sizeof(path) - 2);
	path[sizeof(path) - 2] = '\0';
	assert_int_equal(write_file_atomic(path, "new", 3, 0600), -ENAMETOOLONG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)

/* --- device numbers --- */

static void device_number_is_digits_in_the_kernel_s_range(_unused_ void **state)
{
	static const char *const wrong[] = {
		"",
		":",
		"8",
		"8:",
		":5",
		"8:5:1",
		"8:5 ",
		" 8:5",
		"8: 5",
		"+8:5",
		"8:+5",
		"-8:5",
		"8:-5",
		"0x8:5",
		"4294967304:5",
		"8:4294967301",
		"18446744073709551624:5",
		"4096:0",
		"0:1048576",
	};
	dev_t dev = 0;

	assert_int_equal(parse_dev("8:5", &dev), 0);
	assert_true(dev == makedev(8, 5));
	assert_int_equal(parse_dev("4095:1048575", &dev), 0);
	assert_true(dev == makedev(4095, 1048575));
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		assert_int_equal(parse_dev(wrong[i], &dev), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_number_is_digits_in_the_kernel_s_range),
		TEST(small_file_loses_one_newline_only),
		TEST(file_larger_than_the_buffer_is_refused),
		TEST(path_is_relative_to_the_directory_given),
		TEST(number_is_decimal_and_alone),
		TEST(whole_file_is_read_up_to_the_limit),
		TEST(zero_bytes_are_kept),
		TEST(only_a_regular_file_is_read_where_that_is_asked),
		TEST(write_changes_what_is_there_and_makes_nothing),
		TEST(failed_write_says_why),
		TEST(atomic_write_replaces_file_and_mode),
		TEST(atomic_write_that_fails_leaves_nothing_behind),
		TEST(atomic_write_does_not_follow_a_planted_link),
		TEST(atomic_write_to_a_path_too_long_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
