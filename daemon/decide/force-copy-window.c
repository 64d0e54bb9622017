// SPDX-License-Identifier: GPL-2.0-or-later
/* The waits of the recent past, of which force_copy's policy decides. */
#include <string.h>
#include "force-copy.h"

/*
 * Takes the sample's waits in. Short samples are put together, so that the parts always reach
 * back over the whole window, however fast the ticks come.
 */
void fc_window_add(const struct fc_call *x)
{
	struct policy_force_copy *p = x->p;
	const struct hist *h = &x->s->hist[FST_SHADOW_WAIT];
	__typeof__(p->part[0]) *part = &p->part[p->head];

	if (x->s->interval_us == 0)
		return; /* no time, no rate */
	if (part->end_us == 0 ||
	    part->span_us >= x->c->stall_window_us / (FC_WINDOW_PARTS - 1)) {
		p->head = (p->head + 1) % FC_WINDOW_PARTS;
		part = &p->part[p->head];
		memset(part, 0, sizeof(*part));
	}
	part->end_us = x->now;
	part->span_us += x->s->interval_us;
	part->wait_us += h->sum_ns / NSEC_PER_USEC;
	part->count += h->count;
	part->blocks += x->s->blocks_logged;
	if (h->count > 0 && h->max_ns / NSEC_PER_USEC > part->max_us)
		part->max_us = h->max_ns / NSEC_PER_USEC;
}

/*
 * The last stall_window_us. Of a part that reaches out of it (a long tick, a suspended
 * machine) the share within counts: nobody knows when in it the waits were.
 */
static struct fc_window sum(const struct policy_force_copy *p, const struct policy_config *c,
			    uint64_t now)
{
	uint64_t length = c->stall_window_us;
	uint64_t begin = now > length ? now - length : 0;
	struct fc_window w = { 0 };

	for (unsigned i = 0; i < FC_WINDOW_PARTS; i++) {
		const __typeof__(p->part[0]) *part = &p->part[i];
		uint64_t part_begin = part->end_us - part->span_us;
		double share = 1;

		if (part->end_us == 0 || part->end_us <= begin || part->span_us == 0)
			continue;
		if (part->span_us > part->end_us || part_begin < begin)
			share = (double)(part->end_us - begin) / (double)part->span_us;
		w.wait_us += share * (double)part->wait_us;
		w.count += share * (double)part->count;
		w.blocks += share * (double)part->blocks;
		w.span_us += share * (double)part->span_us;
		if (part->max_us > w.max_us)
			w.max_us = part->max_us;
	}
	return w;
}

struct fc_window fc_window_sum(const struct fc_call *x)
{
	return sum(x->p, x->c, x->now);
}

double fc_per_second(double amount, double us)
{
	return us > 0 ? amount * (double)USEC_PER_SEC / us : 0;
}

uint64_t policy_force_copy_stall_us_per_s(const struct policy_force_copy *p,
					  const struct policy_config *c, uint64_t now_us)
{
	struct fc_window w = sum(p, c, now_us);

	return (uint64_t)fc_per_second(w.wait_us, w.span_us);
}
