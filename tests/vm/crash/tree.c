// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include "tree.h"

#define XATTR "user.v"

static int write_content(int fd, unsigned worker, unsigned object, uint32_t from, uint32_t to)
{
	uint8_t buf[4096];

	while (from < to) {
		size_t n = to - from < sizeof(buf) ? to - from : sizeof(buf);
		ssize_t written;

		world_content(worker, object, from, buf, n);
		written = pwrite(fd, buf, n, from);
		if (written < 0)
			return -errno;
		from += (uint32_t)written;
	}
	return 0;
}

static int do_create(int root_fd, const struct world *w, const struct op *op, const char *path)
{
	_cleanup_close_ int fd =
		openat(root_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	return write_content(fd, w->worker, op->object, 0, op->size);
}

static int do_to_file(int root_fd, const struct world *w, const struct op *op, const char *path)
{
	_cleanup_close_ int fd = openat(root_fd, path, O_RDWR | O_CLOEXEC);
	char value[16];
	int r;

	if (fd < 0)
		return -errno;
	switch (op->kind) {
	case OP_APPEND:
		return write_content(fd, w->worker, op->object, w->objects[op->object].size,
				     op->size);
	case OP_TRUNCATE:
		r = ftruncate(fd, op->size);
		break;
	case OP_SETXATTR:
		r = fsetxattr(fd, XATTR, value,
			      (size_t)snprintf(value, sizeof(value), "%u", op->size), 0);
		break;
	case OP_FSYNC:
		r = fsync(fd);
		break;
	default:
		r = fdatasync(fd);
		break;
	}
	return r < 0 ? -errno : 0;
}

/* Of a directory that is no entry of its own: the worker's. */
static int do_fsync_dir(int root_fd, const struct world *w, const struct op *op)
{
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX] = ".";
	int r = op->object == WORLD_ROOT ? 0
					 : world_path(w, op->object, ".", path, sizeof(path));

	if (r < 0)
		return r;
	fd = openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}

static int do_link(int root_fd, const struct world *w, const struct op *op, const char *path)
{
	char old[PATH_MAX];

	for (size_t i = 0; i < w->n_entries; i++) {
		const struct entry *e = &w->entries[i];
		int r;

		if (e->object != op->object)
			continue;
		r = world_path(w, e->dir, e->name, old, sizeof(old));
		if (r < 0)
			return r;
		return linkat(root_fd, old, root_fd, path, 0) < 0 ? -errno : 0;
	}
	return -ENOENT;
}

int tree_do(int root_fd, const struct world *w, const struct op *op)
{
	char path[PATH_MAX], to[PATH_MAX];
	int r;

	if (op->kind == OP_FSYNC_DIR)
		return do_fsync_dir(root_fd, w, op);
	r = world_path(w, op->dir, op->name, path, sizeof(path));
	if (r == 0)
		r = world_path(w, op->to_dir, op->to, to, sizeof(to));
	if (r < 0)
		return r;
	switch (op->kind) {
	case OP_CREATE:
		return do_create(root_fd, w, op, path);
	case OP_MKDIR:
		r = mkdirat(root_fd, path, 0700);
		break;
	case OP_LINK:
		return do_link(root_fd, w, op, path);
	case OP_UNLINK:
		r = unlinkat(root_fd, path, 0);
		break;
	case OP_RMDIR:
		r = unlinkat(root_fd, path, AT_REMOVEDIR);
		break;
	case OP_RENAME:
	case OP_RENAME_DIR:
		r = renameat(root_fd, path, root_fd, to);
		break;
	case OP_EXCHANGE:
		r = renameat2(root_fd, path, root_fd, to, RENAME_EXCHANGE);
		break;
	default:
		return do_to_file(root_fd, w, op, path);
	}
	return r < 0 ? -errno : 0;
}

struct look {
	unsigned worker;
	struct found *found;
	size_t n;
};

static struct found *add_found(struct look *l, unsigned dir, const char *name)
{
	struct found *found = reallocarray(l->found, l->n + 1, sizeof(*found));

