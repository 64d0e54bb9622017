/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patched modules on disk. They are looked for once, at start: /lib/modules lies on the disk
 * that is being watched, and nothing that runs in the loop may wait for it.
 */
#ifndef FSTUNED_OBSERVE_MODULES_H
#define FSTUNED_OBSERVE_MODULES_H

#include <stdbool.h>

struct patched_modules {
	int error;      /* errno of looking; then nothing is known */
	bool installed; /* for the running kernel */
	char other[65]; /* else: release of one that they are installed for; "" none */
};

/* `release` as uname -r. */
void patched_modules_find(const char *release, struct patched_modules *ret);

#endif
