// SPDX-License-Identifier: GPL-2.0-or-later
/* Giving back what is still ours, from the ledger and the knob files alone. */
#include <string.h>
#include "../base/log.h"
#include "../base/worker.h"
#include "../base/time-util.h"
#include "actuator-internal.h"
#include "change-log.h"

static bool path_is_place(const char *path, const char *sysroot, enum knob_id knob)
{
	const char *place = knob_ops(knob)->place;
	size_t n = strlen(sysroot);

	return strncmp(path, sysroot, n) == 0 && strncmp(path + n, place, strlen(place)) == 0;
}

/* 1: the mount that the entry is about is there, and its file one that a knob can be. 0,
 * -errno. */
static int is_there(const struct ledger_entry *e, const char *sysroot)
{
	int r = entry_is_stale(e);

	if (r < 0)
		return log_warning_errno(
			r, "%s: is it still the same mount? Not given back: %m", e->device);
	if (r > 0) {
		log_debug("%s: the mount whose %s was set is gone", e->device,
			  knob_ops(e->knob)->name);
		return 0;
	}
	if (!path_is_place(e->path, sysroot, e->knob)) {
		log_warning("%s: %s is no place of a knob, left alone", e->device, e->path);
		return 0;
	}
	return 1;
}

/*
 * The intent goes first here too: a daemon that starts after a SIGKILL must not take what we
 * gave back for a foreign write. But where it cannot be stored, giving back matters more.
 */
static void note_intent(struct ledger *l, const struct ledger_entry *e, const char *value)
{
	struct ledger_entry intent = *e;
	int r;

	intent.state = LEDGER_INTENT;
	intent.reason = REASON_RESTORED;
	intent.pinned = intent.from_pinned = false;
	*intent.by = '\0';
	snprintf(intent.from, sizeof(intent.from), "%s", value);
	memcpy(intent.written, e->original, sizeof(intent.written));
	intent.time_us = now_realtime_us();
	r = ledger_put(l, &intent);
	if (r < 0)
		log_warning_errno(r, "%s: %m", l->path);
}

/*
 * A knob whose write hangs must not keep the others waiting: it gets this long, then its entry
 * stays in the ledger. Many of them still fit into the restore unit's TimeoutStopSec=.
 */
#define RESTORE_DEADLINE_US (2 * USEC_PER_SEC)

/* A reconfiguration may wait for a checkpoint, which on a slow disk takes seconds. */
#define RECONFIGURE_DEADLINE_US (5 * USEC_PER_SEC)

struct setting {
	const struct knob_ops *ops;
	char path[sizeof(((struct ledger_entry *)NULL)->path)];
	char value[KNOB_VALUE_MAX];
	char detail[160]; /* of a failure, beyond its errno; "" */
};

/* In the worker: writes and reads back. */
static int set_knob(void *arg)
{
	struct setting *s = arg;
	char now[KNOB_VALUE_MAX];
	int r = knob_write(s->ops, s->path, s->value, s->detail, sizeof(s->detail));

	if (r == 0)
		r = s->ops->read(s->path, now);
	return r == 0 && strcmp(now, s->value) != 0 ? -EIO : r;
}

/* -ETIMEDOUT: it has not returned, and may yet be done. The knob's own words go before `why`.
 */
static int set_within_deadline(const struct ledger_entry *e, char *why, size_t why_size)
{
	static const struct worker_ops ops = { .run = set_knob, .deadline_us = USEC_INFINITY };
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(worker_freep) struct worker *w = NULL;
	uint64_t deadline_us =
		knob_ops(e->knob)->reconfigures ? RECONFIGURE_DEADLINE_US : RESTORE_DEADLINE_US;
	struct setting *s = calloc(1, sizeof(*s));
	int r, result;

	if (!s)
		return -ENOMEM;
	s->ops = knob_ops(e->knob);
	memcpy(s->path, e->path, sizeof(s->path));
	memcpy(s->value, e->original, sizeof(s->value));
	r = sd_event_new(&event);
	if (r < 0) {
		free(s);
		return r;
	}
	r = worker_start(&w, event, &ops, s, NULL);
	if (r < 0)
		return r;
	if (!worker_wait(w, deadline_us, &result))
		return -ETIMEDOUT;
	s = worker_arg(w);
	if (result < 0 && *s->detail)
		snprintf(why, why_size, "%s", s->detail);
	return result;
}

