// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include "../daemon/base/cleanup.h"
#include "../daemon/base/units.h"
#include "answer.h"
#include "column.h"
#include "term.h"

/* --- what a cell is made from --- */

static void copy(const char *s, char *ret)
{
	_cleanup_free_ char *clean = text_printable(*s ? s : "-");

	snprintf(ret, CELL_MAX, "%s", clean ? clean : "?");
}

struct column_kind {
	const char *name;
	const char *heading;
	const char *key;  /* a string of the device; NULL: `cell` */
	const char *knob; /* for `cell`: which one is meant */
	void (*cell)(struct json_object *device, struct json_object *knob, char *ret);
};

static void cell_knob(_unused_ struct json_object *device, struct json_object *k, char *ret)
{
	if (answer_bool(k, "supported"))
		snprintf(ret, CELL_MAX, "%s %s%s", answer_str(k, "value"),
			 answer_str(k, "mode"), answer_bool(k, "busy") ? "..." : "");
	else
		strcpy(ret, "-");
}

static void cell_value(_unused_ struct json_object *device, struct json_object *k, char *ret)
{
	copy(answer_str(k, "value"), ret);
}

static void cell_mode(_unused_ struct json_object *device, struct json_object *k, char *ret)
{
	copy(answer_str(k, "mode"), ret);
}

static void cell_policy(struct json_object *device, _unused_ struct json_object *k, char *ret)
{
	copy(answer_str(answer_get(device, "policy"), "state"), ret);
}

static const struct column_kind kinds[] = {
	{ "DEVICE", "DEVICE", "device", NULL, NULL },
	{ "MOUNTPOINT", "MOUNTED ON", "mountpoint", NULL, NULL },
	{ "FSTYPE", "FS", "fstype", NULL, NULL },
	{ "FORCE-COPY", "FORCE_COPY", NULL, "force_copy", cell_knob },
	{ "FAST-COMMIT", "FAST_COMMIT", NULL, "fast_commit", cell_knob },
	{ "VALUE", "VALUE", NULL, "force_copy", cell_value },
	{ "MODE", "MODE", NULL, "force_copy", cell_mode },
	{ "POLICY", "POLICY", NULL, "force_copy", cell_policy },
	{ "DEV", "DEV", "dev", NULL, NULL },
	{ "UUID", "UUID", "uuid", NULL, NULL },
	{ "LABEL", "LABEL", "label", NULL, NULL },
	{ "JOURNAL", "JOURNAL", "journal", NULL, NULL },
	{ "STATE", "STATE", "verdict", NULL, NULL },
	{ "VERDICT", "VERDICT", "verdict_text", NULL, NULL },
};

static const struct {
	const char *name;
	const char *measure; /* NULL: none but an f2fs has it */
	const char *f2fs;    /* what an f2fs has in its place; NULL: nothing */
} measures[] = {
	{ "COMMIT", "commit", "f2fs_checkpoint" },
	{ "FSYNC", "fsync", "f2fs_fsync" },
	{ "FSYNC-FAST", "fsync_fast", NULL },
	{ "FSYNC-FULL", "fsync_full", NULL },
	{ "FAST-COMMIT", "fast_commit_ok", NULL },
	{ "SHADOW", "shadow_wait", NULL },
	{ "CHECKPOINT", "checkpoint", "f2fs_checkpoint" },
	{ "LOG-SPACE", "log_space_wait", NULL },
	{ "TRANSACTION", "transaction_wait", NULL },
	{ "COMMIT-WAIT", "commit_wait", "f2fs_request" },
	{ "READER-WAIT", NULL, "f2fs_reader_wait" },
	{ "WRITER-WAIT", NULL, "f2fs_writer_readers" },
};

static const struct {
	const char *suffix;
	const char *figure;
} figures[] = {
	{ "", NULL },           { "-P50", "p50_us" }, { "-P99", "p99_us" },
	{ "-P999", "p999_us" }, { "-MAX", "max_us" }, { "-MEAN", "mean_us" },
	{ "-COUNT", "count" },  { "-RATE", "per_s" }, { "-LOAD", "time_us_per_s" },
};

/* --- finding them --- */

int column_find(const char *name, struct column *ret)
{
	*ret = (struct column){ 0 };
	for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
		if (strcasecmp(name, kinds[i].name) == 0) {
			ret->kind = &kinds[i];
			snprintf(ret->name, sizeof(ret->name), "%s", kinds[i].name);
			return 0;
		}
	for (size_t m = 0; m < ELEMENTSOF(measures); m++)
		for (size_t f = 0; f < ELEMENTSOF(figures); f++) {
			snprintf(ret->name, sizeof(ret->name), "%s%s", measures[m].name,
				 figures[f].suffix);
			if (strcasecmp(name, ret->name) != 0)
				continue;
			ret->measure = measures[m].measure;
			ret->f2fs = measures[m].f2fs;
			ret->figure = figures[f].figure;
			ret->number = true;
			return 0;
		}
	return -ENOENT;
}

