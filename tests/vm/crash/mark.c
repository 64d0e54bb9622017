// SPDX-License-Identifier: GPL-2.0-or-later
#include <endian.h>
#include <limits.h>
#include <string.h>
#include "mark.h"

#define MARK_MAGIC UINT64_C(0x6d61726b63726173)

struct raw_mark {
	uint64_t magic;
	uint32_t kind, worker, step;
	uint32_t steps[WORLD_WORKERS];
	uint32_t sum;
} __attribute__((packed));

static uint32_t sum(const struct raw_mark *raw)
{
	uint32_t s = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < offsetof(struct raw_mark, sum); i++)
		s = (s ^ ((const uint8_t *)raw)[i]) * 16777619u;
	return s;
}

void mark_encode(const struct mark *m, uint8_t sector[MARK_BYTES])
{
	struct raw_mark raw = {
		.magic = htole64(MARK_MAGIC),
		.kind = htole32(m->kind),
		.worker = htole32(m->worker),
		.step = htole32(m->step),
	};

	for (size_t i = 0; i < WORLD_WORKERS; i++)
		raw.steps[i] = htole32(m->steps[i]);
	raw.sum = htole32(sum(&raw));
	memset(sector, 0, MARK_BYTES);
	memcpy(sector, &raw, sizeof(raw));
}

int mark_decode(const uint8_t sector[MARK_BYTES], struct mark *ret)
{
	struct raw_mark raw;
	uint32_t kind;

	memcpy(&raw, sector, sizeof(raw));
	kind = le32toh(raw.kind);
	if (le64toh(raw.magic) != MARK_MAGIC || le32toh(raw.sum) != sum(&raw) ||
	    kind < MARK_BEGIN || kind > MARK_SYNCFS || le32toh(raw.worker) >= WORLD_WORKERS)
		return -EBADMSG;
	*ret = (struct mark){
		.kind = kind,
		.worker = le32toh(raw.worker),
		.step = le32toh(raw.step),
	};
	for (size_t i = 0; i < WORLD_WORKERS; i++)
		ret->steps[i] = le32toh(raw.steps[i]);
	return 0;
}

void progress_init(struct progress progress[WORLD_WORKERS])
{
	for (size_t i = 0; i < WORLD_WORKERS; i++)
		progress[i] = (struct progress){ .begun = UINT_MAX };
}

void progress_before(struct progress progress[WORLD_WORKERS], const struct mark *m)
{
	struct progress *p = &progress[m->worker];

	switch (m->kind) {
	case MARK_BEGIN:
		/* A worker does one thing after the other: all before it are done. */
		if (m->step > p->done)
			p->done = m->step;
		break;
	case MARK_DONE:
		if (m->step + 1 > p->done)
			p->done = m->step + 1;
		break;
	case MARK_SYNCFS:
		for (size_t i = 0; i < WORLD_WORKERS; i++)
			if (m->steps[i] > progress[i].synced)
				progress[i].synced = m->steps[i];
		break;
	}
}

void progress_after(struct progress progress[WORLD_WORKERS], const struct mark *m)
{
	struct progress *p = &progress[m->worker];
	unsigned begun = m->kind == MARK_DONE ? m->step + 1 : m->step;

	if (m->kind != MARK_SYNCFS && begun < p->begun)
		p->begun = begun;
}
