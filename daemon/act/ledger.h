/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this daemon has changed, in RUNTIME_DIR/ledger.json: versioned, replaced
 * atomically, written before and after each change, so that a SIGKILL at any instruction
 * leaves a state that the next start understands.
 */
#ifndef FSTUNED_ACT_LEDGER_H
#define FSTUNED_ACT_LEDGER_H

#include "knob.h"

#define LEDGER_VERSION 1
/* An entry takes about 410 bytes, and there are at most 1,024 devices: far more than needed. */
#define LEDGER_SIZE_MAX (4 * 1024 * 1024)

enum ledger_state {
	LEDGER_INTENT,  /* a write is about to happen or happened: look at the knob */
	LEDGER_APPLIED, /* `written` was read back */
	LEDGER_PINNED,  /* nothing of ours in it: the administrator's choice, only remembered */
};

struct ledger_entry {
	struct device_id id;
	char device[DEVICE_NAME_MAX]; /* kernel name, for people */
	char path[256];               /* the knob's file, for --restore without a device list */
	enum knob_id knob;
	enum ledger_state state;
	char original[KNOB_VALUE_MAX]; /* before our first write */
	char from[KNOB_VALUE_MAX];     /* what the last write was to replace */
	char written[KNOB_VALUE_MAX];  /* last written by us; PINNED: what is there */
	enum reason reason;
	bool pinned;      /* the administrator's: not restored at stop, not the policy's */
	bool from_pinned; /* INTENT: that `from` is pinned, should it still be there */
	char by[64];      /* who pinned it, for people; "" if not pinned */
	uint64_t time_us; /* CLOCK_REALTIME */
};

/* What an entry and the knob's present value say together. */
enum ledger_claim {
	CLAIM_NONE,    /* no entry */
	CLAIM_OURS,    /* the policy's, to be given back */
	CLAIM_PINNED,  /* the administrator's, to be left */
	CLAIM_FOREIGN, /* neither what we wrote nor what we were to replace */
};

struct ledger {
	char *path;
	struct ledger_entry *entries;
	size_t n;
};

/* Reads the file; none is an empty ledger. -EBADMSG: not one of ours; it is renamed to .bad. */
int ledger_open(struct ledger *l, const char *runtime_dir);
void ledger_close(struct ledger *l); /* frees, writes nothing */

/*
 * A ledger's text to entries and back; the caller frees. -EBADMSG for anything missing, more,
 * of another type, out of range, or contradicting itself.
 */
int ledger_parse(const char *text, size_t len, struct ledger_entry **ret, size_t *ret_n);
int ledger_format(const struct ledger_entry *entries, size_t n, char **ret, size_t *ret_len);

struct ledger_entry *ledger_find(struct ledger *l, const struct device_id *id,
				 enum knob_id knob);

/* Pure. An intent is decided by the value: either it was carried out or it was not. */
enum ledger_claim ledger_claim(const struct ledger_entry *e, const char *value);

/* Insert or replace, remove, and store; memory is unchanged if storing fails (-errno). */
int ledger_put(struct ledger *l, const struct ledger_entry *e);
int ledger_remove(struct ledger *l, const struct device_id *id, enum knob_id knob);

/* Drops entries for which keep() is false, stores once if any went. */
int ledger_prune(struct ledger *l, bool (*keep)(const struct ledger_entry *e, void *userdata),
		 void *userdata);

#endif
