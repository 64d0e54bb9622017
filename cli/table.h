/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables as lsblk prints them. */
#ifndef FSTUNECTL_TABLE_H
#define FSTUNECTL_TABLE_H

#include <libsmartcols.h>
#include "argv.h"
#include "term.h"

struct table {
	struct libscols_table *cols;
	struct libscols_line *line; /* the row being filled */
	size_t next;                /* its next cell */
	const struct term *term;
	int error;
};

/* Errors stick; table_print() tells. */
void table_init(struct table *t, const struct args *a, const struct term *term);
void table_done(struct table *t);

void table_column(struct table *t, const char *heading, bool right);
void table_row(struct table *t);
void table_cell(struct table *t, const char *text, enum colour colour); /* copies */

/* An exit code. */
int table_print(struct table *t);

/* The same, with something under each row that `note` prints. */
typedef void (*table_note_fn)(size_t row, void *userdata);
int table_print_notes(struct table *t, table_note_fn note, void *userdata);

#endif
