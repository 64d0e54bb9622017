/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks: how the load says how far it is, in a place where the order of marks and writes can be
 * told. One mark is a sector, written to the disk behind the file system, or to a port.
 */
#ifndef FSTUNED_CRASH_MARK_H
#define FSTUNED_CRASH_MARK_H

#include <stddef.h>
#include <stdint.h>
#include "world.h"

#define MARK_BYTES 512u

enum mark_kind {
	MARK_BEGIN = 1, /* the worker is about to do operation `step` */
	MARK_DONE,      /* its operation `step`, a sync, has returned */
	MARK_SYNCFS,    /* a syncfs() has returned; steps[] had been done when it was called */
};

struct mark {
	enum mark_kind kind;
	unsigned worker;
	unsigned step;
	unsigned steps[WORLD_WORKERS];
};

void mark_encode(const struct mark *m, uint8_t sector[MARK_BYTES]);

/* -EBADMSG: not a mark, or a damaged one. */
int mark_decode(const uint8_t sector[MARK_BYTES], struct mark *ret);

/* What the marks up to some moment, and the first after it, say of one worker. */
struct progress {
	unsigned done;   /* the syncs among the operations before this one had returned */
	unsigned synced; /* the operations before this one are covered by a syncfs() */
	unsigned begun;  /* no operation from this one on had begun; UINT_MAX: not known */
};

/* Nothing is known. */
void progress_init(struct progress progress[WORLD_WORKERS]);

/* A mark before the moment. */
void progress_before(struct progress progress[WORLD_WORKERS], const struct mark *m);

/* A mark after it, in their order. */
void progress_after(struct progress progress[WORLD_WORKERS], const struct mark *m);

#endif
