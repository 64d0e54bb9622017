// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the time of an fsync or a commit goes, and what would help. */
#include <stdarg.h>
#include <string.h>
#include "../base/units.h"
#include "explain.h"
#include "status-internal.h"
#include "status.h"

/* jbd2's JBD2_DEFAULT_MAX_COMMIT_AGE. */
#define COMMIT_INTERVAL_S 5
/* Of the time of a commit: with less, a phase is not what makes it slow. */
#define SHARE_LARGE 0.4
/* So many fsyncs for one commit share its cost, which fast commits would take from them. */
#define SHARED_BY_MANY 2

/* The last minute of a device. */
struct facts {
	const struct view *v;
	const struct device_view *dv;
	struct hist hist[FST_MEASURE_MAX];
	uint64_t span_us;
	struct service service;
	double share[FST_MEASURE_MAX]; /* of the time of what it is a part of; < 0: of nothing
					*/
	struct explain_fast_commit fast;
	struct doc *j;
};

/* How a measure is part of another; in this order they are shown. */
static const struct {
	enum fst_measure measure, of;
	const char *what; /* where it is large: why */
} parts[] = {
	{ FST_FSYNC, FST_FSYNC, NULL },
	{ FST_FSYNC_FAST, FST_FSYNC, NULL },
	{ FST_FSYNC_FULL, FST_FSYNC, NULL },
	{ FST_COMMIT_WAIT, FST_FSYNC, NULL },
	{ FST_COMMIT, FST_COMMIT, NULL },
	{ FST_COMMIT_LOCKING, FST_COMMIT,
	  "it waits for tasks that are in the middle of an operation (open handles)" },
	{ FST_COMMIT_FLUSHING, FST_COMMIT,
	  "it submits data of files that has to be on the disk first (data=ordered)" },
	{ FST_COMMIT_LOGGING, FST_COMMIT,
	  "it writes metadata to the journal, and waits for data of files (data=ordered)" },
	{ FST_COMMIT_RECORD, FST_COMMIT,
	  "it writes the commit record and flushes the device's cache" },
	{ FST_COMMIT_CALLBACK, FST_COMMIT, "after it was on the disk" },
	{ FST_F2FS_FSYNC, FST_F2FS_FSYNC, NULL },
	{ FST_F2FS_REQUEST, FST_F2FS_FSYNC, NULL },
	{ FST_F2FS_CHECKPOINT, FST_F2FS_CHECKPOINT, NULL },
	{ FST_F2FS_BLOCK_OPS, FST_F2FS_CHECKPOINT,
	  "it stops all operations and writes what they left dirty" },
	{ FST_F2FS_WRITER_READERS, FST_F2FS_CHECKPOINT,
	  "it waits for tasks that are in the middle of an operation" },
	{ FST_F2FS_WRITE, FST_F2FS_CHECKPOINT,
	  "it writes the checkpoint itself and flushes the device's cache" },
};

/* --- what fast commits would act on --- */

/* "commit=30" among the mount options. */
static double commit_interval_s(const struct device *d)
{
	size_t len;
	const char *value = device_mount_option(d, "commit", &len);
	unsigned seconds;

	return value && sscanf(value, "%u", &seconds) == 1 && seconds > 0 ? seconds
									  : COMMIT_INTERVAL_S;
}

void explain_fast_commit(const struct view *v, const struct device_view *dv,
			 struct explain_fast_commit *ret)
{
	const struct device *d = dv->device;
	struct hist fsync, fast, commit;
	double forced;
	uint64_t span_us;

