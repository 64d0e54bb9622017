// SPDX-License-Identifier: GPL-2.0-or-later
/* doctor and verify. */
#include <string.h>
#include "../daemon/publish/interface.h"
#include "answer.h"
#include "client.h"
#include "table.h"
#include "verbs.h"

static enum colour state_colour(const char *state)
{
	if (strcmp(state, "ok") == 0 || strcmp(state, "same") == 0)
		return COLOUR_GOOD;
	return strcmp(state, "problem") == 0 || strcmp(state, "differs") == 0 ? COLOUR_BAD
									      : COLOUR_WARN;
}

static void print_check(const struct term *t, struct json_object *c)
{
	_cleanup_free_ char *line = NULL, *clean = NULL, *hint = NULL;
	const char *state = answer_str(c, "state");

	if (asprintf(&line, "%s: %s", answer_str(c, "name"), answer_str(c, "text")) < 0)
		line = NULL;
	clean = line ? text_printable(line) : NULL;
	hint = text_printable(answer_str(c, "hint"));
	if (!clean || !hint)
		return;
	printf("%s%-7s%s  ", term_colour(t, state_colour(state)), state,
	       term_colour(t, COLOUR_NONE));
	text_wrapped(clean, 9, t->width);
	putchar('\n');
	if (*hint) {
		printf("%9s", "");
		fputs(term_colour(t, COLOUR_DIM), stdout);
		fputs("-> ", stdout);
		text_wrapped(hint, 12, t->width);
		puts(term_colour(t, COLOUR_NONE));
	}
}

int verb_doctor(const struct args *a, const struct term *t)
{
	_cleanup_json_ struct json_object *o = NULL;
	size_t problems = 0, n;
	int r;

	r = client_show(a, t, &o, "Doctor", NULL);
	if (r != 0 || !o)
		return r;
	n = answer_length(o, "checks");
	for (size_t i = 0; i < n; i++) {
		struct json_object *c = answer_element(o, "checks", i);

		print_check(t, c);
		problems += answer_is_str(c, "state", "problem");
	}
	if (!a->no_legend)
		printf("\n%zu checks, %zu problem%s\n", n, problems, problems == 1 ? "" : "s");
	return 0;
}

static int print_knobs(const struct args *a, const struct term *term, struct json_object *o)
{
	static const char *const keys[] = { "device", "knob", "believed", "actual" };
	_cleanup_(table_done) struct table t;

	table_init(&t, a, term);
	table_column(&t, "DEVICE", false);
	table_column(&t, "KNOB", false);
	table_column(&t, "BELIEVED", false);
	table_column(&t, "ACTUAL", false);
	table_column(&t, "STATE", false);
	table_column(&t, "ERROR", false);
	for (size_t i = 0; i < answer_length(o, "knobs"); i++) {
		struct json_object *k = answer_element(o, "knobs", i);

		table_row(&t);
		for (size_t c = 0; c < ELEMENTSOF(keys); c++)
			table_cell(&t, *answer_str(k, keys[c]) ? answer_str(k, keys[c]) : "-",
				   COLOUR_NONE);
		table_cell(&t, answer_str(k, "state"), state_colour(answer_str(k, "state")));
		table_cell(&t, answer_str(k, "error"), COLOUR_NONE);
	}
	return table_print(&t);
}

int verb_verify(const struct args *a, const struct term *t)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ struct json_object *o = NULL;
	size_t n, differ = 0, unknown = 0;
	int r;

	r = client_json(a, &o, &text, "Verify", NULL);
	if (r != 0)
		return r;
	n = answer_length(o, "knobs");
	for (size_t i = 0; i < n; i++) {
		struct json_object *k = answer_element(o, "knobs", i);

		differ += answer_is_str(k, "state", "differs");
		unknown += answer_is_str(k, "state", "unknown");
	}
	if (a->json && !a->quiet) {
		text_show(t, text);
		putchar('\n');
	} else if (!a->quiet && n)
		r = print_knobs(a, t, o);
	else if (!a->quiet && !a->no_legend)
		puts("no device has a knob to verify");
	if (r != 0)
		return r;
	if (differ)
		return complain(FSTUNED_EXIT_DIFFERS, "%zu of %zu knobs differ", differ, n);
	if (unknown)
		return complain(FSTUNED_EXIT_FAILED, "%zu of %zu knobs could not be checked",
				unknown, n);
	return 0;
}
