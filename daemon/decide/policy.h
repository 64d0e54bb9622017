/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decisions: pure functions of samples, configuration and what the knob is. Every constant
 * that steers them is a field of struct policy_config, settable in fs-tuned.conf.
 */
#ifndef FSTUNED_DECIDE_POLICY_H
#define FSTUNED_DECIDE_POLICY_H

#include "../base/units.h"
#include "changes.h"
#include "compare.h"
#include "model.h"

enum knob_id {
	KNOB_FORCE_COPY,
	KNOB_FAST_COMMIT,
	KNOB_CHECKPOINT_MERGE,
	KNOB_CKPT_THREAD_IOPRIO,
	KNOB_MAX,
};

#define KNOB_VALUE_MAX 16

enum knob_mode {
	KNOB_AUTO,    /* the policy turns it */
	KNOB_MANUAL,  /* pinned: by the administrator, the configuration, or a foreign write */
	KNOB_OBSERVE, /* advice only */
};

const char *knob_mode_to_string(enum knob_mode m); /* "auto", "manual", "observe" */
int knob_mode_from_string(const char *s);          /* -EINVAL */

/* What a policy may know of a knob. */
struct knob_view {
	bool supported;
	enum knob_mode mode;
	char value[KNOB_VALUE_MAX]; /* present value; "" unknown */
	bool ours;                  /* the present value was written by the policy */
	bool busy;                  /* a write is in progress */
};

/* ForceCopy=, ...: what the configuration says of a knob. */
struct knob_setting {
	enum knob_mode mode;
	char value[KNOB_VALUE_MAX]; /* with KNOB_MANUAL: the pinned value */
};

struct policy_config {
	struct knob_setting knob[KNOB_MAX];
	bool real_time_ioprio;    /* RealTimeIoprio: may CkptThreadIoprio be real time? */
	uint64_t stall_us_per_s;  /* ForceCopyStall: waiting per second of time that is too much
				   */
	uint64_t stall_window_us; /* ForceCopyWindow: over which that is taken */
	uint64_t long_wait_us;    /* ForceCopyLongWait: one wait this long is enough */
	uint64_t quiet_us;        /* ForceCopyQuiet: without need this long: try without */
	double avoided_per_s; /* ForceCopyAvoided: avoided waits per second, over quiet_us, that
				 are no need (where the kernel counts them) */
	double quiet_ratio; /* ForceCopyQuietRatio: load below this share of what it was counts
			       as quiet */
	uint64_t trial_us;  /* ForceCopyTrial: length of a trial without */
	uint64_t trial_interval_us; /* ForceCopyTrialInterval: first interval between trials
				       under load */
	/*
	 * ForceCopyTrialIntervalMax: it doubles up to this. If it is needed again sooner than
	 * this after a trial, that trial has failed; this long without need forgives one
	 * failure; and this often what avoided waits are worth is judged.
	 */
	uint64_t trial_interval_max_us;
	double fsyncs_per_s;     /* FastCommitFsyncs: fewer are left alone */
	uint64_t fsync_us_per_s; /* FastCommitLoad: time in fsync per second of time; with less
				    there is nothing to gain */
	uint64_t fast_baseline_us; /* FastCommitBaseline: of load, before a trial */
	uint64_t fast_trial_us;    /* FastCommitTrial: length of a trial that is not clearly
				      worse */
	uint64_t fast_interval_us; /* FastCommitTrialInterval: from a trial to the next ... */
	uint64_t fast_interval_max_us; /* FastCommitTrialIntervalMax: doubling up to this */
	double fast_gain;            /* FastCommitGain: share by which a value must be better */
	uint64_t change_interval_us; /* ChangeInterval: least time between two changes of a
					device */
	unsigned changes_max; /* ChangesMax: more in changes_window_us freeze the device */
	uint64_t changes_window_us; /* ChangesWindow */
	uint64_t freeze_us;         /* Freeze: for how long */
	double memory_pressure_max; /* MemoryPressureMax, percent (PSI some avg10): above,
				       nothing that costs memory */
	uint64_t memory_time_us;    /* MemoryPressureTime: above it this long, what costs
				       memory is turned off; then forbidden until this long
				       below */
};

extern const struct policy_config policy_config_default;