	*ret = (struct explain_fast_commit){
		.has_switch = device_has_fast_commit_switch(d, v->sysroot ?: ""),
	};
	model_window(dv->model, FST_FSYNC, v->now_us, &fsync, &span_us);
	model_window(dv->model, FST_FSYNC_FAST, v->now_us, &fast, NULL);
	model_window(dv->model, FST_COMMIT, v->now_us, &commit, NULL);
	ret->fsyncs = fsync.count - fast.count;
	ret->commits = commit.count;
	if (span_us > 0)
		ret->fsync_us_per_s = (double)fsync.sum_ns / 1000 * 1e6 / (double)span_us;
	/* What the timer does not account for, and never more than were asked for. */
	forced = (double)commit.count -
		 (double)span_us / (commit_interval_s(d) * (double)USEC_PER_SEC) - 1;
	if (forced > (double)ret->fsyncs)
		forced = (double)ret->fsyncs;
	if (forced > 0)
		ret->forced = forced;
}

double explain_forced_share(const struct explain_fast_commit *f)
{
	return f->commits ? f->forced / (double)f->commits : 0;
}

/* --- findings --- */

static void find(struct facts *f, const char *name, const char *format, ...) _printf_(3, 4);

static void find(struct facts *f, const char *name, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	doc_open_object(f->j, NULL);
	doc_str(f->j, "finding", name);
	doc_str(f->j, "text", text);
	doc_close(f->j);
}

static uint64_t mean_us(const struct hist *h)
{
	return h->count ? h->sum_ns / h->count / NSEC_PER_USEC : 0;
}

static void find_fsync(struct facts *f)
{
	bool f2fs = f->dv->device->type == DEVICE_F2FS;
	const struct hist *h = &f->hist[f2fs ? FST_F2FS_FSYNC : FST_FSYNC];
	enum fst_measure wait = f2fs ? FST_F2FS_REQUEST : FST_COMMIT_WAIT;
	char mean[TIME_STR_MAX], p99[TIME_STR_MAX];

	if (h->count == 0)
		return;
	format_time_us(mean, sizeof(mean), mean_us(h));
	format_time_us(p99, sizeof(p99), hist_quantile_ns(h, 0.99) / NSEC_PER_USEC);
	if (f->hist[wait].count > 0)
		find(f, "fsync",
		     "fsync takes %s (p99 %s): %.0f %% of that it waits for a %s, the rest "
		     "for its own data and flush",
		     mean, p99, f->share[wait] * 100, f2fs ? "checkpoint" : "commit");
	else
		find(f, "fsync", "fsync takes %s (p99 %s)", mean, p99);
}

/* The phases that make a commit slow. */
static void find_phases(struct facts *f)
{
	for (size_t i = 0; i < ELEMENTSOF(parts); i++) {
		enum fst_measure m = parts[i].measure;
		char mean[TIME_STR_MAX];

		if (!parts[i].what || f->share[m] < SHARE_LARGE)
			continue;
		find(f, "phase", "%s (%s) is %.0f %% of a %s: %s", measure_to_string(m),
		     format_time_us(mean, sizeof(mean), mean_us(&f->hist[m])),
		     f->share[m] * 100, parts[i].of == FST_COMMIT ? "commit" : "checkpoint",
		     parts[i].what);
	}
}

static void find_device(struct facts *f)
{
	const struct service *s = &f->service;
	char write[TIME_STR_MAX], flush[TIME_STR_MAX];

	if (!s->known || s->writes == 0 ||
	    f->hist[FST_COMMIT].count + f->hist[FST_F2FS_CHECKPOINT].count == 0)
		return;
	format_time_us(write, sizeof(write), s->write_us / s->writes);
	if (s->flushes_known && s->flushes > 0)
		find(f, "device",
		     "of its own the device takes %s for a write and %s for a flush; a %s "
		     "is at least one of each, one after the other",
		     write, format_time_us(flush, sizeof(flush), s->flush_us / s->flushes),
		     f->hist[FST_COMMIT].count ? "commit" : "checkpoint");
	else
		find(f, "device", "of its own the device takes %s for a write", write);
}

