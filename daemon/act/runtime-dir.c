// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "runtime-dir.h"
#include "../base/cleanup.h"
#include "../base/log.h"

/* Whoever may write there may make us write anywhere: it must be ours alone. */
static int open_dir(const char *dir)
{
	_cleanup_close_ int fd =
		open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return log_error_errno(errno, "Cannot open %s: %m", dir);
	if (fstat(fd, &st) < 0)
		return log_error_errno(errno, "%s: %m", dir);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & 022))
		return log_error_errno(EPERM, "%s belongs to others, or they may write to it",
				       dir);
	return TAKE_FD(fd);
}

int runtime_dir_lock(const char *dir)
{
	_cleanup_close_ int dir_fd = open_dir(dir), fd = -EBADF;
	struct stat st;

	if (dir_fd < 0)
		return dir_fd;
	fd = openat(dir_fd, "lock", O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		    0600);
	if (fd < 0)
		return log_error_errno(errno, "Cannot open %s/lock: %m", dir);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return log_error_errno(EINVAL, "%s/lock is no regular file", dir);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return log_error_errno(EBUSY, "Another fs-tuned is using %s", dir);
		return log_error_errno(errno, "Cannot lock %s/lock: %m", dir);
	}
	return TAKE_FD(fd);
}
