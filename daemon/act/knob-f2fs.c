// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <unistd.h>
#include "../observe/discover.h"
#include "knob-f2fs.h"
#include "knob-file.h"
#include "reconfigure.h"

int knob_f2fs_path(const struct device *d, const char *sysroot, const char *file, char *path,
		   size_t path_size, char *why, size_t why_size)
{
	int n;

	if (!*d->name || !knob_name_is_plain(d->name)) {
		snprintf(why, why_size, "\"%s\" is no device's name", d->name);
		return -EINVAL;
	}
	n = snprintf(path, path_size, "%s" KNOB_F2FS_PLACE "%s%s%s", sysroot, d->name,
		     file ? "/" : "", file ?: "");
	if (n >= 0 && (size_t)n < path_size)
		return 0;
	snprintf(why, why_size, "path too long");
	return -ENAMETOOLONG;
}

int knob_f2fs_options(const char *path, char ret[static F2FS_OPTIONS_MAX], dev_t *ret_dev)
{
	const char *place = strstr(path, KNOB_F2FS_PLACE);
	char root[256], name[DEVICE_NAME_MAX];
	int r;

	if (!place || (size_t)(place - path) >= sizeof(root))
		return -EINVAL;
	snprintf(root, sizeof(root), "%.*s", (int)(place - path), path);
	place += strlen(KNOB_F2FS_PLACE);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(place, "/"), place);
	r = discover_dev(name, ret_dev);
	return r < 0 ? r : reconfigure_read(root, *ret_dev, ret);
}
