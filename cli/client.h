/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the daemon. What goes wrong is said here, in one line on stderr: these return an exit
 * code of interface.h, 0 when all went well. Nothing takes longer than CLIENT_TIMEOUT_S.
 */
#ifndef FSTUNECTL_CLIENT_H
#define FSTUNECTL_CLIENT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>
#include "../daemon/base/cleanup.h"
#include "argv.h"
#include "term.h"

#define CLIENT_TIMEOUT_S 25

static inline void json_putp(struct json_object **o)
{
	json_object_put(*o);
}
#define _cleanup_json_ _cleanup_(json_putp)

/* "fstunectl: ..." on stderr. Returns `code`. */
int complain(int code, const char *format, ...) _printf_(2, 3);

/* Calls a method of interface.h and hands out the reply, which the caller unrefs. */
int client_call(const struct args *a, sd_bus_message **ret, const char *member,
		const char *types, ...);

/* The same for a method that returns a string, which the caller frees. */
int client_text(const struct args *a, char **ret, const char *member, const char *types, ...);

/* The same, taken apart; the caller puts it. The text too, unless `ret_text` is NULL. */
int client_json(const struct args *a, struct json_object **ret, char **ret_text,
		const char *member, const char *types, ...);

/*
 * The same for a verb that shows what it is told: under --json that is done here, and under
 * --quiet there is nothing to do; *ret is NULL then. Else a pager is open, if one is wanted.
 */
int client_show(const struct args *a, const struct term *t, struct json_object **ret,
		const char *member, const char *types, ...);

/* operand[0] as the daemon takes it, "" if there is none. */
int client_device(const struct args *a, char *ret);

#endif
