// SPDX-License-Identifier: GPL-2.0-or-later
/* Saying why, with the figures. */
#include "force-copy.h"

void fc_describe(const struct fc_call *x, const struct fc_window *w, const char *before)
{
	char rate[TIME_STR_MAX], length[TIME_STR_MAX], p99[TIME_STR_MAX], longest[TIME_STR_MAX];
	char price[BYTES_STR_MAX];
	double window_us = (double)x->c->stall_window_us;
	double blocks = fc_per_second(w->blocks, w->span_us);
	const struct hist *h = &x->s->hist[FST_SHADOW_WAIT];
	uint64_t p99_us = hist_quantile_ns(h, 0.99) / NSEC_PER_USEC;

	if (x->s->block_size > 0)
		format_bytes(price, sizeof(price),
			     (uint64_t)(blocks * (double)x->s->block_size));
	else
		snprintf(price, sizeof(price), "%.0f blocks", blocks);
	snprintf(x->ret->why, sizeof(x->ret->why),
		 "%sshadow waits %s/s over %s (p99 %s, longest %s, %.*f/s); copying costs %s/s",
		 before,
		 format_time_us(rate, sizeof(rate),
				(uint64_t)fc_per_second(w->wait_us, window_us)),
		 format_time_us(length, sizeof(length), x->c->stall_window_us),
		 format_time_us(p99, sizeof(p99), p99_us),
		 format_time_us(longest, sizeof(longest), w->max_us),
		 fc_per_second(w->count, window_us) < 10 ? 1 : 0,
		 fc_per_second(w->count, window_us), price);
}

void fc_describe_quiet(const struct fc_call *x, const struct fc_window *w)
{
	char quiet[TIME_STR_MAX];

	format_time_us(quiet, sizeof(quiet), x->now - x->p->quiet_since_us);
	if (x->p->copy_known)
		snprintf(x->ret->why, sizeof(x->ret->why),
			 "%llu waits avoided in %s: trying without",
			 (unsigned long long)x->p->quiet_avoided, quiet);
	else
		snprintf(x->ret->why, sizeof(x->ret->why),
			 "quiet for %s (%.0f blocks/s logged, %.0f when it was turned on): "
			 "trying without",
			 quiet, fc_per_second(w->blocks, w->span_us), x->p->load_blocks_per_s);
}

void fc_describe_judgement(const struct fc_call *x, double avoided_per_s)
{
	char lasting[TIME_STR_MAX];

	snprintf(x->ret->why, sizeof(x->ret->why),
		 "%.2f waits/s avoided over %s, what that saves is not known: trying without",
		 avoided_per_s,
		 format_time_us(lasting, sizeof(lasting), x->now - x->p->judged_us));
}

void fc_describe_interval(const struct fc_call *x, const struct fc_window *w)
{
	char on[TIME_STR_MAX], price[BYTES_STR_MAX];
	double blocks = fc_per_second(w->blocks, w->span_us);

	snprintf(x->ret->why, sizeof(x->ret->why),
		 "on for %s, what it saves is not known, copying costs %s/s: trying without",
		 format_time_us(on, sizeof(on), x->now - x->p->since_us),
		 format_bytes(price, sizeof(price),
			      (uint64_t)(blocks * (double)x->s->block_size)));
}

void fc_describe_memory(const struct fc_call *x)
{
	char lasting[TIME_STR_MAX];

	snprintf(x->ret->why, sizeof(x->ret->why),
		 "memory pressure %.0f %% for %s, at most %.0f %% allowed",
		 x->s->memory_pressure,
		 format_time_us(lasting, sizeof(lasting), x->now - x->p->pressed_us),
		 x->c->memory_pressure_max);
}
