/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where in a log the power is cut, and what had been promised by then. */
#ifndef FSTUNED_CRASH_POINTS_H
#define FSTUNED_CRASH_POINTS_H

#include "mark.h"
#include "replay.h"

/* The marks of a log, each with the entry that it is. */
struct noted {
	size_t entry;
	struct mark mark;
};

struct marks {
	struct noted *marks;
	size_t n;
};

/* Reads the marks, which are behind the file system's `bytes`. */
int marks_read(struct marks **ret, const struct write_log *log, uint64_t bytes);
void marks_free(struct marks *m);
DEFINE_CLEANUP(struct marks *, marks_free)

/* What they say of a cut after n entries. */
void marks_progress(const struct marks *m, size_t n, struct progress progress[WORLD_WORKERS]);

/*
 * Chooses n points, in order; `random` decides. A third each: just after a flush; just after a
 * promise, with all lost that was not flushed, which is when most has been promised and least
 * is there; and anywhere, with any of it lost. There must be marks.
 */
void points_choose(const struct marks *m, const struct write_log *log, uint64_t random,
		   struct point *points, unsigned n);

/* Just after the last promise to an fsync. */
void points_last(const struct marks *m, struct point *point);

#endif
