// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as mountinfo: what comes of it is whole, sorted and findable. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include "../../daemon/observe/mountinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct mounts m;

	if (fd < 0)
		fd = memfd_create("mountinfo", MFD_CLOEXEC);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (mounts_read(&m, fd) < 0)
		return 0;
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
