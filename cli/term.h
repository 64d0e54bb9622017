/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where output goes: a terminal of some width, perhaps through a pager, or something else. */
#ifndef FSTUNECTL_TERM_H
#define FSTUNECTL_TERM_H

#include <stdbool.h>
#include <stddef.h>

struct term {
	bool tty;
	bool colour;
	unsigned width; /* columns; 80 where nobody says */
};

enum colour { COLOUR_NONE, COLOUR_DIM, COLOUR_BOLD, COLOUR_GOOD, COLOUR_WARN, COLOUR_BAD };

/* As stdout is now: call before pager_open(). */
void term_init(struct term *t);

/* Escape sequence, "" without colours. COLOUR_NONE ends a colour. */
const char *term_colour(const struct term *t, enum colour c);
/* For libsmartcols; NULL without colours. */
const char *term_cell_colour(const struct term *t, enum colour c);

/* What follows on stdout goes through a pager, if it is a terminal and one is to be had. */
void pager_open(const struct term *t, bool wanted);
/* Ends the output: waits for the pager. 0, or -errno if something could not be written. */
int pager_close(void);

/* Columns that a string takes. */
size_t text_width(const char *s);

/*
 * Copies with what would disturb a terminal as \xNN, and, if `width` is not 0, with the
 * beginning replaced by an ellipsis where it is wider. The caller frees; NULL: out of memory.
 */
char *text_printable(const char *s);
char *text_shorten(const char *s, size_t width);

/*
 * Prints lines as they are, but to a terminal as text_printable() has them. For what is meant
 * for other programs.
 */
void text_show(const struct term *t, const char *text);

/*
 * Prints with line breaks between words, at most to column `width`. The first line begins where
 * the cursor is, which is after `indent` columns; so do the others. The last line is left open.
 */
void text_wrapped(const char *s, size_t indent, size_t width);

#endif
