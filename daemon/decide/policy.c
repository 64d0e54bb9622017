// SPDX-License-Identifier: GPL-2.0-or-later
/* What all policies share: names and defaults. */
#include <string.h>
#include "policy.h"

/* Right for a laptop and for a database host: each says why it is what it is. */
const struct policy_config policy_config_default = {
	.knob[KNOB_FORCE_COPY] = { .mode = KNOB_AUTO },
	.knob[KNOB_FAST_COMMIT] = { .mode = KNOB_AUTO },
	/* Where it is off, somebody has said so to mount(8): since Linux 5.13 it is on else. */
	.knob[KNOB_CHECKPOINT_MERGE] = { .mode = KNOB_OBSERVE },
	.knob[KNOB_CKPT_THREAD_IOPRIO] = { .mode = KNOB_AUTO },
	/* A thread that nothing gets past may starve a whole device. */
	.real_time_ioprio = false,
	/* 1 % of one task's time: under it nobody notices, and copying would cost for nothing.
	 */
	.stall_us_per_s = 10 * USEC_PER_MSEC,
	/* Two ticks: long enough that one odd wait does not count, short enough to react in 3
	   s. */
	.stall_window_us = 2 * USEC_PER_SEC,
	/* A quarter of a second is what people feel; ordinary commits on disks stay below. */
	.long_wait_us = 250 * USEC_PER_MSEC,
	/* Four times the kernel's writeback age (30 s): a pause between two bursts of dirty
	 * pages is not quiet. */
	.quiet_us = 2 * USEC_PER_MINUTE,
	/* At 100 ms each it would be the 10 ms/s at which it is turned on. */
	.avoided_per_s = 0.1,
	/* The load has to have fallen clearly, not to waver. */
	.quiet_ratio = 0.2,
	/* Two commits at jbd2's default interval of 5 s: waits come from commits. */
	.trial_us = 10 * USEC_PER_SEC,
	/* A failed trial costs somebody one stall window at worst: 2 s in 10 min. */
	.trial_interval_us = 10 * USEC_PER_MINUTE,
	/* A nightly job must not leave it on for the day. */
	.trial_interval_max_us = 4 * USEC_PER_HOUR,
	/* Fewer fsyncs in a second than this scatter too much to be compared in seconds. */
	.fsyncs_per_s = 10,
	/* 5 % of one task's time: were it all saved, hardly anybody would notice. */
	.fsync_us_per_s = 50 * USEC_PER_MSEC,
	/* One commit interval of jbd2 (5 s): with less a side may have been lucky. */
	.fast_baseline_us = 5 * USEC_PER_SEC,
	/* Two of them: what fast commits put off comes with the next full commit. */
	.fast_trial_us = 10 * USEC_PER_SEC,
	/* A trial that is wrong and not clearly so costs 10 s of up to 5 %, in a minute. */
	.fast_interval_us = USEC_PER_MINUTE,
	/* A trial of a value three times as slow ends after 3 s: one in 600. Loads change in
	   hours. */
	.fast_interval_max_us = 30 * USEC_PER_MINUTE,
	/* Less is not worth a change, and not to be told from chance in 10 s. */
	.fast_gain = 0.05,
	/* The effect of a change shows only in the commits after it: again, two of them. */
	.change_interval_us = 10 * USEC_PER_SEC,
	/* Four times on and off within one first trial interval is no policy but a mistake. */
	.changes_max = 8,
	.changes_window_us = 10 * USEC_PER_MINUTE,
	/* Long enough for what made it flap to pass or for somebody to look. */
	.freeze_us = 30 * USEC_PER_MINUTE,
	/* systemd-oomd begins to kill at 60 %; at 10 % tasks already wait for memory. */
	.memory_pressure_max = 10,
	/* The kernel's average is over 10 s: before that it says little new. */
	.memory_time_us = 10 * USEC_PER_SEC,
};

static const char *const mode_names[] = {
	[KNOB_AUTO] = "auto",
	[KNOB_MANUAL] = "manual",
	[KNOB_OBSERVE] = "observe",
};

const char *knob_mode_to_string(enum knob_mode m)
{
	return (size_t)m < ELEMENTSOF(mode_names) ? mode_names[m] : "unknown";
}

int knob_mode_from_string(const char *s)
{
	for (size_t i = 0; i < ELEMENTSOF(mode_names); i++)
		if (strcmp(mode_names[i], s) == 0)
			return (int)i;
	return -EINVAL;
}

