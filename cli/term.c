// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <sys/ioctl.h>
#include "../daemon/base/cleanup.h"
#include "term.h"

#define DEFAULT_WIDTH 80
#define LEAST_WIDTH 40

static unsigned width_of_terminal(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize ws;
	unsigned width = 0;

	if (columns)
		width = (unsigned)atoi(columns);
	else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0)
		width = ws.ws_col;
	if (width == 0 || width > 10000)
		return DEFAULT_WIDTH;
	return width < LEAST_WIDTH ? LEAST_WIDTH : width;
}

void term_init(struct term *t)
{
	const char *name = getenv("TERM"), *no_color = getenv("NO_COLOR");

	t->tty = isatty(STDOUT_FILENO);
	t->colour = t->tty && !(no_color && *no_color) && !(name && strcmp(name, "dumb") == 0);
	t->width = width_of_terminal();
}

const char *term_colour(const struct term *t, enum colour c)
{
	static const char *const sequences[] = {
		[COLOUR_NONE] = "\033[0m",  [COLOUR_DIM] = "\033[2m",
		[COLOUR_BOLD] = "\033[1m",  [COLOUR_GOOD] = "\033[32m",
		[COLOUR_WARN] = "\033[33m", [COLOUR_BAD] = "\033[31m",
	};

	return t->colour ? sequences[c] : "";
}

const char *term_cell_colour(const struct term *t, enum colour c)
{
	return t->colour && c != COLOUR_NONE ? term_colour(t, c) : NULL;
}
