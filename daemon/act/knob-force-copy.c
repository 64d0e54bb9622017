// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * force_copy: jbd2 writes a copy of each metadata buffer to the journal, so that nobody has to
 * wait for the buffer itself. A file per journal, 0 or 1, in one of two places: of a patched
 * jbd2, /proc/fs/jbd2/JOURNAL/force_copy (fs/jbd2/journal.c, jbd2_force_copy_write()), or of a
 * loadable module, /proc/fs/jbd2_force_copy/JOURNAL.
 */
#include <string.h>
#include "../base/file.h"
#include "knob-file.h"

static const char *const places[] = {
	"%s/proc/fs/jbd2/%s/force_copy",
	"%s/proc/fs/jbd2_force_copy/%s",
};

static int probe(const struct device *d, const char *sysroot, char *path, size_t path_size,
		 char *why, size_t why_size)
{
	int r = -ENOENT;

	if (!*d->journal) {
		snprintf(why, why_size, "%s",
			 d->has_journal ? "the journal's name is not known yet" : "no journal");
		return -ENODEV;
	}
	if (!knob_name_is_plain(d->journal)) {
		snprintf(why, why_size, "\"%s\" is no journal's name", d->journal);
		return -EINVAL;
	}
	for (size_t i = 0; i < ELEMENTSOF(places) && r == -ENOENT; i++) {
		if ((size_t)snprintf(path, path_size, places[i], sysroot, d->journal) >=
		    path_size) {
			snprintf(why, why_size, "path too long");
			return -ENAMETOOLONG;
		}
		r = knob_file_probe(path, "this kernel has no force_copy", why, why_size);
	}
	return r;
}

const struct knob_ops knob_force_copy = {
	.name = "force_copy",
	.unit = "0|1",
	.initial = "0",
	.types = 1u << DEVICE_EXT4 | 1u << DEVICE_JBD2,
	.probe = probe,
	.place = "/proc/fs/",
	.read = knob_file_read,
	.write = write_string,
	.parse = knob_switch_parse,
	.cost = "one copy in memory per logged block, and memory up to the size of the largest "
		"transaction",
	.missing = "patched kernel modules give it, so far for Debian's 6.1: see "
		   "patches/README.md",
};
