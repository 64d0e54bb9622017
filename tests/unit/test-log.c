// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <cmocka.h>
#include "capture.h"
#include "../../daemon/base/log.h"

static int log_setup(void **state _unused_)
{
	unsetenv("JOURNAL_STREAM");
	log_open("unit");
	log_set_level(LOG_INFO);
	return 0;
}

static void message_is_one_line_whatever_it_holds(void **state _unused_)
{
	capture();
	log_info("mounted at %s", "/a\nb\x1b[2J");
	assert_string_equal(logged(), "unit: mounted at /a?b?[2J\n");
}

static void less_important_messages_are_not_written(void **state _unused_)
{
	capture();
	log_debug("no");
	log_info("yes");
	log_set_level(LOG_ERR);
	log_warning("no");
	log_error("yes");
	assert_string_equal(logged(), "unit: yes\nunit: yes\n");
}

static void errno_is_in_the_message_and_returned_negative(void **state _unused_)
{
	int a, b;

	capture();
	a = log_error_errno(ENOENT, "one: %m");
	b = log_error_errno(-ENOENT, "two: %m");
	assert_string_equal(logged(), "unit: one: No such file or directory\n"
				      "unit: two: No such file or directory\n");
	assert_int_equal(a, -ENOENT);
	assert_int_equal(b, -ENOENT);
}

static void suppressed_message_still_returns_its_error(void **state _unused_)
{
	assert_int_equal(log_debug_errno(EIO, "no: %m"), -EIO);
}

static void logging_keeps_errno(void **state _unused_)
{
	capture();
	errno = EXDEV;
	log_error("text");
	int after = errno;

	logged();
	assert_int_equal(after, EXDEV);
}

static void long_message_is_cut(void **state _unused_)
{
	char text[8192];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	capture();
	log_info("%s", text);
	const char *log = logged();

	assert_int_equal(count_of(log, "\n"), 1);
	assert_true(strlen(log) > 1000 && strlen(log) < 2200);
}

/* Logs until a line is dropped. Whoever blocks instead is ended by the alarm. */
static void fill_stderr(int fd)
{
	int saved = dup(STDERR_FILENO);
	uint64_t before = log_dropped();

	dup2(fd, STDERR_FILENO);
	alarm(20);
	while (log_dropped() == before)
		log_info("a line");
	alarm(0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
}

static void full_stderr_drops_messages_and_does_not_block(void **state _unused_)
{
	int fd[2];
	char c;

	assert_int_equal(pipe(fd), 0);
	fill_stderr(fd[1]);
	assert_int_equal(read(fd[0], &c, 1), 1);
	close(fd[0]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	fill_stderr(fd[1]);
	assert_int_equal(read(fd[0], &c, 1), 1);
	close(fd[0]);
}

static void levels_have_names(void **state _unused_)
{
	assert_int_equal(log_level_from_string("debug"), LOG_DEBUG);
	assert_int_equal(log_level_from_string("info"), LOG_INFO);
	assert_int_equal(log_level_from_string("notice"), LOG_NOTICE);
	assert_int_equal(log_level_from_string("warning"), LOG_WARNING);
	assert_int_equal(log_level_from_string("err"), LOG_ERR);
	assert_int_equal(log_level_from_string("error"), LOG_ERR);
	assert_string_equal(log_level_to_string(LOG_ERR), "err");
	assert_string_equal(log_level_to_string(LOG_DEBUG), "debug");
	assert_null(log_level_to_string(LOG_EMERG));
	assert_int_equal(log_level_from_string("Info"), -EINVAL);
	assert_int_equal(log_level_from_string(""), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup(name, log_setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(message_is_one_line_whatever_it_holds),
		TEST(less_important_messages_are_not_written),
		TEST(errno_is_in_the_message_and_returned_negative),
		TEST(suppressed_message_still_returns_its_error),
		TEST(logging_keeps_errno),
		TEST(long_message_is_cut),
		TEST(full_stderr_drops_messages_and_does_not_block),
		TEST(levels_have_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
