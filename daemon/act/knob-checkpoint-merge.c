// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * checkpoint_merge: checkpoints of an f2fs are made by one kernel thread, which serves all who
 * wait with one of them (fs/f2fs/checkpoint.c, issue_checkpoint_thread()). A mount option, so
 * it is read from mountinfo and set by reconfigure.h. Linux 5.12 has it.
 */
#include <string.h>
#include <unistd.h>
#include "knob-f2fs.h"
#include "knob-file.h"
#include "reconfigure.h"

#define OPTION "checkpoint_merge"

static int probe(const struct device *d, const char *sysroot, char *path, size_t path_size,
		 char *why, size_t why_size)
{
	char options[F2FS_OPTIONS_MAX];
	const char *refusal;
	dev_t dev;
	int r;

	r = knob_device_path(d, sysroot, KNOB_F2FS_PLACE, NULL, path, path_size, why, why_size);
	if (r < 0)
		return r;
	r = knob_f2fs_options(path, options, &dev);
	if (r == -ENOENT)
		snprintf(why, why_size, "no process has it mounted where that can be seen");
	else if (r < 0)
		snprintf(why, why_size, "its mount options cannot be read: %s", strerror(-r));
	if (r < 0)
		return r;
	if (f2fs_options_flag(options, OPTION) < 0) {
		snprintf(why, why_size, "this kernel's f2fs has no checkpoint_merge");
		return -ENOENT;
	}
	refusal = *sysroot ? "it is below another root" : f2fs_options_refusal(options);
	if (!refusal)
		return 0;
	snprintf(why, why_size, "%s", refusal);
	return 1;
}

static int read_value(const char *path, char value[static KNOB_VALUE_MAX])
{
	char options[F2FS_OPTIONS_MAX];
	dev_t dev;
	int r;

	if (access(path, F_OK) < 0)
		return -errno;
	r = knob_f2fs_options(path, options, &dev);
	if (r < 0)
		return r;
	r = f2fs_options_flag(options, OPTION);
	if (r < 0)
		return -EBADMSG;
	snprintf(value, KNOB_VALUE_MAX, "%d", r);
	return 0;
}

static int change(const char *path, const char *value, char *why, size_t why_size)
{
	char options[F2FS_OPTIONS_MAX];
	dev_t dev;
	int r;

	if (strncmp(path, KNOB_F2FS_PLACE, strlen(KNOB_F2FS_PLACE)) != 0) {
		snprintf(why, why_size, "it is below another root");
		return -EOPNOTSUPP;
	}
	r = knob_f2fs_options(path, options, &dev);
	return r < 0 ? r : reconfigure(dev, OPTION, strcmp(value, "1") == 0, why, why_size);
}

const struct knob_ops knob_checkpoint_merge = {
	.name = OPTION,
	.unit = "0|1",
	.initial = "1",
	.any_at_mount = true,
	.reconfigures = true,
	.types = 1u << DEVICE_F2FS,
	.place = KNOB_F2FS_PLACE,
	.probe = probe,
	.read = read_value,
	.change = change,
	.parse = knob_switch_parse,
	.cost = "each change reconfigures the file system, which drops its cached names; while "
		"on, a task waits for the thread that makes its checkpoint",
	.missing = KNOB_F2FS_MISSING,
};