/* 1 written, 0 nothing to write, -errno. */
static int give_back(struct ledger *l, const struct ledger_entry *e, const char *value)
{
	struct decision d = { .knob = e->knob, .reason = REASON_RESTORED };
	int r;

	if (strcmp(value, e->original) == 0)
		return 0;
	snprintf(d.from, sizeof(d.from), "%s", value);
	memcpy(d.to, e->original, sizeof(d.to));
	snprintf(d.why, sizeof(d.why), "given back as it was found");
	note_intent(l, e, value);
	r = set_within_deadline(e, d.why, sizeof(d.why));
	change_log(e->device, &d, r);
	return r < 0 ? r : 1;
}

struct restoring {
	struct ledger *ledger;
	const char *sysroot;
	bool (*going_down)(void); /* may wait for an answer, so not again after a yes */
	bool down;
};

/* A mount option goes with the mount; to reconfigure what is about to be unmounted only delays.
 */
static bool is_left_to_shutdown(struct restoring *s, const struct ledger_entry *e)
{
	if (!knob_ops(e->knob)->reconfigures || !s->going_down)
		return false;
	s->down = s->down || s->going_down();
	if (!s->down)
		return false;
	log_info("%s: %s is left as it is: the system is going down", e->device,
		 knob_ops(e->knob)->name);
	return true;
}

/* *ret_keep: the entry stays. Returns 1 if the knob was written, 0 if not, -errno. */
static int restore(struct restoring *s, const struct ledger_entry *e, bool *ret_keep)
{
	char value[KNOB_VALUE_MAX];
	int r;

	r = is_there(e, s->sysroot);
	*ret_keep = r < 0;
	if (r <= 0)
		return r;
	r = knob_ops(e->knob)->read(e->path, value);
	if (r == -ENOENT || r == -ENODEV)
		return 0;
	if (r < 0) {
		*ret_keep = true;
		return log_warning_errno(r, "%s: cannot read %s, not given back: %m", e->device,
					 e->path);
	}
	switch (ledger_claim(e, value)) {
	case CLAIM_OURS:
		*ret_keep = is_left_to_shutdown(s, e);
		if (*ret_keep)
			return 0;
		r = give_back(s->ledger, e, value);
		*ret_keep = r < 0;
		return r;
	case CLAIM_PINNED:
		*ret_keep = true;
		return 0;
	case CLAIM_FOREIGN:
		log_notice("%s: %s is %s, somebody else's: left alone", e->device,
			   knob_ops(e->knob)->name, value);
		return 0;
	case CLAIM_NONE:
		break;
	}
	return 0;
}

static int restore_entries(struct restoring *s)
{
	struct ledger *l = s->ledger;
	_cleanup_free_ struct ledger_entry *entries = calloc(l->n + 1, sizeof(*entries));
	size_t n = l->n;
	int written = 0, error = 0;

	if (!entries)
		return -ENOMEM;
	/* A copy: the ledger changes with each. */
	if (n > 0)
		memcpy(entries, l->entries, n * sizeof(*entries));
	for (size_t i = 0; i < n; i++) {
		bool keep;
		int r = restore(s, &entries[i], &keep);

		if (r < 0 && error == 0)
			error = r;
		if (r > 0)
			written++;
		r = keep ? 0 : ledger_remove(l, &entries[i].id, entries[i].knob);
		if (r < 0)
			log_warning_errno(r, "%s: %m", l->path);
	}
	return error < 0 ? error : written;
}

/* What has to be remembered stays, in a directory that outlives us; nothing else does. */
static void remove_empty(const struct ledger *l)
{
	if (l->n == 0 && unlink(l->path) < 0 && errno != ENOENT)
		log_debug_errno(errno, "%s: %m", l->path);
}

int actuator_restore_all(const char *runtime_dir, const char *sysroot, bool (*going_down)(void))
{
	_cleanup_free_ char *root = NULL;
	_cleanup_(ledger_close) struct ledger ledger = { 0 };
	int r;

	r = sysroot_resolve(sysroot, &root);
	if (r < 0)
		return log_error_errno(r, "%s: %m", sysroot);
	r = ledger_open(&ledger, runtime_dir);
	if (r == -EBADMSG)
		return log_error_errno(
			r,
			"%s: not a ledger of this version, renamed to .bad; nothing is "
			"given back",
			ledger.path);
	if (r < 0)
		return log_error_errno(r, "Cannot read %s: %m",
				       ledger.path ? ledger.path : runtime_dir);
	r = restore_entries(&(struct restoring){ &ledger, root, going_down, false });
	remove_empty(&ledger);
	return r;
}
