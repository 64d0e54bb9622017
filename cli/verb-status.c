// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "../daemon/base/units.h"
#include "../daemon/publish/interface.h"
#include "answer.h"
#include "client.h"
#include "column.h"
#include "device-name.h"
#include "table.h"
#include "verbs.h"

#define MANY_DEVICES 20 /* beyond: only those tuned or in trouble */
#define UNAVAILABLE_NAMED 3
#define DEFAULT_COLUMNS "DEVICE,MOUNTPOINT,FSTYPE,COMMIT,FSYNC,SHADOW,FORCE-COPY"
#define MOUNTPOINT_COLUMN 1
#define MOUNTPOINT_WIDTH 8 /* with less than this the figures give way */

/* --- the line about the daemon --- */

static void print_unavailable(struct json_object *status)
{
	size_t n = 0, all = 0;
	char names[256] = "";

	for (size_t i = 0; i < answer_length(status, "measures"); i++) {
		struct json_object *m = answer_element(status, "measures", i);

		if (!answer_bool(m, "needed"))
			continue;
		all++;
		if (!answer_is_str(m, "way", "none"))
			continue;
		if (n < UNAVAILABLE_NAMED)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 n ? ", " : "", answer_str(m, "measure"));
		n++;
	}
	if (n == 0)
		return;
	if (n <= UNAVAILABLE_NAMED)
		printf("; not measured: %s", names);
	else
		printf("; %zu of %zu measures unavailable", n, all);
}

void print_daemon(_unused_ const struct args *a, const struct term *t,
		  struct json_object *status)
{
	const char *state = answer_str(status, "state");
	bool automatic = strcmp(state, "auto") == 0;
	char buf[TIME_STR_MAX];

	printf("fs-tuned: %s%s%s", term_colour(t, automatic ? COLOUR_GOOD : COLOUR_WARN), state,
	       term_colour(t, COLOUR_NONE));
	if (strcmp(state, "paused") == 0) {
		if (answer_get(status, "paused_for_us"))
			printf(" for another %s", answer_time(status, "paused_for_us", buf));
		else
			printf(" until fstunectl resume");
	}
	printf(", kernel %s", answer_str(status, "kernel"));
	if (answer_length(status, "devices"))
		print_unavailable(status);
	putchar('\n');
}

/* --- which devices, in which order --- */

static bool is_tuned(struct json_object *k)
{
	return answer_bool(k, "ours") || answer_is_str(k, "mode", "manual") ||
	       (*answer_str(k, "value") &&
		!answer_is_str(k, "value", answer_str(k, "initial")));
}

static bool is_in_trouble(struct json_object *k)
{
	return answer_bool(k, "stuck") || answer_get(answer_get(k, "policy"), "frozen");
}

/* Tuned, or in trouble. */
static bool is_of_interest(struct json_object *device)
{
	for (size_t i = 0; i < answer_length(device, "knobs"); i++) {
		struct json_object *k = answer_element(device, "knobs", i);

		if (is_tuned(k) || is_in_trouble(k))
			return true;
	}
	return answer_get(device, "warning") || (!answer_is_str(device, "verdict", "idle") &&
						 !answer_is_str(device, "verdict", "good"));
}

static int compare(const void *a, const void *b, void *column)
{
	int r = column_compare(column, *(struct json_object *const *)a,
			       *(struct json_object *const *)b);

	/* Stable for equals: by name, as the daemon has it. */
	return r ? r
		 : strverscmp(answer_str(*(struct json_object *const *)a, "device"),
			      answer_str(*(struct json_object *const *)b, "device"));
}

/* Borrowed pointers into `status`; the caller frees the array. */
static struct json_object **choose(const struct args *a, struct json_object *status,
				   struct column *sort, size_t *ret_n)
{
	size_t all = answer_length(status, "devices"), n = 0;
	struct json_object **devices = calloc(all ? all : 1, sizeof(*devices));

	for (size_t i = 0; devices && i < all; i++) {
		struct json_object *d = answer_element(status, "devices", i);

		if (a->all || all <= MANY_DEVICES || is_of_interest(d))
			devices[n++] = d;
	}
	if (devices && sort)
		qsort_r(devices, n, sizeof(*devices), compare, sort);
	*ret_n = n;
	return devices;
}

/* --- the table --- */

