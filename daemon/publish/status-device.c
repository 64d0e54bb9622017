// SPDX-License-Identifier: GPL-2.0-or-later
/* One device as a JSON object: who it is, what it waited for, what is done about it. */
#include <string.h>
#include <sys/sysmacros.h>
#include "../base/units.h"
#include "status-internal.h"

#define DECISIONS_SHOWN 5
#define FROZEN "too many changes" /* the one reason there is */

static uint64_t us(uint64_t ns)
{
	return (ns + NSEC_PER_USEC / 2) / NSEC_PER_USEC;
}

static void put_identity(struct doc *j, const struct device *d)
{
	doc_str(j, "device", d->name);
	doc_strf(j, "dev", "%u:%u", major(d->id.dev), minor(d->id.dev));
	doc_str(j, "fstype", d->fstype);
	doc_str(j, "mountpoint", d->mountpoint);
	doc_u64(j, "mounts", d->n_mounts);
	doc_str(j, "uuid", *d->uuid ? d->uuid : NULL);
	doc_str(j, "label", *d->label ? d->label : NULL);
	doc_bool(j, "read_only", d->read_only);
	doc_str(j, "journal", *d->journal ? d->journal : NULL);
}

static void put_identity_deep(struct doc *j, const struct device *d)
{
	doc_str(j, "mount_options", d->mount_options);
	doc_strf(j, "journal_dev", "%u:%u", major(d->journal_dev), minor(d->journal_dev));
	doc_u64(j, "journal_bytes", d->journal_bytes);
	doc_u64(j, "block_bytes", d->block_size);
	doc_u64(j, "devices", d->n_devices);
}

/* What is worse than any wait. */
static void put_warning(struct doc *j, const struct device *d)
{
	doc_str(j, "warning",
		d->fast_commits_lose
			? "this kernel's fast commits may lose files: see fstunectl doctor"
			: NULL);
}

void status_put_window(struct doc *j, const struct hist *h, uint64_t span_us)
{
	double span_s = (double)span_us / USEC_PER_SEC;

	doc_u64(j, "count", h->count);
	doc_double(j, "per_s", span_us ? (double)h->count / span_s : 0);
	doc_double(j, "time_us_per_s", span_us ? (double)us(h->sum_ns) / span_s : 0);
	doc_u64(j, "mean_us", h->count ? us(h->sum_ns / h->count) : 0);
	doc_u64(j, "p50_us", us(hist_quantile_ns(h, 0.5)));
	doc_u64(j, "p99_us", us(hist_quantile_ns(h, 0.99)));
	doc_u64(j, "p999_us", us(hist_quantile_ns(h, 0.999)));
	doc_u64(j, "max_us", us(h->max_ns));
}

static void put_measures(struct doc *j, const struct view *v, const struct device_view *dv,
			 bool deep)
{
	bool idle = model_idle(dv->model, v->now_us);

	doc_open_object(j, "measures");
	for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++) {
		const struct fst_hist *total = dv->stats ? dv->stats->hist[m] : NULL;
		struct hist window = { 0 };
		uint64_t span_us = 0;

		if (!idle)
			model_window(dv->model, m, v->now_us, &window, &span_us);
		if (window.count == 0 && (!deep || !total))
			continue;
		doc_open_object(j, measure_to_string(m));
		status_put_window(j, &window, span_us);
		if (deep && total) {
			doc_u64(j, "total_count", total->count);
			doc_u64(j, "total_time_us", us(total->sum_ns));
			doc_u64(j, "total_max_us", us(total->max_ns));
		}
		doc_close(j);
	}
	doc_close(j);
}

static void put_requests(struct doc *j, const char *key, uint64_t n, uint64_t time_us)
{
	doc_open_object(j, key);
	doc_u64(j, "count", n);
	doc_u64(j, "mean_us", n ? time_us / n : 0);
	doc_close(j);
}

static void put_service(struct doc *j, const char *key, const struct service *s)
{
	if (!s->known) {
		doc_null(j, key);
		return;
	}
	doc_open_object(j, key);
	put_requests(j, "reads", s->reads, s->read_us);
	put_requests(j, "writes", s->writes, s->write_us);
	if (s->flushes_known)
		put_requests(j, "flushes", s->flushes, s->flush_us);
	else
		doc_null(j, "flushes");
	doc_u64(j, "busy_us", s->busy_us);
	doc_u64(j, "in_flight", s->in_flight);
	doc_close(j);
}

static void put_services(struct doc *j, const struct view *v, const struct device_view *dv)
{
	struct service s;

	model_service(dv->model, v->now_us, &s);
	put_service(j, "service", &s);
	model_journal_service(dv->model, v->now_us, &s);
	put_service(j, "journal_service", &s);
}

