// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "../base/hist.h"
#include "../base/units.h"
#include "metrics.h"
#include "status-internal.h"
#include "../base/utf8.h"

/* Between two bounds that are shown: a factor of four, that is eight quarter octaves. */
#define LE_STEP 8

struct out {
	FILE *f;
	bool openmetrics;
};

/* --- pieces of the format --- */

/* One more label; the value may be any bytes. */
static void put_label(FILE *f, const char *name, const char *value)
{
	fprintf(f, "%s=\"", name);
	while (*value) {
		size_t len = utf8_len(value);

		if (len == 0)
			fprintf(f, "\\\\x%02x", (unsigned char)*value++);
		else if (*value == '\n')
			fputs("\\n", f);
		else if (*value == '"' || *value == '\\')
			fprintf(f, "\\%c", *value);
		else
			fwrite(value, len, 1, f);
		value += len;
	}
	fputc('"', f);
}

/*
 * HELP and TYPE of a family. OpenMetrics names a family without the suffix that its samples
 * have, and knows the type "info".
 */
static void put_family(const struct out *o, const char *name, const char *type,
		       const char *help)
{
	size_t len = strlen(name);
	const char *suffix = strcmp(type, "counter") == 0 ? "_total"
			     : strcmp(type, "info") == 0  ? "_info"
							  : "";

	if (o->openmetrics)
		len -= strlen(suffix);
	else if (strcmp(type, "info") == 0)
		type = "gauge";
	fprintf(o->f, "# TYPE fstuned_%.*s %s\n", (int)len, name, type);
	if (o->openmetrics && strcmp(type, "histogram") == 0)
		fprintf(o->f, "# UNIT fstuned_%.*s seconds\n", (int)len, name);
	fprintf(o->f, "# HELP fstuned_%.*s %s\n", (int)len, name, help);
}

/* Opens a sample with its device label; the caller adds labels and closes. */
static void put_sample(const struct out *o, const char *name, const char *suffix,
		       const char *device)
{
	fprintf(o->f, "fstuned_%s%s{", name, suffix);
	if (device)
		put_label(o->f, "device", device);
}

static void put_more(const struct out *o, const char *name, const char *value)
{
	fputc(',', o->f);
	put_label(o->f, name, value);
}

static void put_value(const struct out *o, uint64_t v)
{
	fprintf(o->f, "} %llu\n", (unsigned long long)v);
}

/* --- histograms --- */

/* Parts without a label are of different file systems: a device has at most one of them. */
struct histogram {
	const char *name;
	const char *help;
	struct {
		enum fst_measure measure;
		const char *value; /* of the label */
	} part[5];
	unsigned n_parts;
	const char *label; /* that tells the parts apart; NULL: no such label */
};

