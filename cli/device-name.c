// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "device-name.h"

static int from_path(const char *path, char *ret, char *error, size_t error_size)
{
	struct stat st;
	dev_t dev;

	if (stat(path, &st) < 0) {
		snprintf(error, error_size, "%s: %s", path, strerror(errno));
		return -errno;
	}
	dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	if (major(dev) == 0) {
		snprintf(error, error_size,
			 "%s is on a file system without a block device of its own (btrfs, "
			 "overlay, network): name the device",
			 path);
		return -ENOTBLK;
	}
	snprintf(ret, DEVICE_NAME_SIZE, "%u:%u", major(dev), minor(dev));
	return 0;
}

int device_name(const char *what, char ret[static DEVICE_NAME_SIZE], char *error,
		size_t error_size)
{
	if (*what == '/')
		return from_path(what, ret, error, error_size);
	if (strlen(what) >= DEVICE_NAME_SIZE) {
		snprintf(error, error_size, "No device has a name that long");
		return -ENAMETOOLONG;
	}
	strcpy(ret, what);
	if (strncmp(what, "UUID=", 5) != 0 && strncmp(what, "LABEL=", 6) != 0)
		for (char *p = ret; *p; p++)
			if (*p == '/')
				*p = '!';
	return 0;
}
