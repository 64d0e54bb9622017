// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>
#include <string.h>
#include "../base/units.h"
#include "model.h"

#define PART_US (MODEL_WINDOW_US / MODEL_PARTS)

/*
 * Ten seconds. A histogram is there only for what happened: a device waits for few things at a
 * time, and all histograms of all parts would be 54 KiB per device.
 */
struct part {
	uint64_t number;   /* time / PART_US */
	uint64_t begin_us; /* of the first sample in it, which may begin before the part does */
	bool used;
	bool active;
	bool copy_known;
	uint64_t copied_blocks, avoided_waits;
	struct service service, journal_service;
	struct hist *hist[FST_MEASURE_MAX]; /* NULL: nothing */
};

struct model {
	struct part part[MODEL_PARTS];
	uint64_t begin_us; /* when the first sample began */
	bool begun;
	double memory_pressure;
};

int model_new(struct model **ret)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->memory_pressure = -1;
	*ret = m;
	return 0;
}

static void part_clear(struct part *p)
{
	for (size_t i = 0; i < FST_MEASURE_MAX; i++)
		free(p->hist[i]);
	*p = (struct part){ 0 };
}

void model_free(struct model *m)
{
	for (size_t i = 0; i < MODEL_PARTS; i++)
		part_clear(&m->part[i]);
	free(m);
}

static uint64_t part_number(uint64_t now_us)
{
	return now_us / PART_US;
}

static bool part_in_window(const struct part *p, uint64_t now_us)
{
	uint64_t number = part_number(now_us);

	return p->used && p->number <= number && number - p->number < MODEL_PARTS;
}

static void service_add(struct service *a, const struct service *b)
{
	if (!b->known)
		return;
	a->known = true;
	a->flushes_known |= b->flushes_known;
	a->reads += b->reads;
	a->writes += b->writes;
	a->flushes += b->flushes;
	a->read_us += b->read_us;
	a->write_us += b->write_us;
	a->flush_us += b->flush_us;
	a->busy_us += b->busy_us;
	a->in_flight = b->in_flight;
}

/* Allocates what the sample needs before anything is added: all of it goes in or nothing. */
static int part_prepare(struct part *p, const struct sample *s)
{
	for (size_t i = 0; i < FST_MEASURE_MAX; i++) {
		if (s->hist[i].count == 0 || p->hist[i])
			continue;
		p->hist[i] = calloc(1, sizeof(struct hist));
		if (!p->hist[i])
			return -ENOMEM;
	}
	return 0;
}

static void part_add(struct part *p, const struct sample *s)
{
	for (size_t i = 0; i < FST_MEASURE_MAX; i++)
		if (s->hist[i].count > 0)
			hist_add(p->hist[i], &s->hist[i]);
	p->active = p->active || s->active;
	if (s->copy_known) {
		p->copy_known = true;
		p->copied_blocks += s->copied_blocks;
		p->avoided_waits += s->avoided_waits;
	}
	service_add(&p->service, &s->service);
	service_add(&p->journal_service, &s->journal_service);
}

int model_update(struct model *m, const struct sample *s)
{
	uint64_t number = part_number(s->now_us);
	uint64_t begin_us = s->now_us - (s->interval_us < s->now_us ? s->interval_us : 0);
	struct part *p = &m->part[number % MODEL_PARTS];
	int r;

	for (size_t i = 0; i < MODEL_PARTS; i++)
		if (!part_in_window(&m->part[i], s->now_us))
			part_clear(&m->part[i]);
	r = part_prepare(p, s);
	if (r < 0)
		return r;

	if (!p->used) {
		p->used = true;
		p->number = number;
		p->begin_us = begin_us;
	}
	if (!m->begun) {
		m->begun = true;
		m->begin_us = begin_us;
	}
	m->memory_pressure = s->memory_pressure;
	part_add(p, s);
	return 0;
}

/*
 * How much time the window covers: to the beginning of its oldest part, or further back where
 * one long sample lies in it, but not to before the first sample.
 */
static uint64_t window_span(const struct model *m, uint64_t now_us)
{
	uint64_t number = part_number(now_us);
	uint64_t begin_us = number >= MODEL_PARTS ? (number - MODEL_PARTS + 1) * PART_US : 0;

	if (!m->begun || m->begin_us >= now_us)
		return 0;
	if (begin_us < m->begin_us)
		begin_us = m->begin_us;
	for (size_t i = 0; i < MODEL_PARTS; i++)
		if (part_in_window(&m->part[i], now_us) && m->part[i].begin_us < begin_us)
			begin_us = m->part[i].begin_us;
	return now_us - begin_us;
}

void model_window(const struct model *m, enum fst_measure measure, uint64_t now_us,
		  struct hist *ret, uint64_t *ret_span_us)
{
	*ret = (struct hist){ 0 };
	for (size_t i = 0; i < MODEL_PARTS; i++)
		if (part_in_window(&m->part[i], now_us) && m->part[i].hist[measure])
			hist_add(ret, m->part[i].hist[measure]);
	if (ret_span_us)
		*ret_span_us = window_span(m, now_us);
}

/* From the oldest part on: what was in flight at the end is the newest's to say. */
static void window_service(const struct model *m, size_t offset, uint64_t now_us,
			   struct service *ret)
{
	uint64_t number = part_number(now_us);

	*ret = (struct service){ 0 };
	for (uint64_t i = 1; i <= MODEL_PARTS; i++) {
		const struct part *p = &m->part[(number + i) % MODEL_PARTS];

		if (part_in_window(p, now_us))
			service_add(ret, (const struct service *)((const char *)p + offset));
	}
}

void model_service(const struct model *m, uint64_t now_us, struct service *ret)
{
	window_service(m, offsetof(struct part, service), now_us, ret);
}

void model_journal_service(const struct model *m, uint64_t now_us, struct service *ret)
{
	window_service(m, offsetof(struct part, journal_service), now_us, ret);
}

bool model_copy(const struct model *m, uint64_t now_us, uint64_t *ret_copied_blocks,
		uint64_t *ret_avoided_waits)
{
	bool known = false;

	*ret_copied_blocks = 0;
	*ret_avoided_waits = 0;
	for (size_t i = 0; i < MODEL_PARTS; i++) {
		const struct part *p = &m->part[i];

		if (!part_in_window(p, now_us) || !p->copy_known)
			continue;
		known = true;
		*ret_copied_blocks += p->copied_blocks;
		*ret_avoided_waits += p->avoided_waits;
	}
	return known;
}

double model_memory_pressure(const struct model *m)
{
	return m->memory_pressure;
}

bool model_idle(const struct model *m, uint64_t now_us)
{
	for (size_t i = 0; i < MODEL_PARTS; i++)
		if (part_in_window(&m->part[i], now_us) && m->part[i].active)
			return false;
	return true;
}
