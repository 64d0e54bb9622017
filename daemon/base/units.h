/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units, and how quantities are written for people. Reads no clock: for every stage. */
#ifndef FSTUNED_BASE_UNITS_H
#define FSTUNED_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define USEC_PER_SEC UINT64_C(1000000)
#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_MINUTE (60 * USEC_PER_SEC)
#define USEC_PER_HOUR (60 * USEC_PER_MINUTE)
#define NSEC_PER_USEC UINT64_C(1000)
#define NSEC_PER_SEC UINT64_C(1000000000)
#define USEC_INFINITY UINT64_MAX

/*
 * Writes a duration for people into buf: "0", "870us", "27ms", "1.3s", "4min", "2h": at
 * most three significant digits, at most 6 characters up to 99 days. Returns buf.
 */
#define TIME_STR_MAX 24
char *format_time_us(char *buf, size_t size, uint64_t us);

/* Writes a number of bytes for people into buf: "0B", "870B", "1.2MB", "27GB". Returns buf. */
#define BYTES_STR_MAX 24
char *format_bytes(char *buf, size_t size, uint64_t bytes);

#endif
