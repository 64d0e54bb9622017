// SPDX-License-Identifier: GPL-2.0-or-later
/* What the bus answers, and its socket as a file. */
#include <fcntl.h>
#include <sys/resource.h>
#include "bus-scene.h"

/* --- methods --- */

static void methods_answer_and_commands_arrive(void **state)
{
	struct setup *s = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = dial_bus(s);
	struct answer a;

	ask(bus, &a, "Describe", "s", "sda2");
	RUN_UNTIL(s, a.here);
	assert_non_null(strstr(a.text, "\"device\":\"sda2\""));
	ask(bus, &a, "Describe", "s", "nonsense");
	RUN_UNTIL(s, a.here);
	assert_string_equal(a.error, FSTUNED_ERROR_NO_DEVICE);
	ask(bus, &a, "Get", "ss", "sda1", "nonsense");
	RUN_UNTIL(s, a.here);
	assert_string_equal(a.error, FSTUNED_ERROR_NO_KNOB);
	ask(bus, &a, "Set", "sss", "8:3", "force_copy", "1");
	RUN_UNTIL(s, a.here);
	assert_string_equal(a.error, "");
	assert_non_null(strstr(s->served.asked, "set sda3 force_copy 1"));
	ask(bus, &a, "Set", "sss", "sda1", "force_copy", "bad");
	RUN_UNTIL(s, a.here);
	assert_string_equal(a.error, FSTUNED_ERROR_BAD_VALUE);
	ask(bus, &a, "Revert", "s", "");
	RUN_UNTIL(s, a.here);
	assert_non_null(strstr(s->served.asked, "revert all"));
	ask(bus, &a, "Pause", "t", UINT64_C(0));
	RUN_UNTIL(s, a.here);
	assert_true(s->served.f->view.paused_until_us == USEC_INFINITY);
	ask(bus, &a, "Reload", NULL);
	RUN_UNTIL(s, a.here);
	assert_int_equal(s->served.reloads, 1);
	ask(bus, &a, "Set", "s", "too few");
	RUN_UNTIL(s, a.here);
	assert_string_not_equal(a.error, "");
}

static void kept_message_is_answered_later(void **state)
{
	struct setup *s = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = dial_bus(s);
	struct answer a;

	ask(bus, &a, "Set", "sss", "sda1", "force_copy", "later");
	RUN_UNTIL(s, s->served.kept);
	assert_false(a.here);
	bus_reply(s->bus, s->served.kept, -EBUSY, "somebody else wrote");
	s->served.kept = sd_bus_message_unref(s->served.kept);
	RUN_UNTIL(s, a.here);
	assert_string_equal(a.error, FSTUNED_ERROR_BUSY);
}

static void answer_to_who_has_gone_is_harmless(void **state)
{
	struct setup *s = *state;
	sd_bus *bus = dial_bus(s);
	struct answer a;

	ask(bus, &a, "Set", "sss", "sda1", "force_copy", "later");
	RUN_UNTIL(s, s->served.kept);
	sd_bus_close_unref(bus);
	RUN_UNTIL(s, s->bus->n_clients == 0);
	bus_reply(s->bus, s->served.kept, 0, NULL);
	s->served.kept = sd_bus_message_unref(s->served.kept);
}

/* --- descriptors, files --- */

