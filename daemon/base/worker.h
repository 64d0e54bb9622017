/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function run off the event loop, because it may hang in the very kernel that is being
 * watched. Its end comes back on the loop; so does the news that it is late. One thread per
 * worker, so that one that hangs keeps no other waiting.
 */
#ifndef FSTUNED_BASE_WORKER_H
#define FSTUNED_BASE_WORKER_H

#include <systemd/sd-event.h>
#include "cleanup.h"

struct worker;

/*
 * Runs in the thread. `arg` is its alone until it returns. Must not touch what the loop owns,
 * nor allocate (a thread that does makes malloc keep an arena for it).
 */
typedef int (*worker_fn)(void *arg);

/* On the loop, once: the function returned r. May call worker_free(). */
typedef void (*worker_done_cb)(void *arg, int r, void *userdata);

/* On the loop, at most once: the deadline has passed and the function still runs. */
typedef void (*worker_late_cb)(void *userdata);

struct worker_ops {
	worker_fn run;
	worker_done_cb done;
	worker_late_cb late;  /* may be NULL */
	uint64_t deadline_us; /* from now; USEC_INFINITY: none */
};

/*
 * Starts. `arg` comes from malloc() and is the worker's from now on, also on error; it is freed
 * with it, or, if it was let go while running, when the function returns.
 */
int worker_start(struct worker **ret, sd_event *event, const struct worker_ops *ops, void *arg,
		 void *userdata);

/*
 * Waits at most `wait_us` for the function to return. Returns true and its result in *ret_r if
 * it has; `done` is not called any more then.
 */
bool worker_wait(struct worker *w, uint64_t wait_us, int *ret_r);

/* For the time between its end and worker_free(). */
void *worker_arg(struct worker *w);

/* Lets go: neither `done` nor `late` is called any more. Never waits. */
void worker_free(struct worker *w);
DEFINE_CLEANUP(struct worker *, worker_free)

#endif
