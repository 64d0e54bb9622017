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

enum table_flags { TABLE_RIGHT = 1, TABLE_WRAP = 2 };
void table_column(struct table *t, const char *heading, int flags);
void table_row(struct table *t);
void table_cell(struct table *t, const char *text, enum colour colour); /* copies */

/* An exit code. */
int table_print(struct table *t);
/* Everything as text, the heading (if any) first, then a line for each row. The caller frees.
 */
int table_text(struct table *t, char **ret);

#endif