enum colour verdict_colour(const char *verdict)
{
	if (strcmp(verdict, "idle") == 0)
		return COLOUR_DIM;
	if (strcmp(verdict, "good") == 0 || strcmp(verdict, "helped") == 0)
		return COLOUR_GOOD;
	return strcmp(verdict, "shadow") == 0 ? COLOUR_BAD : COLOUR_WARN;
}

struct grid {
	struct column *columns;
	size_t n_columns;
	char *(*cells)[COLUMNS_MAX]; /* per row */
	size_t n_rows;
};

static void grid_done(struct grid *g)
{
	for (size_t r = 0; g->cells && r < g->n_rows; r++)
		for (size_t c = 0; c < g->n_columns; c++)
			free(g->cells[r][c]);
	free(g->cells);
	g->cells = NULL;
	g->n_rows = 0;
}

static int grid_fill(struct grid *g, struct json_object *status, struct json_object **devices,
		     size_t n)
{
	g->cells = calloc(n ? n : 1, sizeof(*g->cells));
	if (!g->cells)
		return -ENOMEM;
	g->n_rows = n;
	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < g->n_columns; c++) {
			char cell[CELL_MAX];

			column_cell(&g->columns[c], status, devices[r], cell);
			g->cells[r][c] = strdup(cell);
			if (!g->cells[r][c])
				return -ENOMEM;
		}
	return 0;
}

/* What is left of the width for the mount points. */
static size_t grid_left(const struct grid *g, unsigned width)
{
	size_t others = 0;

	for (size_t c = 0; c < g->n_columns; c++) {
		size_t widest = strlen(column_heading(&g->columns[c]));

		if (c == MOUNTPOINT_COLUMN)
			continue;
		for (size_t r = 0; r < g->n_rows; r++) {
			size_t w = text_width(g->cells[r][c]);

			widest = w > widest ? w : widest;
		}
		others += widest + 1;
	}
	return width > others ? width - others : 0;
}

/* Makes it fit. The mount points are cut; if that is not enough, p50 is left out. */
static int grid_shorten(struct grid *g, struct json_object *status,
			struct json_object **devices, unsigned width)
{
	size_t left = grid_left(g, width);

	if (left < MOUNTPOINT_WIDTH) {
		size_t n = g->n_rows;

		for (size_t c = 0; c < g->n_columns; c++)
			g->columns[c].narrow = true;
		grid_done(g);
		if (grid_fill(g, status, devices, n) < 0)
			return -ENOMEM;
		left = grid_left(g, width);
	}
	left = left < MOUNTPOINT_WIDTH ? MOUNTPOINT_WIDTH : left;
	for (size_t r = 0; r < g->n_rows; r++) {
		char *shorter = text_shorten(g->cells[r][MOUNTPOINT_COLUMN], left);

		if (!shorter)
			return -ENOMEM;
		free(g->cells[r][MOUNTPOINT_COLUMN]);
		g->cells[r][MOUNTPOINT_COLUMN] = shorter;
	}
	return 0;
}

static void grid_table(const struct grid *g, struct table *t, struct json_object **devices)
{
	for (size_t c = 0; c < g->n_columns; c++)
		table_column(t, column_heading(&g->columns[c]), g->columns[c].number);
	for (size_t r = 0; r < g->n_rows; r++) {
		bool idle = answer_is_str(devices[r], "verdict", "idle");

		table_row(t);
		for (size_t c = 0; c < g->n_columns; c++)
			table_cell(t, g->cells[r][c],
				   idle     ? COLOUR_DIM
				   : c == 0 ? COLOUR_BOLD
					    : COLOUR_NONE);
	}
}

struct verdicts {
	const struct term *term;
	struct json_object **devices;
};

static void print_note(const struct term *t, enum colour c, const char *note)
{
	_cleanup_free_ char *text = text_printable(note);

	if (!text || !*text)
		return;
	printf("  %s", term_colour(t, c));
	text_wrapped(text, 2, t->width);
	puts(term_colour(t, COLOUR_NONE));
}

/* A knob without a column that is not as a mount makes it, or about to be otherwise. */
static void print_tuned(const struct verdicts *v, struct json_object *k)
{
	const char *by = answer_str(k, "pinned_by"),
		   *note = answer_str(answer_get(k, "policy"), "note");
	_cleanup_free_ char *line = NULL;

	if (answer_is_str(k, "knob", "force_copy") || !answer_bool(k, "supported") ||
	    (!is_tuned(k) && !answer_bool(k, "busy")))
		return;
	if (asprintf(&line, "%s is %s, %s%s%s%s%s%s", answer_str(k, "knob"),
		     answer_str(k, "value"), answer_str(k, "mode"), *by ? ", pinned by " : "",
		     by, answer_bool(k, "busy") ? "; a change is in progress" : "",
		     *note ? "; " : "", note) < 0)
		line = NULL;
	if (line)
		print_note(v->term, COLOUR_NONE, line);
}

