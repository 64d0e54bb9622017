// SPDX-License-Identifier: GPL-2.0-or-later
#include "../base/units.h"
#include "compare.h"

/* Few points may lie close together by chance: so much scatter is taken for granted. */
#define SCATTER_MIN 0.05
/*
 * Rates (and numbers of tasks) that differ by less are the same; or by less than what chance
 * does to them but once in 400 times.
 */
#define SAME 0.1
#define SAME_ERRORS 3

bool side_add(struct side *s, const struct side_point *what, uint64_t point_us,
	      struct side_point *ret)
{
	s->part.span_us += what->span_us;
	s->part.count += what->count;
	s->part.time_us += what->time_us;
	if (s->part.span_us < point_us || s->part.span_us == 0)
		return false;
	s->point[s->head] = s->part;
	s->head = (s->head + 1) % SIDE_POINTS;
	if (s->n < SIDE_POINTS)
		s->n++;
	if (ret)
		*ret = s->part;
	s->part = (struct side_point){ 0 };
	return true;
}

/* The i-th of the whole points, in no order. */
static const struct side_point *point_at(const struct side *s, unsigned i)
{
	return &s->point[(s->head + SIDE_POINTS - 1 - i) % SIDE_POINTS];
}

struct side_point side_total(const struct side *s)
{
	struct side_point t = { 0 };

	for (unsigned i = 0; i < s->n; i++) {
		t.span_us += point_at(s, i)->span_us;
		t.count += point_at(s, i)->count;
		t.time_us += point_at(s, i)->time_us;
	}
	return t;
}

double point_rate(const struct side_point *p)
{
	return p->span_us ? (double)p->count * (double)USEC_PER_SEC / (double)p->span_us : 0;
}

double point_mean_us(const struct side_point *p)
{
	return p->count ? p->time_us / (double)p->count : 0;
}

/* How alike two points that follow each other may be taken to be, whatever they seem. */
#define ALIKE_MAX 0.8

/* Of the relative deviations of what `figure` says of each point. */
struct scatter {
	double squares;
	double products; /* of those that follow each other */
	unsigned n;
};

static struct scatter scatter_of(const struct side *s,
				 double (*figure)(const struct side_point *), double mean,
				 bool all)
{
	struct scatter sc = { 0 };
	double last = 0;

	for (unsigned i = 0; i < s->n; i++) {
		double deviation = figure(point_at(s, i)) / mean - 1;

		if (!all && point_at(s, i)->count == 0)
			continue;
		sc.squares += deviation * deviation;
		sc.products += deviation * last;
		last = deviation;
		sc.n++;
	}
	return sc;
}

static double between(double low, double v, double high)
{
	return v < low ? low : v > high ? high : v;
}

/*
 * Slow seconds come in a row (writeback, another load): then points say less than so many
 * independent ones would. Their variance grows by (1 + r) / (1 - r) where each is as the one
 * before to the degree r. -1: too few points.
 */
static double variance_of(struct scatter a, struct scatter b)
{
	double squares = a.squares + b.squares, products = a.products + b.products;
	double alike = squares > 0 ? between(0, products / squares, ALIKE_MAX) : 0, point;

	if (a.n < COMPARE_POINTS_MIN || b.n < COMPARE_POINTS_MIN)
		return -1;
	point = squares / (a.n + b.n - 2) * (1 + alike) / (1 - alike);
	if (point < SCATTER_MIN * SCATTER_MIN)
		point = SCATTER_MIN * SCATTER_MIN;
	return point * (1.0 / a.n + 1.0 / b.n);
}

/* By how much a figure of b is more than that of a. */
struct difference {
	double value, variance;
};

static double relative(double a, double b)
{
	return 2 * (b - a) / (a + b);
}

static struct difference difference_of(const struct side *a, const struct side *b,
				       double (*figure)(const struct side_point *), bool all)
{
	struct side_point ta = side_total(a), tb = side_total(b);
	double mean_a = figure(&ta), mean_b = figure(&tb);

	return (struct difference){
		.value = relative(mean_a, mean_b),
		.variance = variance_of(scatter_of(a, figure, mean_a, all),
					scatter_of(b, figure, mean_b, all)),
	};
}

/* More than nothing, and than chance would do. */
static bool is_more(double value, double variance)
{
	return value > SAME && value * value > SAME_ERRORS * SAME_ERRORS * variance;
}

static double tasks_of(const struct side *s)
{
	struct side_point t = side_total(s);

	return point_rate(&t) * point_mean_us(&t);
}

/* More often in it and more of them at once, or less often and fewer: not the same tasks. */
static bool is_other_load(const struct side *a, const struct side *b,
			  const struct difference *rate, const struct difference *time)
{
	double tasks = relative(tasks_of(a), tasks_of(b));

	return is_more(rate->value > 0 ? tasks : -tasks, rate->variance + time->variance);
}

bool comparison_is_sure(const struct comparison *c, double errors)
{
	return c->gain * c->gain > errors * errors * c->variance;
}

struct comparison compare_sides(const struct side *a, const struct side *b)
{
	struct comparison c = { 0 };
	struct difference rate, time;

	if (a->n < COMPARE_POINTS_MIN || b->n < COMPARE_POINTS_MIN ||
	    side_total(a).time_us <= 0)
		return c;
	/* Nothing ended at all: perhaps nothing was begun. */
	c.load_changed = side_total(b).time_us <= 0;
	c.enough = true;
	if (c.load_changed)
		return c;
	rate = difference_of(a, b, point_rate, true);
	time = difference_of(a, b, point_mean_us, false);
	c.enough = time.variance >= 0;
	if (is_more(rate.value, rate.variance) || is_more(-rate.value, rate.variance)) {
		c.load_changed = is_other_load(a, b, &rate, &time);
		c.gain = rate.value;
		c.variance = rate.variance;
	} else {
		c.gain = -time.value;
		c.variance = time.variance;
	}
	return c;
}
