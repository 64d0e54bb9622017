// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs beside the loop: allocates nothing but pages, logs nothing. */
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include "../observe/mount-lines.h"
#include "reconfigure.h"

static int mountinfo_path(char *buf, size_t size, const char *root, pid_t pid)
{
	int n = snprintf(buf, size, "%s/proc/%d/mountinfo", root, (int)pid);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* --- what is mounted where, with what --- */

/* A host has a few mounts of one file system; one with containers some hundreds. */
#define MOUNTS_MAX 4096
#define FLAGS_MAX 96

struct mount_flags {
	unsigned long long id;
	char flags[FLAGS_MAX];
};

struct snapshot {
	char options[F2FS_OPTIONS_MAX]; /* "": not found */
	size_t n;
	struct mount_flags mounts[MOUNTS_MAX];
};

struct survey {
	const char *root;
	dev_t dev;
	struct snapshot *snapshot;
};

static int note_options(const struct mount_line *line, char ret[static F2FS_OPTIONS_MAX])
{
	size_t n = strlen(line->options);

	if (n >= F2FS_OPTIONS_MAX)
		return -E2BIG;
	memcpy(ret, line->options, n + 1);
	return 0;
}

static int note_mount(struct mount_line *line, void *userdata)
{
	struct snapshot *s = ((struct survey *)userdata)->snapshot;
	struct mount_flags *m;

	if (strcmp(line->fstype, "f2fs") != 0)
		return 0;
	if (!*s->options && note_options(line, s->options) < 0)
		return -E2BIG;
	if (s->n == MOUNTS_MAX)
		return -E2BIG;
	m = &s->mounts[s->n++];
	m->id = line->id;
	snprintf(m->flags, sizeof(m->flags), "%s", line->flags);
	return 0;
}

/* A process that ends meanwhile, or is not ours to look at, has nothing to say. */
static int ignore_gone(int r)
{
	return r == -ENOENT || r == -ESRCH || r == -EACCES || r == -EPERM || r == -EINVAL ? 0
											  : r;
}

static int note_namespace(pid_t pid, void *userdata)
{
	struct survey *s = userdata;
	char path[PATH_MAX];
	int r = mountinfo_path(path, sizeof(path), s->root, pid);

	return r < 0 ? r : ignore_gone(mount_lines_read(path, s->dev, note_mount, s));
}

static int take_snapshot(struct snapshot *s, dev_t dev)
{
	struct survey survey = { .root = "", .dev = dev, .snapshot = s };

	s->n = 0;
	*s->options = '\0';
	return mount_namespaces_read("", note_namespace, &survey);
}

/* A mount that came or went meanwhile is nobody's doing here. */
static bool flags_same(const struct snapshot *before, const struct snapshot *after, char *why,
		       size_t why_size)
{
	for (size_t i = 0; i < before->n; i++)
		for (size_t k = 0; k < after->n; k++) {
			const struct mount_flags *b = &before->mounts[i],
						 *a = &after->mounts[k];

			if (a->id != b->id || strcmp(a->flags, b->flags) == 0)
				continue;
			snprintf(why, why_size, "a mount is %s instead of %s", a->flags,
				 b->flags);
			return false;
		}
	return true;
}

/* --- options alone --- */

struct options_of {
	const char *root;
	dev_t dev;
	char *ret;
};

static int first_options(struct mount_line *line, void *userdata)
{
	struct options_of *o = userdata;
	int r = strcmp(line->fstype, "f2fs") == 0 ? note_options(line, o->ret) : 0;

	return r < 0 ? r : *o->ret != '\0';
}

static int options_of_namespace(pid_t pid, void *userdata)
{
	struct options_of *o = userdata;
	char path[PATH_MAX];
	int r = mountinfo_path(path, sizeof(path), o->root, pid);

	return r < 0 ? r : ignore_gone(mount_lines_read(path, o->dev, first_options, o));
}

int reconfigure_read(const char *root, dev_t dev, char ret[static F2FS_OPTIONS_MAX])
{
	struct options_of o = { .root = root, .dev = dev, .ret = ret };
	int r;

	*ret = '\0';
	r = mount_namespaces_read(root, options_of_namespace, &o);
	return r < 0 ? r : r > 0 ? 0 : -ENOENT;
}

/* --- a way to the file system --- */

/*
 * Step by step and through no link, which would lead out of that process's root: a mount point
 * has none on its way. Not openat2(2), which a service with RestrictSUIDSGID= does not have.
 * Takes the path apart, and `root` over.
 */
static int open_below(int root, char *path)
{
	int fd = root;
	char *name;

	while (fd >= 0 && (name = strsep(&path, "/"))) {
		int next;

		if (!*name)
			continue;
		next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			next = -errno;
		safe_close(fd);
		fd = next;
	}
	return fd;
}

struct way {
	dev_t dev;
	pid_t pid;
	int fd;    /* from fspick(2) */
	int error; /* why not, of the last that was tried */
};

/* 1: it is picked. Another file system may be mounted over it, and any part be gone. */
static int pick_mount(struct mount_line *line, void *userdata)
{
	_cleanup_close_ int fd = -EBADF;
	struct way *w = userdata;
	char path[64];
	struct stat st;

	if (strcmp(line->fstype, "f2fs") != 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)w->pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = fd < 0 ? -errno : open_below(fd, line->mountpoint);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != w->dev) {
		w->error = fd < 0 ? fd : -ENOENT;
		return 0;
	}
	w->fd = fspick(fd, "", FSPICK_EMPTY_PATH | FSPICK_NO_AUTOMOUNT | FSPICK_CLOEXEC);
	if (w->fd < 0)
		w->error = -errno;
	return w->fd >= 0;
}