static const struct histogram histograms[] = {
	{ "commit_duration_seconds",
	  "Journal commits, from start to end.",
	  { { FST_COMMIT, NULL } },
	  1,
	  NULL },
	{ "commit_phase_duration_seconds",
	  "Phases of journal commits.",
	  { { FST_COMMIT_LOCKING, "locking" },
	    { FST_COMMIT_FLUSHING, "flushing" },
	    { FST_COMMIT_LOGGING, "logging" },
	    { FST_COMMIT_RECORD, "record" },
	    { FST_COMMIT_CALLBACK, "callback" } },
	  5,
	  "phase" },
	{ "jbd2_checkpoint_duration_seconds",
	  "Tasks doing a checkpoint of the journal.",
	  { { FST_CHECKPOINT, NULL } },
	  1,
	  NULL },
	{ "log_space_wait_seconds",
	  "Tasks waiting for space in the journal.",
	  { { FST_LOG_SPACE_WAIT, NULL } },
	  1,
	  NULL },
	{ "transaction_wait_seconds",
	  "Handles waiting for a locked transaction.",
	  { { FST_TRANSACTION_WAIT, NULL } },
	  1,
	  NULL },
	{ "commit_wait_seconds",
	  "Tasks waiting for a commit.",
	  { { FST_COMMIT_WAIT, NULL } },
	  1,
	  NULL },
	{ "shadow_wait_seconds",
	  "Tasks waiting for a metadata block that is being written to the journal.",
	  { { FST_SHADOW_WAIT, NULL } },
	  1,
	  NULL },
	{ "fsync_duration_seconds",
	  "fsync and fdatasync.",
	  { { FST_FSYNC, NULL }, { FST_F2FS_FSYNC, NULL } },
	  2,
	  NULL },
	{ "fsync_commit_duration_seconds",
	  "Those of them that asked for a fast commit, by the commit that they got.",
	  { { FST_FSYNC_FAST, "fast" }, { FST_FSYNC_FULL, "full" } },
	  2,
	  "commit" },
	{ "fast_commit_duration_seconds",
	  "Fast commits, by how they ended.",
	  { { FST_FAST_COMMIT_OK, "ok" },
	    { FST_FAST_COMMIT_INELIGIBLE, "ineligible" },
	    { FST_FAST_COMMIT_SKIPPED, "skipped" },
	    { FST_FAST_COMMIT_FAILED, "failed" } },
	  4,
	  "status" },
	{ "fast_commit_locked_seconds",
	  "Fast commits keeping handles from starting.",
	  { { FST_FAST_COMMIT_LOCKED, NULL } },
	  1,
	  NULL },
	{ "f2fs_checkpoint_duration_seconds",
	  "Checkpoints of f2fs, from start to end.",
	  { { FST_F2FS_CHECKPOINT, NULL } },
	  1,
	  NULL },
	{ "f2fs_checkpoint_phase_duration_seconds",
	  "Phases of checkpoints of f2fs.",
	  { { FST_F2FS_BLOCK_OPS, "block_ops" }, { FST_F2FS_WRITE, "write" } },
	  2,
	  "phase" },
	{ "f2fs_request_wait_seconds",
	  "Tasks waiting for a checkpoint of f2fs that they asked for.",
	  { { FST_F2FS_REQUEST, NULL } },
	  1,
	  NULL },
	{ "f2fs_merge_duration_seconds",
	  "Checkpoints of f2fs made for all requests that waited, as the merging thread sees "
	  "them.",
	  { { FST_F2FS_MERGE, NULL } },
	  1,
	  NULL },
	{ "f2fs_rwsem_wait_seconds",
	  "Tasks waiting for a semaphore of f2fs, by what they want and whom they find there.",
	  { { FST_F2FS_READER_WAIT, "reader" },
	    { FST_F2FS_WRITER_READERS, "writer_behind_readers" },
	    { FST_F2FS_WRITER_WRITER, "writer_behind_writer" } },
	  3,
	  "waiter" },
};

static void open_bucket(const struct out *o, const struct histogram *h, const char *suffix,
			const char *device, unsigned part)
{
	put_sample(o, h->name, suffix, device);
	if (h->label)
		put_more(o, h->label, h->part[part].value);
}

static void put_histogram(const struct out *o, const struct histogram *h, unsigned part,
			  const char *device, const struct fst_hist *v)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < FST_HIST_SLOTS; i++) {
		double bound = hist_bound_s(i);

		n += v->slot[i];
		if (i % LE_STEP != 0 || i > FST_HIST_GRID)
			continue;
		open_bucket(o, h, "_bucket", device, part);
		/* Powers of two, exact in 17 digits. OpenMetrics wants its numbers as floats.
		 */
		fprintf(o->f, ",le=\"%.17g%s\"", bound,
			o->openmetrics && bound >= 1 ? ".0" : "");
		put_value(o, n);
	}
	open_bucket(o, h, "_bucket", device, part);
	put_more(o, "le", "+Inf");
	put_value(o, n);
	open_bucket(o, h, "_sum", device, part);
	fprintf(o->f, "} %llu.%09llu\n", (unsigned long long)(v->sum_ns / NSEC_PER_SEC),
		(unsigned long long)(v->sum_ns % NSEC_PER_SEC));
	/* The slots are the count: one copied in the middle of an update would differ. */
	open_bucket(o, h, "_count", device, part);
	put_value(o, n);
}

static void put_histograms(const struct out *o, const struct view *v)
{
	for (size_t f = 0; f < ELEMENTSOF(histograms); f++) {
		const struct histogram *h = &histograms[f];

		put_family(o, h->name, "histogram", h->help);
		for (size_t i = 0; i < v->n_devices; i++) {
			const struct device_view *dv = &v->devices[i];

			if (!dv->stats)
				continue;
			for (unsigned p = 0; p < h->n_parts; p++) {
				const struct fst_hist *hist =
					dv->stats->hist[h->part[p].measure];

				if (hist)
					put_histogram(o, h, p, dv->device->name, hist);
			}
		}
	}
}

/* --- counters per device --- */

#define FIELD(f) offsetof(struct totals, f)