static void find_forced(struct facts *f)
{
	const struct totals *t = f->dv->stats;
	char bytes[BYTES_STR_MAX], logged[80] = "";

	if (f->fast.commits == 0)
		return;
	if (t && t->transactions > 0)
		snprintf(logged, sizeof(logged), "; one logs %.1f blocks (%s)",
			 (double)t->blocks_logged / (double)t->transactions,
			 format_bytes(bytes, sizeof(bytes),
				      t->blocks_logged * f->dv->device->block_size /
					      t->transactions));
	find(f, "forced", "fsync forced about %.0f %% of %llu commits, %.1f fsyncs for each%s",
	     explain_forced_share(&f->fast) * 100, (unsigned long long)f->fast.commits,
	     (double)f->fast.fsyncs / (double)f->fast.commits, logged);
}

/* For whom has not got it: is it more likely to help or to cost? */
static const char *prospect(const struct facts *f)
{
	bool shared =
		f->fast.forced > 0 && (double)f->fast.fsyncs / f->fast.forced >= SHARED_BY_MANY;

	if (f->fast.forced < 1)
		return "there is nothing for fast commits to act on at present";
	if (shared && f->share[FST_COMMIT_RECORD] >= f->share[FST_COMMIT_LOGGING])
		return "fast commits would act on these, but more likely cost than help: many "
		       "fsyncs share a flush, which is most of a commit, and would no longer";
	return "fast commits would act on these: instead of whole blocks of metadata they log "
	       "what an fsync changed";
}

/* Of the last minute: those that a fast commit served, and the others. */
static void find_fast_fsyncs(struct facts *f)
{
	const struct hist *all = &f->hist[FST_FSYNC], *fast = &f->hist[FST_FSYNC_FAST];
	struct hist other = { .count = all->count - fast->count,
			      .sum_ns = all->sum_ns - fast->sum_ns };
	char mean[TIME_STR_MAX], others[TIME_STR_MAX];

	format_time_us(mean, sizeof(mean), mean_us(fast));
	format_time_us(others, sizeof(others), mean_us(&other));
	find(f, "fast-fsync", "fast commits served %.1f %% of fsyncs, in %s%s%s",
	     100.0 * (double)fast->count / (double)all->count, mean,
	     other.count ? "; the others took " : "", other.count ? others : "");
}

static void find_fast_commit(struct facts *f)
{
	const struct knob_state *k = &f->dv->knobs[KNOB_FAST_COMMIT];
	const struct fc_info *info = f->dv->fast_commits;
	char note[DECISION_WHY_MAX];

	policy_fast_commit_note(&f->dv->policy->fast_commit, note, sizeof(note));
	if (f->dv->device->fast_commit != FEATURE_YES) {
		find(f, "fast-commit", "%s; %s", prospect(f),
		     f->dv->device->fast_commit == FEATURE_NO
			     ? "the file system has no feature fast_commit"
			     : "whether the file system has the feature is not known");
		return;
	}
	if (f->hist[FST_FSYNC_FAST].count > 0)
		find_fast_fsyncs(f);
	if (info)
		find(f, "fast-commit",
		     "since the mount %llu fsyncs were served by fast commits, %llu fell back "
		     "to full ones (fstunectl status has the reasons)",
		     (unsigned long long)info->commits, (unsigned long long)info->ineligible);
	if (*note)
		find(f, "trial", "last trial of fast_commit: %s", note);
	else if (k->supported && k->mode == KNOB_AUTO)
		find(f, "trial", "fast_commit has not been tried the other way round yet");
}

static void find_kernel(struct facts *f)
{
	if (f->dv->device->fast_commit == FEATURE_NO && f->fast.forced < 1)
		return;
	if (f->fast.has_switch)
		find(f, "kernel",
		     "this kernel has the fix without which fast commits lose files, and a "
		     "switch for them");
	else
		find(f, "kernel",
		     "as it comes this kernel, with fast commits, is known to lose files that "
		     "were fsynced when it crashes; the patches mend that (patches/README.md)");
}

/* --- the document --- */