/* Under each row: a warning; the verdict, unless nothing happened; what has no column. */
static void print_verdict(size_t row, void *userdata)
{
	const struct verdicts *v = userdata;
	struct json_object *d = v->devices[row];

	print_note(v->term, COLOUR_BAD, answer_str(d, "warning"));
	if (!answer_is_str(d, "verdict", "idle"))
		print_note(v->term, verdict_colour(answer_str(d, "verdict")),
			   answer_str(d, "verdict_text"));
	for (size_t i = 0; i < answer_length(d, "knobs"); i++)
		print_tuned(v, answer_element(d, "knobs", i));
}

static int print_overview(const struct args *a, const struct term *term, struct grid *g,
			  struct json_object *status, struct json_object **devices)
{
	_cleanup_(table_done) struct table t = { 0 };
	struct verdicts v = { term, devices };

	if (grid_shorten(g, status, devices, term->width) < 0)
		return complain(FSTUNED_EXIT_FAILED, "out of memory");
	table_init(&t, a, term);
	grid_table(g, &t, devices);
	return table_print_notes(&t, print_verdict, &v);
}

static void print_legend(const struct term *t, struct json_object **devices, size_t n,
			 size_t all, bool narrow)
{
	bool any_f2fs = false;

	for (size_t i = 0; i < n; i++)
		any_f2fs |= answer_is_str(devices[i], "fstype", "f2fs");
	fputs(term_colour(t, COLOUR_DIM), stdout);
	if (n)
		printf("COMMIT%s, FSYNC, SHADOW: %sp99/max of the last minute\n",
		       any_f2fs ? " (of f2fs: checkpoints)" : "", narrow ? "" : "p50/");
	if (n < all)
		printf("%zu more devices, neither tuned nor in trouble (-a shows them)\n",
		       all - n);
	if (all == 0)
		puts("no ext4 or f2fs is mounted");
	fputs(term_colour(t, COLOUR_NONE), stdout);
}

static int print_devices(const struct args *a, const struct term *term,
			 struct json_object *status, struct column *columns, size_t n_columns,
			 struct column *sort)
{
	_cleanup_free_ struct json_object **devices = NULL;
	_cleanup_(grid_done) struct grid g = { .columns = columns, .n_columns = n_columns };
	_cleanup_(table_done) struct table t = { 0 };
	size_t n;
	int r;

	devices = choose(a, status, sort, &n);
	if (!devices || grid_fill(&g, status, devices, n) < 0)
		return complain(FSTUNED_EXIT_FAILED, "out of memory");
	if (a->columns) {
		table_init(&t, a, term);
		grid_table(&g, &t, devices);
		return n ? table_print(&t) : 0;
	}
	if (!a->no_legend)
		print_daemon(a, term, status);
	r = n ? print_overview(a, term, &g, status, devices) : 0;
	if (r == 0 && !a->no_legend)
		print_legend(term, devices, n, answer_length(status, "devices"),
			     columns[0].narrow);
	return r;
}

int verb_status(const struct args *a, const struct term *t)
{
	struct column columns[COLUMNS_MAX], sort;
	_cleanup_json_ struct json_object *status = NULL;
	char device[DEVICE_NAME_SIZE], error[128];
	int n, r;

	if (a->columns && strcmp(a->columns, "help") == 0) {
		columns_help(stdout);
		return 0;
	}
	n = columns_parse(a->columns ?: DEFAULT_COLUMNS, columns, error, sizeof(error));
	if (n < 0)
		return complain(FSTUNED_EXIT_USAGE, "%s", error);
	if (a->sort && column_find(a->sort, &sort) < 0)
		return complain(FSTUNED_EXIT_USAGE, "no column \"%s\" (see -o help)", a->sort);

	r = client_device(a, device);
	if (r == 0)
		r = client_show(a, t, &status, "Describe", "s", device);
	if (r != 0 || !status)
		return r;
	if (a->operand[0] && !a->columns) {
		print_device(a, t, status);
		return 0;
	}
	return print_devices(a, t, status, columns, (size_t)n, a->sort ? &sort : NULL);
}
