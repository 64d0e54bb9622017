// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "../daemon/base/units.h"
#include "answer.h"

struct json_object *answer_get(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (!json_object_is_type(o, json_type_object))
		return NULL;
	json_object_object_get_ex(o, key, &v);
	return v;
}

const char *answer_str(struct json_object *o, const char *key)
{
	struct json_object *v = answer_get(o, key);

	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
}

bool answer_is_str(struct json_object *o, const char *key, const char *value)
{
	return strcmp(answer_str(o, key), value) == 0;
}

uint64_t answer_u64(struct json_object *o, const char *key)
{
	return json_object_get_uint64(answer_get(o, key));
}

double answer_double(struct json_object *o, const char *key)
{
	return json_object_get_double(answer_get(o, key));
}

bool answer_bool(struct json_object *o, const char *key)
{
	return json_object_get_boolean(answer_get(o, key));
}

size_t answer_length(struct json_object *o, const char *key)
{
	struct json_object *v = answer_get(o, key);

	return json_object_is_type(v, json_type_array) ? json_object_array_length(v) : 0;
}

struct json_object *answer_element(struct json_object *o, const char *key, size_t i)
{
	return json_object_array_get_idx(answer_get(o, key), i);
}

struct json_object *answer_knob(struct json_object *device, const char *name)
{
	for (size_t i = 0; i < answer_length(device, "knobs"); i++) {
		struct json_object *k = answer_element(device, "knobs", i);

		if (answer_is_str(k, "knob", name))
			return k;
	}
	return NULL;
}

const char *answer_time(struct json_object *o, const char *key, char *buf)
{
	if (!answer_get(o, key))
		return "-";
	return format_time_us(buf, TIME_STR_MAX, answer_u64(o, key));
}