static const struct {
	const char *name;
	const char *help;
	enum fs_kind fs; /* whose devices have it */
	struct {
		size_t offset; /* of a uint64_t in struct totals */
		const char *fate;
	} part[2];
	unsigned n_parts;
} counters[] = {
	{ "transactions_total",
	  "Transactions committed.",
	  FS_JBD2,
	  { { FIELD(transactions), NULL } },
	  1 },
	{ "blocks_logged_total",
	  "Blocks written to the journal.",
	  FS_JBD2,
	  { { FIELD(blocks_logged), NULL } },
	  1 },
	{ "handles_total",
	  "Handles of the transactions committed.",
	  FS_JBD2,
	  { { FIELD(handles), NULL } },
	  1 },
	{ "jbd2_checkpoint_transactions_total",
	  "Transactions that left the journal.",
	  FS_JBD2,
	  { { FIELD(ckpt_transactions), NULL } },
	  1 },
	{ "jbd2_checkpoint_forced_commits_total",
	  "Commits that checkpoints had to force.",
	  FS_JBD2,
	  { { FIELD(ckpt_forced), NULL } },
	  1 },
	{ "jbd2_checkpoint_buffers_total",
	  "What became of the buffers of checkpoints.",
	  FS_JBD2,
	  { { FIELD(ckpt_written), "written" }, { FIELD(ckpt_dropped), "dropped" } },
	  2 },
	{ "f2fs_merged_requests_total",
	  "Requests for a checkpoint that the merging thread served.",
	  FS_F2FS,
	  { { FIELD(f2fs.merged_requests), NULL } },
	  1 },
	{ "f2fs_overlapping_requests_total",
	  "Requests for a checkpoint that found another task waiting for one.",
	  FS_F2FS,
	  { { FIELD(f2fs.overlapping), NULL } },
	  1 },
};

static void put_counters(const struct out *o, const struct view *v)
{
	for (size_t c = 0; c < ELEMENTSOF(counters); c++) {
		put_family(o, counters[c].name, "counter", counters[c].help);
		for (size_t i = 0; i < v->n_devices; i++) {
			const char *stats = (const char *)v->devices[i].stats;

			if (!fs_kind_concerns(counters[c].fs, v->devices[i].device))
				continue;
			for (unsigned p = 0; stats && p < counters[c].n_parts; p++) {
				uint64_t n;

				memcpy(&n, stats + counters[c].part[p].offset, sizeof(n));
				put_sample(o, counters[c].name, "", v->devices[i].device->name);
				if (counters[c].part[p].fate)
					put_more(o, "fate", counters[c].part[p].fate);
				put_value(o, n);
			}
		}
	}
}

/* --- how many wait for a checkpoint of an f2fs --- */

static void put_waiting(const struct out *o, const struct view *v, const char *name,
			const char *help, size_t offset)
{
	put_family(o, name, "gauge", help);
	for (size_t i = 0; i < v->n_devices; i++) {
		const struct device_view *dv = &v->devices[i];
		uint32_t n;

		if (!dv->stats || dv->device->type != DEVICE_F2FS)
			continue;
		memcpy(&n, (const char *)dv->stats + offset, sizeof(n));
		put_sample(o, name, "", dv->device->name);
		put_value(o, n);
	}
}

/* --- fast commits, where there are any --- */

static const struct {
	const char *name;
	const char *help;
	size_t offset; /* of a uint64_t in struct fc_info */
} fast_commits[] = {
	{ "fast_commits_total", "Fast commits since the mount.",
	  offsetof(struct fc_info, commits) },
	{ "fast_commit_ineligible_total",
	  "Fast commits since the mount that fell back to a full one.",
	  offsetof(struct fc_info, ineligible) },
	{ "fast_commit_blocks_total", "Blocks that fast commits wrote since the mount.",
	  offsetof(struct fc_info, blocks) },
};

static void put_fast_commits(const struct out *o, const struct view *v)
{
	for (size_t c = 0; c < ELEMENTSOF(fast_commits); c++) {
		put_family(o, fast_commits[c].name, "counter", fast_commits[c].help);
		for (size_t i = 0; i < v->n_devices; i++) {
			const char *info = (const char *)v->devices[i].fast_commits;
			uint64_t n;

			if (!info)
				continue;
			memcpy(&n, info + fast_commits[c].offset, sizeof(n));
			put_sample(o, fast_commits[c].name, "", v->devices[i].device->name);
			put_value(o, n);
		}
	}
}

static void put_fallbacks(const struct out *o, const struct view *v)
{
	static const char name[] = "fast_commit_fallbacks_total";

	put_family(o, name, "counter",
		   "Operations since the mount that fast commits cannot express.");
	for (size_t i = 0; i < v->n_devices; i++) {
		const struct fc_info *info = v->devices[i].fast_commits;

		for (unsigned r = 0; info && r < info->n_reasons; r++) {
			put_sample(o, name, "", v->devices[i].device->name);
			put_more(o, "reason", info->reasons[r].name);
			put_value(o, info->reasons[r].count);
		}
	}
}

/* --- knobs, decisions, the daemon itself --- */

