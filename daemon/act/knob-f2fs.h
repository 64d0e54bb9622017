/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the knobs of an f2fs share: their place is its directory in /sys/fs/f2fs. */
#ifndef FSTUNED_ACT_KNOB_F2FS_H
#define FSTUNED_ACT_KNOB_F2FS_H

#include "f2fs-options.h"
#include "knob.h"

#define KNOB_F2FS_PLACE "/sys/fs/f2fs/"

/* Both came with the thread that makes checkpoints (fs/f2fs/checkpoint.c). */
#define KNOB_F2FS_MISSING                                                                   \
	"Linux 5.12 or later has it; patched kernel modules give it to Debian's 5.10: see " \
	"patches/README.md"

/* The options of the f2fs that a path below that place is of, and its device. -ENOENT: not
 * mounted. */
int knob_f2fs_options(const char *path, char ret[static F2FS_OPTIONS_MAX], dev_t *ret_dev);

#endif
