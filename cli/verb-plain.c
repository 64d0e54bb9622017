// SPDX-License-Identifier: GPL-2.0-or-later
/* list, config, metrics: what needs no thought. */
#include <string.h>
#include "../daemon/publish/interface.h"
#include "answer.h"
#include "client.h"
#include "table.h"
#include "verbs.h"

int verb_list(const struct args *a, const struct term *t)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_json_ struct json_object *array = json_object_new_array();
	const char *name;
	int r;

	r = client_call(a, &reply, "ListDevices", NULL);
	if (r != 0 || a->quiet)
		return r;
	r = sd_bus_message_enter_container(reply, 'a', "s");
	while (r > 0 && (r = sd_bus_message_read(reply, "s", &name)) > 0)
		if (a->json) {
			json_object_array_add(array, json_object_new_string(name));
		} else {
			text_show(t, name);
			putchar('\n');
		}
	if (r < 0)
		return complain(FSTUNED_EXIT_FAILED, "cannot read the answer: %s",
				strerror(-r));
	if (a->json) {
		text_show(t, json_object_to_json_string_ext(
				     array,
				     JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
		putchar('\n');
	}
	return 0;
}

int verb_config(const struct args *a, const struct term *term)
{
	_cleanup_json_ struct json_object *o = NULL;
	_cleanup_(table_done) struct table t = { 0 };
	int r;

	r = client_show(a, term, &o, "Config", NULL);
	if (r != 0 || !o)
		return r;
	table_init(&t, a, term);
	table_column(&t, "SECTION", false);
	table_column(&t, "KEY", false);
	table_column(&t, "VALUE", false);
	table_column(&t, "FROM", false);
	for (size_t i = 0; i < answer_length(o, "settings"); i++) {
		struct json_object *s = answer_element(o, "settings", i);
		_cleanup_free_ char *from = NULL;
		int n;

		if (answer_get(s, "file"))
			n = asprintf(&from, "%s:%llu", answer_str(s, "file"),
				     (unsigned long long)answer_u64(s, "line"));
		else
			n = asprintf(&from, "default");
		table_row(&t);
		table_cell(&t, answer_str(s, "section"), COLOUR_NONE);
		table_cell(&t, answer_str(s, "key"), COLOUR_NONE);
		table_cell(&t, answer_str(s, "value"), COLOUR_NONE);
		table_cell(&t, n < 0 ? "?" : from, COLOUR_DIM);
	}
	r = table_print(&t);
	if (r == 0 && !a->no_legend && answer_u64(o, "warnings") > 0)
		printf("%llu lines of the configuration were ignored: see journalctl -u "
		       "fs-tuned\n",
		       (unsigned long long)answer_u64(o, "warnings"));
	return r;
}

int verb_metrics(const struct args *a, const struct term *t)
{
	_cleanup_free_ char *text = NULL;
	int r = client_text(a, &text, "Metrics", "b", (int)a->openmetrics);

	if (r == 0 && !a->quiet)
		text_show(t, text);
	return r;
}
