// SPDX-License-Identifier: GPL-2.0-or-later
/* One line for a tired person: who waits for what, and whether anything can be done. */
#include <string.h>
#include "policy.h"

/* etcd's guidance for a disk that is good enough: log fsync p99 and backend commit p99. */
#define FSYNC_SLOW_NS (10 * USEC_PER_MSEC * NSEC_PER_USEC)
#define COMMIT_SLOW_NS (25 * USEC_PER_MSEC * NSEC_PER_USEC)
/* jbd2's maintainers: a handle held longer is worth a look; commits wait for open handles. */
#define HANDLE_LONG_NS (20 * USEC_PER_MSEC * NSEC_PER_USEC)
/*
 * A commit is at least a write and a flush, one after the other. Where the two take half of
 * it, the other half is their queueing, and the file system itself has no large share left.
 */
#define DEVICE_SHARE 0.5
/* Few events make no quantile: one slow commit in a minute is the timer's, not a trouble. */
#define EVENTS_MIN 3

#define OWN_LEN (2 * TIME_STR_MAX + 32) /* of own_text() */

struct facts {
	struct hist shadow, log_space, locking, request, readers;
	struct hist commit, fsync; /* of an f2fs: checkpoints, and its fsyncs */
	const char *commits;       /* what they are called */
	bool is_f2fs;
	struct service service, journal;
	uint64_t span_us;
	const struct knob_view *k;
	const struct policy_force_copy *p;
	const struct policy_config *c;
	char *text;
	size_t size;
};

struct when {
	char s[TIME_STR_MAX];
};

static struct when time_us(double us)
{
	struct when w;

	format_time_us(w.s, sizeof(w.s), (uint64_t)us);
	return w;
}

static struct when time_ns(uint64_t ns)
{
	return time_us((double)ns / (double)NSEC_PER_USEC);
}

static double mean_ns(const struct hist *h)
{
	return h->count ? (double)h->sum_ns / (double)h->count : 0;
}

static double mean_us(uint64_t sum_us, uint64_t count)
{
	return count ? (double)sum_us / (double)count : 0;
}

/* Waiting per second of time. */
static double stall_us_per_s(const struct facts *f, const struct hist *h)
{
	double span_us = (double)f->span_us;

	/* A minute that has only begun: do not make a stall of one short wait. */
	if (span_us < (double)USEC_PER_SEC)
		span_us = (double)USEC_PER_SEC;
	return (double)h->sum_ns / (double)NSEC_PER_USEC * (double)USEC_PER_SEC / span_us;
}

static bool stalls(const struct facts *f, const struct hist *h)
{
	return h->count > 0 && (stall_us_per_s(f, h) >= (double)f->c->stall_us_per_s ||
				h->max_ns / NSEC_PER_USEC >= f->c->long_wait_us);
}

static bool is_on(const struct knob_view *k)
{
	return k->supported && *k->value && strcmp(k->value, "0") != 0;
}

/* --- force_copy --- */

/* The last minute has waits from before it was turned on; the policy's window has not. */
static bool helped(const struct facts *f, const struct model *m, uint64_t now_us)
{
	double now_stall = (double)policy_force_copy_stall_us_per_s(f->p, f->c, now_us);
	uint64_t copied, avoided;
	bool known = model_copy(m, now_us, &copied, &avoided);
	char before[48] = "";

	if (!is_on(f->k) || now_stall >= (double)f->c->stall_us_per_s)
		return false;
	if (f->p->stall_before_us_per_s > 0)
		snprintf(before, sizeof(before), ", before %s/s",
			 time_us((double)f->p->stall_before_us_per_s).s);
	if (known)
		snprintf(f->text, f->size,
			 "force_copy is on: %llu waits avoided in %s; waits now %s/s%s",
			 (unsigned long long)avoided, time_us((double)f->span_us).s,
			 time_us(now_stall).s, before);
	else
		snprintf(f->text, f->size, "force_copy is on: shadow waits now %s/s%s",
			 time_us(now_stall).s, before);
	return true;
}

