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

/* The text taken apart; the caller puts it. */
int client_parse(const char *text, struct json_object **ret);

/* operand[0] as the daemon takes it, "" if there is none. */
int client_device(const struct args *a, char *ret);

#endif
