// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include "json.h"
#include "../base/utf8.h"

void doc_done(struct doc *j)
{
	if (j->open[0])
		json_object_put(j->open[0]);
	*j = (struct doc){ 0 };
}

/* Hands `o` to the innermost object or array. A `null` is a NULL pointer to json-c. */
static void add(struct doc *j, const char *key, struct json_object *o, bool null)
{
	struct json_object *parent = j->depth ? j->open[j->depth - 1] : NULL;
	int r = -1;

	if (j->error || (!o && !null) || !parent)
		r = -1;
	else if (json_object_is_type(parent, json_type_array))
		r = json_object_array_add(parent, o);
	else
		r = json_object_object_add(parent, key, o);
	if (r == 0)
		return;
	if (o)
		json_object_put(o);
	if (!j->error)
		j->error = -ENOMEM;
}

static void push(struct doc *j, const char *key, struct json_object *o)
{
	if (j->depth == DOC_DEPTH_MAX && !j->error)
		j->error = -EOVERFLOW;
	if (j->error || !o) {
		if (o)
			json_object_put(o);
		if (!j->error)
			j->error = -ENOMEM;
		return;
	}
	if (j->depth)
		add(j, key, o, false);
	if (!j->error)
		j->open[j->depth++] = o;
}

void doc_open_object(struct doc *j, const char *key)
{
	push(j, key, json_object_new_object());
}

void doc_open_array(struct doc *j, const char *key)
{
	push(j, key, json_object_new_array());
}

void doc_close(struct doc *j)
{
	/* The root stays open: it is what doc_finish() prints. */
	if (!j->error && j->depth > 1)
		j->depth--;
}

void doc_str(struct doc *j, const char *key, const char *s)
{
	_cleanup_free_ char *clean = NULL;

	if (!s) {
		doc_null(j, key);
		return;
	}
	clean = utf8_clean(s);
	add(j, key, clean ? json_object_new_string(clean) : NULL, false);
}

void doc_strf(struct doc *j, const char *key, const char *format, ...)
{
	_cleanup_free_ char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&s, format, ap);
	va_end(ap);
	if (n < 0) {
		s = NULL;
		add(j, key, NULL, false);
		return;
	}
	doc_str(j, key, s);
}

void doc_u64(struct doc *j, const char *key, uint64_t v)
{
	add(j, key, json_object_new_uint64(v), false);
}

void doc_i64(struct doc *j, const char *key, int64_t v)
{
	add(j, key, json_object_new_int64(v), false);
}

void doc_bool(struct doc *j, const char *key, bool v)
{
	add(j, key, json_object_new_boolean(v), false);
}

void doc_null(struct doc *j, const char *key)
{
	add(j, key, NULL, true);
}

void doc_double(struct doc *j, const char *key, double v)
{
	char text[64];

	if (!isfinite(v)) {
		doc_null(j, key);
		return;
	}
	snprintf(text, sizeof(text), "%.3f", v);
	add(j, key, json_object_new_double_s(v, text), false);
}

int doc_finish(struct doc *j, char **ret)
{
	const char *text;
	char *copy;

	if (j->error)
		return j->error;
	text = json_object_to_json_string_ext(
		j->open[0], JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	copy = text ? strdup(text) : NULL;
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}
