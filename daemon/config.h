/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fs-tuned.conf and its drop-ins: INI with systemd's manners. An unknown key is a warning
 * with file and line; a bad value keeps the default and says so.
 *
 *   [Manager]   Mode= Interval= IdleInterval= LogLevel= HistorySize=
 *   [Policy]    ForceCopy= ForceCopyStall= ... (struct policy_config names each key)
 *   [Device X]  the keys of [Policy] for one device; X is any form of DEVICE or a glob
 *               over kernel name, UUID=, LABEL= or mount point
 */
#ifndef FSTUNED_CONFIG_H
#define FSTUNED_CONFIG_H

#include "decide/policy.h"
#include "observe/device.h"

#define CONFIG_FILE_MAX (256 * 1024) /* bytes of one file */

struct config {
	bool observe_only;
	uint64_t interval_us;      /* tick while anything happens */
	uint64_t idle_interval_us; /* re-reading the device list when nothing does */
	int log_level;             /* syslog level */
	unsigned history_size;
	struct policy_config policy;
	struct config_device *devices; /* sections, in order of reading */
	size_t n_devices;
	struct config_origin *origins; /* where each set key came from */
	size_t n_origins;
	unsigned warnings;
};

/* The defaults alone. -ENOMEM. */
int config_init(struct config *c);

/*
 * Reads the defaults, then /usr/lib/fs-tuned and /etc/fs-tuned (main file, then drop-ins of
 * both by name, /etc masking /usr/lib; both as the build has them), or `file` alone. -errno
 * only if `file` is named and cannot be read, or out of memory. Warnings are logged. The files
 * may be on a disk that stalls: for the start, and for a reload that the administrator asked
 * for.
 */
int config_load(struct config *c, const char *file);
void config_done(struct config *c);

/*
 * One file's text over what `c` has (after config_init()). `name` is for messages. -ENOMEM;
 * everything else is a warning.
 */
int config_parse(struct config *c, const char *name, const char *text, size_t len);

/* [Policy] with the matching [Device] sections over it, in order. */
void config_for_device(const struct config *c, const struct device *d,
		       struct policy_config *ret);

/*
 * Effective settings and where each comes from, as JSON; the caller frees. -ENOMEM.
 *
 *   {"settings": [{"section": "Policy", "key": "ForceCopy", "value": "auto",
 *                  "default": "auto", "file": null, "line": null}, ...], "warnings": 0}
 *
 * All keys of [Manager] and [Policy]; then, in order, what the [Device X] sections (section
 * is "Device X") set; there an empty value means that of [Policy].
 */
int config_describe(const struct config *c, char **ret);

#endif