static void put_parts(struct facts *f)
{
	doc_open_array(f->j, "parts");
	for (size_t i = 0; i < ELEMENTSOF(parts); i++) {
		enum fst_measure m = parts[i].measure;

		if (f->hist[m].count == 0)
			continue;
		doc_open_object(f->j, NULL);
		doc_str(f->j, "measure", measure_to_string(m));
		doc_str(f->j, "part_of",
			parts[i].of == m ? NULL : measure_to_string(parts[i].of));
		if (f->share[m] < 0)
			doc_null(f->j, "share_percent");
		else
			doc_double(f->j, "share_percent", f->share[m] * 100);
		status_put_window(f->j, &f->hist[m], f->span_us);
		doc_close(f->j);
	}
	doc_close(f->j);
}

/* Names below /dev have a slash where /sys has "!". */
static void put_command(struct facts *f)
{
	char name[DEVICE_NAME_MAX];

	if (f->dv->device->fast_commit != FEATURE_NO || f->fast.forced < 1) {
		doc_null(f->j, "command");
		return;
	}
	snprintf(name, sizeof(name), "%s", f->dv->device->name);
	for (char *p = name; (p = strchr(p, '!')); p++)
		*p = '/';
	doc_strf(f->j, "command", "tune2fs -O fast_commit /dev/%s", name);
}

static void put_fast_commit(struct facts *f)
{
	const struct knob_state *k = &f->dv->knobs[KNOB_FAST_COMMIT];

	if (f->dv->device->type != DEVICE_EXT4) {
		doc_null(f->j, "fast_commit");
		return;
	}
	doc_open_object(f->j, "fast_commit");
	if (f->dv->device->fast_commit == FEATURE_UNKNOWN)
		doc_null(f->j, "feature");
	else
		doc_bool(f->j, "feature", f->dv->device->fast_commit == FEATURE_YES);
	doc_bool(f->j, "kernel_switch", f->fast.has_switch);
	doc_bool(f->j, "kernel_loses_data", !f->fast.has_switch);
	doc_str(f->j, "value", *k->value ? k->value : NULL);
	doc_u64(f->j, "commits_forced", (uint64_t)f->fast.forced);
	doc_double(f->j, "commits_forced_percent", explain_forced_share(&f->fast) * 100);
	put_command(f);
	doc_close(f->j);
}

/* Or what its driver mounts as ext3: that has no features of its own. */
static bool is_ext4(const struct device *d)
{
	return strncmp(d->fstype, "ext", 3) == 0;
}

static void put_findings(struct facts *f)
{
	doc_open_array(f->j, "findings");
	find(f, "verdict", "%s", f->dv->verdict_text);
	find_fsync(f);
	find_phases(f);
	find_device(f);
	find_forced(f);
	if (is_ext4(f->dv->device)) {
		find_fast_commit(f);
		find_kernel(f);
	}
	doc_close(f->j);
}

static void gather(struct facts *f)
{
	for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++) {
		model_window(f->dv->model, m, f->v->now_us, &f->hist[m], &f->span_us);
		f->share[m] = -1;
	}
	for (size_t i = 0; i < ELEMENTSOF(parts); i++) {
		const struct hist *all = &f->hist[parts[i].of], *h = &f->hist[parts[i].measure];
		double share = all->sum_ns ? (double)h->sum_ns / (double)all->sum_ns : -1;

		/* Others than fsync wait for commits, too. */
		f->share[parts[i].measure] = share > 1 ? 1 : share;
	}
	model_service(f->dv->model, f->v->now_us, &f->service);
	explain_fast_commit(f->v, f->dv, &f->fast);
}

int status_explain(const struct view *v, const char *device, char **ret)
{
	_cleanup_(doc_done) struct doc j = { 0 };
	const struct device_view *dv = view_device(v, device);
	struct facts f = { .v = v, .dv = dv, .j = &j };

	if (!dv)
		return -ENODEV;
	gather(&f);
	doc_open_object(&j, NULL);
	doc_str(&j, "device", dv->device->name);
	doc_str(&j, "mountpoint", dv->device->mountpoint);
	doc_str(&j, "kernel", v->caps->release);
	doc_u64(&j, "span_us", f.span_us);
	put_parts(&f);
	put_findings(&f);
	put_fast_commit(&f);
	doc_close(&j);
	return doc_finish(&j, ret);
}
