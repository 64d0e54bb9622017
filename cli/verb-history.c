// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <time.h>
#include "../daemon/base/time-util.h"
#include "../daemon/publish/interface.h"
#include "answer.h"
#include "client.h"
#include "device-name.h"
#include "since.h"
#include "table.h"
#include "verbs.h"

enum colour result_colour(const char *result)
{
	if (strcmp(result, "applied") == 0)
		return COLOUR_GOOD;
	return strcmp(result, "refused") == 0 ? COLOUR_BAD : COLOUR_WARN;
}

const char *local_time(uint64_t time_us, char *buf)
{
	time_t t = (time_t)(time_us / USEC_PER_SEC);
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(buf, 32, "%Y-%m-%d %H:%M:%S", &tm);
	return buf;
}

const char *decided_by(struct json_object *decision, char *buf, size_t size)
{
	if (!answer_get(decision, "uid"))
		return "policy";
	snprintf(buf, size, "uid %llu", (unsigned long long)answer_u64(decision, "uid"));
	return buf;
}

/* Why, after the error if there was one; the caller frees. */
static char *reason(struct json_object *e)
{
	const char *error = answer_str(e, "error");
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s%s%s", error, *error ? ": " : "", answer_str(e, "why")) < 0) {
		text = NULL;
		return NULL;
	}
	return text_printable(text);
}

static void history_row(struct table *t, struct json_object *e, bool with_reason)
{
	const char *result = answer_str(e, "result");
	_cleanup_free_ char *why = reason(e);
	char time[32], by[32], change[64];

	table_row(t);
	table_cell(t, local_time(answer_u64(e, "time_us"), time), COLOUR_NONE);
	table_cell(t, answer_str(e, "device"), COLOUR_BOLD);
	snprintf(change, sizeof(change), "%s %s->%s", answer_str(e, "knob"),
		 *answer_str(e, "from") ? answer_str(e, "from") : "?", answer_str(e, "to"));
	table_cell(t, change, COLOUR_NONE);
	table_cell(t, result, result_colour(result));
	table_cell(t, decided_by(e, by, sizeof(by)), COLOUR_NONE);
	if (with_reason)
		table_cell(t, why ?: "", COLOUR_NONE);
}

struct reasons {
	const struct term *term;
	struct json_object *history;
};

static void print_reason(size_t row, void *userdata)
{
	const struct reasons *r = userdata;
	_cleanup_free_ char *why = reason(answer_element(r->history, "history", row));

	if (!why || !*why)
		return;
	fputs("  ", stdout);
	text_wrapped(why, 2, r->term->width);
	putchar('\n');
}

/* One line each for scripts; for people the reasons have lines of their own. */
static int print_history(const struct args *a, const struct term *term, struct json_object *o)
{
	_cleanup_(table_done) struct table t = { 0 };
	struct reasons reasons = { term, o };
	size_t n = answer_length(o, "history");

	if (n == 0 && !a->no_legend)
		puts("no decisions");
	if (n == 0)
		return 0;
	table_init(&t, a, term);
	table_column(&t, "TIME", false);
	table_column(&t, "DEVICE", false);
	table_column(&t, "CHANGE", false);
	table_column(&t, "RESULT", false);
	table_column(&t, "BY", false);
	if (!term->tty)
		table_column(&t, "WHY", false);
	for (size_t i = 0; i < n; i++)
		history_row(&t, answer_element(o, "history", i), !term->tty);
	return term->tty ? table_print_notes(&t, print_reason, &reasons) : table_print(&t);
}

int verb_history(const struct args *a, const struct term *t)
{
	_cleanup_json_ struct json_object *o = NULL;
	char device[DEVICE_NAME_SIZE];
	uint64_t since = 0;
	int r;

	if (a->since && since_parse(a->since, now_realtime_us(), &since) < 0)
		return complain(FSTUNED_EXIT_USAGE,
				"--since=%s is no time, such as 1h, today or 2026-01-31 12:00",
				a->since);
	r = client_device(a, device);
	if (r == 0)
		r = client_show(a, t, &o, "History", "st", device, since);
	if (r != 0 || !o)
		return r;
	return print_history(a, t, o);
}
