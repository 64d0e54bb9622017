/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time is in microseconds unless a name says otherwise. */
#ifndef FSTUNED_BASE_TIME_H
#define FSTUNED_BASE_TIME_H

#include "units.h"

uint64_t now_monotonic_us(void);
uint64_t now_realtime_us(void);

/*
 * Parses "5", "5s", "250ms", "1min 30s", "2h", "1d", "infinity": a bare number is seconds,
 * fractions are allowed ("1.5s"). -EINVAL, -ERANGE.
 */
int parse_time_us(const char *s, uint64_t *ret);

/* A duration as a string that parse_time_us() reads back exactly ("1min 30s 5ms"). */
char *format_time_exact_us(char *buf, size_t size, uint64_t us);

#endif
