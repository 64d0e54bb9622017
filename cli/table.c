// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include "../daemon/publish/interface.h"
#include "client.h"
#include "table.h"

static void note(struct table *t, int r)
{
	if (r < 0 && t->error == 0)
		t->error = r;
}

void table_init(struct table *t, const struct args *a, const struct term *term)
{
	*t = (struct table){ .cols = scols_new_table(), .term = term };
	if (!t->cols) {
		t->error = -ENOMEM;
		return;
	}
	/* table_cell() has done it, and once is enough. */
	note(t, scols_table_enable_noencoding(t->cols, 1));
	note(t, scols_table_enable_noheadings(t->cols, a->no_legend));
	note(t, scols_table_enable_colors(t->cols, term->colour));
	/* Elsewhere than on a terminal lines are as long as they are. */
	if (!term->tty)
		return;
	note(t, scols_table_set_termwidth(t->cols, term->width));
	/* Through a pager it would not know that it is one. */
	note(t, scols_table_set_termforce(t->cols, SCOLS_TERMFORCE_ALWAYS));
}

void table_done(struct table *t)
{
	scols_unref_table(t->cols);
}

void table_column(struct table *t, const char *heading, bool right)
{
	int flags = right ? SCOLS_FL_RIGHT : 0;

	if (t->error == 0 && !scols_table_new_column(t->cols, heading, 0, flags))
		t->error = -ENOMEM;
}

void table_row(struct table *t)
{
	if (t->error)
		return;
	t->line = scols_table_new_line(t->cols, NULL);
	t->next = 0;
	if (!t->line)
		t->error = -ENOMEM;
}

void table_cell(struct table *t, const char *text, enum colour colour)
{
	const char *c = term_cell_colour(t->term, colour);
	char *clean;

	if (t->error)
		return;
	clean = text_printable(text);
	note(t, clean ? scols_line_refer_data(t->line, t->next, clean) : -ENOMEM);
	if (c && t->error == 0)
		note(t, scols_cell_set_color(scols_line_get_cell(t->line, t->next), c));
	t->next++;
}

static int explain(int r)
{
	return complain(FSTUNED_EXIT_FAILED, "cannot print a table: %s", strerror(-r));
}

int table_print(struct table *t)
{
	note(t, t->error ? 0 : scols_table_set_stream(t->cols, stdout));
	note(t, t->error ? 0 : scols_print_table(t->cols));
	return t->error ? explain(t->error) : 0;
}

int table_print_notes(struct table *t, table_note_fn print_note, void *userdata)
{
	_cleanup_free_ char *text = NULL;
	char *line, *rest;
	size_t row = 0;

	note(t, t->error ? 0 : scols_print_table_to_string(t->cols, &text));
	if (t->error)
		return explain(t->error);
	rest = text;
	if (rest && !scols_table_is_noheadings(t->cols) && (line = strsep(&rest, "\n")))
		puts(line);
	/* A row is a line: table_cell() lets no other newline in. */
	while (rest && (line = strsep(&rest, "\n")) && *line) {
		puts(line);
		print_note(row++, userdata);
	}
	return 0;
}
