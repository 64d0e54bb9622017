/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one owner: holds the state and wires observe, decide, act and publish, once a tick. */
#ifndef FSTUNED_MANAGER_H
#define FSTUNED_MANAGER_H

#include "base/cleanup.h"

struct manager_options {
	const char *config_file; /* NULL: the usual places */
	const char *runtime_dir;
	const char *sysroot;   /* "": the real one */
	const char *log_level; /* NULL: as configured */
	bool observe_only; /* --mode=observe: advice only, whatever the configuration says */
	bool automatic;    /* --mode=auto: the opposite */
	bool keep_on_exit; /* do not restore on SIGTERM: fs-tuned-restore.service does */
};

struct manager;

/* Borrows the options' strings. Errors are logged. */
int manager_new(struct manager **ret, const struct manager_options *options);

/* Runs until SIGTERM or SIGINT; returns 0 or -errno. */
int manager_run(struct manager *m);

void manager_free(struct manager *m);
DEFINE_CLEANUP(struct manager *, manager_free)

#endif
