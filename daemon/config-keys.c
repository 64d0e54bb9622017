// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "base/log.h"
#include "base/time-util.h"
#include "config-internal.h"

#define MANAGER(name, type, field, min, max)                                        \
	{                                                                           \
		name, SCOPE_MANAGER, type, offsetof(struct config, field), min, max \
	}
#define POLICY(name, type, field, min, max)                                               \
	{                                                                                 \
		name, SCOPE_POLICY, type, offsetof(struct policy_config, field), min, max \
	}

#define MSEC USEC_PER_MSEC
#define SEC USEC_PER_SEC
#define MINUTE (60 * SEC)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* In the order in which they are documented. The bounds only keep out what cannot be meant. */
const struct config_key config_keys[] = {
	MANAGER("Mode", CONFIG_MODE, observe_only, 0, 0),
	MANAGER("Interval", CONFIG_TIME, interval_us, 100 * MSEC, MINUTE),
	MANAGER("IdleInterval", CONFIG_TIME, idle_interval_us, SEC, HOUR),
	MANAGER("LogLevel", CONFIG_LOG_LEVEL, log_level, 0, 0),
	MANAGER("HistorySize", CONFIG_UNSIGNED, history_size, 1, 10000),

	POLICY("ForceCopy", CONFIG_SWITCH, knob[KNOB_FORCE_COPY], 0, 0),
	POLICY("ForceCopyStall", CONFIG_TIME, stall_us_per_s, 1, HOUR),
	POLICY("ForceCopyWindow", CONFIG_TIME, stall_window_us, SEC, HOUR),
	POLICY("ForceCopyLongWait", CONFIG_TIME, long_wait_us, MSEC, DAY),
	POLICY("ForceCopyQuiet", CONFIG_TIME, quiet_us, SEC, 30 * DAY),
	POLICY("ForceCopyAvoided", CONFIG_RATE, avoided_per_s, 0, 1000000),
	POLICY("ForceCopyQuietRatio", CONFIG_SHARE, quiet_ratio, 0, 100),
	POLICY("ForceCopyTrial", CONFIG_TIME, trial_us, SEC, HOUR),
	POLICY("ForceCopyTrialInterval", CONFIG_TIME, trial_interval_us, SEC, 30 * DAY),
	POLICY("ForceCopyTrialIntervalMax", CONFIG_TIME, trial_interval_max_us, SEC, 365 * DAY),
	POLICY("FastCommit", CONFIG_SWITCH, knob[KNOB_FAST_COMMIT], 0, 0),
	POLICY("FastCommitFsyncs", CONFIG_RATE, fsyncs_per_s, 0, 1000000),
	POLICY("FastCommitLoad", CONFIG_TIME, fsync_us_per_s, 0, HOUR),
	POLICY("FastCommitBaseline", CONFIG_TIME, fast_baseline_us, SEC, HOUR),
	POLICY("FastCommitTrial", CONFIG_TIME, fast_trial_us, SEC, HOUR),
	POLICY("FastCommitTrialInterval", CONFIG_TIME, fast_interval_us, SEC, 30 * DAY),
	POLICY("FastCommitTrialIntervalMax", CONFIG_TIME, fast_interval_max_us, SEC, 365 * DAY),
	POLICY("FastCommitGain", CONFIG_SHARE, fast_gain, 0, 100),
	POLICY("CheckpointMerge", CONFIG_SWITCH, knob[KNOB_CHECKPOINT_MERGE], 0, 0),
	POLICY("CkptThreadIoprio", CONFIG_IOPRIO, knob[KNOB_CKPT_THREAD_IOPRIO], 0, 0),
	POLICY("RealTimeIoprio", CONFIG_BOOL, real_time_ioprio, 0, 0),
	POLICY("ChangeInterval", CONFIG_TIME, change_interval_us, 0, DAY),
	POLICY("ChangesMax", CONFIG_UNSIGNED, changes_max, 1, CHANGES_KEPT),
	POLICY("ChangesWindow", CONFIG_TIME, changes_window_us, SEC, 30 * DAY),
	POLICY("Freeze", CONFIG_TIME, freeze_us, SEC, 365 * DAY),
	POLICY("MemoryPressureMax", CONFIG_PERCENT, memory_pressure_max, 0, 100),
	POLICY("MemoryPressureTime", CONFIG_TIME, memory_time_us, SEC, DAY),
};
const size_t config_n_keys = ELEMENTSOF(config_keys);

_Static_assert(ELEMENTSOF(config_keys) <= CONFIG_KEYS_MAX, "one bit per key");

