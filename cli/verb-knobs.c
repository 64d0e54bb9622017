// SPDX-License-Identifier: GPL-2.0-or-later
/* get, and the verbs that change something. */
#include <string.h>
#include "../daemon/base/units.h"
#include "../daemon/publish/interface.h"
#include "answer.h"
#include "client.h"
#include "device-name.h"
#include "persist.h"
#include "table.h"
#include "verbs.h"

static int print_knobs(const struct args *a, const struct term *term, struct json_object *o)
{
	_cleanup_(table_done) struct table t;

	table_init(&t, a, term);
	table_column(&t, "KNOB", false);
	table_column(&t, "VALUE", false);
	table_column(&t, "MODE", false);
	table_column(&t, "NOTE", false);
	for (size_t i = 0; i < answer_length(o, "knobs"); i++) {
		struct json_object *k = answer_element(o, "knobs", i);
		bool supported = answer_bool(k, "supported");

		table_row(&t);
		table_cell(&t, answer_str(k, "knob"), COLOUR_NONE);
		table_cell(&t, supported ? answer_str(k, "value") : "-", COLOUR_NONE);
		table_cell(&t, supported ? answer_str(k, "mode") : "-", COLOUR_NONE);
		table_cell(&t, answer_str(k, supported ? "pinned_by" : "why"), COLOUR_DIM);
	}
	return table_print(&t);
}

int verb_get(const struct args *a, const struct term *t)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ struct json_object *o = NULL;
	char device[DEVICE_NAME_SIZE];
	struct json_object *k;
	int r;

	r = client_device(a, device);
	if (r == 0)
		r = client_json(a, &o, &text, "Get", "ss", device, a->operand[1] ?: "");
	if (r != 0)
		return r;
	k = answer_element(o, "knobs", 0);
	if (a->operand[1] && !answer_bool(k, "supported"))
		r = complain(FSTUNED_EXIT_FAILED, "%s has no %s: %s", answer_str(o, "device"),
			     a->operand[1], answer_str(k, "why"));
	if (a->quiet)
		return r;
	if (!a->json && !a->operand[1])
		return print_knobs(a, t, o);
	if (a->json || r == 0) {
		text_show(t, a->json ? text : answer_str(k, "value"));
		putchar('\n');
	}
	return r;
}

/* UUID of a device, for a file that outlives its name; the caller frees. */
static int get_uuid(const struct args *a, const char *device, char **ret)
{
	_cleanup_json_ struct json_object *o = NULL;
	const char *uuid;
	int r;

	r = client_json(a, &o, NULL, "Describe", "s", device);
	if (r != 0)
		return r;
	uuid = answer_str(answer_element(o, "devices", 0), "uuid");
	if (!*uuid)
		return complain(FSTUNED_EXIT_FAILED,
				"the UUID of %s is not known: it cannot be persisted",
				a->operand[0]);
	*ret = strdup(uuid);
	return *ret ? 0 : complain(FSTUNED_EXIT_FAILED, "out of memory");
}

static int change(const struct args *a, const char *member, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	char device[DEVICE_NAME_SIZE];
	int r = client_device(a, device);

	if (r != 0)
		return r;
	if (strcmp(types, "s") == 0)
		return client_call(a, &reply, member, types, device);
	if (strcmp(types, "ss") == 0)
		return client_call(a, &reply, member, types, device, a->operand[1] ?: "");
	return client_call(a, &reply, member, "sss", device, a->operand[1], a->operand[2]);
}

/* Makes the configuration say the same. `value` NULL: say nothing any more. */
static int persist(const struct args *a, const char *value)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_free_ char *uuid = NULL;
	char device[DEVICE_NAME_SIZE], error[512];
	int r;

	r = client_device(a, device);
	if (r == 0)
		r = get_uuid(a, device, &uuid);
	if (r != 0)
		return r;
	r = value ? persist_write(PERSIST_DIR, uuid, a->operand[1], value, error, sizeof(error))
		  : persist_remove(PERSIST_DIR, uuid, error, sizeof(error));
	if (r < 0)
		return complain(r == -EACCES || r == -EPERM ? FSTUNED_EXIT_PERMISSION
							    : FSTUNED_EXIT_FAILED,
				"%s", error);
	return client_call(a, &reply, "Reload", NULL);
}

/* The value as it now is: "on" was taken, and reads back as "1". The caller frees. */
static int get_value(const struct args *a, char **ret)
{
	_cleanup_json_ struct json_object *o = NULL;
	char device[DEVICE_NAME_SIZE];
	int r;

	r = client_device(a, device);
	if (r == 0)
		r = client_json(a, &o, NULL, "Get", "ss", device, a->operand[1]);
	if (r != 0)
		return r;
	*ret = strdup(answer_str(answer_element(o, "knobs", 0), "value"));
	return *ret ? 0 : complain(FSTUNED_EXIT_FAILED, "out of memory");
}

int verb_set(const struct args *a, _unused_ const struct term *t)
{
	_cleanup_free_ char *value = NULL;
	int r = change(a, "Set", "sss");

	if (r != 0 || !a->persist)
		return r;
	r = get_value(a, &value);
	return r == 0 ? persist(a, value) : r;
}

int verb_auto(const struct args *a, _unused_ const struct term *t)
{
	/* The configuration first: what it pins, Auto would not free. */
	int r = a->persist ? persist(a, NULL) : 0;

	return r == 0 ? change(a, "Auto", "ss") : r;
}

int verb_revert(const struct args *a, _unused_ const struct term *t)
{
	return change(a, "Revert", "s");
}

int verb_pause(const struct args *a, _unused_ const struct term *t)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

	return client_call(a, &reply, "Pause", "t", a->pause_us);
}

int verb_resume(const struct args *a, _unused_ const struct term *t)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

	return client_call(a, &reply, "Resume", NULL);
}
