// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bus on a real socket in a directory of its own. One loop serves both sides: the client is
 * a bare socket, or an sd-bus connection on the same loop.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <cmocka.h>
#include "../../daemon/base/log.h"
#include "../../daemon/base/time-util.h"
#include "../../daemon/publish/bus-internal.h"
#include "bus-fixture.h"

#define DEADLINE_US (20 * USEC_PER_SEC)

struct setup {
	char dir[64], path[128];
	sd_event *event;
	struct bus *bus;
	struct served served;
};

static int begin(void **state)
{
	struct setup *s = calloc(1, sizeof(*s));

	strcpy(s->dir, "/tmp/test-bus-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/" FSTUNED_SOCKET, s->dir);
	s->served.f = fixture_new(3);
	assert_true(sd_event_new(&s->event) >= 0);
	assert_int_equal(bus_new(&s->bus, s->event, s->dir, &served_ops, &s->served), 0);
	*state = s;
	return 0;
}

static int end(void **state)
{
	struct setup *s = *state;

	if (s->bus)
		bus_free(s->bus);
	sd_event_unref(s->event);
	fixture_free(s->served.f);
	/* Nothing stays behind. */
	assert_int_equal(access(s->path, F_OK), -1);
	assert_int_equal(rmdir(s->dir), 0);
	free(s);
	return 0;
}

/* Runs the loop until the condition holds. */
#define RUN_UNTIL(s, condition)                                                         \
	do {                                                                            \
		uint64_t _end = now_monotonic_us() + DEADLINE_US;                       \
                                                                                        \
		while (!(condition)) {                                                  \
			assert_true(now_monotonic_us() < _end);                         \
			assert_true(sd_event_run((s)->event, 10 * USEC_PER_MSEC) >= 0); \
		}                                                                       \
	} while (0)

static int dial(const struct setup *s)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	strcpy(sa.sun_path, s->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* The other side has closed: end of file, or a reset. */
static bool is_closed(int fd)
{
	char buf[256];
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		;
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* A client that speaks D-Bus, on the same loop. */
static sd_bus *dial_bus(const struct setup *s)
{
	sd_bus *bus;
	int fd = dial(s);

	assert_true(sd_bus_new(&bus) >= 0);
	assert_true(sd_bus_set_fd(bus, fd, fd) >= 0);
	assert_true(sd_bus_start(bus) >= 0);
	assert_true(sd_bus_attach_event(bus, s->event, 0) >= 0);
	return bus;
}

struct answer {
	bool here;
	char error[128], text[4096];
};

static int on_answer(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	struct answer *a = userdata;
	const char *text;

	a->here = true;
	if (sd_bus_message_is_method_error(m, NULL))
		snprintf(a->error, sizeof(a->error), "%s", sd_bus_message_get_error(m)->name);
	else if (sd_bus_message_has_signature(m, "s") && sd_bus_message_read(m, "s", &text) > 0)
		snprintf(a->text, sizeof(a->text), "%s", text);
	return 1;
}

static void ask(sd_bus *bus, struct answer *a, const char *member, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	va_list ap;

	*a = (struct answer){ 0 };
	assert_true(sd_bus_message_new_method_call(bus, &m, NULL, FSTUNED_BUS_PATH,
						   FSTUNED_BUS_INTERFACE, member) >= 0);
	va_start(ap, types);
	if (types)
		assert_true(sd_bus_message_appendv(m, types, ap) >= 0);
	va_end(ap);
	assert_true(sd_bus_call_async(bus, NULL, m, on_answer, a, 0) >= 0);
}

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

/* --- bad clients --- */

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

/* What a client says before "BEGIN". Returns the length. */
static size_t wire_auth(char *buf, size_t size)
{
	char uid[16], hex[32] = "";

	snprintf(uid, sizeof(uid), "%u", geteuid());
	for (size_t i = 0; uid[i]; i++)
		sprintf(hex + 2 * i, "%02x", uid[i]);
	buf[0] = '\0';
	return 1 + (size_t)snprintf(buf + 1, size - 1, "AUTH EXTERNAL %s\r\n", hex);
}

/* Authenticates by hand. */
static int dial_authenticated(const struct setup *s)
{
	static const char begin_text[] = "BEGIN\r\n";
	char line[128];
	int fd = dial(s);

	assert_true(send(fd, line, wire_auth(line, sizeof(line)), MSG_NOSIGNAL) > 0);
	memset(line, 0, sizeof(line));
	RUN_UNTIL(s, recv(fd, line, sizeof(line) - 1, MSG_DONTWAIT) > 0);
	assert_int_equal(strncmp(line, "OK ", 3), 0);
	assert_true(send(fd, begin_text, sizeof(begin_text) - 1, MSG_NOSIGNAL) > 0);
	return fd;
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

/* A call without arguments, as it goes over the wire. Returns its length. */
static size_t wire_call_of(char *buf, size_t size, const char *member)
{
	const struct {
		char code, type;
		const char *text;
	} fields[] = {
		{ 1, 'o', FSTUNED_BUS_PATH },
		{ 2, 's', FSTUNED_BUS_INTERFACE },
		{ 3, 's', member },
	};
	size_t n = 16;
	uint32_t v;

	memset(buf, 0, size);
	memcpy(buf, "l\1\0\1", 4);
	v = 1;
	memcpy(buf + 8, &v, 4); /* serial */
	for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
		n = (n + 7) / 8 * 8;
		buf[n++] = fields[i].code;
		buf[n++] = 1;
		buf[n++] = fields[i].type;
		buf[n++] = 0;
		v = (uint32_t)strlen(fields[i].text);
		memcpy(buf + n, &v, 4);
		strcpy(buf + n + 4, fields[i].text);
		n += 4 + v + 1;
	}
	v = (uint32_t)(n - 16);
	memcpy(buf + 12, &v, 4); /* length of the fields */
	return (n + 7) / 8 * 8;
}

static size_t wire_call(char *buf, size_t size)
{
	return wire_call_of(buf, size, "ListDevices");
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
		TEST(exhausted_descriptors_give_no_busy_loop),
		TEST(socket_is_for_root_alone),
		TEST(second_daemon_is_refused_and_a_leftover_replaced),
		TEST(file_that_is_no_socket_is_left_alone),
		TEST(socket_comes_back_with_its_directory),
		TEST(socket_of_another_daemon_is_left_alone),
		TEST(directory_that_is_not_there_is_an_error),
	};

	log_set_level(LOG_ERR); /* clients that misbehave are what is tested */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
