/* SPDX-License-Identifier: GPL-2.0-or-later */
/* force_copy's policy with a device, a knob and loads; time is simulated. */
#ifndef FSTUNED_TESTS_POLICY_SIM_H
#define FSTUNED_TESTS_POLICY_SIM_H

#include <string.h>
#include "samples.h"

/* One device with its policy and a knob that does what it is told. */
struct sim {
	struct policy_force_copy p;
	struct policy_config c;
	struct knob_view k;
	struct decision d; /* the last */
	uint64_t now;
	bool refuses; /* writes to the knob fail */
	unsigned writes, advices, notices;
};

/* What happens per second. */
struct load {
	unsigned waits;
	uint64_t wait_us;
	unsigned blocks;
	bool copy_known;
	unsigned avoided;
	double memory; /* 0: as if the kernel had none */
};

static _unused_ const struct load idle = { 0 };
static _unused_ const struct load calm = { .waits = 1, .wait_us = MS, .blocks = 300 };
static _unused_ const struct load stalling = { .waits = 75, .wait_us = 600, .blocks = 300 };
static _unused_ const struct load copying = { .blocks =
						      300 }; /* knob on, kernel tells nothing */
static _unused_ const struct load saving = { .blocks = 300, .copy_known = true, .avoided = 75 };
static _unused_ const struct load saved = { .copy_known = true };

static inline struct sim sim_new(void)
{
	return (struct sim){
		.c = policy_config_default,
		.k = { .supported = true, .mode = KNOB_AUTO, .value = "0" },
		.now = 1000 * SEC,
	};
}

static inline int feed(struct sim *s, const struct sample *sample)
{
	int r = policy_force_copy(&s->p, &s->c, sample, &s->k, &s->d);

	if (r == 0)
		return 0;
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

static inline struct sample sample_of(struct sim *s, const struct load *l, uint64_t us)
{
	double seconds = (double)us / (double)SEC;
	struct sample sample;

	s->now += us;
	sample = sample_at(s->now, us);
	sample_add(&sample, FST_SHADOW_WAIT, (unsigned)(l->waits * seconds + 0.5), l->wait_us);
	sample.blocks_logged = (uint64_t)(l->blocks * seconds);
	sample.active = sample.active || l->blocks > 0;
	sample.copy_known = l->copy_known && (l->blocks > 0 || l->avoided > 0);
	sample.avoided_waits = (uint64_t)(l->avoided * seconds);
	sample.memory_pressure = l->memory > 0 ? l->memory : -1;
	return sample;
}

static inline int tick(struct sim *s, const struct load *l, uint64_t us)
{
	struct sample sample = sample_of(s, l, us);

	return feed(s, &sample);
}

/* Ticks of a second until something is decided, or for `us`. Returns how long it took. */
static inline uint64_t run(struct sim *s, const struct load *l, uint64_t us)
{
	uint64_t begin = s->now;

	while (s->now - begin < us)
		if (tick(s, l, SEC))
			return s->now - begin;
	return us;
}

static inline void turn_on(struct sim *s)
{
	run(s, &stalling, 10 * SEC);
	assert_int_equal(s->p.state, FC_ON);
	assert_string_equal(s->k.value, "1");
}

#endif
