// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "file.h"

/* MINORBITS and what it leaves of a 32-bit dev_t: include/linux/kdev_t.h. */
#define DEV_MAJOR_MAX 0xfff
#define DEV_MINOR_MAX 0xfffff

/* Reads up to `size` bytes. Returns how many there were. */
static ssize_t read_loop(int fd, char *buf, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t r = read(fd, buf + n, size - n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		n += (size_t)r;
	}
	return (ssize_t)n;
}

ssize_t read_small_at(int dirfd, const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd =
		openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read_loop(fd, buf, size);
	if (n < 0)
		return n;
	if ((size_t)n == size)
		return -EFBIG;
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return n;
}

int read_full_file(const char *path, size_t max, bool regular, char **ret, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	_cleanup_free_ char *buf = NULL;
	size_t size = 4096, len = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (regular && !S_ISREG(st.st_mode))
		return -EINVAL;

	for (;;) {
		char *bigger = realloc(buf, size + 1);
		ssize_t r;

		if (!bigger)
			return -ENOMEM;
		buf = bigger;
		r = read_loop(fd, buf + len, size - len);
		if (r < 0)
			return (int)r;
		len += (size_t)r;
		if (len > max)
			return -EFBIG;
		if (len < size)
			break;
		size *= 2;
	}
	buf[len] = '\0';
	*ret = TAKE_PTR(buf);
	if (ret_len)
		*ret_len = len;
	return 0;
}

int read_u64_at(int dirfd, const char *path, unsigned long long *ret)
{
	char buf[32], *end;
	const char *s = buf;
	ssize_t n = read_small_at(dirfd, path, buf, sizeof(buf));

	if (n < 0)
		return (int)n;
	while (isspace((unsigned char)*s))
		s++;
	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(s, &end, 10);
	if (errno)
		return -errno;
	while (isspace((unsigned char)*end))
		end++;
	return *end ? -EINVAL : 0;
}

static bool take_number(const char **s, unsigned long max, char end, unsigned *ret)
{
	char *after;
	unsigned long v;

	if (!isdigit((unsigned char)**s))
		return false;
	v = strtoul(*s, &after, 10); /* ULONG_MAX if it is too much for that */
	if (v > max || *after != end)
		return false;
	*s = after + 1;
	*ret = (unsigned)v;
	return true;
}

int parse_dev(const char *text, dev_t *ret)
{
	unsigned maj, min;

	if (!take_number(&text, DEV_MAJOR_MAX, ':', &maj) ||
	    !take_number(&text, DEV_MINOR_MAX, '\0', &min))
		return -EINVAL;
	*ret = makedev(maj, min);
	return 0;
}

int write_string(const char *path, const char *value)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	size_t len = strlen(value);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, value, len);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

int write_file_atomic(const char *path, const char *data, size_t len, mode_t mode)
{
	_cleanup_close_ int fd = -EBADF;
	char tmp[PATH_MAX];
	int r = 0;

	if ((size_t)snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= sizeof(tmp))
		return -ENAMETOOLONG;
	/* What a killed run left, or what somebody put there: neither is written into. */
	(void)unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return -errno;
	for (size_t n = 0; n < len && r == 0;) {
		ssize_t w = write(fd, data + n, len - n);

		if (w >= 0)
			n += (size_t)w;
		else if (errno != EINTR)
			r = -errno;
	}
	if (r == 0 && rename(tmp, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(tmp);
	return r;
}
