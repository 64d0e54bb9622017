// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "../base/file.h"
#include "knob-file.h"

int knob_file_check(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	/* Whatever else stands there, opening it might do or wait for anything. */
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	return access(path, R_OK | W_OK) < 0 ? -errno : 0;
}

bool knob_name_is_plain(const char *name)
{
	return !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int knob_file_read(const char *path, char value[static KNOB_VALUE_MAX])
{
	unsigned long long v;
	int r = read_u64_at(AT_FDCWD, path, &v);

	if (r == -EINVAL || r == -ERANGE || r == -EFBIG)
		return -EBADMSG;
	if (r < 0)
		return r;
	if (v > UINT32_MAX) /* it is an unsigned int in the kernel */
		return -EBADMSG;
	snprintf(value, KNOB_VALUE_MAX, "%llu", v);
	return 0;
}

int knob_switch_parse(const char *s, char ret[static KNOB_VALUE_MAX])
{
	static const char *const yes[] = { "1", "on", "yes", "true" };
	static const char *const no[] = { "0", "off", "no", "false" };

	for (size_t i = 0; i < ELEMENTSOF(yes); i++) {
		bool on = strcasecmp(s, yes[i]) == 0;

		if (!on && strcasecmp(s, no[i]) != 0)
			continue;
		snprintf(ret, KNOB_VALUE_MAX, "%d", on);
		return 0;
	}
	return -EINVAL;
}
