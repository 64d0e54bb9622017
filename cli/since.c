// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../daemon/base/cleanup.h"
#include "../daemon/base/time-util.h"
#include "since.h"

static int from_local(struct tm *tm, uint64_t *ret)
{
	time_t t;

	tm->tm_isdst = -1;
	t = mktime(tm);
	if (t < 0)
		return -EINVAL;
	*ret = (uint64_t)t * USEC_PER_SEC;
	return 0;
}

/* Beginning of today, less some days. */
static struct tm midnight(uint64_t now_us, int days_ago)
{
	time_t now = (time_t)(now_us / USEC_PER_SEC);
	struct tm tm;

	localtime_r(&now, &tm);
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday -= days_ago;
	return tm;
}

static int from_absolute(const char *s, uint64_t now_us, uint64_t *ret)
{
	static const char *const formats[] = {
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M",
		"%Y-%m-%d",          "%H:%M:%S",          "%H:%M",
	};

	for (size_t i = 0; i < ELEMENTSOF(formats); i++) {
		struct tm tm = midnight(now_us, 0);
		const char *end = strptime(s, formats[i], &tm);

		if (end && !*end)
			return from_local(&tm, ret);
	}
	return -EINVAL;
}

static int from_relative(const char *s, uint64_t now_us, uint64_t *ret)
{
	_cleanup_free_ char *span = strdup(s + (*s == '-'));
	size_t len = span ? strlen(span) : 0;
	uint64_t us;

	if (!span)
		return -ENOMEM;
	if (len > 4 && strcmp(span + len - 4, " ago") == 0)
		span[len - 4] = '\0';
	if (parse_time_us(span, &us) < 0 || us > now_us)
		return -EINVAL;
	*ret = now_us - us;
	return 0;
}

int since_parse(const char *s, uint64_t now_us, uint64_t *ret)
{
	struct tm tm;

	if (*s == '@') {
		if (!isdigit((unsigned char)s[1]))
			return -EINVAL;
		return parse_time_us(s + 1, ret) < 0 ? -EINVAL : 0;
	}
	if (strcmp(s, "today") == 0 || strcmp(s, "yesterday") == 0) {
		tm = midnight(now_us, *s == 'y');
		return from_local(&tm, ret);
	}
	if (from_absolute(s, now_us, ret) == 0)
		return 0;
	return from_relative(s, now_us, ret);
}
