// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fast_commit: whether an fsync of ext4 tries a fast commit before a full one. A file per file
 * system, /sys/fs/ext4/DEVICE/fast_commit, of a patched kernel (fs/ext4/fast_commit.c, the flag
 * is read at the top of ext4_fc_commit(); fs/ext4/sysfs.c). It can be read everywhere; to be
 * written it needs the feature on the disk, and with that it is 1 after the mount. The feature
 * itself is nobody's to change while mounted, and never ours.
 */
#include <string.h>
#include "../base/file.h"
#include "knob-file.h"

#define PLACE "/sys/fs/ext4/"

/* Has this file system what the switch acts on? */
static int check_device(const struct device *d, char *why, size_t why_size)
{
	size_t len = 0;
	const char *data = device_mount_option(d, "data", &len);

	if (data && len == strlen("journal") && memcmp(data, "journal", len) == 0) {
		snprintf(why, why_size, "data=journal knows no fast commits");
		return -EOPNOTSUPP;
	}
	if (d->fast_commit == FEATURE_YES) {
		if (!d->read_only)
			return 0;
		snprintf(why, why_size, "the file system is read-only");
		return -EROFS;
	}
	if (d->fast_commit == FEATURE_UNKNOWN) {
		snprintf(why, why_size, "whether it has the feature fast_commit is not known");
		return -EAGAIN;
	}
	snprintf(why, why_size, "the file system has no feature fast_commit");
	return -EOPNOTSUPP;
}

static int probe(const struct device *d, const char *sysroot, char *path, size_t path_size,
		 char *why, size_t why_size)
{
	int r;

	if (d->type != DEVICE_EXT4) {
		snprintf(why, why_size, "only ext4 has fast commits");
		return -EOPNOTSUPP;
	}
	if (!d->has_journal) {
		snprintf(why, why_size, "no journal");
		return -ENODEV;
	}
	r = knob_device_path(d, sysroot, PLACE, "fast_commit", path, path_size, why, why_size);
	if (r == 0)
		r = knob_file_probe(path, "this kernel has no switch for fast commits", why,
				    why_size);
	return r < 0 ? r : check_device(d, why, why_size);
}

const struct knob_ops knob_fast_commit = {
	.name = "fast_commit",
	.unit = "0|1",
	.initial = "1",
	.types = 1u << DEVICE_EXT4,
	.place = PLACE,
	.probe = probe,
	.read = knob_file_read,
	.write = write_string,
	.parse = knob_switch_parse,
	.cost = "tasks that fsync at the same time no longer share one flush of the device; "
		"keeping track of changes costs the same on and off",
	.missing = "patched kernel modules give the switch, so far for Debian's 6.1: see "
		   "patches/README.md; what the feature would give: fstunectl explain DEVICE",
};
