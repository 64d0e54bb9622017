/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time is in microseconds unless a name says otherwise. */
#ifndef FSTUNED_BASE_TIME_H
#define FSTUNED_BASE_TIME_H

#include <stddef.h>
#include <stdint.h>

#define USEC_PER_SEC UINT64_C(1000000)
#define USEC_PER_MSEC UINT64_C(1000)
#define NSEC_PER_USEC UINT64_C(1000)
#define NSEC_PER_SEC UINT64_C(1000000000)
#define USEC_INFINITY UINT64_MAX

uint64_t now_monotonic_us(void);
uint64_t now_realtime_us(void);

/*
 * Parses "5", "5s", "250ms", "1min 30s", "2h", "1d", "infinity": a bare number is seconds,
 * fractions are allowed ("1.5s"). -EINVAL, -ERANGE.
 */
int parse_time_us(const char *s, uint64_t *ret);

/*
 * Writes a duration for people into buf: "0", "870us", "27ms", "1.3s", "4min", "2h": at
 * most three significant digits, at most 6 characters up to 99 days. Returns buf.
 */
#define TIME_STR_MAX 24
char *format_time_us(char *buf, size_t size, uint64_t us);

/* The same as a string that parse_time_us() reads back exactly ("1min 30s 5ms"). */
char *format_time_exact_us(char *buf, size_t size, uint64_t us);

#endif
