// SPDX-License-Identifier: GPL-2.0-or-later
/* One client of the private socket, whatever it does or does not do. */
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include "../base/log.h"
#include "../base/time-util.h"
#include "bus-internal.h"
#include "interface.h"

void client_free(struct client *c)
{
	struct bus *b = c->peer.bus;

	if (b->clients[c->index] == c) {
		b->clients[c->index] = NULL;
		b->n_clients--;
	}
	sd_event_source_disable_unref(c->timer);
	sd_event_source_disable_unref(c->more);
	sd_event_source_disable_unref(c->reaper);
	/* Before its descriptor is closed. */
	sd_event_source_disable_unref(c->io);
	/* Not flushed: that would wait for who does not read. */
	sd_bus_close_unref(c->connection);
	free(c);
}
DEFINE_CLEANUP(struct client *, client_free)

static int on_reap(_unused_ sd_event_source *s, void *userdata)
{
	client_free(userdata);
	return 0;
}

static void client_doom(struct client *c)
{
	c->doomed = true;
	c->peer.unread_bytes = 0;
	/* At once, so that nothing more is queued or dispatched. */
	c->io = sd_event_source_disable_unref(c->io);
	sd_bus_close(c->connection);
	sd_event_source_set_enabled(c->reaper, SD_EVENT_ONESHOT);
}

static void client_wait(struct client *c, uint64_t usec)
{
	if (sd_event_source_set_time_relative(c->timer, usec) >= 0)
		sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT);
}

static int on_silence(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	struct client *c = userdata;

	log_debug("A client was silent for too long");
	client_doom(c);
	return 0;
}

/* --- what it may keep of our memory --- */

static uint64_t n_unread(const struct client *c)
{
	uint64_t n = 0;

	return sd_bus_get_n_queued_write(c->connection, &n) < 0 ? 0 : n;
}

/* Replies of the others count, too: 32 clients with a little each are a lot. */
static void make_room(struct bus *b)
{
	struct client *most = NULL;
	uint64_t all = 0;

	for (unsigned i = 0; i < BUS_CLIENTS_MAX; i++) {
		struct client *c = b->clients[i];

		if (!c)
			continue;
		all += c->peer.unread_bytes;
		if (!most || c->peer.unread_bytes > most->peer.unread_bytes)
			most = c;
	}
	if (all < BUS_UNREAD_ALL_BYTES)
		return;
	log_warning("Too much is unread: the client that leaves most is dropped");
	client_doom(most);
}

/* Sees every message before the methods do. */
static int on_message(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	struct client *c = userdata;
	uint64_t unread = n_unread(c);

	if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Local", "Disconnected") > 0) {
		client_doom(c);
		return 0;
	}
	c->heard = true;
	c->last_us = now_monotonic_us();
	c->begun_bytes = 0;
	if (unread == 0)
		c->peer.unread_bytes = 0;
	if (unread >= BUS_UNREAD_MAX || c->peer.unread_bytes >= BUS_UNREAD_BYTES) {
		log_warning("A client that reads no replies is dropped");
		client_doom(c);
		return 1;
	}
	client_wait(c, c->peer.bus->idle_us);
	make_room(c->peer.bus);
	/* It may have been this one. */
	return c->doomed;
}

/* Part of a message came: how much it announces is sd-bus's to know, so what came is counted.
 */
static int note_part(struct client *c, int bytes)
{
	if (c->begun_bytes == 0)
		client_wait(c, c->peer.bus->begun_us);
	c->begun_bytes += bytes > 0 ? (uint64_t)bytes : 1;
	if (c->begun_bytes <= BUS_BEGUN_BYTES)
		return 0;
	log_warning("A client that sends too long a message is dropped");
	return -EMSGSIZE;
}

/* --- its place --- */

/* With what it does not fetch it only waits for itself. */
static bool is_owed(const struct client *c, uint64_t silent_us)
{
	return c->peer.waits > 0 || (n_unread(c) > 0 && silent_us < c->peer.bus->begun_us);
}

bool client_make_place(struct bus *b)
{
	struct client *longest = NULL;
	uint64_t now = now_monotonic_us();

	for (unsigned i = 0; i < BUS_CLIENTS_MAX; i++) {
		struct client *c = b->clients[i];

		if (c && now - c->last_us >= b->spare_us && !is_owed(c, now - c->last_us) &&
		    (!longest || c->last_us < longest->last_us))
			longest = c;
	}
	if (!longest)
		return false;
	log_debug("All places are taken: the client that was silent longest is dropped");
	client_free(longest);
	return true;
}

void client_is_answered(struct bus *b, sd_bus_message *m)
{
	for (unsigned i = 0; i < BUS_CLIENTS_MAX; i++) {
		struct client *c = b->clients[i];

		if (c && c->connection == sd_bus_message_get_bus(m) && c->peer.waits > 0)
			c->peer.waits--;
	}
}

/* --- its turn --- */