enum reason {
	REASON_NONE,
	REASON_STALL,         /* waiting per second above the limit */
	REASON_LONG_WAIT,     /* one long wait */
	REASON_TRIAL,         /* another value for a while, to see whether that is better */
	REASON_TRIAL_FAILED,  /* it is not: back */
	REASON_TRIAL_KEPT,    /* it is: kept */
	REASON_TRIAL_VOID,    /* back, since the trial says nothing: the load changed */
	REASON_MEMORY,        /* memory pressure */
	REASON_FROZEN,        /* too many changes: hands off for a while */
	REASON_CONFIGURED,    /* the configuration pins a value */
	REASON_ADMINISTRATOR, /* fstunectl set, auto, revert */
	REASON_FOREIGN,       /* somebody else wrote */
	REASON_ADOPTED,       /* found as a former run had left it */
	REASON_RESTORED,      /* given back at stop */
	REASON_MAX,
};

const char *reason_to_string(enum reason r); /* "stall", "long-wait", "trial", ... */

#define DECISION_WHY_MAX 256

/*
 * With `advice`, or with from equal to to (a notice: REASON_FROZEN with the knob on already),
 * there is nothing to write: it is to be said and recorded.
 */
struct decision {
	enum knob_id knob;
	char from[KNOB_VALUE_MAX];
	char to[KNOB_VALUE_MAX];
	enum reason reason;
	bool advice;                /* mode is observe: say, do not do */
	char why[DECISION_WHY_MAX]; /* one line with the figures: cost, price */
};

/* All but `why`; from is what the knob is. */
void decision_fill(struct decision *ret, enum knob_id knob, const struct knob_view *k,
		   const char *to, enum reason reason);

/* --- force_copy --- */

enum fc_state {
	FC_OFF,    /* watching */
	FC_ON,     /* set, and paying as far as is known */
	FC_TRIAL,  /* off for a trial */
	FC_FROZEN, /* too many changes */
};

const char *fc_state_to_string(enum fc_state s); /* "off", "on", "trial", "frozen" */

#define FC_WINDOW_PARTS 8

/* One per device; zero-initialise. Plain values: may be copied and compared. */
struct policy_force_copy {
	enum fc_state state;
	struct changes changes;
	uint64_t since_us;          /* state's begin */
	unsigned failures;          /* trials that failed, less what time has forgiven */
	uint64_t tried_us;          /* end of the last trial that went well; 0: none */
	uint64_t calm_since_us;     /* off and without need since, as far as not forgiven yet */
	uint64_t trial_interval_us; /* interval between trials under load; 0: not begun */
	uint64_t next_trial_us;
	uint64_t judged_us;      /* begin of the time over which avoided waits are judged */
	uint64_t judged_avoided; /* waits avoided since then */
	double wait_us; /* what one wait costs, when it was turned on, less with each judgement;
			   0: unknown */
	uint64_t quiet_since_us;  /* 0: not quiet */
	uint64_t quiet_avoided;   /* waits avoided since then */
	uint64_t pressed_us;      /* begin of memory pressure above the maximum; 0: none */
	uint64_t pressed_last_us; /* when there was last such; 0: never */
	enum reason last_reason;  /* of the last change */
	double load_blocks_per_s; /* logged blocks per second when it was turned on; 0: to be
				     learned */
	uint64_t
		stall_before_us_per_s; /* waiting per second when it was turned on; 0 unknown */
	/* stall over stall_window_us, in parts */
	struct {
		uint64_t end_us, wait_us, span_us, count, max_us, blocks;
	} part[FC_WINDOW_PARTS];
	unsigned head;
	bool advised;    /* in observe mode: the advice was given and still holds */
	bool copy_known; /* as of the last sample in which anything happened */
};

/*
 * Takes one sample in and says what to do. Returns 1 and fills *ret if something is to be
 * done (or advised), 0 if not. Knows nothing of whether it will succeed: the next sample's
 * knob_view tells.
 */
int policy_force_copy(struct policy_force_copy *p, const struct policy_config *c,
		      const struct sample *s, const struct knob_view *k, struct decision *ret);

/*
 * Takes over a knob found on and ours after a restart: as if it had just been turned on.
 */
void policy_force_copy_adopt(struct policy_force_copy *p, const struct policy_config *c,
			     uint64_t now_us);

/* Waits of the window that ends now, for people: microseconds of waiting per second. */
uint64_t policy_force_copy_stall_us_per_s(const struct policy_force_copy *p,
					  const struct policy_config *c, uint64_t now_us);

/* --- fast_commit --- */

