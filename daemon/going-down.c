// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include "base/cleanup.h"
#include "base/log.h"
#include "base/units.h"
#include "going-down.h"

/* It is PID 1, and busy while it shuts down; but our own unit has only 30 s to stop. */
#define ANSWER_US (3 * USEC_PER_SEC)

static int ask(char **ret)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_address(bus, "unix:path=/run/systemd/private");
	if (r >= 0)
		r = sd_bus_set_method_call_timeout(bus, ANSWER_US);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r < 0)
		return r;
	return sd_bus_get_property_string(
		bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
		"org.freedesktop.systemd1.Manager", "SystemState", NULL, ret);
}

bool system_is_going_down(void)
{
	_cleanup_free_ char *state = NULL;
	int r;

	if (sd_booted() <= 0)
		return false;
	r = ask(&state);
	if (r < 0) {
		log_debug_errno(r, "systemd does not say whether it is stopping: %m");
		return true;
	}
	return strcmp(state, "stopping") == 0;
}