const char *reason_to_string(enum reason r)
{
	static const char *const names[REASON_MAX] = {
		[REASON_NONE] = "none",
		[REASON_STALL] = "stall",
		[REASON_LONG_WAIT] = "long-wait",
		[REASON_TRIAL] = "trial",
		[REASON_TRIAL_FAILED] = "trial-failed",
		[REASON_TRIAL_KEPT] = "trial-kept",
		[REASON_TRIAL_VOID] = "trial-void",
		[REASON_MEMORY] = "memory",
		[REASON_FROZEN] = "frozen",
		[REASON_CONFIGURED] = "configured",
		[REASON_ADMINISTRATOR] = "administrator",
		[REASON_FOREIGN] = "foreign",
		[REASON_ADOPTED] = "adopted",
		[REASON_RESTORED] = "restored",
	};

	return (size_t)r < REASON_MAX && names[r] ? names[r] : "unknown";
}

const char *fc_state_to_string(enum fc_state s)
{
	static const char *const names[] = {
		[FC_OFF] = "off",
		[FC_ON] = "on",
		[FC_TRIAL] = "trial",
		[FC_FROZEN] = "frozen",
	};

	return (size_t)s < ELEMENTSOF(names) ? names[s] : "unknown";
}

void decision_fill(struct decision *ret, enum knob_id knob, const struct knob_view *k,
		   const char *to, enum reason reason)
{
	ret->knob = knob;
	memcpy(ret->from, k->value, sizeof(ret->from));
	snprintf(ret->to, sizeof(ret->to), "%s", to);
	ret->reason = reason;
	ret->advice = false;
}

static int decide_force_copy(struct policy_state *p, const struct policy_config *c,
			     const struct sample *s, const struct knob_view *k,
			     struct decision *ret)
{
	return policy_force_copy(&p->force_copy, c, s, k, ret);
}

static void adopt_force_copy(struct policy_state *p, const struct policy_config *c,
			     uint64_t now_us)
{
	policy_force_copy_adopt(&p->force_copy, c, now_us);
}

static void summarise_force_copy(const struct policy_state *p, struct policy_summary *ret)
{
	const struct policy_force_copy *fc = &p->force_copy;

	*ret = (struct policy_summary){
		.state = fc_state_to_string(fc->state),
		.since_us = fc->since_us,
		.last_change_us = fc->changes.last_us,
		.next_trial_us = fc->next_trial_us,
		.trial_interval_us = fc->trial_interval_us,
		.frozen_until_us = fc->state == FC_FROZEN ? fc->changes.frozen_until_us : 0,
	};
}

static int decide_fast_commit(struct policy_state *p, const struct policy_config *c,
			      const struct sample *s, const struct knob_view *k,
			      struct decision *ret)
{
	return policy_fast_commit(&p->fast_commit, c, s, k, p->force_copy.changes.last_us, ret);
}

static void adopt_fast_commit(struct policy_state *p, const struct policy_config *c _unused_,
			      uint64_t now_us _unused_)
{
	policy_fast_commit_adopt(&p->fast_commit);
}

static void summarise_fast_commit(const struct policy_state *p, struct policy_summary *ret)
{
	const struct policy_fast_commit *f = &p->fast_commit;

	*ret = (struct policy_summary){
		.state = fast_commit_state_to_string(f->state),
		.since_us = f->since_us,
		.last_change_us = f->changes.last_us,
		.next_trial_us = f->state == FAST_COMMIT_WATCH ? f->next_trial_us : 0,
		.trial_interval_us = f->trial_interval_us,
		.frozen_until_us =
			f->state == FAST_COMMIT_FROZEN ? f->changes.frozen_until_us : 0,
	};
	policy_fast_commit_note(f, ret->note, sizeof(ret->note));
}

/* Knobs that are only turned when asked for. */
static int decide_nothing(struct policy_state *p _unused_,
			  const struct policy_config *c _unused_,
			  const struct sample *s _unused_, const struct knob_view *k _unused_,
			  struct decision *ret _unused_)
{
	return 0;
}

static void adopt_nothing(struct policy_state *p _unused_,
			  const struct policy_config *c _unused_, uint64_t now_us _unused_)
{
}

static void summarise_nothing(const struct policy_state *p _unused_, struct policy_summary *ret)
{
	*ret = (struct policy_summary){ .state = "none" };
}

const char *policy_forbids(const struct policy_config *c, enum knob_id id, const char *value)
{
	return id == KNOB_CKPT_THREAD_IOPRIO && strncmp(value, "rt,", 3) == 0 &&
			       !c->real_time_ioprio
		       ? "RealTimeIoprio=yes"
		       : NULL;
}

const struct policy_ops *policy_ops(enum knob_id id)
{
	static const struct policy_ops table[KNOB_MAX] = {
		[KNOB_FORCE_COPY] = { decide_force_copy, adopt_force_copy,
				      summarise_force_copy },
		[KNOB_FAST_COMMIT] = { decide_fast_commit, adopt_fast_commit,
				       summarise_fast_commit },
		[KNOB_CHECKPOINT_MERGE] = { decide_nothing, adopt_nothing, summarise_nothing },
		[KNOB_CKPT_THREAD_IOPRIO] = { decide_nothing, adopt_nothing,
					      summarise_nothing },
	};

	return &table[id];
}
