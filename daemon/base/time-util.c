// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cleanup.h"
#include "time-util.h"

static uint64_t now_us(clockid_t clock)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / NSEC_PER_USEC;
}

uint64_t now_monotonic_us(void)
{
	return now_us(CLOCK_MONOTONIC);
}

uint64_t now_realtime_us(void)
{
	return now_us(CLOCK_REALTIME);
}

/* Largest first: format_time_exact_us() walks down. */
static const struct unit {
	const char *name;
	uint64_t us;
} units[] = {
	{ "d", 86400 * USEC_PER_SEC }, { "h", 3600 * USEC_PER_SEC },
	{ "min", 60 * USEC_PER_SEC },  { "s", USEC_PER_SEC },
	{ "ms", USEC_PER_MSEC },       { "us", 1 },
};

static const struct unit *unit_find(const char *name, size_t len)
{
	static const struct unit aliases[] = {
		{ "m", 60 * USEC_PER_SEC },
		{ "sec", USEC_PER_SEC },
		{ "hour", 3600 * USEC_PER_SEC },
		{ "day", 86400 * USEC_PER_SEC },
	};

	for (size_t i = 0; i < ELEMENTSOF(units); i++)
		if (strlen(units[i].name) == len && strncmp(units[i].name, name, len) == 0)
			return &units[i];
	for (size_t i = 0; i < ELEMENTSOF(aliases); i++)
		if (strlen(aliases[i].name) == len && strncmp(aliases[i].name, name, len) == 0)
			return &aliases[i];
	return NULL;
}

int parse_time_us(const char *s, uint64_t *ret)
{
	uint64_t sum = 0;
	bool any = false;

	while (isspace((unsigned char)*s))
		s++;
	if (strcmp(s, "infinity") == 0) {
		*ret = USEC_INFINITY;
		return 0;
	}

	while (*s) {
		uint64_t whole = 0, us = USEC_PER_SEC;
		double fraction = 0, scale = 1;
		size_t len = 0;

		if (!isdigit((unsigned char)*s))
			return -EINVAL;
		for (; isdigit((unsigned char)*s); s++)
			if (__builtin_mul_overflow(whole, 10, &whole) ||
			    __builtin_add_overflow(whole, (uint64_t)(*s - '0'), &whole))
				return -ERANGE;
		if (*s == '.')
			for (s++; isdigit((unsigned char)*s); s++)
				fraction += (*s - '0') * (scale /= 10);
		while (isspace((unsigned char)*s))
			s++;
		while (isalpha((unsigned char)s[len]))
			len++;
		if (len) {
			const struct unit *u = unit_find(s, len);

			if (!u)
				return -EINVAL;
			us = u->us;
		}
		if (__builtin_mul_overflow(whole, us, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(fraction * (double)us + 0.5),
					   &whole) ||
		    __builtin_add_overflow(sum, whole, &sum) || sum == USEC_INFINITY)
			return -ERANGE;
		any = true;
		s += len;
		while (isspace((unsigned char)*s))
			s++;
	}
	if (!any)
		return -EINVAL;
	*ret = sum;
	return 0;
}

char *format_time_exact_us(char *buf, size_t size, uint64_t us)
{
	size_t n = 0;

	if (us == 0 || us == USEC_INFINITY) {
		snprintf(buf, size, us ? "infinity" : "0");
		return buf;
	}
	for (size_t i = 0; i < ELEMENTSOF(units) && us && n < size; i++) {
		uint64_t v = us / units[i].us;

		if (!v)
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s%llu%s", n ? " " : "",
				      (unsigned long long)v, units[i].name);
		us %= units[i].us;
	}
	return buf;
}