/* Why it is not on, or not enough. */
static const char *why_not(const struct facts *f, double memory_pressure)
{
	if (is_on(f->k))
		return "although force_copy is on";
	if (!f->k->supported)
		return "the kernel has no force_copy";
	if (f->k->mode == KNOB_MANUAL)
		return "force_copy is pinned off";
	if (f->k->mode == KNOB_OBSERVE)
		return "advice: set force_copy";
	if (f->p->state == FC_FROZEN)
		return "policy frozen, it changed too often";
	if (memory_pressure > f->c->memory_pressure_max)
		return "no memory for force_copy";
	if (f->p->state == FC_TRIAL)
		return "force_copy is off for a trial";
	return "force_copy is not on yet";
}

static bool shadow(const struct facts *f, const struct model *m)
{
	bool advised = f->k->mode == KNOB_OBSERVE && f->p->advised && f->shadow.count > 0;

	if (!stalls(f, &f->shadow) && !advised)
		return false;
	snprintf(f->text, f->size, "shadow waits %s/s (p99 %s, longest %s): %s",
		 time_us(stall_us_per_s(f, &f->shadow)).s,
		 time_ns(hist_quantile_ns(&f->shadow, 0.99)).s, time_ns(f->shadow.max_ns).s,
		 why_not(f, model_memory_pressure(m)));
	return true;
}

/* --- the rest --- */

static bool log_space(const struct facts *f)
{
	if (!stalls(f, &f->log_space))
		return false;
	snprintf(
		f->text, f->size,
		"journal too small: log-space waits %s/s (longest %s); a larger one would help",
		time_us(stall_us_per_s(f, &f->log_space)).s, time_ns(f->log_space.max_ns).s);
	return true;
}

static bool slow(const struct hist *h, uint64_t limit_ns)
{
	return h->count >= EVENTS_MIN && hist_quantile_ns(h, 0.99) > limit_ns;
}

/* A write and a flush of a device, one after the other. */
static double own_us(const struct service *s)
{
	return mean_us(s->write_us, s->writes) + mean_us(s->flush_us, s->flushes);
}

/* What is known of a device's figures: nothing is said of what it does not count. */
static void own_text(const struct service *s, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	if (s->flushes_known && s->flushes > 0)
		n = (size_t)snprintf(text, size, "flush %s%s",
				     time_us(mean_us(s->flush_us, s->flushes)).s,
				     s->writes > 0 ? ", " : " mean");
	if (s->writes > 0 && n < size)
		snprintf(text + n, size - n, "writes %s mean",
			 time_us(mean_us(s->write_us, s->writes)).s);
}

/*
 * Mean against mean: the device's figures have no quantiles. With an external journal the
 * slower of the two is meant.
 */
static bool device(const struct facts *f)
{
	bool commits = slow(&f->commit, COMMIT_SLOW_NS);
	const struct hist *h = commits ? &f->commit : &f->fsync;
	bool external = f->journal.known && own_us(&f->journal) > own_us(&f->service);
	const struct service *s = external ? &f->journal : &f->service;
	char own[OWN_LEN];

	if (!s->known || (!commits && !slow(&f->fsync, FSYNC_SLOW_NS)))
		return false;
	if (own_us(s) * (double)NSEC_PER_USEC < DEVICE_SHARE * mean_ns(h))
		return false;
	own_text(s, own, sizeof(own));
	snprintf(f->text, f->size, "%sdevice: %s; %s p99 %s: %s",
		 external ? "the journal's " : "", own, commits ? f->commits : "fsync",
		 time_ns(hist_quantile_ns(h, 0.99)).s,
		 external || f->is_f2fs ? "not the file system" : "not the journal");
	return true;
}

static bool commit(const struct facts *f)
{
	char own[OWN_LEN], journal[OWN_LEN];

	if (slow(&f->locking, HANDLE_LONG_NS)) {
		snprintf(f->text, f->size, "commits wait for open handles: p99 %s, longest %s",
			 time_ns(hist_quantile_ns(&f->locking, 0.99)).s,
			 time_ns(f->locking.max_ns).s);
		return true;
	}
	if (!slow(&f->commit, COMMIT_SLOW_NS) && !slow(&f->fsync, FSYNC_SLOW_NS))
		return false;
	own_text(&f->service, own, sizeof(own));
	own_text(&f->journal, journal, sizeof(journal));
	snprintf(f->text, f->size, "commits p99 %s, fsync p99 %s%s%s%s%s",
		 time_ns(hist_quantile_ns(&f->commit, 0.99)).s,
		 time_ns(hist_quantile_ns(&f->fsync, 0.99)).s, *own ? "; device " : "", own,
		 *journal ? "; journal's " : "", journal);
	return true;
}

