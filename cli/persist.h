/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drop-ins of the configuration that fstunectl writes, one per file system. */
#ifndef FSTUNECTL_PERSIST_H
#define FSTUNECTL_PERSIST_H

#include <stddef.h>
#include "paths.h"

#define PERSIST_DIR FSTUNED_ADMIN_DIR "/fs-tuned.conf.d"

/*
 * Replaces DIR/50-fstunectl-UUID.conf by one that pins `knob` ("force_copy") to `value` for
 * that UUID. Makes DIR. -errno, with one line in `error`.
 */
int persist_write(const char *dir, const char *uuid, const char *knob, const char *value,
		  char *error, size_t error_size);

/* Removes it; none is no error. */
int persist_remove(const char *dir, const char *uuid, char *error, size_t error_size);

#endif
