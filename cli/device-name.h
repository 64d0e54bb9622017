/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DEVICE as people type it, made into what the daemon takes. */
#ifndef FSTUNECTL_DEVICE_NAME_H
#define FSTUNECTL_DEVICE_NAME_H

#include <stddef.h>

#define DEVICE_NAME_SIZE 512

/*
 * A path, that is anything that begins with '/', becomes M:N: of the block device that it is or
 * leads to, else of the file system it is on. Of everything else '/' becomes '!', as the kernel
 * has it ("cciss/c0d0p1"), except after "UUID=" or "LABEL=". -errno, with one line in `error`.
 */
int device_name(const char *what, char ret[static DEVICE_NAME_SIZE], char *error,
		size_t error_size);

#endif
