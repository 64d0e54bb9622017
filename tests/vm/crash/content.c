// SPDX-License-Identifier: GPL-2.0-or-later
#include <endian.h>
#include <string.h>
#include "world.h"

#define CONTENT_MAGIC UINT64_C(0x63726173)

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *join_sorted(char **words, size_t n)
{
	size_t len = 1, at = 0;
	char *s;

	if (n > 0)
		qsort(words, n, sizeof(*words), compare_words);
	for (size_t i = 0; i < n; i++)
		len += strlen(words[i]) + 1;
	s = malloc(len);
	if (!s)
		return NULL;
	*s = '\0';
	for (size_t i = 0; i < n; i++)
		at += (size_t)sprintf(s + at, "%s%s", i ? " " : "", words[i]);
	return s;
}

/* Which: an object's names, or a directory's entries. */
static char *join_entries(const struct world *w, unsigned number, bool of_dir)
{
	char text[WORLD_ENTRIES][WORLD_NAME + 16];
	char *words[WORLD_ENTRIES];
	size_t n = 0;

	for (size_t i = 0; i < w->n_entries; i++) {
		const struct entry *e = &w->entries[i];

		if ((of_dir ? e->dir : e->object) != number)
			continue;
		if (of_dir)
			snprintf(text[n], sizeof(text[n]), "%s", e->name);
		else
			snprintf(text[n], sizeof(text[n]), "%u/%s", e->dir, e->name);
		words[n] = text[n];
		n++;
	}
	return join_sorted(words, n);
}

char *world_names(const struct world *w, unsigned object)
{
	return join_entries(w, object, false);
}

char *world_listing(const struct world *w, unsigned dir)
{
	return join_entries(w, dir, true);
}

/* Cells of 16 bytes: whose they are, and where they belong. */
static void fill_cell(unsigned worker, unsigned object, uint32_t offset, uint64_t cell[2])
{
	cell[0] = htole64(CONTENT_MAGIC << 32 | (uint64_t)worker << 28 | object);
	cell[1] = htole64(~(uint64_t)offset);
}

void world_content(unsigned worker, unsigned object, uint32_t offset, void *buf, size_t len)
{
	uint8_t *out = buf;

	while (len > 0) {
		uint32_t within = offset % WORLD_HEADER_BYTES;
		size_t n = WORLD_HEADER_BYTES - within;
		uint64_t cell[2];

		if (n > len)
			n = len;
		fill_cell(worker, object, offset - within, cell);
		memcpy(out, (uint8_t *)cell + within, n);
		out += n;
		offset += (uint32_t)n;
		len -= n;
	}
}

int world_whose(const void *header, unsigned *ret_worker, unsigned *ret_object)
{
	uint64_t cell[2], who;

	memcpy(cell, header, sizeof(cell));
	who = le64toh(cell[0]);
	if (who >> 32 != CONTENT_MAGIC)
		return -ENOENT;
	*ret_worker = (unsigned)(who >> 28 & 0xf);
	*ret_object = (unsigned)(who & 0xfffffff);
	return 0;
}
