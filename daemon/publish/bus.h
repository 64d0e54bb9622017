/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The D-Bus object on the private socket RUNTIME_DIR/bus (peer to peer, root only) and,
 * where there is one, on the system bus. Tables and thin callbacks: what a method means
 * is in struct bus_ops, which the manager gives.
 */
#ifndef FSTUNED_PUBLISH_BUS_H
#define FSTUNED_PUBLISH_BUS_H

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include "view.h"

/* On the private socket; beyond, the one that is silent longest has to go, or the new one. */
#define BUS_CLIENTS_MAX 32
#define BUS_UNREAD_MAX 16 /* replies a client may leave unread before it is dropped */

struct bus;

/*
 * `view` returns the state as it is now. Commands return 0, 1 (an answer follows: the
 * message was kept and bus_reply() will be called), or -errno with *error set to a name of
 * interface.h and a line. NULL or "" device: all.
 */
struct bus_ops {
	const struct view *(*view)(void *userdata);
	const struct device *(*find)(const char *what, void *userdata); /* NULL: unknown */
	int (*set)(const struct device *d, const char *knob, const char *value, uid_t uid,
		   sd_bus_message *m, sd_bus_error *error, void *userdata);
	int (*automatic)(const struct device *d, const char *knob, uid_t uid,
			 sd_bus_error *error, void *userdata);
	int (*revert)(const struct device *d, uid_t uid, sd_bus_message *m, sd_bus_error *error,
		      void *userdata);
	int (*pause)(uint64_t usec, uid_t uid, void *userdata); /* USEC_INFINITY, 0: resume */
	int (*config)(char **ret, void *userdata);              /* JSON, caller frees */
	int (*reload)(sd_bus_error *error, void *userdata); /* read the configuration anew */
};

int bus_new(struct bus **ret, sd_event *event, const char *runtime_dir,
	    const struct bus_ops *ops, void *userdata);
void bus_free(struct bus *b);
DEFINE_CLEANUP(struct bus *, bus_free)

/*
 * Looks whether the private socket is still where clients look for it, and if it is not,
 * listens anew. For every few seconds: one lstat(2). Logs when that changes. -errno: there is
 * no socket now (the directory is gone, another daemon answers there); to be called again.
 */
int bus_check(struct bus *b);

/* Connects to the system bus if there is one; otherwise does nothing and may be called again.
 */
int bus_connect_system(struct bus *b);

/*
 * Answers a message that a command kept: r == 0 an empty reply, else an error with `text`. The
 * command took a reference to the message and drops it itself.
 */
void bus_reply(struct bus *b, sd_bus_message *m, int r, const char *text);

#endif
