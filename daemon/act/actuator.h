/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carries decisions out: ledger, compare, write, read back, ledger; notices when somebody
 * else wrote. Writes run off the event loop with a deadline.
 */
#ifndef FSTUNED_ACT_ACTUATOR_H
#define FSTUNED_ACT_ACTUATOR_H

#include <systemd/sd-event.h>
#include "ledger.h"

/* knob_state.pinned_by where the configuration pins. */
#define PINNED_BY_CONFIGURATION "configuration"

/* A knob of one device as it is now. */
struct knob_state {
	enum knob_id id;
	bool supported;
	char why[160];     /* why not supported */
	char refused[160]; /* why it may only be read; "" if it may be written */
	char path[256];
	char value[KNOB_VALUE_MAX]; /* last read */
	enum knob_mode mode;
	enum knob_mode configured; /* what mode is without a pin */
	char pinned_by[64]; /* "fstunectl (uid 0)", "configuration", "foreign write", "" */
	bool ours;          /* value was written by the policy and is still there */
	bool busy;          /* a write is in progress */
	bool stuck;         /* ... and past its deadline */
	char original[KNOB_VALUE_MAX]; /* before our first write; "" if never written */
};

struct actuator;

/*
 * How a change ended: called on the loop. `r` is 0 or -errno (-EBUSY: somebody else wrote
 * between; -EIO: reads back differently; -ETIMEDOUT is not an end: only marks stuck). `detail`
 * is what more the knob has to say of a failure, or "".
 */
typedef void (*actuator_done_cb)(const struct device_id *id, const struct decision *d, int r,
				 const char *detail, uid_t uid, void *userdata);

int actuator_new(struct actuator **ret, sd_event *event, const char *runtime_dir,
		 const char *sysroot, actuator_done_cb done, void *userdata);
void actuator_free(struct actuator *a); /* waits at most the deadline for a write in progress */
DEFINE_CLEANUP(struct actuator *, actuator_free)

struct ledger *actuator_ledger(struct actuator *a);

/*
 * A device is going: forgets the knob_state given with it, which a write in progress would
 * touch at its end (done is then called all the same). The ledger stays as it is: the caller
 * may only be stopping.
 */
void actuator_forget(struct actuator *a, const struct device_id *id);

/*
 * Fills the knob's state for a device seen for the first time: probes, reads, and
 * consults the ledger. Sets `mode` from configuration, the ledger's pin, or, where the
 * knob is found other than its default (0) and not ours, manual ("foreign write").
 * Returns 1 if a value of ours was adopted, 0 else, -errno.
 */
int actuator_adopt(struct actuator *a, const struct device *d, enum knob_mode configured,
		   struct knob_state *k);

/*
 * Drops the ledger's entries of mounts that are gone, by their identity: what was unmounted
 * meanwhile, or while no daemon ran. For whenever the list of devices was read anew.
 */
void actuator_prune(struct actuator *a);

/*
 * Reads the knob again. Returns 1 if somebody else wrote (mode is then KNOB_MANUAL,
 * "foreign write", and the ledger's claim dropped), 0 if as believed; a file that vanished
 * or appeared changes `supported`.
 */
int actuator_check(struct actuator *a, const struct device *d, struct knob_state *k);

/*
 * Begins to carry out d. `pin` marks it as the administrator's (uid for the record).
 * 0: begun (k->busy) or nothing to write (done is called at once); -EBUSY: one is in
 * progress; -EOPNOTSUPP: there is no such knob, or it may only be read; -errno: the ledger
 * could not be written, nothing was touched.
 */
#define ACTUATOR_DEADLINE_US (5 * USEC_PER_SEC) /* a write to /proc takes microseconds */
int actuator_apply(struct actuator *a, const struct device *dev, struct knob_state *k,
		   const struct decision *d, bool pin, uid_t uid);

/* Pins or unpins without writing the knob (fstunectl auto; foreign write). */
int actuator_pin(struct actuator *a, const struct device *dev, struct knob_state *k, bool pin,
		 const char *by);

/*
 * Gives back what is still ours, from the ledger alone (fs-tuned --restore, and SIGTERM in the
 * foreground). Idempotent. Logs each. Returns how many knobs were written, or -errno.
 * `going_down` is asked before a file system is reconfigured, which is left undone if it says
 * yes; NULL: it is not.
 */
int actuator_restore_all(const char *runtime_dir, const char *sysroot,
			 bool (*going_down)(void));

#endif
