/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the knobs of an f2fs share: their place is its directory in /sys/fs/f2fs. */
#ifndef FSTUNED_ACT_KNOB_F2FS_H
#define FSTUNED_ACT_KNOB_F2FS_H

#include "f2fs-options.h"
#include "knob.h"

#define KNOB_F2FS_PLACE "/sys/fs/f2fs/"

/*
 * The path of an f2fs, or with `file` of a file in its directory. As knob_ops.probe: -EINVAL,
 * -ENAMETOOLONG.
 */
int knob_f2fs_path(const struct device *d, const char *sysroot, const char *file, char *path,
		   size_t path_size, char *why, size_t why_size);

/* The options of the f2fs that such a path is of, and its device. -ENOENT: not mounted. */
int knob_f2fs_options(const char *path, char ret[static F2FS_OPTIONS_MAX], dev_t *ret_dev);

#endif
