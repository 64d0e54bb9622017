// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include "runtime-dir.h"
#include "../base/cleanup.h"
#include "../base/log.h"

int runtime_dir_lock(const char *dir)
{
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/lock", dir) >= sizeof(path))
		return log_error_errno(ENAMETOOLONG, "%s: %m", dir);
	fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return log_error_errno(errno, "Cannot open %s: %m", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return log_error_errno(EBUSY, "Another fs-tuned is using %s", dir);
		return log_error_errno(errno, "Cannot lock %s: %m", path);
	}
	return TAKE_FD(fd);
}
