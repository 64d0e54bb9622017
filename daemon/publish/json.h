/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON document, built from the outside in. The first error sticks: everything after it
 * does nothing, and doc_finish() returns it, so that builders need not look.
 */
#ifndef FSTUNED_PUBLISH_JSON_H
#define FSTUNED_PUBLISH_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include "../base/cleanup.h"

#define DOC_DEPTH_MAX 8

/* Zero-initialise. Owned by the scope: _cleanup_(doc_done). */
struct doc {
	struct json_object *open[DOC_DEPTH_MAX]; /* from the root to the innermost */
	unsigned depth;
	int error;
};

void doc_done(struct doc *j);

/* `key` is for members of objects; NULL for elements of arrays and for the root. */
void doc_open_object(struct doc *j, const char *key);
void doc_open_array(struct doc *j, const char *key);
void doc_close(struct doc *j);

/* Takes any bytes: see utf8_clean(). NULL gives null. */
void doc_str(struct doc *j, const char *key, const char *s);
void doc_strf(struct doc *j, const char *key, const char *format, ...) _printf_(3, 4);
void doc_u64(struct doc *j, const char *key, uint64_t v);
void doc_i64(struct doc *j, const char *key, int64_t v);
void doc_bool(struct doc *j, const char *key, bool v);
void doc_null(struct doc *j, const char *key);

/* Three decimals; null unless finite. */
void doc_double(struct doc *j, const char *key, double v);

/* The root as one line; the caller frees. -ENOMEM, or the first error. */
int doc_finish(struct doc *j, char **ret);

#endif
