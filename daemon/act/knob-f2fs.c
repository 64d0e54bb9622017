// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "../observe/discover.h"
#include "knob-f2fs.h"
#include "reconfigure.h"

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
