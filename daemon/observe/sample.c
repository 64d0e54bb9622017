// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "discover.h"
#include "sample.h"
#include "../base/file.h"
#include "../base/time-util.h"

/*
 * An idle device's statistics are not read. What was read longer ago than this would bring
 * the other traffic of all that time into one tick, so it is begun anew.
 */
#define STAT_AGE_MAX_US (10 * USEC_PER_SEC)

/* The account of fast commits is for people and statistics: no decision waits for it. */
#define FAST_COMMITS_AGE_US (10 * USEC_PER_SEC)

/* Columns of /sys/dev/block/M:N/stat (block/genhd.c, part_stat_show()). */
enum {
	STAT_READS = 0,
	STAT_READ_MS = 3,
	STAT_WRITES = 4,
	STAT_WRITE_MS = 7,
	STAT_IN_FLIGHT = 8,
	STAT_BUSY_MS = 9,
	STAT_MIN = 11, /* what every kernel has */
	STAT_FLUSHES = 15,
	STAT_FLUSH_MS = 16,
	STAT_MAX = 17,
};

static void totals_free(struct totals *t)
{
	for (size_t m = 0; t && m < FST_MEASURE_MAX; m++)
		free(t->hist[m]);
	free(t);
}

void sampler_done(struct sampler *s)
{
	totals_free(s->last);
	free(s->fast_commits);
	*s = (struct sampler){ 0 };
}

/* --- service time --- */

/* `where` is relative to the device's directory. Returns how many columns there were. */
static int stat_read_columns(dev_t dev, const char *where, uint64_t ret[static STAT_MAX])
{
	char path[PATH_MAX], text[512], *p = text, *end;
	ssize_t r;
	int n;

	r = discover_path(path, sizeof(path), "/sys/dev/block/%u:%u/%s", major(dev), minor(dev),
			  where);
	if (r < 0)
		return (int)r;
	r = read_small_at(AT_FDCWD, path, text, sizeof(text));
	if (r < 0)
		return (int)r;
	memset(ret, 0, STAT_MAX * sizeof(*ret));
	for (n = 0; n < STAT_MAX; n++) {
		ret[n] = strtoull(p, &end, 10);
		if (end == p)
			break;
		p = end;
	}
	return n < STAT_MIN ? -EBADMSG : n;
}

/*
 * A flush is counted with the whole disk alone (block/blk-flush.c, blk_account_io_flush()),
 * which is a partition's parent directory; any other device has no statistics there. Where
 * nothing was ever counted nothing is known: device-mapper and md count flushes as writes.
 */
static int stat_read(dev_t dev, uint64_t ret[static STAT_MAX])
{
	uint64_t disk[STAT_MAX];
	int r = stat_read_columns(dev, "stat", ret);

	if (r < 0 || ret[STAT_FLUSHES] > 0 || stat_read_columns(dev, "../stat", disk) < 0)
		return r;
	ret[STAT_FLUSHES] = disk[STAT_FLUSHES];
	ret[STAT_FLUSH_MS] = disk[STAT_FLUSH_MS];
	return r;
}

/* Counters of requests only go back when the device is another one. */
static bool diff(uint64_t now, uint64_t before, uint64_t *ret)
{
	*ret = now - before;
	return now >= before;
}

/* Times are printed as 32 bits of milliseconds: seven weeks of one request in flight. */
static bool diff_ms(uint64_t now, uint64_t before, uint64_t *ret_us)
{
	uint32_t ms = (uint32_t)now - (uint32_t)before;

	*ret_us = ms * USEC_PER_MSEC;
	return ms <= INT32_MAX;
}

static void take_service(struct stat_reading *s, dev_t dev, uint64_t now_us,
			 struct service *ret)
{
	uint64_t now[STAT_MAX];
	const uint64_t *last = s->v;
	struct service v = { 0 };

	if (stat_read(dev, now) < 0) {
		s->have = false;
		return;
	}
	v.known = s->have && now_us - s->time_us <= STAT_AGE_MAX_US &&
		  diff(now[STAT_READS], last[STAT_READS], &v.reads) &&
		  diff(now[STAT_WRITES], last[STAT_WRITES], &v.writes) &&
		  diff(now[STAT_FLUSHES], last[STAT_FLUSHES], &v.flushes) &&
		  diff_ms(now[STAT_READ_MS], last[STAT_READ_MS], &v.read_us) &&
		  diff_ms(now[STAT_WRITE_MS], last[STAT_WRITE_MS], &v.write_us) &&
		  diff_ms(now[STAT_FLUSH_MS], last[STAT_FLUSH_MS], &v.flush_us) &&
		  diff_ms(now[STAT_BUSY_MS], last[STAT_BUSY_MS], &v.busy_us);
	v.in_flight = now[STAT_IN_FLIGHT];
	v.flushes_known = now[STAT_FLUSHES] > 0;
	memcpy(s->v, now, sizeof(now));
	s->time_us = now_us;
	s->have = true;
	if (v.known)
		*ret = v;
}

