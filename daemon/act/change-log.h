/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One structured journal line per change, advice or notice: MESSAGE_ID= (message-id.h),
 * DEVICE=, KNOB=, FROM=, TO=, REASON=, WHY=, and ERRNO= where it failed. Never blocks.
 */
#ifndef FSTUNED_ACT_CHANGE_LOG_H
#define FSTUNED_ACT_CHANGE_LOG_H

#include "../decide/policy.h"

/* r: 0 done, else -errno. Failures are warnings, all else notices. */
void change_log(const char *device, const struct decision *d, int r);

/* The write has not returned for a time that no write takes. */
void change_log_stuck(const char *device, const struct decision *d, uint64_t us);

#endif
