// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include "cleanup.h"
#include "units.h"

char *format_time_us(char *buf, size_t size, uint64_t us)
{
	static const struct {
		uint64_t limit; /* below this, in this unit */
		double scale;
		const char *name;
	} steps[] = {
		{ USEC_PER_MSEC, 1, "us" },
		{ USEC_PER_SEC - 500, 1e3, "ms" }, /* 999.5 would be written as 1000 */
		{ 60 * USEC_PER_SEC, 1e6, "s" },
		{ 3600 * USEC_PER_SEC, 60e6, "min" },
		{ 86400 * USEC_PER_SEC, 3600e6, "h" },
		{ USEC_INFINITY, 86400e6, "d" },
	};

	if (us == 0 || us == USEC_INFINITY) {
		snprintf(buf, size, us ? "inf" : "0");
		return buf;
	}
	for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
		double v = (double)us / steps[i].scale;

		if (us >= steps[i].limit)
			continue;
		if (v < 9.95 && i > 0)
			snprintf(buf, size, "%.1f%s", v, steps[i].name);
		else
			snprintf(buf, size, "%.0f%s", v, steps[i].name);
		break;
	}
	return buf;
}

char *format_bytes(char *buf, size_t size, uint64_t bytes)
{
	static const char *const names[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	double v = (double)bytes;
	size_t i = 0;

	/* 999.5 would be written as 1000. */
	while (v >= 999.5 && i + 1 < ELEMENTSOF(names)) {
		v /= 1000;
		i++;
	}
	snprintf(buf, size, v < 9.95 && i > 0 ? "%.1f%s" : "%.0f%s", v, names[i]);
	return buf;
}
