/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes one superblock option of a mounted f2fs, and no other, nor any mount's flags: by
 * fspick(2) and fsconfig(2) with all options given again (fs/fsopen.c, vfs_fsconfig_locked();
 * fs/f2fs/super.c, f2fs_remount()). Never mount(2) with MS_REMOUNT, which takes the flags of
 * one mount along.
 */
#ifndef FSTUNED_ACT_RECONFIGURE_H
#define FSTUNED_ACT_RECONFIGURE_H

#include <sys/types.h>
#include "f2fs-options.h"

/*
 * The superblock's options as PID 1 sees them or, where it does not, as another mount namespace
 * does. `root` is before /proc. -ENOENT: no process has it mounted.
 */
int reconfigure_read(const char *root, dev_t dev, char ret[static F2FS_OPTIONS_MAX]);

/*
 * Sets the option KEY or noKEY. Waits as long as the kernel does (behind a checkpoint, for
 * one). Afterwards compares the superblock's options and each mount's flags, in every namespace
 * that can be looked at, and gives back the former options if anything else is different. 0, or
 * -errno with one line in `why`:
 *   -EOPNOTSUPP  must not or cannot be done here: why says which option forbids it
 *   -ENOENT      not mounted
 *   -ENXIO       no mount of it can be reached
 *   -EBUSY       frozen
 *   -EUCLEAN     something else changed as well; it was given back, or why says what was not
 *   others       the kernel's: -EROFS, -EINVAL, -EPERM
 */
int reconfigure(dev_t dev, const char *key, bool on, char *why, size_t why_size);

#endif
