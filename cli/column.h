/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of `status`. */
#ifndef FSTUNECTL_COLUMN_H
#define FSTUNECTL_COLUMN_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#define COLUMNS_MAX 32
#define CELL_MAX 512

struct column {
	char name[32];
	bool number; /* sorted by size, greatest first, and set to the right */
	const struct column_kind *kind;
	const char *measure; /* of a measure's columns; NULL: only an f2fs has it */
	const char *f2fs;    /* the measure of an f2fs in it; NULL: none */
	const char *figure;  /* "p99_us"; NULL: p50, p99 and max */
	bool narrow;         /* leave p50 out */
};

/* By name, upper or lower case. -ENOENT. */
int column_find(const char *name, struct column *ret);

/* "A,B,C". Returns how many, -ENOENT with the name in `error`. */
int columns_parse(const char *list, struct column *ret, char *error, size_t error_size);

void columns_help(FILE *f);

const char *column_heading(const struct column *c);

/* What stands in the cell. `status` is the whole document. */
void column_cell(const struct column *c, struct json_object *status, struct json_object *device,
		 char ret[static CELL_MAX]);

/* For qsort(): less than 0 if `a` comes before `b`. */
int column_compare(const struct column *c, struct json_object *a, struct json_object *b);

#endif
