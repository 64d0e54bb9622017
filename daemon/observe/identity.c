// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "../base/file.h"
#include "device.h"

bool device_id_equal(const struct device_id *a, const struct device_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->diskseq == b->diskseq;
}

static int read_dev(int block, const char *name, dev_t *ret)
{
	char path[DEVICE_NAME_MAX + sizeof("/dev")], text[32], end;
	unsigned int major, minor;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/dev", name);
	n = read_small_at(block, path, text, sizeof(text));
	if (n < 0)
		return n == -ENOENT || n == -ENOTDIR ? -ENODEV : (int)n;
	if (sscanf(text, "%u:%u%c", &major, &minor, &end) != 2)
		return -EBADMSG;
	*ret = makedev(major, minor);
	return 0;
}

/* Kernels before 5.15 have none; a partition's is that of its disk, the parent directory. */
static uint64_t read_diskseq(int block, const char *name)
{
	static const char *const places[] = { "%s/diskseq", "%s/../diskseq" };

	for (size_t i = 0; i < ELEMENTSOF(places); i++) {
		char path[DEVICE_NAME_MAX + sizeof("/../diskseq")];
		unsigned long long v;

		snprintf(path, sizeof(path), places[i], name);
		if (read_u64_at(block, path, &v) == 0)
			return v;
	}
	return 0;
}

static uint64_t read_ino(const char *name)
{
	static const char *const places[] = { "/sys/fs/ext4/%s", "/sys/fs/f2fs/%s" };

	for (size_t i = 0; i < ELEMENTSOF(places); i++) {
		char path[DEVICE_NAME_MAX + sizeof("/sys/fs/ext4/")];
		struct stat st;

		snprintf(path, sizeof(path), places[i], name);
		if (stat(path, &st) == 0)
			return st.st_ino;
	}
	return 0;
}

int device_id_read(const char *name, struct device_id *ret)
{
	_cleanup_close_ int block = -EBADF;
	struct device_id id = { 0 };
	int r;

	/* A slash or a leading dot never is in a kernel name, but might lead elsewhere. */
	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) >= DEVICE_NAME_MAX)
		return -EINVAL;
	block = open("/sys/class/block", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (block < 0)
		return -errno;
	r = read_dev(block, name, &id.dev);
	if (r < 0)
		return r;
	id.ino = read_ino(name);
	id.diskseq = read_diskseq(block, name);
	*ret = id;
	return 0;
}
