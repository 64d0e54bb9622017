/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fast commits would act on, for all who speak of it. */
#ifndef FSTUNED_PUBLISH_EXPLAIN_H
#define FSTUNED_PUBLISH_EXPLAIN_H

#include "view.h"

/* The last minute of a device. */
struct explain_fast_commit {
	/* The kernel has the live switch, and with it the fix that keeps fast commits from
	 * losing files: no kernel as it comes has either. */
	bool has_switch;
	uint64_t fsyncs, commits; /* without those that fast commits served */
	double forced; /* commits that fsync asked for, about: those beyond the timer's */
	double fsync_us_per_s;
};

void explain_fast_commit(const struct view *v, const struct device_view *dv,
			 struct explain_fast_commit *ret);

/* Of all commits; 0 without. */
double explain_forced_share(const struct explain_fast_commit *f);

#endif
