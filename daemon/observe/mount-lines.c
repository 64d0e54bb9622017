// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include "mount-lines.h"
#include "../base/file.h"

/* Two paths in which each byte may be escaped, a page of options, and the rest. */
#define LINE_MAX_BYTES (2 * 4 * PATH_MAX + 8192)

void mount_unescape(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		unsigned v = 0;
		int n = 1;

		if (*p != '\\')
			n = 0;
		for (; n > 0 && n <= 3 && p[n] >= '0' && p[n] <= '7'; n++)
			v = v * 8 + (unsigned)(p[n] - '0');
		if (n == 4 && v > 0 && v <= UINT8_MAX) {
			*to++ = (char)v;
			p += 3;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/* ID PARENT MAJOR:MINOR ROOT MOUNTPOINT FLAGS [TAG...] - FSTYPE SOURCE OPTIONS */
int mount_line_parse(char *text, struct mount_line *ret)
{
	enum { ID, PARENT, DEV, ROOT, MOUNTPOINT, FLAGS, FIXED };
	char *field[FIXED], *end, *rest = text, *tail = strstr(text, " - ");

	if (!tail)
		return -EBADMSG;
	*tail = '\0';
	tail += 3;
	for (int i = 0; i < FIXED; i++) {
		field[i] = strsep(&rest, " ");
		if (!field[i] || !*field[i])
			return -EBADMSG;
	}
	*ret = (struct mount_line){
		.id = strtoull(field[ID], &end, 10),
		.mountpoint = field[MOUNTPOINT],
		.flags = field[FLAGS],
		.fstype = strsep(&tail, " "),
	};
	if (*end || parse_dev(field[DEV], &ret->dev) < 0 || !strsep(&tail, " ") || !tail)
		return -EBADMSG;
	ret->options = tail;
	mount_unescape(ret->mountpoint);
	return 0;
}

static int hand_over(char *text, dev_t dev, mount_line_fn f, void *userdata)
{
	struct mount_line line;

	if (mount_line_parse(text, &line) < 0 || line.dev != dev)
		return 0;
	return f(&line, userdata);
}

int mount_lines_read(const char *path, dev_t dev, mount_line_fn f, void *userdata)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[LINE_MAX_BYTES];
	size_t len = 0;
	bool skip = false;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *line = buf, *newline;
		ssize_t n = read(fd, buf + len, sizeof(buf) - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		len += (size_t)n;
		while ((newline = memchr(line, '\n', len))) {
			int r;

			*newline = '\0';
			r = skip ? 0 : hand_over(line, dev, f, userdata);
			if (r != 0)
				return r;
			skip = false;
			len -= (size_t)(newline + 1 - line);
			line = newline + 1;
		}
		memmove(buf, line, len);
		if (len == sizeof(buf)) {
			skip = true;
			len = 0;
		}
	}
}

/* --- namespaces --- */

struct seen {
	size_t n;
	uint32_t ino[MOUNT_NAMESPACES_MAX]; /* the kernel has no larger ones for namespaces */
};

/* 1: not seen before, 0, -E2BIG. */
static int see(struct seen *s, uint32_t ino)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ino[i] == ino)
			return 0;
	if (s->n == ELEMENTSOF(s->ino))
		return -E2BIG;
	s->ino[s->n++] = ino;
	return 1;
}

/* What is not to be looked at, or has just ended, is none. */
static int see_process(struct seen *s, const char *root, pid_t pid)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/proc/%d/ns/mnt", root, (int)pid);
	return stat(path, &st) < 0 ? 0 : see(s, (uint32_t)st.st_ino);
}

static pid_t pid_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits > 0 && digits < 10 && !name[digits] ? (pid_t)atoi(name) : 0;
}

int mount_namespaces_read(const char *root, mount_namespace_fn f, void *userdata)
{
	struct seen s = { .n = 0 };
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX], buf[4096] __attribute__((aligned(8)));
	ssize_t n;
	int r;

	/* Also where its namespace cannot be told. */
	(void)see_process(&s, root, 1);
	r = f(1, userdata);
	if (r != 0)
		return r;
	snprintf(path, sizeof(path), "%s/proc", root);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Not opendir(), which allocates. */
	while ((n = getdents64(fd, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *de = (const void *)(buf + at);
			pid_t pid = pid_of(de->d_name);

			at += de->d_reclen;
			if (pid == 0)
				continue;
			r = see_process(&s, root, pid);
			if (r > 0)
				r = f(pid, userdata);
			if (r != 0)
				return r;
		}
	return n < 0 ? -errno : 0;
}