static int pick_in_namespace(pid_t pid, void *userdata)
{
	struct way *w = userdata;
	char path[PATH_MAX];
	int r = mountinfo_path(path, sizeof(path), "", pid);

	w->pid = pid;
	return r < 0 ? r : ignore_gone(mount_lines_read(path, w->dev, pick_mount, w));
}

/* A descriptor, or -errno. */
static int pick(dev_t dev, char *why, size_t why_size)
{
	struct way w = { .dev = dev, .fd = -EBADF, .error = -ENOENT };
	int r = mount_namespaces_read("", pick_in_namespace, &w);

	if (w.fd >= 0)
		return w.fd;
	r = r < 0 ? r : w.error == -ENOENT ? -ENXIO : w.error;
	snprintf(why, why_size, "no mount of it can be reached: %s", strerror(-r));
	return r;
}

/* --- the change --- */

/* What the kernel itself says, where it does ("e f2fs: ..."); else the errno's text. */
static void explain(int fd, int r, const char *what, char *why, size_t why_size)
{
	char text[128];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	if (n > 2)
		snprintf(why, why_size, "%s: %.*s", what, (int)strcspn(text + 2, "\n"),
			 text + 2);
	else
		snprintf(why, why_size, "%s: %s", what,
			 r == -EBUSY ? "the file system is frozen" : strerror(-r));
}

static int give(int fd, const struct f2fs_option *o)
{
	int r = o->value ? fsconfig(fd, FSCONFIG_SET_STRING, o->key, o->value, 0)
			 : fsconfig(fd, FSCONFIG_SET_FLAG, o->key, NULL, 0);

	return r < 0 ? -errno : 0;
}

/*
 * Flags of the superblock that stay as they are if they are not given: for dirsync the kernel
 * would refuse (fs/super.c, reconfigure_super()), and rw would make a file system writable that
 * has become read-only just now.
 */
static bool is_left_alone(const struct f2fs_option *o)
{
	return strcmp(o->key, "rw") == 0 || strcmp(o->key, "dirsync") == 0;
}

