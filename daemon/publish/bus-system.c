// SPDX-License-Identifier: GPL-2.0-or-later
/* The system bus, where there is one. Nothing here waits for the broker. */
#include <string.h>
#include "../base/log.h"
#include "bus-internal.h"
#include "interface.h"

#define SYSTEM_BUS_SOCKET "/run/dbus/system_bus_socket"

void bus_disconnect_system(struct bus *b)
{
	b->system_reaper = sd_event_source_disable_unref(b->system_reaper);
	b->system = sd_bus_close_unref(b->system);
}

static int on_reap(_unused_ sd_event_source *s, void *userdata)
{
	bus_disconnect_system(userdata);
	return 0;
}

static int on_message(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	struct bus *b = userdata;

	if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Local", "Disconnected") > 0) {
		log_info("The system bus is gone");
		sd_event_source_set_enabled(b->system_reaper, SD_EVENT_ONESHOT);
	}
	return 0;
}

/* The connection is kept also without the name: trying again would not change the answer. */
static int on_name(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);
	uint32_t answer = 0;

	if (e)
		log_warning("No name " FSTUNED_BUS_NAME " on the system bus: %s", e->message);
	else if (sd_bus_message_read(m, "u", &answer) >= 0 && answer != 1)
		log_warning("The name " FSTUNED_BUS_NAME " on the system bus is taken");
	return 1;
}

static int connect_system(struct bus *b)
{
	int r;

	if ((r = sd_bus_open_system_with_description(&b->system, "fs-tuned")) < 0 ||
	    (r = sd_event_add_defer(b->event, &b->system_reaper, on_reap, b)) < 0 ||
	    (r = sd_event_source_set_enabled(b->system_reaper, SD_EVENT_OFF)) < 0 ||
	    (r = sd_bus_add_filter(b->system, NULL, on_message, b)) < 0 ||
	    (r = sd_bus_add_object_vtable(b->system, NULL, FSTUNED_BUS_PATH,
					  FSTUNED_BUS_INTERFACE, bus_vtable, &b->system_peer)) <
		    0 ||
	    (r = sd_bus_request_name_async(b->system, NULL, FSTUNED_BUS_NAME, 0, on_name, b)) <
		    0)
		return r;
	return sd_bus_attach_event(b->system, b->event, SD_EVENT_PRIORITY_NORMAL);
}

int bus_connect_system(struct bus *b)
{
	int r;

	if (b->system)
		return 0;
	if (!getenv("DBUS_SYSTEM_BUS_ADDRESS") && access(SYSTEM_BUS_SOCKET, F_OK) < 0)
		return 0;

	b->system_peer = (struct peer){ .bus = b, .broker = true, .uid = (uid_t)-1 };
	r = connect_system(b);
	if (r >= 0)
		return 0;
	bus_disconnect_system(b);
	/* The file is there and the broker is not (yet). */
	if (r == -ECONNREFUSED || r == -ENOENT || r == -EAGAIN)
		return 0;
	return log_warning_errno(r, "Cannot connect to the system bus: %m");
}