/* Something was done if > 0. */
static int client_step(struct client *c)
{
	uint64_t unread;
	int r, bytes = 0;

	if (!c->ready && sd_bus_is_ready(c->connection) > 0) {
		c->ready = true;
		client_wait(c, c->peer.bus->idle_us);
	}
	(void)ioctl(sd_bus_get_fd(c->connection), FIONREAD, &bytes);
	unread = n_unread(c);
	c->heard = false;
	r = sd_bus_process(c->connection, NULL);
	if (n_unread(c) == 0)
		c->peer.unread_bytes = 0;
	if (r <= 0 || !c->ready || c->heard || n_unread(c) != unread)
		return r;
	/* Neither a message nor a reply: */
	r = note_part(c, bytes);
	return r < 0 ? r : 1;
}

/*
 * Until there is nothing to do, for what sd-bus has read already no event will tell of; but one
 * client that always has more to say must not keep the loop from everything else.
 */
static void client_serve(struct client *c)
{
	for (unsigned i = 0; i < BUS_STEPS_MAX; i++) {
		int r = client_step(c);

		if (r < 0)
			client_doom(c);
		if (r <= 0)
			return;
	}
	sd_event_source_set_enabled(c->more, SD_EVENT_ONESHOT);
}

static int on_more(_unused_ sd_event_source *s, void *userdata)
{
	client_serve(userdata);
	return 0;
}

static int on_io(_unused_ sd_event_source *s, _unused_ int fd, _unused_ uint32_t events,
		 void *userdata)
{
	client_serve(userdata);
	return 0;
}

/* Before the loop waits: what for? */
static int on_prepare(sd_event_source *s, void *userdata)
{
	struct client *c = userdata;
	int events = sd_bus_get_events(c->connection);
	uint64_t timeout;

	/* poll(2) and epoll(7) have the same bits for these. */
	if (events >= 0)
		sd_event_source_set_io_events(s, (uint32_t)events & (EPOLLIN | EPOLLOUT));
	/* Zero: sd-bus has found out that the client is gone. Other times are the timer's. */
	if (events < 0 || (sd_bus_get_timeout(c->connection, &timeout) > 0 && timeout == 0))
		sd_event_source_set_enabled(c->more, SD_EVENT_ONESHOT);
	return 0;
}

/* --- its beginning --- */

/* Takes *fd over, unless it fails before. */
static int client_start(struct client *c, int *fd)
{
	static const int send_buffer = BUS_SEND_BUFFER_BYTES;
	sd_id128_t id;
	int r;

	r = sd_bus_new(&c->connection);
	if (r < 0)
		return r;
	r = sd_bus_set_fd(c->connection, *fd, *fd);
	if (r < 0)
		return r;
	*fd = -EBADF; /* sd_bus_unref() closes it */
	if ((r = sd_id128_randomize(&id)) < 0 ||
	    (r = sd_bus_set_server(c->connection, true, id)) < 0 ||
	    (r = sd_bus_set_anonymous(c->connection, false)) < 0 ||
	    (r = sd_bus_negotiate_creds(c->connection, true,
					SD_BUS_CREDS_EUID | SD_BUS_CREDS_UID)) < 0 ||
	    (r = sd_bus_negotiate_fds(c->connection, false)) < 0 ||
	    (r = sd_bus_add_filter(c->connection, NULL, on_message, c)) < 0 ||
	    (r = sd_bus_add_object_vtable(c->connection, NULL, FSTUNED_BUS_PATH,
					  FSTUNED_BUS_INTERFACE, bus_vtable, &c->peer)) < 0 ||
	    (r = sd_bus_start(c->connection)) < 0)
		return r;
	(void)setsockopt(sd_bus_get_fd(c->connection), SOL_SOCKET, SO_SNDBUF, &send_buffer,
			 sizeof(send_buffer));
	return 0;
}

/*
 * Not sd_bus_attach_event(): it hides how far a message has come, and its turns are not ours to
 * bound.
 */
static int client_watch(struct client *c)
{
	sd_event *e = c->peer.bus->event;
	int r;

	if ((r = sd_event_add_io(e, &c->io, sd_bus_get_fd(c->connection), EPOLLIN, on_io, c)) <
		    0 ||
	    (r = sd_event_source_set_prepare(c->io, on_prepare)) < 0 ||
	    /* At once the first time: sd_bus_start() may have read. */
	    (r = sd_event_add_defer(e, &c->more, on_more, c)) < 0 ||
	    (r = sd_event_add_time_relative(e, &c->timer, CLOCK_MONOTONIC, c->peer.bus->auth_us,
					    0, on_silence, c)) < 0 ||
	    (r = sd_event_add_defer(e, &c->reaper, on_reap, c)) < 0)
		return r;
	return sd_event_source_set_enabled(c->reaper, SD_EVENT_OFF);
}

int client_new(struct bus *b, int *fd, uid_t uid)
{
	_cleanup_(client_freep) struct client *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->peer = (struct peer){ .bus = b, .uid = uid };
	c->last_us = now_monotonic_us();
	while (c->index + 1 < BUS_CLIENTS_MAX && b->clients[c->index])
		c->index++;

	r = client_start(c, fd);
	if (r < 0)
		return r;
	r = client_watch(c);
	if (r < 0)
		return r;
	b->clients[c->index] = c;
	b->n_clients++;
	TAKE_PTR(c);
	return 0;
}
