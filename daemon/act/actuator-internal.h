/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The actuator's state, shared by its files: actuator.c, apply.c, restore.c. */
#ifndef FSTUNED_ACT_ACTUATOR_INTERNAL_H
#define FSTUNED_ACT_ACTUATOR_INTERNAL_H

#include "../base/worker.h"
#include "actuator.h"

#define PINNED_BY_FOREIGN "foreign write"
#define PINNED_BY_ADMINISTRATOR "fstunectl"

/* A write in progress. */
struct change {
	struct change *next;
	struct actuator *actuator;
	struct knob_state *k; /* NULL: its device is gone */
	struct decision decision;
	uid_t uid;
	struct ledger_entry intent;
	struct ledger_entry before; /* the ledger's entry before it */
	bool had_before;
	struct worker *worker;
};

struct actuator {
	sd_event *event;
	struct ledger ledger;
	char *sysroot;
	actuator_done_cb done;
	void *userdata;
	struct change *changes;
};

/* An absolute path, so that what the ledger says holds in any directory. Caller frees. */
int sysroot_resolve(const char *sysroot, char **ret);

/* True if there is nothing of ours in it: as a mount makes it, and as we found it. */
bool entry_is_void(const struct ledger_entry *e, const char *value);

/*
 * 1: the mount that it is about is gone (no such device, or of another identity), 0: it is
 * there, -errno: that cannot be told just now.
 */
int entry_is_stale(const struct ledger_entry *e);

/*
 * Stores e as settled: APPLIED or PINNED with `value`, or not at all if it is void. Returns
 * whether it is there. That the ledger could not be written is logged: the entry it has then
 * (an intent) says the same as soon as one looks at the knob.
 */
bool entry_settle(struct ledger *l, struct ledger_entry *e, const char *value);

/* Somebody else wrote what is in k->value: it is pinned, in k and in the ledger. */
void pin_foreign(struct ledger *l, const struct ledger_entry *base, struct knob_state *k,
		 const char *value);

/* The ledger's entry, or one made from what is known. */
struct ledger_entry entry_of(struct actuator *a, const struct device *d,
			     const struct knob_state *k);

/* Waits till `until_us` (CLOCK_MONOTONIC) at most, notes the end in the ledger, frees. */
void change_abandon(struct change *c, uint64_t until_us);

#endif