enum fast_commit_state {
	FAST_COMMIT_WATCH,  /* a value is held */
	FAST_COMMIT_TRIAL,  /* the other one is there for a trial */
	FAST_COMMIT_FROZEN, /* too many changes */
};

const char *fast_commit_state_to_string(enum fast_commit_state s); /* "watch", "trial", ... */

/* How a trial ended, with the figures of both sides. */
struct fast_commit_trial {
	enum reason end; /* REASON_NONE: there was none */
	bool on;         /* what was tried */
	struct side_point here, there;
};

/* One per device; zero-initialise. Plain values: may be copied and compared. */
struct policy_fast_commit {
	enum fast_commit_state state;
	struct changes changes;
	bool begun;                 /* `on` is known */
	bool on;                    /* the value that is held */
	uint64_t since_us;          /* state's begin */
	uint64_t unsettled_us;      /* what began about then belongs to neither side */
	struct side here, there;    /* the value held, the one on trial */
	unsigned empty;             /* points without load, up to the newest */
	unsigned trials;            /* since one was kept */
	unsigned flips;             /* trials kept, one after the other */
	uint64_t trial_interval_us; /* from the last trial to the next; 0: there was none */
	uint64_t next_trial_us;
	struct fast_commit_trial last;
	bool advised; /* in observe mode: the advice was given and still holds */
};

/*
 * As policy_force_copy(). `others_us` is when another knob of the device was changed last (0:
 * never), which is not to be taken for this one's doing.
 */
int policy_fast_commit(struct policy_fast_commit *p, const struct policy_config *c,
		       const struct sample *s, const struct knob_view *k, uint64_t others_us,
		       struct decision *ret);

/* The value that is there is the policy's: nothing is known of it yet. */
void policy_fast_commit_adopt(struct policy_fast_commit *p);

/* What the last trial said, for people; "" if there was none. */
void policy_fast_commit_note(const struct policy_fast_commit *p, char *buf, size_t size);

/* --- all of them, by knob --- */

/* The policies' states of one device; zero-initialise. */
struct policy_state {
	struct policy_force_copy force_copy;
	struct policy_fast_commit fast_commit;
};

/* What all policies can say of themselves; times are the samples', 0: none. */
struct policy_summary {
	const char *state;
	uint64_t since_us;
	uint64_t last_change_us;
	uint64_t next_trial_us;
	uint64_t trial_interval_us;
	uint64_t frozen_until_us;    /* 0: not frozen */
	char note[DECISION_WHY_MAX]; /* what was learned last, for people; "": nothing */
};

struct policy_ops {
	/* As policy_force_copy(). */
	int (*decide)(struct policy_state *p, const struct policy_config *c,
		      const struct sample *s, const struct knob_view *k, struct decision *ret);
	/*
	 * The knob has another value than after a mount, and is the policy's from now on: as if
	 * that had just been decided.
	 */
	void (*adopt)(struct policy_state *p, const struct policy_config *c, uint64_t now_us);
	void (*summarise)(const struct policy_state *p, struct policy_summary *ret);
};

/* NULL: the value may be asked for. Else the setting that it would need. */
const char *policy_forbids(const struct policy_config *c, enum knob_id id, const char *value);

/* Never NULL for a valid id. */
const struct policy_ops *policy_ops(enum knob_id id);

/* --- verdict --- */

enum verdict {
	VERDICT_IDLE,      /* nothing happened */
	VERDICT_GOOD,      /* nobody waits long */
	VERDICT_SHADOW,    /* shadow waits cost time, and nothing can be or is done: says why */
	VERDICT_HELPED,    /* force_copy is on and pays */
	VERDICT_DEVICE,    /* not my layer: the device's own service time */
	VERDICT_LOG_SPACE, /* the journal is too small for the load */
	VERDICT_COMMIT,    /* commits are slow and the device is not */
	VERDICT_CHECKPOINT, /* so are an f2fs's checkpoints */
};

const char *verdict_to_string(enum verdict v); /* "idle", "good", "shadow", "helped", ... */

/*
 * What a tired person wants to know, in one line of at most VERDICT_TEXT_LEN characters, with
 * the figures it rests on. Pure. `p` is the state of force_copy's policy.
 */
#define VERDICT_TEXT_LEN 100
enum verdict verdict_of(const struct model *m, const struct knob_view *force_copy,
			const struct policy_force_copy *p, const struct policy_config *c,
			uint64_t now_us, char *text, size_t size);

#endif