const char *config_scope_to_string(enum config_scope scope)
{
	return scope == SCOPE_MANAGER ? "Manager" : "Policy";
}

void *config_key_base(const struct config_key *k, struct config *c)
{
	return k->scope == SCOPE_MANAGER ? (void *)c : (void *)&c->policy;
}

static void *field(const struct config_key *k, void *base)
{
	return (char *)base + k->offset;
}

static const void *const_field(const struct config_key *k, const void *base)
{
	return (const char *)base + k->offset;
}

/* --- reading --- */

/* Digits and a point, nothing else: no sign, exponent, "nan" or hexadecimal. */
static bool parse_decimal(const char *s, size_t len, double *ret)
{
	char buf[32], *end;

	if (len == 0 || len >= sizeof(buf) || strspn(s, "0123456789.") < len)
		return false;
	memcpy(buf, s, len);
	buf[len] = '\0';
	*ret = strtod(buf, &end);
	return *end == '\0' && end != buf && strcmp(buf, ".") != 0;
}

static int parse_time(const struct config_key *k, uint64_t *to, const char *value, char *why,
		      size_t why_size)
{
	char min[64], max[64];
	uint64_t v;

	if (parse_time_us(value, &v) == 0 && v >= k->min && v <= k->max) {
		*to = v;
		return 0;
	}
	snprintf(why, why_size, "a time from %s to %s, such as 5ms, 10s or 1min 30s",
		 format_time_exact_us(min, sizeof(min), k->min),
		 format_time_exact_us(max, sizeof(max), k->max));
	return -EINVAL;
}

static int parse_unsigned(const struct config_key *k, unsigned *to, const char *value,
			  char *why, size_t why_size)
{
	size_t len = strlen(value);
	unsigned long v;

	if (len > 0 && len <= 10 && strspn(value, "0123456789") == len) {
		v = strtoul(value, NULL, 10);
		if (v >= k->min && v <= k->max) {
			*to = (unsigned)v;
			return 0;
		}
	}
	snprintf(why, why_size, "a whole number from %llu to %llu", (unsigned long long)k->min,
		 (unsigned long long)k->max);
	return -EINVAL;
}

