/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc and /sys say about one file system, without I/O on its device. Knob files
 * may be looked for elsewhere (device_list.sysroot); discovery never is, so that knobs can
 * be played with beside a real file system.
 */
#ifndef FSTUNED_OBSERVE_DISCOVER_H
#define FSTUNED_OBSERVE_DISCOVER_H

#include "device.h"
#include "mountinfo.h"

/* Entries of a directory, sorted. */
struct names {
	char **v;
	size_t n;
};

/* An empty list where the directory does not exist. -errno. */
int names_read(struct names *ret, const char *dir);
void names_done(struct names *n);
bool names_have(const struct names *n, const char *name);

/* Writes root + the formatted path into buf; -ENAMETOOLONG. `root` is "" but in unit tests. */
int discover_path(char *buf, size_t size, const char *format, ...) _printf_(3, 4);
void discover_set_root(const char *root);

/* st_ino of /sys/fs/ext4/NAME or /sys/fs/f2fs/NAME. -errno, -ENOENT if it is neither. */
int discover_ino(const char *name, uint64_t *ret);

/* Of a block device's kernel name. -ENODEV, -errno. */
int discover_dev(const char *name, dev_t *ret);

/*
 * Fills has_journal and journal of an ext4 (both empty before) from its journal_task and
 * the directories in /proc/fs/jbd2. -errno if it could not be read this time.
 */
int discover_journal(struct device *d, const struct names *jbd2);

/* journal_dev from `journal`; the file system's own if that is not to be found. */
void discover_journal_dev(struct device *d);

/*
 * The device a journal's directory is named after if it lies inside a file system
 * ("sda5-8": "sda5"); -EINVAL for any other form.
 */
int journal_device(const char *journal, char ret[static DEVICE_NAME_MAX]);

/* Of a superblock that no mountinfo shows: 1 read-only, 0 writable, -errno unknown. */
int discover_read_only(const char *name);

#endif
