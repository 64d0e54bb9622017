/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view made by hand, on the real model and policy, for tests of what is shown. Devices are
 * "sda1", "sda2", ... and idle until fixture_wait() says otherwise.
 */
#ifndef FSTUNED_TESTS_VIEW_FIXTURE_H
#define FSTUNED_TESTS_VIEW_FIXTURE_H

#include <assert.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "../../daemon/base/units.h"
#include "../../daemon/publish/view.h"

#define FIXTURE_START_US (1000 * USEC_PER_SEC)
#define FIXTURE_NOW_US (FIXTURE_START_US + 61 * USEC_PER_SEC)
#define FIXTURE_REALTIME_US (UINT64_C(1700000000) * USEC_PER_SEC)
#define FIXTURE_HISTORY 8

struct fixture_device {
	struct device device;
	struct model *model;
	struct policy_state policy;
	struct knob_state knobs[KNOB_MAX];
	struct totals stats;
	struct fst_hist hist[FST_MEASURE_MAX]; /* what those of stats are */
	struct fc_info fast_commits;
	struct outlier outlier;
	char verdict_text[160];
};

struct fixture {
	struct view view;
	struct kernel_caps caps;
	struct fixture_device *d;
	struct device_view *views;
	struct history_entry history[FIXTURE_HISTORY];
	uint64_t decisions[KNOB_MAX][3];
};

static inline void fixture_init_device(struct fixture_device *d, unsigned i)
{
	*d = (struct fixture_device){
		.device = {
			.id = { .dev = makedev(8, i + 1), .ino = i + 100 },
			.fstype = "ext4",
			.mountpoint = NULL,
			.n_mounts = 1,
			.has_journal = true,
			.block_size = 4096,
			.journal_bytes = 128 << 20,
			.journal_dev = makedev(8, i + 1),
		},
		.knobs = { { .id = KNOB_FORCE_COPY, .why = "this kernel has no force_copy" },
			   { .id = KNOB_FAST_COMMIT, .why = "no feature fast_commit" } },
	};
	snprintf(d->device.name, sizeof(d->device.name), "sda%u", i + 1);
	snprintf(d->device.journal, sizeof(d->device.journal), "sda%u-8", i + 1);
	snprintf(d->device.uuid, sizeof(d->device.uuid), "0b5e1a52-0000-4000-8000-%012u",
		 i + 1);
	if (asprintf(&d->device.mountpoint, "/srv/%u", i + 1) < 0)
		abort();
	if (model_new(&d->model) < 0)
		abort();
}

/* The caller frees with fixture_free(). */
static inline struct fixture *fixture_new(unsigned n)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert(f);
	f->d = calloc(n + 1, sizeof(*f->d));
	f->views = calloc(n + 1, sizeof(*f->views));
	assert(f->d && f->views);
	strcpy(f->caps.release, "6.1.0-42-amd64");
	strcpy(f->caps.lockdown, "none");
	f->caps.btf = f->caps.module_btf = true;
	for (unsigned i = 0; i < n; i++) {
		fixture_init_device(&f->d[i], i);
		f->views[i] = (struct device_view){
			.device = &f->d[i].device,
			.measured = true,
			.model = f->d[i].model,
			.policy = &f->d[i].policy,
			.config = &policy_config_default,
			.knobs = f->d[i].knobs,
			.verdict_text = f->d[i].verdict_text,
		};
	}
	f->view = (struct view){
		.now_us = FIXTURE_NOW_US,
		.start_us = FIXTURE_START_US,
		.caps = &f->caps,
		.devices = f->views,
		.n_devices = n,
		.history = f->history,
		.history_max = FIXTURE_HISTORY,
		.decisions = f->decisions,
	};
	return f;
}

static inline void fixture_free(struct fixture *f)
{
	for (size_t i = 0; i < f->view.n_devices; i++) {
		free(f->d[i].device.mountpoint);
		free(f->d[i].device.mount_options);
		model_free(f->d[i].model);
	}
	free(f->d);
	free(f->views);
	free(f);
}
DEFINE_CLEANUP(struct fixture *, fixture_free)

static inline void fixture_count(struct fst_hist *h, uint64_t ns)
{
	h->count++;
	h->sum_ns += ns;
	h->max_ns = ns > h->max_ns ? ns : h->max_ns;
	h->slot[hist_slot(ns)]++;
}

/* `n` waits of `us` in the last minute of device i. */
static inline void fixture_wait(struct fixture *f, unsigned i, enum fst_measure m, unsigned n,
				uint64_t us)
{
	struct fixture_device *d = &f->d[i];
	struct sample s = {
		.now_us = FIXTURE_NOW_US,
		.interval_us = USEC_PER_SEC,
		.measured = UINT32_MAX,
		.active = true,
		.memory_pressure = -1,
		.service = { .known = true, .writes = n, .write_us = n * UINT64_C(900) },
	};
	struct fst_hist before = d->hist[m];

	for (unsigned k = 0; k < n; k++)
		fixture_count(&d->hist[m], us * NSEC_PER_USEC);
	d->stats.hist[m] = &d->hist[m];
	d->stats.transactions += n;
	hist_diff(&d->hist[m], &before, &s.hist[m]);
	if (model_update(d->model, &s) < 0)
		abort();
	f->views[i].stats = &d->stats;
}