static void exhausted_descriptors_give_no_busy_loop(void **state)
{
	struct setup *s = *state;
	struct rlimit old, tight;
	uint64_t before;
	int fd = dial(s), enabled;

	s->bus->accept_retry_us = USEC_PER_SEC;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	tight = (struct rlimit){ .rlim_cur = 3, .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	RUN_UNTIL(s, s->bus->exhausted);
	/* The connection still waits, and the loop has nothing to do. */
	assert_true(sd_event_source_get_enabled(s->bus->listen_source, &enabled) >= 0);
	assert_int_equal(enabled, SD_EVENT_OFF);
	before = now_monotonic_us();
	assert_int_equal(sd_event_run(s->event, 50 * USEC_PER_MSEC), 0);
	assert_true(now_monotonic_us() - before >= 50 * USEC_PER_MSEC);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	RUN_UNTIL(s, s->bus->n_clients == 1);
	close(fd);
}

static void socket_is_for_root_alone(void **state)
{
	struct setup *s = *state;
	struct stat st;

	assert_int_equal(stat(s->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void second_daemon_is_refused_and_a_leftover_replaced(void **state)
{
	struct setup *s = *state;
	struct bus *second = NULL;
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd;

	log_set_level(LOG_CRIT);
	assert_int_equal(bus_new(&second, s->event, s->dir, &served_ops, &s->served),
			 -EADDRINUSE);
	assert_null(second);
	/* The first one's socket is still there, and answers. */
	close(dial(s));
	bus_free(s->bus);

	/* A file that nobody listens on, as a crash leaves it. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(sa.sun_path, s->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	close(fd);
	s->bus = NULL;
	assert_int_equal(bus_new(&s->bus, s->event, s->dir, &served_ops, &s->served), 0);
	log_set_level(LOG_ERR);
	close(dial(s));
}

static void file_that_is_no_socket_is_left_alone(void **state)
{
	struct setup *s = *state;
	int fd;

	bus_free(s->bus);
	s->bus = NULL;
	fd = open(s->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	log_set_level(LOG_CRIT);
	assert_int_equal(bus_new(&s->bus, s->event, s->dir, &served_ops, &s->served),
			 -ENOTSOCK);
	log_set_level(LOG_ERR);
	assert_null(s->bus);
	assert_int_equal(unlink(s->path), 0);
}

static void socket_comes_back_with_its_directory(void **state)
{
	struct setup *s = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *before = dial_bus(s), *after = NULL;
	struct answer a;

	RUN_UNTIL(s, s->bus->n_clients == 1);
	assert_int_equal(bus_check(s->bus), 0);
	assert_int_equal(unlink(s->path), 0);
	assert_int_equal(rmdir(s->dir), 0);
	assert_int_equal(bus_check(s->bus), -ENOENT);
	assert_int_equal(bus_check(s->bus), -ENOENT);
	assert_true(s->bus->lost);
	assert_int_equal(mkdir(s->dir, 0700), 0);
	assert_int_equal(bus_check(s->bus), 0);
	assert_false(s->bus->lost);
	after = dial_bus(s);
	ask(after, &a, "Get", "ss", "sda1", "");
	RUN_UNTIL(s, a.here);
	assert_string_equal(a.error, "");
	/* Who was there is still served. */
	ask(before, &a, "Get", "ss", "sda1", "");
	RUN_UNTIL(s, a.here);
	assert_string_equal(a.error, "");
}

static void socket_of_another_daemon_is_left_alone(void **state)
{
	struct setup *s = *state;
	struct bus *second = NULL;
	char moved[136];

	snprintf(moved, sizeof(moved), "%s.old", s->path);
	/* Kept, so that the other's has another inode number. */
	assert_int_equal(rename(s->path, moved), 0);
	assert_int_equal(bus_new(&second, s->event, s->dir, &served_ops, &s->served), 0);
	assert_int_equal(bus_check(s->bus), -EADDRINUSE);
	bus_free(s->bus);
	s->bus = second;
	close(dial(s));
	assert_int_equal(bus_check(second), 0);
	assert_int_equal(unlink(moved), 0);
}

static void directory_that_is_not_there_is_an_error(void **state)
{
	struct setup *s = *state;
	struct bus *b = NULL;
	char longer[200];

	log_set_level(LOG_CRIT);
	assert_int_equal(bus_new(&b, s->event, "/nonexistent", &served_ops, &s->served),
			 -ENOENT);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(bus_new(&b, s->event, longer, &served_ops, &s->served), -ENAMETOOLONG);
	log_set_level(LOG_ERR);
	assert_null(b);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(methods_answer_and_commands_arrive),
		TEST(kept_message_is_answered_later),
		TEST(answer_to_who_has_gone_is_harmless),
		TEST(exhausted_descriptors_give_no_busy_loop),
		TEST(socket_is_for_root_alone),
		TEST(second_daemon_is_refused_and_a_leftover_replaced),
		TEST(file_that_is_no_socket_is_left_alone),
		TEST(socket_comes_back_with_its_directory),
		TEST(socket_of_another_daemon_is_left_alone),
		TEST(directory_that_is_not_there_is_an_error),
	};

	log_set_level(LOG_ERR);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
