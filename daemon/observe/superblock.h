/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a file system only its superblock on the device tells. */
#ifndef FSTUNED_OBSERVE_SUPERBLOCK_H
#define FSTUNED_OBSERVE_SUPERBLOCK_H

#include "identify.h"

/*
 * Fills what it knows of sizes, devices and features; what the device does not tell stays as
 * it was. `fd` is an open block device or an image of one. Reads it, so it may hang.
 */
void superblock_read(int fd, struct identity *ret);

#endif
