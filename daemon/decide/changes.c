// SPDX-License-Identifier: GPL-2.0-or-later
#include "changes.h"
#include "policy.h"

void changes_note(struct changes *h, uint64_t now_us)
{
	h->at_us[h->n++ % CHANGES_KEPT] = now_us;
	h->last_us = now_us;
}

bool changes_too_soon(const struct changes *h, const struct policy_config *c, uint64_t now_us)
{
	return h->last_us > 0 && now_us - h->last_us < c->change_interval_us;
}

static unsigned recent(const struct changes *h, const struct policy_config *c, uint64_t now_us)
{
	unsigned n = 0, kept = h->n < CHANGES_KEPT ? h->n : CHANGES_KEPT;

	for (unsigned i = 0; i < kept; i++)
		if (now_us - h->at_us[i] < c->changes_window_us)
			n++;
	return n;
}

bool changes_too_many(const struct changes *h, const struct policy_config *c, uint64_t now_us,
		      unsigned more)
{
	unsigned n = recent(h, c, now_us) + more;

	return n > c->changes_max || n > CHANGES_KEPT;
}

void changes_freeze(struct changes *h, const struct policy_config *c, uint64_t now_us,
		    struct decision *d)
{
	char window[TIME_STR_MAX], lasting[TIME_STR_MAX];

	h->frozen_until_us = now_us + c->freeze_us;
	d->reason = REASON_FROZEN;
	snprintf(d->why, sizeof(d->why), "%u changes in %s: stays %s for %s",
		 recent(h, c, now_us),
		 format_time_us(window, sizeof(window), c->changes_window_us), d->to,
		 format_time_us(lasting, sizeof(lasting), c->freeze_us));
}

void changes_thaw(struct changes *h)
{
	h->n = 0;
}

uint64_t doubled_us(uint64_t us, unsigned times, uint64_t max)
{
	while (times-- > 0 && us < max)
		us = us > max / 2 ? max : us * 2;
	return us;
}
