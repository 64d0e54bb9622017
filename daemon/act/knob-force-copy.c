// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * force_copy: jbd2 writes a copy of each metadata buffer to the journal, so that nobody has to
 * wait for the buffer itself. A file per journal, 0 or 1, in one of two places: of a patched
 * jbd2, /proc/fs/jbd2/JOURNAL/force_copy (fs/jbd2/journal.c, jbd2_force_copy_write()), or of a
 * loadable module, /proc/fs/jbd2_force_copy/JOURNAL.
 */
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "../base/file.h"
#include "knob.h"

static const char *const places[] = {
	"%s/proc/fs/jbd2/%s/force_copy",
	"%s/proc/fs/jbd2_force_copy/%s",
};

static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	/* Whatever else stands there, opening it might do or wait for anything. */
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	return access(path, R_OK | W_OK) < 0 ? -errno : 0;
}

static bool is_plain_name(const char *name)
{
	return !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int probe(const struct device *d, const char *sysroot, char *path, size_t path_size,
		 char *why, size_t why_size)
{
	int r = -ENOENT;

	if (!*d->journal) {
		snprintf(why, why_size, "%s",
			 d->has_journal ? "the journal's name is not known yet" : "no journal");
		return -ENODEV;
	}
	if (!is_plain_name(d->journal)) {
		snprintf(why, why_size, "\"%s\" is no journal's name", d->journal);
		return -EINVAL;
	}
	for (size_t i = 0; i < ELEMENTSOF(places) && r == -ENOENT; i++) {
		if ((size_t)snprintf(path, path_size, places[i], sysroot, d->journal) >=
		    path_size) {
			snprintf(why, why_size, "path too long");
			return -ENAMETOOLONG;
		}
		r = check_file(path);
	}
	if (r == -ENOENT)
		snprintf(why, why_size, "this kernel has no force_copy");
	else if (r < 0)
		snprintf(why, why_size, "%s: %s", path, strerror(-r));
	return r;
}

static int read_value(const char *path, char value[static KNOB_VALUE_MAX])
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

static int parse(const char *s, char ret[static KNOB_VALUE_MAX])
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

const struct knob_ops knob_force_copy = {
	.name = "force_copy",
	.unit = "0|1",
	.initial = "0",
	.probe = probe,
	.read = read_value,
	.write = write_string,
	.parse = parse,
	.cost = "one copy in memory per logged block, and memory up to the size of the largest "
		"transaction",
};
