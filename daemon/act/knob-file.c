// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "../base/file.h"
#include "knob-file.h"

static int check(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	/* Whatever else stands there, opening it might do or wait for anything. */
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	return access(path, R_OK | W_OK) < 0 ? -errno : 0;
}

int knob_file_probe(const char *path, const char *missing, char *why, size_t why_size)
{
	int r = check(path);

	*why = '\0';
	if (r == -ENOENT)
		snprintf(why, why_size, "%s", missing);
	else if (r < 0)
		snprintf(why, why_size, "%s: %s", path, strerror(-r));
	return r;
}

bool knob_name_is_plain(const char *name)
{
	return !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int knob_device_path(const struct device *d, const char *sysroot, const char *place,
		     const char *file, char *path, size_t path_size, char *why, size_t why_size)
{
	int n;

	if (!*d->name || !knob_name_is_plain(d->name)) {
		snprintf(why, why_size, "\"%s\" is no device's name", d->name);
		return -EINVAL;
	}
	n = snprintf(path, path_size, "%s%s%s%s%s", sysroot, place, d->name, file ? "/" : "",
		     file ?: "");
	if (n >= 0 && (size_t)n < path_size)
		return 0;
	snprintf(why, why_size, "path too long");
	return -ENAMETOOLONG;
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