	if (!found)
		return NULL;
	l->found = found;
	found += l->n++;
	*found = (struct found){ .dir = dir, .strange = UINT64_MAX };
	memcpy(found->name, name, strlen(name) + 1);
	return found;
}

/* How much of the content is as it must be, and where it is neither so nor zero. */
static int compare_content(int fd, unsigned worker, struct found *f)
{
	uint8_t is[4096], must[4096];
	uint64_t at = 0;
	ssize_t n;

	f->good = UINT64_MAX;
	while ((n = pread(fd, is, sizeof(is), (off_t)at)) > 0) {
		world_content(worker, f->object, (uint32_t)at, must, (size_t)n);
		for (ssize_t i = 0; i < n; i++) {
			if (f->known && is[i] == must[i])
				continue;
			if (f->good == UINT64_MAX)
				f->good = at + (uint64_t)i;
			if (is[i] != 0 && f->strange == UINT64_MAX && f->known)
				f->strange = at + (uint64_t)i;
		}
		at += (uint64_t)n;
	}
	if (f->good == UINT64_MAX)
		f->good = at;
	return n < 0 ? -errno : 0;
}

/*
 * A file that nobody synced may be empty, or begin with a hole: then nothing says whose it is,
 * and nothing was promised of it.
 */
static int identify(int fd, unsigned worker, struct found *f)
{
	static const uint8_t zeroes[WORLD_HEADER_BYTES];
	uint8_t header[WORLD_HEADER_BYTES] = { 0 };
	unsigned whose;
	ssize_t n = pread(fd, header, sizeof(header), 0);

	if (n < 0)
		return -errno;
	if (memcmp(header, zeroes, sizeof(zeroes)) == 0)
		return 0;
	if (world_whose(header, &whose, &f->object) < 0 || whose != worker)
		f->strange = 0;
	else
		f->known = true;
	return 0;
}

static int look_at_file(int dir_fd, unsigned worker, struct found *f)
{
	_cleanup_close_ int fd = openat(dir_fd, f->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char value[16] = "";
	struct stat st;
	ssize_t n;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EUCLEAN;
	f->size = (uint64_t)st.st_size;
	n = fgetxattr(fd, XATTR, value, sizeof(value) - 1);
	if (n < 0 && errno != ENODATA && errno != EOPNOTSUPP)
		return -errno;
	f->xattr = (uint32_t)strtoul(value, NULL, 10);
	r = identify(fd, worker, f);
	return r < 0 ? r : compare_content(fd, worker, f);
}

static int look_at_dir(struct look *l, int fd, unsigned dir);

static int look_at(struct look *l, DIR *d, unsigned dir, const struct dirent *de)
{
	_cleanup_close_ int fd = -EBADF;
	struct found *f;

	if (strlen(de->d_name) >= sizeof(f->name))
		return -EUCLEAN;
	f = add_found(l, dir, de->d_name);
	if (!f)
		return -ENOMEM;
	if (de->d_type != DT_DIR)
		return look_at_file(dirfd(d), l->worker, f);
	f->is_dir = f->known = true;
	if (world_directory_number(de->d_name, &f->object) < 0)
		return -EUCLEAN;
	fd = openat(dirfd(d), de->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return look_at_dir(l, TAKE_FD(fd), f->object);
}

/* Takes the descriptor over. */
static int look_at_dir(struct look *l, int fd, unsigned dir)
{
	_cleanup_closedir_ DIR *d = fdopendir(fd);
	const struct dirent *de;
	int r = 0;

	if (!d) {
		r = -errno;
		close(fd);
		return r;
	}
	while (r == 0 && (errno = 0, de = readdir(d)))
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			r = look_at(l, d, dir, de);
	return r < 0 ? r : -errno;
}

int tree_look(int root_fd, unsigned worker, struct found **ret, size_t *ret_n)
{
	struct look l = { .worker = worker };
	int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = look_at_dir(&l, fd, WORLD_ROOT);
	if (r < 0) {
		free(l.found);
		return r;
	}
	*ret = l.found;
	*ret_n = l.n;
	return 0;
}
