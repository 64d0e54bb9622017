/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the daemon's documents. What is missing, null or of another type reads as empty. */
#ifndef FSTUNECTL_ANSWER_H
#define FSTUNECTL_ANSWER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

struct json_object *answer_get(struct json_object *o, const char *key); /* NULL: null */
const char *answer_str(struct json_object *o, const char *key);         /* "" */
bool answer_is_str(struct json_object *o, const char *key, const char *value);
uint64_t answer_u64(struct json_object *o, const char *key);
double answer_double(struct json_object *o, const char *key);
bool answer_bool(struct json_object *o, const char *key);

/* Elements of an array member, for loops. */
size_t answer_length(struct json_object *o, const char *key);
struct json_object *answer_element(struct json_object *o, const char *key, size_t i);

/* Of a device, by name; NULL if it has no such knob. */
struct json_object *answer_knob(struct json_object *device, const char *name);

/* A member in microseconds as people write it, "-" for null. `buf` is TIME_STR_MAX bytes. */
const char *answer_time(struct json_object *o, const char *key, char *buf);

#endif