/* Of several devices one would pass for all of them: then nothing is said. */
static void take_services(struct sampler *s, const struct device *d, struct sample *ret)
{
	if (d->n_devices > 1)
		return;
	take_service(&s->stat, d->id.dev, ret->now_us, &ret->service);
	if (s->journal_dev != d->journal_dev)
		s->journal_stat.have = false;
	s->journal_dev = d->journal_dev;
	if (d->journal_dev && d->journal_dev != d->id.dev)
		take_service(&s->journal_stat, d->journal_dev, ret->now_us,
			     &ret->journal_service);
}

/* --- force_copy's own account --- */

/* Lines "name value"; those with other names are passed over. */
static bool copy_parse(const char *text, uint64_t *copied, uint64_t *avoided)
{
	bool have_copied = false, have_avoided = false;

	while (text) {
		unsigned long long v;

		if (sscanf(text, "copied_blocks %llu", &v) == 1) {
			*copied = v;
			have_copied = true;
		} else if (sscanf(text, "avoided_waits %llu", &v) == 1) {
			*avoided = v;
			have_avoided = true;
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return have_copied && have_avoided;
}

/* Where the patched kernel has it, and where the module for an unpatched one has. */
static bool copy_read(const char *sysroot, const char *journal, uint64_t *copied,
		      uint64_t *avoided)
{
	static const char *const places[] = { "%s/proc/fs/jbd2/%s/force_copy_stats",
					      "%s/proc/fs/jbd2_force_copy/%s.stats" };

	for (size_t i = 0; i < ELEMENTSOF(places); i++) {
		char path[PATH_MAX], text[1024];

		if ((size_t)snprintf(path, sizeof(path), places[i], sysroot, journal) <
			    sizeof(path) &&
		    read_small_at(AT_FDCWD, path, text, sizeof(text)) >= 0)
			return copy_parse(text, copied, avoided);
	}
	return false;
}

static void take_copy(struct sampler *s, const struct device *d, const char *sysroot,
		      struct sample *ret)
{
	uint64_t copied, avoided;
	bool have = d->journal[0] && copy_read(sysroot, d->journal, &copied, &avoided);

	/* Less than before: another mount's account, of which this is the beginning. */
	if (have && s->have_copy && copied >= s->last_copied && avoided >= s->last_avoided) {
		ret->copy_known = true;
		ret->copied_blocks = copied - s->last_copied;
		ret->avoided_waits = avoided - s->last_avoided;
	}
	s->have_copy = have;
	if (have) {
		s->last_copied = copied;
		s->last_avoided = avoided;
	}
}

/* --- ext4's account of its fast commits --- */

static bool fast_commits_wanted(struct sampler *s, const struct device *d, uint64_t now_us,
				bool active)
{
	bool news = !s->fast_commits_us || s->fast_commit_feature != d->fast_commit;

	s->fast_commits_due |= active;
	return news ||
	       (s->fast_commits_due && now_us - s->fast_commits_us >= FAST_COMMITS_AGE_US);
}

static void diff_fast_commits(const struct fc_info *now, const struct fc_info *before,
			      uint64_t interval_us, struct fast_commits *ret)
{
	struct fast_commits v = { .interval_us = interval_us };

	v.known = diff(now->commits, before->commits, &v.commits) &&
		  diff(now->ineligible, before->ineligible, &v.ineligible) &&
		  diff(now->blocks, before->blocks, &v.blocks);
	if (v.known)
		*ret = v;
}

/*
 * Where the device does not say whether it has the feature, fast commits do. What fell back
 * does not: before 5.17 the kernel counts every fsync of any ext4 there. (The mount option
 * fc_debug_force, without the feature, is for those who debug ext4.)
 */
static void take_fast_commits(struct sampler *s, struct probe *p, const struct device *d,
			      uint32_t slot, uint64_t now_us, struct sample *ret)
{
	uint64_t interval_us = now_us - s->fast_commits_us;
	struct fc_info now;

	s->fast_commits_us = now_us;
	s->fast_commits_due = false;
	s->fast_commit_feature = d->fast_commit;
	if (d->fast_commit == FEATURE_NO || fc_info_read(d->name, &now) < 0 ||
	    (d->fast_commit == FEATURE_UNKNOWN && !now.commits)) {
		free(s->fast_commits);
		s->fast_commits = NULL;
		return;
	}
	probe_count_fast_commits(p, slot);
	if (s->fast_commits)
		diff_fast_commits(&now, s->fast_commits, interval_us, &ret->fast_commits);
	else
		s->fast_commits = malloc(sizeof(now));
	if (s->fast_commits)
		*s->fast_commits = now;
}

/* --- counters of the probes --- */

/* True if the counters began anew since. */
static bool went_back(const struct fst_dev_stats *now, const struct totals *before)
{
	bool back = now->transactions < before->transactions ||
		    now->blocks_logged < before->blocks_logged ||
		    now->f2fs.merged_requests < before->f2fs.merged_requests ||
		    now->f2fs.overlapping < before->f2fs.overlapping;

	for (int m = 0; m < FST_MEASURE_MAX; m++)
		back |= before->hist[m] && now->hist[m].count < before->hist[m]->count;
	return back;
}

/* Makes room for all that was counted; what there was stays. */
static int totals_prepare(struct totals **t, const struct fst_dev_stats *now)
{
	if (!*t)
		*t = calloc(1, sizeof(**t));
	if (!*t)
		return -ENOMEM;
	for (int m = 0; m < FST_MEASURE_MAX; m++) {
		if (now->hist[m].count == 0 || (*t)->hist[m])
			continue;
		(*t)->hist[m] = calloc(1, sizeof(*(*t)->hist[m]));
		if (!(*t)->hist[m])
			return -ENOMEM;
	}
	return 0;
}

static void totals_set(struct totals *t, const struct fst_dev_stats *now)
{
	memcpy(t->journal, now->journal, sizeof(t->journal));
	t->transactions = now->transactions;
	t->blocks_logged = now->blocks_logged;
	t->handles = now->handles;
	t->ckpt_transactions = now->ckpt_transactions;
	t->ckpt_forced = now->ckpt_forced;
	t->ckpt_written = now->ckpt_written;
	t->ckpt_dropped = now->ckpt_dropped;
	t->fast_commit_blocks = now->fast_commit_blocks;
	t->f2fs = now->f2fs;
	for (int m = 0; m < FST_MEASURE_MAX; m++)
		if (t->hist[m])
			*t->hist[m] = now->hist[m];
}

static void take_f2fs(const struct fst_f2fs_counters *now,
		      const struct fst_f2fs_counters *before, struct sample *ret)
{
	ret->merged_requests = now->merged_requests - before->merged_requests;
	ret->overlapping_requests = now->overlapping - before->overlapping;
	ret->waiting_requests = now->waiting;
}

static int take_counters(struct sampler *s, struct probe *p, dev_t dev, struct sample *ret)
{
	static const struct totals nothing;
	_cleanup_free_ struct fst_dev_stats *now = malloc(sizeof(*now));
	const struct totals *before;
	int r;

	if (!now)
		return -ENOMEM;
	r = probe_read(p, dev, now);
	if (r < 0)
		return r;
	r = totals_prepare(&s->last, now);
	if (r < 0)
		return r;
	before = went_back(now, s->last) ? &nothing : s->last;
	for (int m = 0; m < FST_MEASURE_MAX; m++)
		ret->active |= hist_diff(&now->hist[m], before->hist[m], &ret->hist[m]);
	ret->transactions = now->transactions - before->transactions;
	ret->blocks_logged = now->blocks_logged - before->blocks_logged;
	ret->fast_commit_blocks = now->fast_commit_blocks - before->fast_commit_blocks;
	take_f2fs(&now->f2fs, &before->f2fs, ret);
	totals_set(s->last, now);
	return 0;
}

/* --- sample --- */

static uint32_t measured(const struct probe *p)
{
	uint32_t bits = 0;

	for (int m = 0; m < FST_MEASURE_MAX; m++)
		if (probe_measure(p, (enum fst_measure)m)->way != WAY_NONE)
			bits |= UINT32_C(1) << m;
	return bits;
}

int sample_take(struct sampler *s, struct probe *p, const struct device *d, uint32_t slot,
		const char *sysroot, uint64_t now_us, double memory_pressure, bool full,
		struct sample *ret)
{
	/* Read before the counters: what comes between is seen next time, not never. */
	uint64_t activity = probe_activity(p, slot);
	bool active = activity != s->last_activity;
	int r;

	*ret = (struct sample){
		.now_us = now_us,
		.interval_us = s->last_us ? now_us - s->last_us : 0,
		.measured = measured(p),
		.block_size = d->block_size,
		.memory_pressure = memory_pressure,
	};
	s->last_us = now_us;
	if (active || full) {
		r = take_counters(s, p, d->id.dev, ret);
		if (r < 0)
			return r;
		s->last_activity = activity;
		take_services(s, d, ret);
		take_copy(s, d, sysroot, ret);
		ret->active |= ret->transactions || ret->blocks_logged || ret->copied_blocks ||
			       ret->avoided_waits;
	}
	if (fast_commits_wanted(s, d, now_us, active) || full)
		take_fast_commits(s, p, d, slot, now_us, ret);
	return 0;
}

double memory_pressure_read(void)
{
	char path[PATH_MAX], text[256];
	double avg10;

	if (discover_path(path, sizeof(path), "/proc/pressure/memory") < 0 ||
	    read_small_at(AT_FDCWD, path, text, sizeof(text)) < 0 ||
	    sscanf(text, "some avg10=%lf", &avg10) != 1)
		return -1.0;
	return avg10;
}
