// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as mountinfo: what comes of it is whole, sorted and findable; and its lines one by
 * one, with their options set anew.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include "../../daemon/act/f2fs-options.h"
#include "../../daemon/observe/mount-lines.h"
#include "../../daemon/observe/mountinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_options(char *options)
{
	char set[F2FS_OPTIONS_MAX], why[64];
	struct f2fs_option o;

	(void)f2fs_options_refusal(options);
	if (f2fs_options_set(options, "acl", false, set) == 0 &&
	    (f2fs_options_flag(set, "acl") != 0 ||
	     !f2fs_options_same(set, set, why, sizeof(why))))
		abort();
	while (f2fs_option_next(&options, &o))
		if (!o.key)
			abort();
}

static void take_lines(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1);
	char *rest = text, *line;
	struct mount_line l;

	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	while ((line = strsep(&rest, "\n")))
		if (mount_line_parse(line, &l) == 0)
			take_options(l.options);
}

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
	take_lines(data, size);
	return 0;
}
