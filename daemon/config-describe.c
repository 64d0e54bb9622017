// SPDX-License-Identifier: GPL-2.0-or-later
#include <json-c/json.h>
#include <string.h>
#include "config-internal.h"

static void json_putp(struct json_object **o)
{
	json_object_put(*o);
}
#define _cleanup_json_ _cleanup_(json_putp)

/* Takes `value` over, also when it fails; NULL as a value is an error here. */
static int add(struct json_object *o, const char *name, struct json_object *value)
{
	if (!value)
		return -ENOMEM;
	if (json_object_object_add(o, name, value) < 0) {
		json_object_put(value);
		return -ENOMEM;
	}
	return 0;
}

static int add_string(struct json_object *o, const char *name, const char *value)
{
	return add(o, name, json_object_new_string(value));
}

static int add_origin(struct json_object *o, const struct config_origin *origin)
{
	if (!origin->file)
		return json_object_object_add(o, "file", NULL) < 0 ||
				       json_object_object_add(o, "line", NULL) < 0
			       ? -ENOMEM
			       : 0;
	if (add_string(o, "file", origin->file) < 0)
		return -ENOMEM;
	return add(o, "line", json_object_new_int64(origin->line));
}

/* Where the value of an origin lies; NULL: an emptied key of a device. */
static const void *value_base(const struct config *c, const struct config_origin *o)
{
	const struct config_device *d;

	if (o->device < 0)
		return config_key_base(o->key, (struct config *)c);
	d = &c->devices[o->device];
	return d->set & UINT64_C(1) << (o->key - config_keys) ? &d->policy : NULL;
}

static int add_setting(struct json_object *settings, const struct config *c,
		       const struct config_origin *origin, struct config *defaults)
{
	_cleanup_json_ struct json_object *o = json_object_new_object();
	const struct config_key *k = origin->key;
	const void *base = value_base(c, origin);
	char value[CONFIG_VALUE_STR_MAX] = "", by_default[CONFIG_VALUE_STR_MAX];
	_cleanup_free_ char *section = NULL;

	if (!o)
		return -ENOMEM;
	if (asprintf(&section, "%s%s",
		     origin->device < 0 ? config_scope_to_string(k->scope) : "Device ",
		     origin->device < 0 ? "" : c->devices[origin->device].pattern) < 0)
		return -ENOMEM;
	if (base)
		config_key_format(k, base, value, sizeof(value));
	config_key_format(k, config_key_base(k, defaults), by_default, sizeof(by_default));
	if (add_string(o, "section", section) < 0 || add_string(o, "key", k->name) < 0 ||
	    add_string(o, "value", value) < 0 || add_string(o, "default", by_default) < 0 ||
	    add_origin(o, origin) < 0 || json_object_array_add(settings, o) < 0)
		return -ENOMEM;
	o = NULL; /* the array's */
	return 0;
}

int config_describe(const struct config *c, char **ret)
{
	_cleanup_json_ struct json_object *root = json_object_new_object();
	struct config defaults = { 0 };
	struct json_object *settings;
	const char *text;

	config_defaults(&defaults);
	if (!root || add(root, "settings", json_object_new_array()) < 0)
		return -ENOMEM;
	settings = json_object_object_get(root, "settings");
	for (size_t i = 0; i < c->n_origins; i++)
		if (add_setting(settings, c, &c->origins[i], &defaults) < 0)
			return -ENOMEM;
	if (add(root, "warnings", json_object_new_int64(c->warnings)) < 0)
		return -ENOMEM;
	text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN);
	*ret = text ? strdup(text) : NULL;
	return *ret ? 0 : -ENOMEM;
}