int columns_parse(const char *list, struct column *ret, char *error, size_t error_size)
{
	int n = 0;

	for (;;) {
		size_t len = strcspn(list, ",");
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		if (n == COLUMNS_MAX) {
			snprintf(error, error_size, "more than %d columns", COLUMNS_MAX);
			return -E2BIG;
		}
		if (len >= sizeof(name) || column_find(name, &ret[n]) < 0) {
			snprintf(error, error_size, "no column \"%s\" (see -o help)", name);
			return -ENOENT;
		}
		n++;
		if (!list[len])
			return n;
		list += len + 1;
	}
}

void columns_help(FILE *f)
{
	for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
		fprintf(f, "%s\n", kinds[i].name);
	for (size_t m = 0; m < ELEMENTSOF(measures); m++)
		for (size_t i = 0; i < ELEMENTSOF(figures); i++)
			fprintf(f, "%s%s\n", measures[m].name, figures[i].suffix);
}

/* --- cells --- */

static bool is_measured(struct json_object *status, const char *measure)
{
	for (size_t i = 0; i < answer_length(status, "measures"); i++) {
		struct json_object *m = answer_element(status, "measures", i);

		if (answer_is_str(m, "measure", measure))
			return !answer_is_str(m, "way", "none");
	}
	return false;
}

/*
 * "29/31ms", "870us/1.3/2.0s": a unit stands behind the last of its numbers, for width's sake.
 */
static void join_times(struct json_object *m, const char *const *keys, size_t n, char *ret)
{
	char times[3][TIME_STR_MAX];
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		format_time_us(times[i], sizeof(times[i]), answer_u64(m, keys[i]));
	for (size_t i = 0; i < n; i++) {
		size_t digits = strspn(times[i], "0123456789.");
		bool same = i + 1 < n &&
			    strcmp(times[i] + digits,
				   times[i + 1] + strspn(times[i + 1], "0123456789.")) == 0;

		len += (size_t)snprintf(ret + len, CELL_MAX - len, "%s%.*s", i ? "/" : "",
					same ? (int)digits : TIME_STR_MAX, times[i]);
	}
}

/* The measure's name for this device; NULL if it can have none. */
static const char *measure_of(const struct column *c, struct json_object *device)
{
	return answer_is_str(device, "fstype", "f2fs") ? c->f2fs : c->measure;
}

static void cell_measure(const struct column *c, struct json_object *status,
			 struct json_object *device, char *ret)
{
	const char *name = measure_of(c, device);
	struct json_object *m = name ? answer_get(answer_get(device, "measures"), name) : NULL;
	static const char *const keys[] = { "p50_us", "p99_us", "max_us" };
	char buf[TIME_STR_MAX];

	if (!name)
		strcpy(ret, "-");
	else if (!m)
		strcpy(ret, answer_bool(device, "measured") && is_measured(status, name)
				    ? "-"
				    : "n/a");
	else if (!c->figure)
		join_times(m, keys + c->narrow, ELEMENTSOF(keys) - c->narrow, ret);
	else if (strcmp(c->figure, "count") == 0)
		snprintf(ret, CELL_MAX, "%llu", (unsigned long long)answer_u64(m, "count"));
	else if (strcmp(c->figure, "per_s") == 0)
		snprintf(ret, CELL_MAX, "%.1f", answer_double(m, "per_s"));
	else
		snprintf(ret, CELL_MAX, "%s", answer_time(m, c->figure, buf));
}

const char *column_heading(const struct column *c)
{
	return c->kind ? c->kind->heading : c->name;
}

void column_cell(const struct column *c, struct json_object *status, struct json_object *device,
		 char ret[static CELL_MAX])
{
	if (!c->kind)
		cell_measure(c, status, device, ret);
	else if (c->kind->cell)
		c->kind->cell(device, answer_knob(device, c->kind->knob), ret);
	else
		copy(answer_str(device, c->kind->key), ret);
}

static double number_of(const struct column *c, struct json_object *device)
{
	const char *name = measure_of(c, device);
	struct json_object *m = name ? answer_get(answer_get(device, "measures"), name) : NULL;

	/* Devices without such events come last, also after those that waited 0 us. */
	return m ? answer_double(m, c->figure ? c->figure : "p99_us") : -1;
}

int column_compare(const struct column *c, struct json_object *a, struct json_object *b)
{
	char left[CELL_MAX], right[CELL_MAX];

	if (c->number) {
		double l = number_of(c, a), r = number_of(c, b);

		return l > r ? -1 : l < r;
	}
	column_cell(c, NULL, a, left);
	column_cell(c, NULL, b, right);
	return strverscmp(left, right);
}
