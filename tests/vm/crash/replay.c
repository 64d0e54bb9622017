// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <sys/mman.h>
#include "replay.h"
#include "world.h"

int replay_new(struct replay **ret, const struct write_log *log, int base_fd, size_t bytes)
{
	_cleanup_(replay_freep) struct replay *r = calloc(1, sizeof(*r));
	void *stable;
	int err;

	if (!r)
		return -ENOMEM;
	stable = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stable == MAP_FAILED)
		return -ENOMEM;
	r->log = log;
	r->bytes = bytes;
	r->stable = stable;
	err = read_all(base_fd, r->stable, bytes, 0);
	if (err < 0)
		return err;
	*ret = TAKE_PTR(r);
	return 0;
}

void replay_free(struct replay *r)
{
	if (r->stable)
		munmap(r->stable, r->bytes);
	free(r);
}

/* Block by block; which are left out, the point says. */
static int apply(const struct replay *r, const struct log_entry *e, enum fate fate,
		 uint64_t *random, uint8_t *disk)
{
	for (uint64_t from = 0; from < e->len_bytes && e->offset_bytes + from < r->bytes;) {
		uint64_t at = e->offset_bytes + from;
		uint64_t n = BLOCK_BYTES - at % BLOCK_BYTES;
		int err;

		if (n > e->len_bytes - from)
			n = e->len_bytes - from;
		if (fate == FATE_KEPT || (fate == FATE_ANY && next_random(random) % 2)) {
			err = write_log_read(r->log, e, from, disk + at, n);
			if (err < 0)
				return err;
		}
		from += n;
	}
	return 0;
}

int replay_build(struct replay *r, const struct point *point, uint8_t *disk)
{
	size_t flushed = write_log_last_flush(r->log, point->n_entries);
	uint64_t random = point->random;
	int err;

	if (flushed < r->n_entries || point->n_entries > r->log->n_entries)
		return -EINVAL;
	for (; r->n_entries < flushed; r->n_entries++) {
		err = apply(r, &r->log->entries[r->n_entries], FATE_KEPT, NULL, r->stable);
		if (err < 0)
			return err;
	}
	memcpy(disk, r->stable, r->bytes);
	for (size_t i = flushed; i < point->n_entries; i++) {
		err = apply(r, &r->log->entries[i], point->fate, &random, disk);
		if (err < 0)
			return err;
	}
	return 0;
}
