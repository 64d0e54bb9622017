/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The disk as a power cut may leave it.
 *
 * The model: the cut comes between two entries of the log. Everything that was completed before
 * the last flush in it is on the disk, and of what came after, any choice of file-system
 * blocks. It errs on the lenient side in one way: a write that was completed between the
 * beginning of a flush and its end counts as flushed, though the flush need not have included
 * it. So each disk that is built here is one that a real cut may leave, and an alarm is never
 * false for want of that; and some that a real cut may leave are not built: a write that had
 * not been completed is never there, and blocks are never torn.
 */
#ifndef FSTUNED_CRASH_REPLAY_H
#define FSTUNED_CRASH_REPLAY_H

#include "write-log.h"

#define BLOCK_BYTES 4096u

/* What becomes of the writes since the last flush. */
enum fate { FATE_KEPT, FATE_LOST, FATE_ANY };

struct point {
	size_t n_entries; /* the cut comes after so many */
	enum fate fate;
	uint64_t random; /* which blocks, for FATE_ANY */
};

struct replay {
	const struct write_log *log;
	size_t n_entries;
	size_t bytes;    /* of the file system; writes beyond are none of its */
	uint8_t *stable; /* all entries up to n_entries */
};

/* Takes what is on the disk at the beginning from `base_fd`. The log must outlive it. */
int replay_new(struct replay **ret, const struct write_log *log, int base_fd, size_t bytes);
void replay_free(struct replay *r);
DEFINE_CLEANUP(struct replay *, replay_free)

/* Makes `disk` what the point says. Points must come in the order of their n_entries. */
int replay_build(struct replay *r, const struct point *point, uint8_t *disk);

#endif