static void put_knobs(const struct out *o, const struct view *v, bool info)
{
	for (size_t i = 0; i < v->n_devices; i++)
		for (enum knob_id id = 0; id < KNOB_MAX; id++) {
			const struct knob_state *k = &v->devices[i].knobs[id];

			/* Only a switch is on or off. */
			if (!k->supported || (!info && strcmp(knob_ops(id)->unit, "0|1") != 0))
				continue;
			put_sample(o, info ? "knob_info" : "knob_enabled", "",
				   v->devices[i].device->name);
			put_more(o, "knob", knob_ops(id)->name);
			if (info) {
				put_more(o, "value", k->value);
				put_more(o, "mode", knob_mode_to_string(k->mode));
			}
			put_value(o, info || (*k->value && strcmp(k->value, "0") != 0));
		}
}

static void put_decisions(const struct out *o, const struct view *v)
{
	static const char *const results[] = { "advised", "applied", "refused" };

	put_family(o, "decisions_total", "counter",
		   "Decisions since start, by how they ended.");
	for (enum knob_id id = 0; v->decisions && id < KNOB_MAX; id++)
		for (size_t r = 0; r < ELEMENTSOF(results); r++) {
			put_sample(o, "decisions_total", "", NULL);
			put_label(o->f, "knob", knob_ops(id)->name);
			put_more(o, "result", results[r]);
			put_value(o, v->decisions[id][r]);
		}
}

static void put_probes(const struct out *o, const struct view *v)
{
	put_family(o, "probe_attached", "gauge",
		   "1 if the measure is taken, and in which way; 0 if it is unavailable.");
	for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++) {
		enum way way = view_measure(v, m)->way;

		if (!view_needs(v, m))
			continue;
		put_sample(o, "probe_attached", "", NULL);
		put_label(o->f, "measure", measure_to_string(m));
		put_more(o, "way", way_to_string(way));
		put_value(o, way != WAY_NONE);
	}
}

static void put_filesystems(const struct out *o, const struct view *v)
{
	put_family(o, "filesystem_info", "info", "File systems under care.");
	for (size_t i = 0; i < v->n_devices; i++) {
		const struct device *d = v->devices[i].device;

		put_sample(o, "filesystem_info", "", d->name);
		put_more(o, "fstype", d->fstype);
		put_more(o, "uuid", d->uuid);
		put_more(o, "label", d->label);
		put_more(o, "mountpoint", d->mountpoint ? d->mountpoint : "");
		put_value(o, 1);
	}
}

static void put_number(const struct out *o, const char *name, const char *type, uint64_t n,
		       const char *help)
{
	put_family(o, name, type, help);
	fprintf(o->f, "fstuned_%s %llu\n", name, (unsigned long long)n);
}

static void put_daemon(const struct out *o, const struct view *v)
{
	put_number(o, "events_lost_total", "counter",
		   v->probe ? probe_events_lost(v->probe) : 0,
		   "Events of long waits that found the ring buffer full.");
	put_number(o, "log_dropped_total", "counter", v->log_dropped,
		   "Log messages that the journal did not take.");
	put_number(o, "paused", "gauge", v->paused_until_us > v->now_us,
		   "1 while decisions are paused.");
	put_family(o, "build_info", "info", "This daemon.");
	put_sample(o, "build_info", "", NULL);
	put_label(o->f, "version", FSTUNED_VERSION);
	put_value(o, 1);
}

int metrics_render(const struct view *v, bool openmetrics, char **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	const struct out o = { open_memstream(&text, &size), openmetrics };
	bool failed;

	if (!o.f)
		return -ENOMEM;
	put_histograms(&o, v);
	put_counters(&o, v);
	put_waiting(&o, v, "f2fs_waiting_requests",
		    "Tasks waiting for a checkpoint, as of the last sample.",
		    FIELD(f2fs.waiting));
	put_waiting(&o, v, "f2fs_waiting_requests_max",
		    "The most that ever waited at once since the device is watched.",
		    FIELD(f2fs.waiting_max));
	put_fast_commits(&o, v);
	put_fallbacks(&o, v);
	put_family(&o, "knob_enabled", "gauge", "1 if the knob is on.");
	put_knobs(&o, v, false);
	put_family(&o, "knob_info", "info", "Value and mode of the knob.");
	put_knobs(&o, v, true);
	put_decisions(&o, v);
	put_probes(&o, v);
	put_filesystems(&o, v);
	put_daemon(&o, v);
	if (openmetrics)
		fputs("# EOF\n", o.f);
	failed = ferror(o.f);
	/* fclose() hands over the buffer; it alone can still fail for want of memory. */
	if (fclose(o.f) != 0 || failed)
		return -ENOMEM;
	*ret = TAKE_PTR(text);
	return 0;
}
