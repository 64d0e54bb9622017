/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bus on a real socket in a directory of its own. One loop serves both sides: the client is
 * a bare socket, or an sd-bus connection on the same loop.
 */
#ifndef FSTUNED_TESTS_BUS_SCENE_H
#define FSTUNED_TESTS_BUS_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
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

static inline int begin(void **state)
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

static inline int end(void **state)
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

static inline int dial(const struct setup *s)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	strcpy(sa.sun_path, s->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* The other side has closed: end of file, or a reset. */
static inline bool is_closed(int fd)
{
	char buf[256];
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		;
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* A client that speaks D-Bus, on the same loop. */
static inline sd_bus *dial_bus(const struct setup *s)
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

static inline int on_answer(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
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

static inline void ask(sd_bus *bus, struct answer *a, const char *member, const char *types,
		       ...)
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

/* --- a client that does without sd-bus --- */

/* What a client says before "BEGIN". Returns the length. */
static inline size_t wire_auth(char *buf, size_t size)
{
	char uid[16], hex[32] = "";

	snprintf(uid, sizeof(uid), "%u", geteuid());
	for (size_t i = 0; uid[i]; i++)
		sprintf(hex + 2 * i, "%02x", uid[i]);
	buf[0] = '\0';
	return 1 + (size_t)snprintf(buf + 1, size - 1, "AUTH EXTERNAL %s\r\n", hex);
}

/* Authenticates by hand. */
static inline int dial_authenticated(const struct setup *s)
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

/* A call without arguments, as it goes over the wire. Returns its length. */
static inline size_t wire_call_of(char *buf, size_t size, const char *member)
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

static inline size_t wire_call(char *buf, size_t size)
{
	return wire_call_of(buf, size, "ListDevices");
}

#endif
