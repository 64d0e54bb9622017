/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that is shown, as borrowed pointers: the manager fills it, publish reads it and never
 * decides. Valid until the loop runs again.
 */
#ifndef FSTUNED_PUBLISH_VIEW_H
#define FSTUNED_PUBLISH_VIEW_H

#include "../act/actuator.h"

struct history_entry {
	uint64_t time_us; /* CLOCK_REALTIME */
	char device[DEVICE_NAME_MAX];
	struct decision decision;
	int result;  /* 0 applied, -errno refused or failed; advice has decision.advice */
	int64_t uid; /* who asked; -1: the policy */
};

/* A wait that was worth an event. */
struct outlier {
	uint64_t time_us; /* CLOCK_REALTIME */
	struct fst_event event;
};

struct device_view {
	const struct device *device;
	const struct model *model;
	const struct policy_state *policy;
	const struct policy_config *config; /* effective for this device */
	const struct knob_state *knobs;     /* KNOB_MAX of them, by id */
	bool measured;                      /* false: no journal, or more devices than can be */
	const struct totals *stats;         /* NULL: nothing happened yet */
	const struct fc_info *fast_commits; /* since the mount; NULL: has none */
	const struct outlier *outliers;     /* newest first */
	size_t n_outliers;
	enum verdict verdict;
	const char *verdict_text;
};

struct view {
	uint64_t now_us;   /* CLOCK_MONOTONIC */
	uint64_t start_us; /* CLOCK_MONOTONIC, of the daemon */
	bool observe_only; /* --mode=observe */
	/* CLOCK_MONOTONIC; 0: not paused; USEC_INFINITY: until resume */
	uint64_t paused_until_us;
	const struct kernel_caps *caps;
	const struct probe *probe;   /* NULL: nothing can be measured */
	const char *sysroot;         /* prefix of files that doctor looks at; NULL or "" */
	const struct ledger *ledger; /* NULL: none */
	const struct device_view *devices; /* sorted by name */
	size_t n_devices;
	const struct history_entry *history; /* ring of history_max, oldest at history_first */
	size_t history_first, n_history, history_max;
	const uint64_t (*decisions)[3]; /* per knob: advised, applied, refused, since start */
	uint64_t ticks;
	uint64_t log_dropped;
};

#endif
