/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all policies keep of a knob's changes: not too soon, not too many, then hands off. */
#ifndef FSTUNED_DECIDE_CHANGES_H
#define FSTUNED_DECIDE_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#define CHANGES_KEPT 32 /* beyond, ChangesMax could not be counted */

struct policy_config;
struct decision;

/* Of one knob of one device; zero-initialise. */
struct changes {
	uint64_t last_us;             /* 0: none */
	uint64_t at_us[CHANGES_KEPT]; /* ring of the recent ones */
	unsigned n;
	uint64_t frozen_until_us;
};

void changes_note(struct changes *h, uint64_t now_us);

/* The last change is less than ChangeInterval ago. */
bool changes_too_soon(const struct changes *h, const struct policy_config *c, uint64_t now_us);

/* With `more` of them there would be over ChangesMax within ChangesWindow. */
bool changes_too_many(const struct changes *h, const struct policy_config *c, uint64_t now_us,
		      unsigned more);

/* Hands off for the time Freeze; *d, with knob, from and to filled, says so. */
void changes_freeze(struct changes *h, const struct policy_config *c, uint64_t now_us,
		    struct decision *d);

/* The freeze, if any, is over: what was before counts no more. */
void changes_thaw(struct changes *h);

/* `us` doubled `times` times, at most `max`, at least itself. */
uint64_t doubled_us(uint64_t us, unsigned times, uint64_t max);

#endif
