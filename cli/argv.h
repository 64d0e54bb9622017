/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line, taken apart. No side effects: nothing is read, printed or opened. */
#ifndef FSTUNECTL_ARGV_H
#define FSTUNECTL_ARGV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum verb {
	VERB_STATUS,
	VERB_LIST,
	VERB_GET,
	VERB_SET,
	VERB_AUTO,
	VERB_REVERT,
	VERB_EXPLAIN,
	VERB_PAUSE,
	VERB_RESUME,
	VERB_HISTORY,
	VERB_CONFIG,
	VERB_METRICS,
	VERB_DOCTOR,
	VERB_VERIFY,
	VERB_MAX,
};

#define OPERANDS_MAX 3

/* Strings are borrowed from argv. */
struct args {
	enum verb verb;
	const char *operand[OPERANDS_MAX]; /* NULL: not given */
	unsigned n_operands;
	const char *runtime_dir; /* NULL: not given */
	bool json, no_pager, no_legend, quiet;
	bool help, version; /* the verb is not looked at then */
	bool all;
	const char *sort;    /* column; NULL: by name */
	const char *columns; /* "A,B"; NULL: default */
	const char *since;   /* NULL: not given */
	uint64_t pause_us;   /* 0: until resume */
	bool persist;
	bool openmetrics;
};

/* 0, or -EINVAL with one line in `error` that says what is wrong. */
int args_parse(int argc, char *const *argv, struct args *ret, char *error, size_t error_size);

void args_help(FILE *f);

#endif
