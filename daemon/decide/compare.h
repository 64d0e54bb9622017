/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is one value of a knob better than another under the load that there is? Two sides, each some
 * points of the same operation (fsync): how many ended, and how long they took together.
 *
 * A closed loop (tasks that go on when their operation has ended) gets faster by a better
 * value: the rate is compared. An open loop (requests that come when they come) keeps its rate:
 * the time of an operation is compared. Which one it is shows in the figures. By Little's law
 * rate times mean time is how many tasks are in the operation: the same tasks cannot be more
 * often in it, and more of them at once, nor less often and fewer. Where they are, the load has
 * changed, and nothing is learned.
 *
 * Differences are taken relative to the mean of both sides, so that either way round they are
 * the same: 0.05 is about five percent, 1 three times as much. The variance of such a
 * difference is taken from how the points scatter, relative to their mean (where that is
 * larger, so is the scatter) and pooled over both sides (each alone has few). Means are
 * compared and not medians, since a side that stalls now and then has to pay for it.
 */
#ifndef FSTUNED_DECIDE_COMPARE_H
#define FSTUNED_DECIDE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#define SIDE_POINTS 20 /* kept, the newest */

struct side_point {
	uint64_t span_us;
	uint64_t count;
	double time_us; /* of all of them, summed */
};

/* Zero-initialise. */
struct side {
	struct side_point point[SIDE_POINTS]; /* ring */
	unsigned head, n;                     /* whole points: the newest is before head */
	struct side_point part;               /* the one that is being filled */
};

/*
 * Takes in what happened in span_us; what is shorter than point_us is put together. True if
 * that made a point whole: the newest, *ret, unless NULL.
 */
bool side_add(struct side *s, const struct side_point *what, uint64_t point_us,
	      struct side_point *ret);

/* All whole points together. */
struct side_point side_total(const struct side *s);

double point_rate(const struct side_point *p); /* per second; 0 in no time */
double point_mean_us(const struct side_point *p);

struct comparison {
	bool enough;       /* else nothing below is set */
	bool load_changed; /* else: */
	double gain;       /* by how much b is better than a; negative: worse */
	double variance;   /* of that, by chance */
};

/* The gain, or loss, is more than so many standard errors. */
bool comparison_is_sure(const struct comparison *c, double errors);

/* Of fewer nothing can be told of how they scatter. */
#define COMPARE_POINTS_MIN 2

struct comparison compare_sides(const struct side *a, const struct side *b);

#endif
