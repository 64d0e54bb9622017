/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Knobs that are one number in a file of /proc or /sys: what they share. */
#ifndef FSTUNED_ACT_KNOB_FILE_H
#define FSTUNED_ACT_KNOB_FILE_H

#include "knob.h"

/* A regular file that can be read and written: else -ENOENT, or -errno. */
int knob_file_check(const char *path);

/* True if `name` is one directory's or file's name and leads nowhere else. */
bool knob_name_is_plain(const char *name);

/* An unsigned int of the kernel's. As knob_ops.read. */
int knob_file_read(const char *path, char value[static KNOB_VALUE_MAX]);

/* "1", "on", "yes", "true" and their opposites, as 1 and 0. As knob_ops.parse. */
int knob_switch_parse(const char *s, char ret[static KNOB_VALUE_MAX]);

#endif
