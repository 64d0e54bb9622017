// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as mountinfo: what comes of it is whole, sorted and findable. */
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "../../daemon/observe/mountinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ?: 1);
	struct mounts m;

	memcpy(text, data, size);
	if (mounts_parse(&m, text, size) < 0)
		m = (struct mounts){ 0 };
	free(text);
	for (size_t i = 0; i < m.n; i++) {
		const struct mount_entry *e = &m.entries[i];

		if (e->n_mounts == 0 || major(e->dev) == 0 || !e->mountpoint || !e->options ||
		    (i > 0 && m.entries[i - 1].dev >= e->dev) || mounts_find(&m, e->dev) != e)
			abort();
		(void)mounts_find_source(&m, e->source);
	}
	mounts_done(&m);
	return 0;
}
