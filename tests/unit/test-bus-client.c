// SPDX-License-Identifier: GPL-2.0-or-later
/* Clients of the private socket that misbehave, and others beside them. */
#include <sys/ioctl.h>
#include "bus-scene.h"

/* --- silence, garbage --- */

static void silent_client_is_dropped(void **state)
{
	struct setup *s = *state;
	int fd;

	s->bus->auth_us = 20 * USEC_PER_MSEC;
	fd = dial(s);
	RUN_UNTIL(s, s->bus->n_clients == 1);
	RUN_UNTIL(s, s->bus->n_clients == 0);
	assert_true(is_closed(fd));
	close(fd);
}

static void idle_client_is_dropped_and_a_busy_one_is_not(void **state)
{
	struct setup *s = *state;
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	uint64_t end;
	struct answer a;

	s->bus->auth_us = s->bus->idle_us = 300 * USEC_PER_MSEC;
	bus = dial_bus(s);
	end = now_monotonic_us() + USEC_PER_SEC;
	do {
		ask(bus, &a, "Get", "ss", "sda1", "");
		RUN_UNTIL(s, a.here);
		assert_string_equal(a.error, "");
	} while (now_monotonic_us() < end);
	assert_int_equal(s->bus->n_clients, 1);
	RUN_UNTIL(s, s->bus->n_clients == 0);
}

static void garbage_closes_the_connection(void **state)
{
	static const char garbage[][64] = {
		"GET / HTTP/1.1\r\n\r\n",
		"\0AUTH EXTERNAL zz\r\n\0\0\0\0",
		"\0AUTH\r\nAUTH\r\nBEGIN\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"\377\377\377\377\377\377\377\377\377\377\377\377",
	};
	struct setup *s = *state;

	s->bus->auth_us = 50 * USEC_PER_MSEC;
	for (size_t i = 0; i < ELEMENTSOF(garbage); i++) {
		int fd = dial(s);

		assert_true(send(fd, garbage[i], sizeof(garbage[i]), MSG_NOSIGNAL) > 0);
		RUN_UNTIL(s, is_closed(fd));
		RUN_UNTIL(s, s->bus->n_clients == 0);
		close(fd);
	}
}

static void garbage_after_authentication_closes_the_connection(void **state)
{
	struct setup *s = *state;
	int fd = dial_authenticated(s);
	char text[64];

	memset(text, 'x', sizeof(text));
	assert_true(send(fd, text, sizeof(text), MSG_NOSIGNAL) > 0);
	RUN_UNTIL(s, is_closed(fd));
	RUN_UNTIL(s, s->bus->n_clients == 0);
	close(fd);
}

static void call_that_comes_with_the_authentication_is_answered(void **state)
{
	struct setup *s = *state;
	int fd = dial_authenticated(s), received = 0;
	char call[512];
	size_t len = wire_call(call, sizeof(call));

	/* Nothing has run since BEGIN was sent: both are read at once. */
	assert_true(send(fd, call, len, MSG_NOSIGNAL) == (ssize_t)len);
	RUN_UNTIL(s, ioctl(fd, FIONREAD, &received) == 0 && received > 16);
	close(fd);
	RUN_UNTIL(s, s->bus->n_clients == 0);
}

