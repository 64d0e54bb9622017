/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of all writes and flushes that QEMU's blklogwrites driver keeps, in the format of the
 * kernel's drivers/md/dm-log-writes.c: a super block, then one sector for each request,
 * followed by the data. QEMU adds a request when it has been completed (block/blklogwrites.c).
 */
#ifndef FSTUNED_CRASH_WRITE_LOG_H
#define FSTUNED_CRASH_WRITE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "../../../daemon/base/cleanup.h"

#define SECTOR_BYTES 512u

struct log_entry {
	uint64_t offset_bytes; /* on the disk */
	uint64_t len_bytes;    /* 0: a flush */
	uint64_t data_bytes;   /* where in the log the data are */
	bool flush;
};

struct write_log {
	int fd; /* the caller's */
	struct log_entry *entries;
	size_t n_entries;
};

/*
 * Reads all entries. A log of a disk of `disk_bytes`; -EBADMSG: not a log, or one in which
 * something is not as it must be, and then *ret_where is the byte where.
 */
int write_log_open(struct write_log **ret, int fd, uint64_t disk_bytes, off_t *ret_where);
void write_log_free(struct write_log *log);
DEFINE_CLEANUP(struct write_log *, write_log_free)

/* Reads `len` bytes of a file from `at` on: all of them, or -errno; -ENODATA at its end. */
int read_all(int fd, void *buf, size_t len, off_t at);

/* Reads `len` bytes of an entry's data from `from` on: all of them, or -errno. */
int write_log_read(const struct write_log *log, const struct log_entry *e, uint64_t from,
		   void *buf, size_t len);

/* The last flush among the first n entries: the number of entries up to and with it; 0: none.
 */
size_t write_log_last_flush(const struct write_log *log, size_t n);

#endif