/* What the daemon does at the end of a tick. */
static inline void fixture_judge(struct fixture *f)
{
	for (size_t i = 0; i < f->view.n_devices; i++) {
		struct fixture_device *d = &f->d[i];
		struct knob_view k = {
			.supported = d->knobs[0].supported,
			.mode = d->knobs[0].mode,
			.ours = d->knobs[0].ours,
		};

		strcpy(k.value, d->knobs[0].value);
		f->views[i].verdict =
			verdict_of(d->model, &k, &d->policy.force_copy, &policy_config_default,
				   FIXTURE_NOW_US, d->verdict_text, sizeof(d->verdict_text));
	}
}

/* Gives device i a knob with this value and mode. */
static inline void fixture_knob(struct fixture *f, unsigned i, const char *value,
				enum knob_mode mode)
{
	struct knob_state *k = &f->d[i].knobs[KNOB_FORCE_COPY];

	k->supported = true;
	k->why[0] = '\0';
	strcpy(k->value, value);
	k->mode = mode;
	snprintf(k->path, sizeof(k->path), "/proc/fs/jbd2/%s/force_copy",
		 f->d[i].device.journal);
}

/* Gives device i fast commits that a trial has found to be slower, and a policy that holds 0.
 */
static inline void fixture_fast_commit_off(struct fixture *f, unsigned i)
{
	struct knob_state *k = &f->d[i].knobs[KNOB_FAST_COMMIT];

	k->supported = k->ours = true;
	k->why[0] = '\0';
	strcpy(k->value, "0");
	strcpy(k->original, "1");
	f->d[i].device.fast_commit = FEATURE_YES;
	f->d[i].policy.fast_commit = (struct policy_fast_commit){
		.since_us = FIXTURE_NOW_US - 20 * USEC_PER_SEC,
		.next_trial_us = FIXTURE_NOW_US + 40 * USEC_PER_SEC,
		.last = { .end = REASON_TRIAL_KEPT,
			  .here = { USEC_PER_SEC, 500, 8e6 },
			  .there = { USEC_PER_SEC, 800, 8e6 } },
	};
}

/* Makes device i an f2fs, with something merged. */
static inline void fixture_f2fs(struct fixture *f, unsigned i)
{
	struct device *d = &f->d[i].device;

	d->type = DEVICE_F2FS;
	strcpy(d->fstype, "f2fs");
	d->has_journal = false;
	d->journal[0] = '\0';
	d->journal_bytes = 0;
	d->n_devices = 1;
	f->d[i].stats.f2fs = (struct fst_f2fs_counters){
		.merged_requests = 60,
		.overlapping = 41,
		.waiting = 2,
		.waiting_max = 6,
	};
}

/* Gives device i an account of fast commits. */
static inline void fixture_fast_commits(struct fixture *f, unsigned i)
{
	f->d[i].fast_commits = (struct fc_info){
		.commits = 1412,
		.ineligible = 37,
		.blocks = 2961,
		.average_us = 3698,
		.n_reasons = 3,
		.reasons = { { "Dir renamed", 33 }, { "Resize", 0 }, { "odd \"\\", 2 } },
	};
	f->views[i].fast_commits = &f->d[i].fast_commits;
}

/* As if decided `ago_us` before FIXTURE_REALTIME_US. */
static inline void fixture_decided(struct fixture *f, const char *device, const char *from,
				   const char *to, enum reason reason, int result, int64_t uid,
				   uint64_t ago_us, const char *why)
{
	size_t i = (f->view.history_first + f->view.n_history) % FIXTURE_HISTORY;
	struct history_entry *e = &f->history[i];

	*e = (struct history_entry){
		.time_us = FIXTURE_REALTIME_US - ago_us,
		.decision = { .knob = KNOB_FORCE_COPY, .reason = reason },
		.result = result,
		.uid = uid,
	};
	snprintf(e->device, sizeof(e->device), "%s", device);
	snprintf(e->decision.from, sizeof(e->decision.from), "%s", from);
	snprintf(e->decision.to, sizeof(e->decision.to), "%s", to);
	snprintf(e->decision.why, sizeof(e->decision.why), "%s", why);
	if (f->view.n_history < FIXTURE_HISTORY)
		f->view.n_history++;
	else
		f->view.history_first = (f->view.history_first + 1) % FIXTURE_HISTORY;
	f->decisions[KNOB_FORCE_COPY][result < 0 ? 2 : 1]++;
}

#endif