/* A point in time as time passed since then, or until it; null if there is none. */
static void put_ago(struct doc *j, const char *key, uint64_t now_us, uint64_t then_us)
{
	if (then_us == 0 || then_us > now_us)
		doc_null(j, key);
	else
		doc_u64(j, key, now_us - then_us);
}

static void put_ahead(struct doc *j, const char *key, uint64_t now_us, uint64_t then_us)
{
	if (then_us <= now_us || then_us == USEC_INFINITY)
		doc_null(j, key);
	else
		doc_u64(j, key, then_us - now_us);
}

/* What force_copy did in the last minute, where the kernel tells. */
static void put_copy(struct doc *j, const struct view *v, const struct device_view *dv)
{
	uint64_t copied, avoided;

	if (!model_copy(dv->model, v->now_us, &copied, &avoided)) {
		doc_null(j, "copied_bytes");
		doc_null(j, "avoided_waits");
		return;
	}
	doc_u64(j, "copied_bytes", copied * dv->device->block_size);
	doc_u64(j, "avoided_waits", avoided);
}

static void put_pressure(struct doc *j, const struct model *m)
{
	double percent = model_memory_pressure(m);

	if (percent < 0)
		doc_null(j, "memory_pressure_percent");
	else
		doc_double(j, "memory_pressure_percent", percent);
}

/* The part that is of every knob. */
static void put_summary(struct doc *j, const struct view *v, const struct policy_summary *s)
{
	doc_open_object(j, "policy");
	doc_str(j, "state", s->state);
	doc_str(j, "frozen", s->frozen_until_us ? FROZEN : NULL);
	put_ago(j, "state_for_us", v->now_us, s->since_us);
	put_ago(j, "last_change_ago_us", v->now_us, s->last_change_us);
	put_ahead(j, "next_trial_in_us", v->now_us, s->next_trial_us);
	doc_u64(j, "trial_interval_us", s->trial_interval_us);
	put_ahead(j, "frozen_for_us", v->now_us, s->frozen_until_us);
	doc_str(j, "note", *s->note ? s->note : NULL);
	doc_close(j);
}

static void put_knobs(struct doc *j, const struct view *v, const struct device_view *dv)
{
	doc_open_array(j, "knobs");
	for (enum knob_id id = 0; id < KNOB_MAX; id++) {
		struct policy_summary s;

		if (!knob_concerns(id, dv->device))
			continue;
		policy_ops(id)->summarise(dv->policy, &s);
		doc_open_object(j, NULL);
		status_put_knob(j, &dv->knobs[id]);
		put_summary(j, v, &s);
		doc_close(j);
	}
	doc_close(j);
}

/* force_copy's, with the figures that it goes by. */
static void put_policy(struct doc *j, const struct view *v, const struct device_view *dv,
		       bool deep)
{
	const struct policy_force_copy *p = &dv->policy->force_copy;

	doc_open_object(j, "policy");
	doc_str(j, "state", fc_state_to_string(p->state));
	doc_u64(j, "stall_us_per_s",
		policy_force_copy_stall_us_per_s(p, dv->config, v->now_us));
	doc_u64(j, "stall_limit_us_per_s", dv->config->stall_us_per_s);
	doc_str(j, "frozen", p->state == FC_FROZEN ? FROZEN : NULL);
	if (deep) {
		put_ago(j, "state_for_us", v->now_us, p->since_us);
		put_ago(j, "last_change_ago_us", v->now_us, p->changes.last_us);
		put_ago(j, "quiet_for_us", v->now_us, p->quiet_since_us);
		put_ahead(j, "next_trial_in_us", v->now_us, p->next_trial_us);
		doc_u64(j, "trial_interval_us", p->trial_interval_us);
		put_ahead(j, "frozen_for_us", v->now_us, p->changes.frozen_until_us);
		doc_double(j, "load_blocks_per_s", p->load_blocks_per_s);
		doc_u64(j, "long_wait_us", dv->config->long_wait_us);
		put_pressure(j, dv->model);
		doc_bool(j, "advised", p->advised);
		put_copy(j, v, dv);
	}
	doc_close(j);
}

static void put_actor(struct doc *j, const char *key, const struct fst_actor *a)
{
	char comm[FST_COMM_LEN + 1] = "";

	if (a->pid == 0) {
		doc_null(j, key);
		return;
	}
	memcpy(comm, a->comm, FST_COMM_LEN);
	doc_open_object(j, key);
	doc_str(j, "comm", comm);
	doc_u64(j, "pid", a->tgid);
	doc_u64(j, "tid", a->pid);
	if (a->cgroup)
		doc_u64(j, "cgroup_id", a->cgroup);
	else
		doc_null(j, "cgroup_id");
	doc_close(j);
}

