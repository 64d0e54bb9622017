// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include "discover.h"
#include "../base/file.h"

bool device_id_equal(const struct device_id *a, const struct device_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->diskseq == b->diskseq;
}

int discover_ino(const char *name, uint64_t *ret)
{
	static const char *const places[] = { "/sys/fs/ext4/%s", "/sys/fs/f2fs/%s" };
	int r = -ENOENT;

	for (size_t i = 0; i < ELEMENTSOF(places) && r == -ENOENT; i++) {
		char path[PATH_MAX];
		struct stat st;

		r = discover_path(path, sizeof(path), places[i], name);
		if (r == 0 && stat(path, &st) < 0)
			r = -errno;
		if (r == 0)
			*ret = st.st_ino;
	}
	return r;
}

int discover_dev(const char *name, dev_t *ret)
{
	char path[PATH_MAX], text[32];
	ssize_t n;
	int r = discover_path(path, sizeof(path), "/sys/class/block/%s/dev", name);

	if (r < 0)
		return r;
	n = read_small_at(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return n == -ENOENT || n == -ENOTDIR ? -ENODEV : (int)n;
	return parse_dev(text, ret) < 0 ? -EBADMSG : 0;
}

/* Kernels before 5.15 have none; a partition's is that of its disk, the parent directory. */
static int read_diskseq(const char *name, uint64_t *ret)
{
	static const char *const places[] = { "/sys/class/block/%s/diskseq",
					      "/sys/class/block/%s/../diskseq" };
	unsigned long long seq = 0;
	int r = -ENOENT;

	for (size_t i = 0; i < ELEMENTSOF(places) && r == -ENOENT; i++) {
		char path[PATH_MAX];

		r = discover_path(path, sizeof(path), places[i], name);
		if (r == 0)
			r = read_u64_at(AT_FDCWD, path, &seq);
	}
	*ret = seq;
	return r == -ENOENT ? 0 : r;
}

/*
 * A part that cannot be read just now (no descriptors left) is an error, not "unknown": a
 * wrong identity would disown what was written under the right one.
 */
int device_id_read(const char *name, struct device_id *ret)
{
	struct device_id id = { 0 };
	int r;

	/* A slash or a leading dot never is in a kernel name, but might lead elsewhere. */
	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) >= DEVICE_NAME_MAX)
		return -EINVAL;
	r = discover_dev(name, &id.dev);
	if (r < 0)
		return r;
	r = discover_ino(name, &id.ino);
	if (r < 0 && r != -ENOENT)
		return r;
	r = read_diskseq(name, &id.diskseq);
	if (r < 0)
		return r;
	*ret = id;
	return 0;
}