/* `bare` is what 1 without a percent sign is worth in percent. */
static int parse_percent(const struct config_key *k, double *to, double bare, const char *value,
			 char *why, size_t why_size)
{
	size_t len = strlen(value);
	bool sign = len > 0 && value[len - 1] == '%';
	double v;

	if (sign)
		for (len--; len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t');)
			len--;
	if (parse_decimal(value, len, &v)) {
		v *= sign ? 1 : bare;
		if (v >= (double)k->min && v <= (double)k->max) {
			*to = v / bare;
			return 0;
		}
	}
	snprintf(why, why_size, "a percentage from %llu%% to %llu%%",
		 (unsigned long long)k->min, (unsigned long long)k->max);
	return -EINVAL;
}

static int parse_rate(const struct config_key *k, double *to, const char *value, char *why,
		      size_t why_size)
{
	double v;

	if (parse_decimal(value, strlen(value), &v) && v >= (double)k->min &&
	    v <= (double)k->max) {
		*to = v;
		return 0;
	}
	snprintf(why, why_size, "a number from %llu to %llu", (unsigned long long)k->min,
		 (unsigned long long)k->max);
	return -EINVAL;
}

static int parse_mode(bool *observe_only, const char *value, char *why, size_t why_size)
{
	bool observe = strcmp(value, "observe") == 0;

	if (!observe && strcmp(value, "auto") != 0) {
		snprintf(why, why_size, "auto or observe");
		return -EINVAL;
	}
	*observe_only = observe;
	return 0;
}

static int parse_log_level(int *to, const char *value, char *why, size_t why_size)
{
	int level = log_level_from_string(value);

	if (level < 0) {
		snprintf(why, why_size, "debug, info, notice, warning or err");
		return -EINVAL;
	}
	*to = level;
	return 0;
}

/* "auto", "observe", or else a value to be pinned, which is looked at if `valid`. */
static int parse_setting(struct knob_setting *to, const char *value, bool valid)
{
	if (strcmp(value, "auto") == 0 || strcmp(value, "observe") == 0) {
		*to = (struct knob_setting){ .mode = *value == 'a' ? KNOB_AUTO : KNOB_OBSERVE };
		return 0;
	}
	if (!valid)
		return -EINVAL;
	*to = (struct knob_setting){ .mode = KNOB_MANUAL };
	snprintf(to->value, sizeof(to->value), "%s", value);
	return 0;
}

static int parse_switch(struct knob_setting *to, const char *value, char *why, size_t why_size)
{
	bool valid = strcmp(value, "0") == 0 || strcmp(value, "1") == 0;

	snprintf(why, why_size, "auto, observe, 0 or 1");
	return parse_setting(to, value, valid);
}

static int parse_ioprio(struct knob_setting *to, const char *value, char *why, size_t why_size)
{
	bool valid = (strncmp(value, "be,", 3) == 0 || strncmp(value, "rt,", 3) == 0) &&
		     value[3] >= '0' && value[3] <= '7' && !value[4];

	snprintf(why, why_size, "auto, observe, be,0 to be,7 or rt,0 to rt,7");
	return parse_setting(to, value, valid);
}

static int parse_bool(bool *to, const char *value, char *why, size_t why_size)
{
	bool yes = strcmp(value, "yes") == 0;

	if (!yes && strcmp(value, "no") != 0) {
		snprintf(why, why_size, "yes or no");
		return -EINVAL;
	}
	*to = yes;
	return 0;
}

int config_key_parse(const struct config_key *k, void *base, const char *value, char *why,
		     size_t why_size)
{
	void *f = field(k, base);

	switch (k->type) {
	case CONFIG_TIME:
		return parse_time(k, f, value, why, why_size);
	case CONFIG_UNSIGNED:
		return parse_unsigned(k, f, value, why, why_size);
	case CONFIG_PERCENT:
		return parse_percent(k, f, 1, value, why, why_size);
	case CONFIG_SHARE:
		return parse_percent(k, f, 100, value, why, why_size);
	case CONFIG_RATE:
		return parse_rate(k, f, value, why, why_size);
	case CONFIG_MODE:
		return parse_mode(f, value, why, why_size);
	case CONFIG_LOG_LEVEL:
		return parse_log_level(f, value, why, why_size);
	case CONFIG_SWITCH:
		return parse_switch(f, value, why, why_size);
	case CONFIG_IOPRIO:
		return parse_ioprio(f, value, why, why_size);
	case CONFIG_BOOL:
		return parse_bool(f, value, why, why_size);
	}
	return -EINVAL;
}

/* --- writing --- */

char *config_key_format(const struct config_key *k, const void *base, char *buf, size_t size)
{
	const void *f = const_field(k, base);
	const struct knob_setting *knob = f;

	switch (k->type) {
	case CONFIG_TIME:
		return format_time_exact_us(buf, size, *(const uint64_t *)f);
	case CONFIG_UNSIGNED:
		snprintf(buf, size, "%u", *(const unsigned *)f);
		break;
	case CONFIG_PERCENT:
		snprintf(buf, size, "%.12g%%", *(const double *)f);
		break;
	case CONFIG_SHARE:
		snprintf(buf, size, "%.12g%%", *(const double *)f * 100);
		break;
	case CONFIG_RATE:
		snprintf(buf, size, "%.12g", *(const double *)f);
		break;
	case CONFIG_MODE:
		snprintf(buf, size, "%s", *(const bool *)f ? "observe" : "auto");
		break;
	case CONFIG_LOG_LEVEL:
		snprintf(buf, size, "%s", log_level_to_string(*(const int *)f));
		break;
	case CONFIG_BOOL:
		snprintf(buf, size, "%s", *(const bool *)f ? "yes" : "no");
		break;
	case CONFIG_SWITCH:
	case CONFIG_IOPRIO:
		snprintf(buf, size, "%s",
			 knob->mode == KNOB_MANUAL ? knob->value
						   : knob_mode_to_string(knob->mode));
		break;
	}
	return buf;
}

void config_key_copy(const struct config_key *k, void *to, const void *from)
{
	static const size_t sizes[] = {
		[CONFIG_TIME] = sizeof(uint64_t),
		[CONFIG_UNSIGNED] = sizeof(unsigned),
		[CONFIG_PERCENT] = sizeof(double),
		[CONFIG_SHARE] = sizeof(double),
		[CONFIG_RATE] = sizeof(double),
		[CONFIG_MODE] = sizeof(bool),
		[CONFIG_LOG_LEVEL] = sizeof(int),
		[CONFIG_SWITCH] = sizeof(struct knob_setting),
		[CONFIG_IOPRIO] = sizeof(struct knob_setting),
		[CONFIG_BOOL] = sizeof(bool),
	};

	memcpy(field(k, to), const_field(k, from), sizes[k->type]);
}
