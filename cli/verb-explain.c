// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "../daemon/base/units.h"
#include "answer.h"
#include "client.h"
#include "device-name.h"
#include "table.h"
#include "verbs.h"

static void part_row(struct table *t, struct json_object *p)
{
	static const char *const times[] = { "mean_us", "p99_us", "max_us" };
	const char *of = answer_str(p, "part_of");
	char buf[TIME_STR_MAX], name[64];

	snprintf(name, sizeof(name), "%s%s", *of ? "  " : "", answer_str(p, "measure"));
	table_row(t);
	table_cell(t, name, COLOUR_NONE);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)answer_u64(p, "count"));
	table_cell(t, buf, COLOUR_NONE);
	for (size_t i = 0; i < ELEMENTSOF(times); i++)
		table_cell(t, answer_time(p, times[i], buf), COLOUR_NONE);
	snprintf(buf, sizeof(buf), "%.0f%%", answer_double(p, "share_percent"));
	table_cell(t, *of && answer_get(p, "share_percent") ? buf : "", COLOUR_NONE);
}

static int print_parts(const struct args *a, const struct term *term, struct json_object *o)
{
	static const char *const right[] = { "COUNT", "MEAN", "P99", "MAX", "SHARE" };
	_cleanup_(table_done) struct table t;

	table_init(&t, a, term);
	table_column(&t, "LAST MINUTE", false);
	for (size_t i = 0; i < ELEMENTSOF(right); i++)
		table_column(&t, right[i], true);
	for (size_t i = 0; i < answer_length(o, "parts"); i++)
		part_row(&t, answer_element(o, "parts", i));
	return table_print(&t);
}

static void print_findings(const struct term *t, struct json_object *o)
{
	for (size_t i = 0; i < answer_length(o, "findings"); i++) {
		struct json_object *f = answer_element(o, "findings", i);
		_cleanup_free_ char *clean = text_printable(answer_str(f, "text"));

		if (!clean || !*clean)
			continue;
		fputs("- ", stdout);
		text_wrapped(clean, 2, t->width);
		putchar('\n');
	}
}

/* On a line of its own, never wrapped: to be copied. */
static void print_command(const struct term *t, struct json_object *o)
{
	const char *command = answer_str(answer_get(o, "fast_commit"), "command");
	_cleanup_free_ char *clean = text_printable(command);

	if (!clean || !*clean)
		return;
	printf("\nTo turn the feature on, while the file system is not mounted:\n    %s%s%s\n",
	       term_colour(t, COLOUR_BOLD), clean, term_colour(t, COLOUR_NONE));
}

int verb_explain(const struct args *a, const struct term *t)
{
	_cleanup_json_ struct json_object *o = NULL;
	char device[DEVICE_NAME_SIZE];
	int r;

	r = client_device(a, device);
	if (r == 0)
		r = client_show(a, t, &o, "Explain", "s", device);
	if (r != 0 || !o)
		return r;
	if (answer_length(o, "parts"))
		r = print_parts(a, t, o);
	if (r == 0 && answer_length(o, "parts"))
		putchar('\n');
	if (r == 0)
		print_findings(t, o);
	if (r == 0)
		print_command(t, o);
	return r;
}
