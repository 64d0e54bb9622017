/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fast_commit's policy with a simulated disk, a knob and loads. Noise comes from a seed, so
 * that a run can be repeated; time is simulated.
 */
#ifndef FSTUNED_TESTS_FAST_COMMIT_SIM_H
#define FSTUNED_TESTS_FAST_COMMIT_SIM_H

#include <math.h>
#include <string.h>
#include "samples.h"

struct disk_load {
	double fsync_us; /* time of an fsync with the knob off ... */
	double ratio;    /* ... and so many times as fast with it on */
	unsigned tasks;  /* closed loop; 0: open */
	double think_us; /* closed: between two fsyncs of a task */
	double per_s;    /* open: requests */
	double noise;    /* standard deviation of a second, relative */
	double stall;  /* with the knob on, each fifth second takes so many times as long; 0 */
	double wander; /* noise that lasts: what of a second's is left in the next */
};

struct fast_sim {
	struct policy_fast_commit p;
	struct policy_config c;
	struct knob_view k;
	struct decision d; /* the last */
	struct disk_load l;
	uint64_t now, others_us;
	uint64_t random;
	double lasting; /* noise of the second before */
	unsigned second;
	bool refuses; /* writes to the knob fail */
	unsigned writes, advices, notices;
	double done, done_off,
		done_on; /* fsyncs; and had the knob been off, or on, throughout */
};

static inline uint64_t sim_random(struct fast_sim *s)
{
	uint64_t z = (s->random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* In (0, 1). */
static inline double sim_uniform(struct fast_sim *s)
{
	return ((double)(sim_random(s) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double sim_normal(struct fast_sim *s)
{
	double u = sim_uniform(s), v = sim_uniform(s);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* `on`: the value it begins with. */
static inline struct fast_sim fast_sim_new(const struct disk_load *l, bool on, uint64_t seed)
{
	return (struct fast_sim){
		.c = policy_config_default,
		.k = { .supported = true, .mode = KNOB_AUTO, .value = { on ? '1' : '0' } },
		.l = *l,
		.now = 1000 * SEC,
		.random = seed * UINT64_C(1000003),
	};
}

static inline int fast_feed(struct fast_sim *s, const struct sample *sample)
{
	int r = policy_fast_commit(&s->p, &s->c, sample, &s->k, s->others_us, &s->d);

	if (r == 0)
		return 0;
	assert_int_equal(s->d.knob, KNOB_FAST_COMMIT);
	assert_string_equal(s->d.from, s->k.value);
	assert_true(*s->d.why);
	if (s->d.advice) {
		s->advices++;
	} else if (strcmp(s->d.from, s->d.to) == 0) {
		s->notices++;
	} else {
		s->writes++;
		if (!s->refuses) {
			memcpy(s->k.value, s->d.to, sizeof(s->k.value));
			s->k.ours = true;
		}
	}
	return r;
}

/* What a second of the load does with the knob so, `factor` being the second's noise. */
static inline void sim_second(const struct fast_sim *s, bool on, double factor,
			      double *ret_count, double *ret_mean_us)
{
	const struct disk_load *l = &s->l;
	double us = on ? l->fsync_us / l->ratio : l->fsync_us;

	us *= factor;
	if (on && l->stall > 0 && s->second % 5 == 0)
		us *= l->stall;
	*ret_mean_us = us;
	*ret_count = l->tasks ? l->tasks * (double)SEC / (l->think_us + us) : l->per_s;
}

/* One tick of about a second. */
static inline int fast_tick(struct fast_sim *s)
{
	uint64_t us = SEC + sim_random(s) % (40 * MS) - 20 * MS;
	double share = (double)us / (double)SEC, count, mean_us, off, on, unused;
	struct sample sample;
	double factor;

	s->lasting = s->l.wander * s->lasting +
		     sqrt(1 - s->l.wander * s->l.wander) * s->l.noise * sim_normal(s);
	factor = exp(s->lasting);
	sim_second(s, s->k.value[0] == '1', factor, &count, &mean_us);
	sim_second(s, false, factor, &off, &unused);
	sim_second(s, true, factor, &on, &unused);
	if (!s->l.tasks)
		count = fmax(0, count + sqrt(count) * sim_normal(s));
	s->done += count * share;
	s->done_off += off * share;
	s->done_on += on * share;
	s->now += us;
	s->second++;
	sample = sample_at(s->now, us);
	sample_add(&sample, FST_FSYNC, (unsigned)(count * share + 0.5), (uint64_t)mean_us);
	return fast_feed(s, &sample);
}

/* Until something is decided, or for so many ticks. Returns how many it took. */
static inline unsigned fast_run(struct fast_sim *s, unsigned ticks)
{
	for (unsigned i = 1; i <= ticks; i++)
		if (fast_tick(s))
			return i;
	return ticks;
}

/* So many ticks, whatever is decided. */
static inline void fast_go(struct fast_sim *s, unsigned ticks)
{
	for (unsigned i = 0; i < ticks; i++)
		fast_tick(s);
}

#endif
