/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FSTUNECTL_SINCE_H
#define FSTUNECTL_SINCE_H

#include <stdint.h>

/*
 * A point in time as people write it: "1h", "-1h" or "1h ago"; "@SECONDS"; "today",
 * "yesterday"; "2026-01-31 12:00:00", without seconds, without time; "12:00" of today. Local
 * time. CLOCK_REALTIME microseconds in *ret. -EINVAL.
 */
int since_parse(const char *s, uint64_t now_us, uint64_t *ret);

#endif