/* 0: done. *ret_tried: the kernel may have touched something. */
static int configure(dev_t dev, const char *options, bool *ret_tried, char *why,
		     size_t why_size)
{
	char copy[F2FS_OPTIONS_MAX], *rest = copy;
	_cleanup_close_ int fd = -EBADF;
	struct f2fs_option o;
	int r;

	*ret_tried = false;
	snprintf(copy, sizeof(copy), "%s", options);
	fd = pick(dev, why, why_size);
	if (fd < 0)
		return fd;
	while (f2fs_option_next(&rest, &o)) {
		r = is_left_alone(&o) ? 0 : give(fd, &o);
		if (r < 0) {
			explain(fd, r, o.key, why, why_size);
			return r;
		}
	}
	*ret_tried = true;
	if (fsconfig(fd, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) == 0)
		return 0;
	r = -errno;
	explain(fd, r, "refused", why, why_size);
	return r;
}

struct scratch {
	struct snapshot before, after;
	char wanted[F2FS_OPTIONS_MAX];
};

/* As it should be now? -EUCLEAN and what is not. */
static int compare(struct scratch *s, dev_t dev, const char *options, char *why,
		   size_t why_size)
{
	int r = take_snapshot(&s->after, dev);

	if (r < 0 || !*s->after.options) {
		snprintf(why, why_size, "what became of it cannot be seen: %s",
			 r < 0 ? strerror(-r) : "no longer mounted");
		return r < 0 ? r : -ENODEV;
	}
	return f2fs_options_same(options, s->after.options, why, why_size) &&
			       flags_same(&s->before, &s->after, why, why_size)
		       ? 0
		       : -EUCLEAN;
}

/* After a difference: the former options again. Says in `why` how that went. */
static void undo(struct scratch *s, dev_t dev, char *why, size_t why_size)
{
	char what[128], trouble[128];
	bool tried;
	int r;

	snprintf(what, sizeof(what), "%.100s", why);
	r = configure(dev, s->before.options, &tried, trouble, sizeof(trouble));
	if (r == 0)
		r = compare(s, dev, s->before.options, trouble, sizeof(trouble));
	if (r == 0)
		snprintf(why, why_size, "it would have become %s: undone", what);
	else
		snprintf(why, why_size, "it became %s and could not be undone: %s", what,
			 trouble);
}

static int change(struct scratch *s, dev_t dev, const char *key, bool on, char *why,
		  size_t why_size)
{
	const char *refusal;
	char other[160];
	bool tried;
	int r, q;

	r = take_snapshot(&s->before, dev);
	if (r == 0 && !*s->before.options)
		r = -ENOENT;
	if (r < 0) {
		snprintf(why, why_size, "its mounts cannot be listed: %s", strerror(-r));
		return r;
	}
	refusal = f2fs_options_refusal(s->before.options);
	if (refusal || f2fs_options_set(s->before.options, key, on, s->wanted) < 0) {
		snprintf(why, why_size, "%s", refusal ?: "it has no such option");
		return -EOPNOTSUPP;
	}
	r = configure(dev, s->wanted, &tried, why, why_size);
	if (!tried)
		return r;
	q = compare(s, dev, r < 0 ? s->before.options : s->wanted, other, sizeof(other));
	if (q == 0)
		return r;
	snprintf(why, why_size, "%s", other);
	if (q != -EUCLEAN)
		return r < 0 ? r : q;
	undo(s, dev, why, why_size);
	return -EUCLEAN;
}

int reconfigure(dev_t dev, const char *key, bool on, char *why, size_t why_size)
{
	struct scratch *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r;

	if (s == MAP_FAILED) {
		r = -errno;
		snprintf(why, why_size, "%s", strerror(-r));
		return r;
	}
	*why = '\0';
	r = change(s, dev, key, on, why, why_size);
	(void)munmap(s, sizeof(*s));
	return r;
}
