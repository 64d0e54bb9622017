// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "suggest.h"

#define WORD_MAX 16 /* longer ones are nobody's slip */
#define SLIPS_MAX 2

static unsigned min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Characters inserted, left out, replaced, or two exchanged (Damerau). */
static unsigned distance(const char *a, const char *b)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1];
	size_t na = strlen(a), nb = strlen(b);

	if (na > WORD_MAX || nb > WORD_MAX)
		return SLIPS_MAX + 1;
	for (size_t i = 0; i <= na; i++)
		d[i][0] = (unsigned)i;
	for (size_t j = 0; j <= nb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++)
		for (size_t j = 1; j <= nb; j++) {
			d[i][j] = min(min(d[i - 1][j], d[i][j - 1]) + 1,
				      d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[na][nb];
}

const char *suggest(const char *what, const char *const *names, size_t n)
{
	unsigned best = SLIPS_MAX + 1;
	const char *name = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned d = distance(what, names[i]);

		/* A slip for every letter would make anything of a short word. */
		if (d < best && d < strlen(names[i]) - 1) {
			best = d;
			name = names[i];
		}
	}
	return name;
}