static bool checkpoint(const struct facts *f)
{
	char own[OWN_LEN];

	if (!slow(&f->commit, COMMIT_SLOW_NS) && !slow(&f->fsync, FSYNC_SLOW_NS))
		return false;
	if (stalls(f, &f->readers)) {
		snprintf(f->text, f->size,
			 "checkpoints p99 %s: they wait for tasks in the file system, longest "
			 "%s",
			 time_ns(hist_quantile_ns(&f->commit, 0.99)).s,
			 time_ns(f->readers.max_ns).s);
		return true;
	}
	own_text(&f->service, own, sizeof(own));
	snprintf(f->text, f->size, "checkpoints p99 %s, who asks waits p99 %s%s%s",
		 time_ns(hist_quantile_ns(&f->commit, 0.99)).s,
		 time_ns(hist_quantile_ns(&f->request, 0.99)).s, *own ? "; device " : "", own);
	return true;
}

static void good(const struct facts *f)
{
	size_t n = 0;

	snprintf(f->text, f->size, "nobody waits long");
	if (f->commit.count > 0)
		n = (size_t)snprintf(f->text, f->size, "%s p99 %s", f->commits,
				     time_ns(hist_quantile_ns(&f->commit, 0.99)).s);
	if (f->fsync.count > 0 && n < f->size)
		snprintf(f->text + n, f->size - n, "%sfsync p99 %s", n ? ", " : "",
			 time_ns(hist_quantile_ns(&f->fsync, 0.99)).s);
}

/* A device has the one or the other. */
static bool either(const struct model *m, enum fst_measure usual, enum fst_measure f2fs,
		   uint64_t now_us, struct hist *ret)
{
	model_window(m, usual, now_us, ret, NULL);
	if (ret->count)
		return false;
	model_window(m, f2fs, now_us, ret, NULL);
	return ret->count > 0;
}

enum verdict verdict_of(const struct model *m, const struct knob_view *force_copy,
			const struct policy_force_copy *p, const struct policy_config *c,
			uint64_t now_us, char *text, size_t size)
{
	struct facts f = {
		.k = force_copy,
		.p = p,
		.c = c,
		.text = text,
		.size = size < VERDICT_TEXT_LEN + 1 ? size : VERDICT_TEXT_LEN + 1,
	};

	if (model_idle(m, now_us)) {
		snprintf(text, size, "nothing happened in the last minute");
		return VERDICT_IDLE;
	}
	model_window(m, FST_SHADOW_WAIT, now_us, &f.shadow, &f.span_us);
	model_window(m, FST_LOG_SPACE_WAIT, now_us, &f.log_space, NULL);
	f.is_f2fs = either(m, FST_COMMIT, FST_F2FS_CHECKPOINT, now_us, &f.commit);
	f.is_f2fs |= either(m, FST_FSYNC, FST_F2FS_FSYNC, now_us, &f.fsync);
	f.commits = f.is_f2fs ? "checkpoints" : "commits";
	model_window(m, FST_COMMIT_LOCKING, now_us, &f.locking, NULL);
	model_window(m, FST_F2FS_REQUEST, now_us, &f.request, NULL);
	model_window(m, FST_F2FS_WRITER_READERS, now_us, &f.readers, NULL);
	model_service(m, now_us, &f.service);
	model_journal_service(m, now_us, &f.journal);

	if (helped(&f, m, now_us))
		return VERDICT_HELPED;
	if (shadow(&f, m))
		return VERDICT_SHADOW;
	if (log_space(&f))
		return VERDICT_LOG_SPACE;
	if (device(&f))
		return VERDICT_DEVICE;
	if (f.is_f2fs ? checkpoint(&f) : commit(&f))
		return f.is_f2fs ? VERDICT_CHECKPOINT : VERDICT_COMMIT;
	good(&f);
	return VERDICT_GOOD;
}

const char *verdict_to_string(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_IDLE] = "idle",     [VERDICT_GOOD] = "good",
		[VERDICT_SHADOW] = "shadow", [VERDICT_HELPED] = "helped",
		[VERDICT_DEVICE] = "device", [VERDICT_LOG_SPACE] = "log-space",
		[VERDICT_COMMIT] = "commit", [VERDICT_CHECKPOINT] = "checkpoint",
	};

	return (size_t)v < ELEMENTSOF(names) ? names[v] : "unknown";
}
