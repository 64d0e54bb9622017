/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files: knobs, /proc, /sys, state. All return 0 or a negative errno. */
#ifndef FSTUNED_BASE_FILE_H
#define FSTUNED_BASE_FILE_H

#include <sys/types.h>
#include "cleanup.h"

/*
 * Reads at most size - 1 bytes of `path` relative to dirfd (AT_FDCWD allowed), NUL
 * terminates, drops one trailing newline. Returns the length, -EFBIG if there is more.
 */
ssize_t read_small_at(int dirfd, const char *path, char *buf, size_t size);

/*
 * Reads all of `path`, at most `max` bytes (-EFBIG beyond), into a NUL-terminated buffer
 * that the caller frees. Regular files only where `regular`: -EISDIR, -EINVAL otherwise.
 */
int read_full_file(const char *path, size_t max, bool regular, char **ret, size_t *ret_len);

/* Reads one unsigned number, decimal, nothing but white space around it: else -EINVAL. */
int read_u64_at(int dirfd, const char *path, unsigned long long *ret);

/* "8:5", decimal digits and nothing else, in the kernel's range (12 and 20 bits): else -EINVAL.
 */
int parse_dev(const char *text, dev_t *ret);

/* One write(2) of the whole string: -EIO if short. Never creates the file. */
int write_string(const char *path, const char *value);

/* Replaces `path` atomically (temporary file beside it, fsync not needed on tmpfs, rename). */
int write_file_atomic(const char *path, const char *data, size_t len, mode_t mode);

#endif