static void client_that_reads_nothing_is_dropped(void **state)
{
	struct setup *s = *state;
	int fd = dial_authenticated(s), received = 0;
	char call[512];
	size_t len = wire_call(call, sizeof(call));
	unsigned sent = 0;
	uint64_t deadline = now_monotonic_us() + DEADLINE_US;

	RUN_UNTIL(s, s->bus->n_clients == 1);
	while (s->bus->n_clients) {
		assert_true(now_monotonic_us() < deadline);
		/* Bounded: what the kernel keeps is small, and the rest is BUS_UNREAD_MAX. */
		assert_true(sent < 20 * BUS_UNREAD_MAX);
		sent += send(fd, call, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
		assert_true(sd_event_run(s->event, 10 * USEC_PER_MSEC) >= 0);
	}
	assert_true(sent > BUS_UNREAD_MAX);
	/* It did get answers up to then. */
	assert_int_equal(ioctl(fd, FIONREAD, &received), 0);
	assert_true(received > 0);
	close(fd);
}

#define MIB (1024 * 1024)

static void unread_replies_are_weighed(void **state)
{
	struct setup *s = *state;
	int fd = dial_authenticated(s);
	char call[512];
	size_t len = wire_call_of(call, sizeof(call), "Config");

	s->served.config_bytes = MIB;
	for (unsigned i = 0; i < BUS_UNREAD_MAX; i++)
		assert_true(send(fd, call, len, MSG_NOSIGNAL) == (ssize_t)len);
	RUN_UNTIL(s, s->served.configs > 0 && s->bus->n_clients == 0);
	/* What it may leave unread, the one that goes beyond, and what the kernel took. */
	assert_in_range(s->served.configs, 4, 6);
	close(fd);
}

static void unread_replies_of_all_clients_are_weighed(void **state)
{
	struct setup *s = *state;
	char call[512];
	size_t len = wire_call_of(call, sizeof(call), "Config");
	uint64_t most = 0;
	int fd[BUS_CLIENTS_MAX];

	s->served.config_bytes = 3 * MIB;
	for (unsigned i = 0; i < BUS_CLIENTS_MAX; i++) {
		uint64_t all = 0;

		fd[i] = dial_authenticated(s);
		assert_true(send(fd[i], call, len, MSG_NOSIGNAL) == (ssize_t)len);
		RUN_UNTIL(s, s->served.configs > i);
		for (unsigned c = 0; c < BUS_CLIENTS_MAX; c++)
			all += s->bus->clients[c] ? s->bus->clients[c]->peer.unread_bytes : 0;
		most = all > most ? all : most;
	}
	assert_true(most <= BUS_UNREAD_ALL_BYTES + s->served.config_bytes);
	for (unsigned i = 0; i < BUS_CLIENTS_MAX; i++)
		close(fd[i]);
	RUN_UNTIL(s, s->bus->n_clients == 0);
}

static void long_replies_that_are_read_cost_nobody_a_connection(void **state)
{
	struct setup *s = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = dial_bus(s);
	struct answer a;

	s->served.config_bytes = 3 * MIB;
	for (unsigned i = 0; i < 10; i++) {
		ask(bus, &a, "Config", NULL);
		RUN_UNTIL(s, a.here);
		assert_string_equal(a.error, "");
	}
}

static void message_that_is_not_finished_is_not_waited_for(void **state)
{
	struct setup *s = *state;
	int fd = dial_authenticated(s);
	char call[512];
	size_t len = wire_call(call, sizeof(call)), sent = 0;
	uint64_t next = 0;

	RUN_UNTIL(s, s->bus->n_clients == 1);
	s->bus->begun_us = 50 * USEC_PER_MSEC;
	/* A byte now and then does not prolong it. */
	while (s->bus->n_clients == 1) {
		assert_true(sent < len);
		if (now_monotonic_us() >= next) {
			sent += send(fd, call + sent, 1, MSG_NOSIGNAL) == 1;
			next = now_monotonic_us() + 10 * USEC_PER_MSEC;
		}
		assert_true(sd_event_run(s->event, 5 * USEC_PER_MSEC) >= 0);
	}
	assert_true(is_closed(fd));
	close(fd);
}

static void message_of_unheard_of_length_is_not_taken(void **state)
{
	static char part[64 * 1024];
	struct setup *s = *state;
	int fd = dial_authenticated(s);
	uint32_t announced = 100 * MIB;
	size_t sent = 0;

	wire_call(part, sizeof(part));
	memcpy(part + 4, &announced, sizeof(announced));
	RUN_UNTIL(s, s->bus->n_clients == 1);
	for (ssize_t n; s->bus->n_clients == 1;) {
		assert_true(sent < MIB);
		n = send(fd, part, sizeof(part), MSG_NOSIGNAL | MSG_DONTWAIT);
		sent += n > 0 ? (size_t)n : 0;
		assert_true(sd_event_run(s->event, 10 * USEC_PER_MSEC) >= 0);
	}
	assert_true(is_closed(fd));
	close(fd);
}

static void client_that_sends_ahead_leaves_turns_to_others(void **state)
{
	enum { CALLS = 500 };
	static char text[CALLS * 256];
	struct setup *s = *state;
	uint64_t deadline = now_monotonic_us() + DEADLINE_US;
	size_t len = wire_auth(text, sizeof(text));
	int fd = dial(s);

	len += (size_t)sprintf(text + len, "BEGIN\r\n");
	for (unsigned i = 0; i < CALLS; i++) {
		char *call = text + len;

		len += wire_call(call, sizeof(text) - len);
		call[2] = 1; /* no reply expected */
	}
	assert_true(send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len);
	while (s->served.views < CALLS) {
		unsigned before = s->served.views;

		assert_true(now_monotonic_us() < deadline);
		assert_true(sd_event_run(s->event, 10 * USEC_PER_MSEC) >= 0);
		assert_true(s->served.views - before <= BUS_STEPS_MAX);
	}
	assert_int_equal(s->bus->n_clients, 1);
	close(fd);
	RUN_UNTIL(s, s->bus->n_clients == 0);
}

static void client_that_reads_is_not_dropped(void **state)
{
	struct setup *s = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = dial_bus(s);
	struct answer a;

	for (unsigned i = 0; i < 20 * BUS_UNREAD_MAX; i++) {
		ask(bus, &a, "Metrics", "b", 0);
		RUN_UNTIL(s, a.here);
		assert_string_equal(a.error, "");
	}
}

static void client_that_goes_away_in_the_middle_is_forgotten(void **state)
{
	struct setup *s = *state;
	char call[512];
	size_t len = wire_call(call, sizeof(call));

	for (size_t part = 1; part < len; part += 13) {
		int fd = dial_authenticated(s);

		assert_true(send(fd, call, part, MSG_NOSIGNAL) == (ssize_t)part);
		RUN_UNTIL(s, s->bus->n_clients == 1);
		close(fd);
		RUN_UNTIL(s, s->bus->n_clients == 0);
	}
}

static void fill(struct setup *s, int *fd)
{
	for (unsigned i = 0; i < BUS_CLIENTS_MAX; i++) {
		fd[i] = dial_authenticated(s);
		RUN_UNTIL(s, s->bus->n_clients == i + 1 && s->bus->clients[i]->ready);
	}
}

static void empty(struct setup *s, int *fd)
{
	for (unsigned i = 0; i < BUS_CLIENTS_MAX; i++)
		close(fd[i]);
	RUN_UNTIL(s, s->bus->n_clients == 0);
}

static void client_beyond_the_limit_is_turned_away_while_all_are_busy(void **state)
{
	struct setup *s = *state;
	int fd[BUS_CLIENTS_MAX], more;

	s->bus->spare_us = USEC_INFINITY;
	fill(s, fd);
	more = dial(s);
	RUN_UNTIL(s, is_closed(more));
	assert_int_equal(s->bus->n_clients, BUS_CLIENTS_MAX);
	close(more);
	/* A place that is free is given. */
	close(fd[7]);
	RUN_UNTIL(s, s->bus->n_clients == BUS_CLIENTS_MAX - 1);
	fd[7] = dial(s);
	RUN_UNTIL(s, s->bus->n_clients == BUS_CLIENTS_MAX);
	assert_false(is_closed(fd[7]));
	empty(s, fd);
}

static void silent_clients_lock_nobody_out(void **state)
{
	struct setup *s = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	int fd[BUS_CLIENTS_MAX];
	struct answer a;
	char call[512];
	size_t len = wire_call(call, sizeof(call));
	unsigned views = s->served.views;

	s->bus->spare_us = 0;
	fill(s, fd);
	/* The first has not been silent for longest, then. */
	assert_true(send(fd[0], call, len, MSG_NOSIGNAL) == (ssize_t)len);
	RUN_UNTIL(s, s->served.views > views);
	bus = dial_bus(s);
	ask(bus, &a, "Get", "ss", "sda1", "");
	RUN_UNTIL(s, a.here);
	assert_string_equal(a.error, "");
	assert_false(is_closed(fd[0]));
	assert_true(is_closed(fd[1]));
	for (unsigned i = 2; i < BUS_CLIENTS_MAX; i++)
		assert_false(is_closed(fd[i]));
	sd_bus_close(bus);
	empty(s, fd);
}

static void client_that_waits_for_a_reply_keeps_its_place(void **state)
{
	struct setup *s = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *waits = dial_bus(s);
	int fd[BUS_CLIENTS_MAX];
	struct answer a;

	s->bus->spare_us = 0;
	ask(waits, &a, "Set", "sss", "sda1", "force_copy", "later");
	RUN_UNTIL(s, s->served.kept);
	for (unsigned i = 0; i < BUS_CLIENTS_MAX; i++) {
		fd[i] = dial_authenticated(s);
		RUN_UNTIL(s, s->bus->clients[i < BUS_CLIENTS_MAX - 1 ? i + 1 : 1]->ready);
	}
	assert_false(a.here);
	bus_reply(s->bus, s->served.kept, 0, NULL);
	s->served.kept = sd_bus_message_unref(s->served.kept);
	RUN_UNTIL(s, a.here);
	assert_string_equal(a.error, "");
	RUN_UNTIL(s, is_closed(fd[0]));
	/* Answered, it is one like the others. */
	close(dial_authenticated(s));
	RUN_UNTIL(s, sd_bus_is_open(waits) <= 0);
	empty(s, fd);
}

static void reply_that_is_not_fetched_keeps_no_place(void **state)
{
	struct setup *s = *state;
	int fd[BUS_CLIENTS_MAX], more;
	char call[512];
	size_t len = wire_call_of(call, sizeof(call), "Config");

	s->bus->spare_us = s->bus->begun_us = 0;
	s->served.config_bytes = 64 * 1024;
	fill(s, fd);
	for (unsigned i = 0; i < BUS_CLIENTS_MAX; i++)
		assert_true(send(fd[i], call, len, MSG_NOSIGNAL) == (ssize_t)len);
	RUN_UNTIL(s, s->served.configs == BUS_CLIENTS_MAX);
	more = dial_authenticated(s);
	close(more);
	empty(s, fd);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(silent_client_is_dropped),
		TEST(idle_client_is_dropped_and_a_busy_one_is_not),
		TEST(garbage_closes_the_connection),
		TEST(garbage_after_authentication_closes_the_connection),
		TEST(call_that_comes_with_the_authentication_is_answered),
		TEST(client_that_reads_nothing_is_dropped),
		TEST(unread_replies_are_weighed),
		TEST(unread_replies_of_all_clients_are_weighed),
		TEST(long_replies_that_are_read_cost_nobody_a_connection),
		TEST(message_that_is_not_finished_is_not_waited_for),
		TEST(message_of_unheard_of_length_is_not_taken),
		TEST(client_that_sends_ahead_leaves_turns_to_others),
		TEST(client_that_reads_is_not_dropped),
		TEST(client_that_goes_away_in_the_middle_is_forgotten),
		TEST(client_beyond_the_limit_is_turned_away_while_all_are_busy),
		TEST(silent_clients_lock_nobody_out),
		TEST(client_that_waits_for_a_reply_keeps_its_place),
		TEST(reply_that_is_not_fetched_keeps_no_place),
	};

	log_set_level(LOG_ERR); /* clients that misbehave are what is tested */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
