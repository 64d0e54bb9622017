/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State shared by bus.c, bus-client.c, bus-private.c, bus-system.c and bus-vtable.c. */
#ifndef FSTUNED_PUBLISH_BUS_INTERNAL_H
#define FSTUNED_PUBLISH_BUS_INTERNAL_H

#include "bus.h"

/* A client that has not authenticated within this time is dropped. */
#define BUS_AUTH_US (5 * UINT64_C(1000000))
/* One that asks nothing for this long is, too: it takes a place of another. */
#define BUS_IDLE_US (300 * UINT64_C(1000000))
/* A message that was begun must be all here within this time: what has come of it is kept. */
#define BUS_BEGUN_US (5 * UINT64_C(1000000))
/* What may have come of one; the longest call has four short strings. */
#define BUS_BEGUN_BYTES (64 * 1024)
/*
 * Replies that a client has not read, beyond which it may ask for nothing more, and those of
 * all clients together, beyond which the one with the most has to go. Metrics of 256 devices
 * are 4.6 MB.
 */
#define BUS_UNREAD_BYTES (4 * UINT64_C(1024) * 1024)
#define BUS_UNREAD_ALL_BYTES (4 * BUS_UNREAD_BYTES)
/*
 * What the kernel keeps of replies unread, in bytes, before they count for BUS_UNREAD_MAX.
 * sd-bus asks for 8 MiB, which is memory that a client could pin by not reading.
 */
#define BUS_SEND_BUFFER_BYTES 4096
/*
 * When all places are taken, a client that was silent for this long gives its own up: no call
 * of fstunectl's takes as long between connect(2) and the last byte.
 */
#define BUS_SPARE_US (1 * UINT64_C(1000000))
/*
 * Messages that a client gets handled before others have their turn: a few round trips' worth
 * for a client that sends ahead, a few ms for the loop.
 */
#define BUS_STEPS_MAX 16
/* Out of descriptors: time until connections are taken again. */
#define BUS_ACCEPT_RETRY_US (1 * UINT64_C(1000000))

/* The other end of a connection; userdata of the methods. */
struct peer {
	struct bus *bus;
	bool broker;    /* the system bus: who calls must be asked for, message by message */
	uid_t uid;      /* otherwise: who is there */
	unsigned waits; /* for so many answers that bus_reply() will give */
	uint64_t unread_bytes; /* of replies, since it had read all */
};

/* A connection on the private socket. */
struct client {
	struct peer peer;
	sd_bus *connection;
	sd_event_source *io;
	sd_event_source *more;   /* enabled when its turn ended before its work did */
	sd_event_source *timer;  /* silent for too long */
	sd_event_source *reaper; /* enabled when it is to go: it cannot within a callback */
	bool ready;              /* it has authenticated */
	bool doomed;
	uint64_t last_us;     /* it came, or said something */
	bool heard;           /* a message came in this step */
	uint64_t begun_bytes; /* what has come of a message that is not yet all here */
	unsigned index;       /* in bus.clients */
};

struct bus {
	sd_event *event;
	const struct bus_ops *ops;
	void *userdata;

	/* private socket */
	char *path;
	int listen_fd;
	dev_t socket_dev; /* the file that listen_fd is bound to */
	ino_t socket_ino;
	bool lost; /* logged that this file is no longer at `path` */
	sd_event_source *listen_source;
	sd_event_source *retry_source; /* re-arms listen_source */
	bool exhausted;                /* logged that descriptors ran out */
	struct client *clients[BUS_CLIENTS_MAX];
	unsigned n_clients;
	/* The above, unless a test shortens them. */
	uint64_t auth_us, idle_us, begun_us, spare_us, accept_retry_us;

	/* system bus */
	sd_bus *system;
	struct peer system_peer;
	sd_event_source *system_reaper;
};

extern const sd_bus_vtable bus_vtable[];

/* Both log their errors. */
int bus_listen(struct bus *b, const char *runtime_dir);
void bus_unlisten(struct bus *b); /* closes all clients */

/* Takes *fd over, unless it fails before. */
int client_new(struct bus *b, int *fd, uid_t uid);
void client_free(struct client *c); /* not within a callback of its own */
/* True if one of them could be spared, and its place is free. */
bool client_make_place(struct bus *b);
/* A message that was kept is about to be answered. */
void client_is_answered(struct bus *b, sd_bus_message *m);

void bus_disconnect_system(struct bus *b);

#endif
