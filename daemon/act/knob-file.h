/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What knobs share that are files or directories in /proc or /sys. */
#ifndef FSTUNED_ACT_KNOB_FILE_H
#define FSTUNED_ACT_KNOB_FILE_H

#include "knob.h"

/*
 * For knob_ops.probe: 0, and `why` empty, if a regular file that can be read and written is
 * there; else -ENOENT, for which `why` becomes `missing`, or -errno.
 */
int knob_file_probe(const char *path, const char *missing, char *why, size_t why_size);

/* True if `name` is one directory's or file's name and leads nowhere else. */
bool knob_name_is_plain(const char *name);

/*
 * For knob_ops.probe: path of the device's directory in `place`, such as "/sys/fs/ext4/", or
 * with `file` of a file in it. -EINVAL, -ENAMETOOLONG.
 */
int knob_device_path(const struct device *d, const char *sysroot, const char *place,
		     const char *file, char *path, size_t path_size, char *why,
		     size_t why_size);

/* An unsigned int of the kernel's. As knob_ops.read. */
int knob_file_read(const char *path, char value[static KNOB_VALUE_MAX]);

/* "1", "on", "yes", "true" and their opposites, as 1 and 0. As knob_ops.parse. */
int knob_switch_parse(const char *s, char ret[static KNOB_VALUE_MAX]);

#endif
