// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ckpt_thread_ioprio: the I/O priority of the thread that makes an f2fs's checkpoints, a file
 * in /sys/fs/f2fs/DEVICE, "be,N" or "rt,N" with 0 the highest (fs/f2fs/sysfs.c,
 * f2fs_sbi_store()). Without checkpoint_merge there is no such thread.
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include "../base/file.h"
#include "../base/time-util.h"
#include "knob-f2fs.h"
#include "knob-file.h"

#define FILE_NAME "ckpt_thread_ioprio"
#define LEVEL_MAX '7'

/* While the file system is being reconfigured or synced the kernel says EAGAIN. Less than the
 * deadline of a write: beyond that somebody had better know. */
#define RETRY_US (4 * USEC_PER_SEC)
#define RETRY_PAUSE_MS 10

static int probe(const struct device *d, const char *sysroot, char *path, size_t path_size,
		 char *why, size_t why_size)
{
	char options[F2FS_OPTIONS_MAX];
	dev_t dev;
	int r;

	r = knob_device_path(d, sysroot, KNOB_F2FS_PLACE, FILE_NAME, path, path_size, why,
			     why_size);
	if (r < 0)
		return r;
	r = knob_file_probe(path, "this kernel's f2fs has no " FILE_NAME, why, why_size);
	if (r < 0)
		return r;
	/* What cannot be seen is no reason to forbid it. */
	if (knob_f2fs_options(path, options, &dev) < 0 ||
	    f2fs_options_flag(options, "checkpoint_merge") != 0)
		return 0;
	snprintf(why, why_size, "without checkpoint_merge no thread has it");
	return 1;
}

static int parse(const char *s, char ret[static KNOB_VALUE_MAX])
{
	if ((strncmp(s, "be,", 3) != 0 && strncmp(s, "rt,", 3) != 0) || s[3] < '0' ||
	    s[3] > LEVEL_MAX || s[4])
		return -EINVAL;
	snprintf(ret, KNOB_VALUE_MAX, "%s", s);
	return 0;
}

static int read_value(const char *path, char value[static KNOB_VALUE_MAX])
{
	char text[KNOB_VALUE_MAX];
	ssize_t n = read_small_at(AT_FDCWD, path, text, sizeof(text));

	if (n < 0 && n != -EFBIG)
		return (int)n;
	return n < 0 || parse(text, value) < 0 ? -EBADMSG : 0;
}

static int write_value(const char *path, const char *value)
{
	uint64_t until = now_monotonic_us() + RETRY_US;
	int r;

	while ((r = write_string(path, value)) == -EAGAIN && now_monotonic_us() < until)
		(void)poll(NULL, 0, RETRY_PAUSE_MS);
	return r;
}

const struct knob_ops knob_ckpt_thread_ioprio = {
	.name = FILE_NAME,
	.unit = "be,0-7|rt,0-7",
	.initial = "be,3",
	.types = 1u << DEVICE_F2FS,
	.place = KNOB_F2FS_PLACE,
	.probe = probe,
	.read = read_value,
	.write = write_value,
	.parse = parse,
	.cost = "a checkpoint's writes go before those of others with a lower priority",
	.missing = KNOB_F2FS_MISSING,
};