static void put_outliers(struct doc *j, const struct device_view *dv)
{
	doc_open_array(j, "outliers");
	for (size_t i = 0; i < dv->n_outliers; i++) {
		const struct fst_event *e = &dv->outliers[i].event;

		if (e->measure >= FST_MEASURE_MAX)
			continue;
		doc_open_object(j, NULL);
		doc_u64(j, "time_us", dv->outliers[i].time_us);
		doc_str(j, "measure", measure_to_string(e->measure));
		doc_u64(j, "duration_us", us(e->duration_ns));
		put_actor(j, "waiter", &e->waiter);
		put_actor(j, "committer", &e->committer);
		doc_close(j);
	}
	doc_close(j);
}

/* What an f2fs's merging thread did, and how many waited for it, or for their own checkpoints.
 */
static void put_f2fs(struct doc *j, const struct device_view *dv)
{
	const struct totals *s = dv->stats;

	if (!s || dv->device->type != DEVICE_F2FS) {
		doc_null(j, "f2fs");
		return;
	}
	doc_open_object(j, "f2fs");
	doc_u64(j, "merged_requests", s->f2fs.merged_requests);
	doc_u64(j, "overlapping_requests", s->f2fs.overlapping);
	doc_u64(j, "waiting", s->f2fs.waiting);
	doc_u64(j, "waiting_max", s->f2fs.waiting_max);
	doc_close(j);
}

static void put_counters(struct doc *j, const struct device_view *dv)
{
	const struct totals *s = dv->stats;

	if (!s || !dv->device->has_journal) {
		doc_null(j, "counters");
		return;
	}
	doc_open_object(j, "counters");
	doc_u64(j, "transactions", s->transactions);
	doc_u64(j, "blocks_logged", s->blocks_logged);
	doc_u64(j, "handles", s->handles);
	doc_u64(j, "checkpoint_transactions", s->ckpt_transactions);
	doc_u64(j, "checkpoint_forced", s->ckpt_forced);
	doc_u64(j, "checkpoint_buffers_written", s->ckpt_written);
	doc_u64(j, "checkpoint_buffers_dropped", s->ckpt_dropped);
	doc_u64(j, "fast_commit_blocks", s->fast_commit_blocks);
	doc_close(j);
}

static void put_fast_commits(struct doc *j, const struct fc_info *f)
{
	if (!f) {
		doc_null(j, "fast_commit");
		return;
	}
	doc_open_object(j, "fast_commit");
	doc_u64(j, "commits", f->commits);
	doc_u64(j, "ineligible", f->ineligible);
	doc_u64(j, "blocks", f->blocks);
	if (f->average_us)
		doc_u64(j, "average_us", f->average_us);
	else
		doc_null(j, "average_us");
	doc_open_array(j, "reasons");
	for (unsigned i = 0; i < f->n_reasons; i++) {
		doc_open_object(j, NULL);
		doc_str(j, "reason", f->reasons[i].name);
		doc_u64(j, "count", f->reasons[i].count);
		doc_close(j);
	}
	doc_close(j);
	doc_close(j);
}

static void put_decisions(struct doc *j, const struct view *v, const char *device)
{
	size_t shown = 0, first = v->n_history;

	while (first > 0 && shown < DECISIONS_SHOWN)
		if (strcmp(view_history(v, --first)->device, device) == 0)
			shown++;
	doc_open_array(j, "decisions");
	for (size_t i = first; i < v->n_history; i++)
		if (strcmp(view_history(v, i)->device, device) == 0)
			status_put_decision(j, view_history(v, i));
	doc_close(j);
}

void status_put_device(struct doc *j, const struct view *v, const struct device_view *dv,
		       bool deep)
{
	doc_open_object(j, NULL);
	put_identity(j, dv->device);
	doc_bool(j, "measured", dv->measured);
	if (deep)
		put_identity_deep(j, dv->device);
	put_warning(j, dv->device);
	doc_str(j, "verdict", verdict_to_string(dv->verdict));
	doc_str(j, "verdict_text", dv->verdict_text);
	put_measures(j, v, dv, deep);
	put_knobs(j, v, dv);
	if (dv->device->type == DEVICE_F2FS)
		doc_null(j, "policy"); /* of force_copy, which needs a journal */
	else
		put_policy(j, v, dv, deep);
	if (deep) {
		put_services(j, v, dv);
		put_counters(j, dv);
		put_f2fs(j, dv);
		put_fast_commits(j, dv->fast_commits);
		put_decisions(j, v, dv->device->name);
		put_outliers(j, dv);
	}
	doc_close(j);
}
