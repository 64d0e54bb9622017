/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function per verb. Each prints and returns an exit code of interface.h. */
#ifndef FSTUNECTL_VERBS_H
#define FSTUNECTL_VERBS_H

#include <json-c/json.h>
#include "argv.h"
#include "term.h"

typedef int (*verb_fn)(const struct args *a, const struct term *t);

int verb_status(const struct args *a, const struct term *t);
int verb_list(const struct args *a, const struct term *t);
int verb_get(const struct args *a, const struct term *t);
int verb_set(const struct args *a, const struct term *t);
int verb_auto(const struct args *a, const struct term *t);
int verb_revert(const struct args *a, const struct term *t);
int verb_explain(const struct args *a, const struct term *t);
int verb_pause(const struct args *a, const struct term *t);
int verb_resume(const struct args *a, const struct term *t);
int verb_history(const struct args *a, const struct term *t);
int verb_config(const struct args *a, const struct term *t);
int verb_metrics(const struct args *a, const struct term *t);
int verb_doctor(const struct args *a, const struct term *t);
int verb_verify(const struct args *a, const struct term *t);

/* Of status: one device in depth, and the line about the daemon that comes first. */
void print_device(const struct args *a, const struct term *t, struct json_object *status);
void print_daemon(const struct args *a, const struct term *t, struct json_object *status);

/* A decision's end in colour, shared by history and status. */
enum colour result_colour(const char *result);
/* CLOCK_REALTIME microseconds as local time; `buf` is at least 32 bytes. */
const char *local_time(uint64_t time_us, char *buf);
/* "policy", or "uid 0". */
const char *decided_by(struct json_object *decision, char *buf, size_t size);
enum colour verdict_colour(const char *verdict);

#endif
