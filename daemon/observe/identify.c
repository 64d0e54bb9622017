// SPDX-License-Identifier: GPL-2.0-or-later
#include <blkid/blkid.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "identify.h"
#include "discover.h"
#include "superblock.h"
#include "../base/file.h"
#include "../base/thread.h"
#include "../base/time-util.h"

#define UDEV_DATA_MAX (64 * 1024)

/* Threads that answer in time; each costs a malloc arena, so few. */
#define THREADS 2
/* A thread busy for longer hangs in its device and no longer counts as one of those ... */
#define THREAD_STUCK_US (5 * USEC_PER_SEC)
/* ... up to this many. */
#define THREADS_MAX 32
#define THREAD_STACK (256 * 1024)

/* --- udev --- */

/* udev writes unsafe bytes as \xNN. Returns false if it does not fit or is malformed. */
static bool unescape(char *to, size_t size, const char *from)
{
	size_t n = 0;

	while (*from) {
		unsigned c = (unsigned char)*from++;

		if (c == '\\') {
			int used = 0;

			if (sscanf(from, "x%2x%n", &c, &used) != 1 || used != 3 || c == 0)
				return false;
			from += used;
		}
		if (n + 1 >= size)
			return false;
		to[n++] = (char)c;
	}
	to[n] = '\0';
	return true;
}

int identity_from_udev(dev_t dev, struct identity *ret)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX], *line, *rest;
	int r = discover_path(path, sizeof(path), "/run/udev/data/b%u:%u", major(dev),
			      minor(dev));

	if (r < 0)
		return r;
	r = read_full_file(path, UDEV_DATA_MAX, true, &text, NULL);
	if (r < 0)
		return r;
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		if (strncmp(line, "E:ID_FS_UUID_ENC=", 17) == 0) {
			if (!unescape(ret->uuid, sizeof(ret->uuid), line + 17))
				ret->uuid[0] = '\0';
		} else if (strncmp(line, "E:ID_FS_LABEL_ENC=", 18) == 0) {
			if (!unescape(ret->label, sizeof(ret->label), line + 18))
				ret->label[0] = '\0';
		}
	}
	return ret->uuid[0] ? 0 : -ENOENT;
}

/* --- udev's links, for a device that may not be opened --- */

static bool link_to(const char *dir, dev_t dev, char *ret, size_t size)
{
	_cleanup_closedir_ DIR *d = NULL;
	char path[PATH_MAX];
	struct dirent *de;

	if (discover_path(path, sizeof(path), "/dev/disk/%s", dir) < 0)
		return false;
	d = opendir(path);
	if (!d)
		return false;
	while ((de = readdir(d))) {
		struct stat st;

		if (de->d_name[0] != '.' && fstatat(dirfd(d), de->d_name, &st, 0) == 0 &&
		    S_ISBLK(st.st_mode) && st.st_rdev == dev)
			return unescape(ret, size, de->d_name);
	}
	return false;
}

/* --- the device --- */

static void probe_value(blkid_probe probe, const char *name, char *ret, size_t size)
{
	const char *value;
	size_t len;

	if (blkid_probe_lookup_value(probe, name, &value, &len) < 0 || len == 0)
		return;
	if (strnlen(value, len) < size)
		snprintf(ret, size, "%.*s", (int)len, value);
}

static int identity_from_device(const char *name, struct identity *ret)
{
	char *types[] = { (char *)"ext4",
			  (char *)"ext3",
			  (char *)"ext2",
			  (char *)"ext4dev",
			  (char *)"ocfs2",
			  (char *)"f2fs",
			  NULL };
	char path[PATH_MAX], size[16] = "";
	_cleanup_close_ int fd = -EBADF;
	blkid_probe probe;
	struct stat st;

	if (discover_path(path, sizeof(path), "/dev/%s", name) < 0)
		return -ENAMETOOLONG;
	for (char *p = path; *p; p++)
		if (*p == '!')
			*p = '/';
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode) || st.st_rdev != ret->id.dev)
		return -ENXIO;

	probe = blkid_new_probe();
	if (!probe)
		return -ENOMEM;
	if (blkid_probe_set_device(probe, fd, 0, 0) == 0) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_filter_superblocks_type(probe, BLKID_FLTR_ONLYIN, types);
		if (blkid_do_safeprobe(probe) == 0) {
			probe_value(probe, "UUID", ret->uuid, sizeof(ret->uuid));
			probe_value(probe, "LABEL", ret->label, sizeof(ret->label));
			probe_value(probe, "BLOCK_SIZE", size, sizeof(size));
			ret->block_size = (uint32_t)strtoul(size, NULL, 10);
			superblock_read(fd, ret);
		}
	}
	blkid_free_probe(probe);
	return 0;
}

/* --- threads --- */

struct job {
	struct job *next;
	struct shared *shared;
	char name[DEVICE_NAME_MAX];
	uint64_t start_us;
	struct identity identity;
};

/*
 * What loop and threads have in common; the last one out frees it, so that a thread may
 * outlive the identifier.
 */
struct shared {
	pthread_mutex_t lock;
	unsigned refs;
	bool abandoned; /* nobody waits for answers any more */
	int event_fd;
	struct job *queued;
	struct job *running;
	struct job *done;
};

struct identifier {
	struct shared *shared;
};

static void jobs_free(struct job *j)
{
	while (j) {
		struct job *next = j->next;

		free(j);
		j = next;
	}
}

static void shared_unref(struct shared *s)
{
	bool last;

	pthread_mutex_lock(&s->lock);
	last = --s->refs == 0;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	jobs_free(s->queued);
	jobs_free(s->done);
	safe_close(s->event_fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void job_push(struct job **list, struct job *j)
{
	j->next = *list;
	*list = j;
}

static void job_unlink(struct job **list, struct job *j)
{
	while (*list != j)
		list = &(*list)->next;
	*list = j->next;
}

/* Moves the next job to those that run; NULL if there is none. With the lock held. */
static struct job *job_begin(struct shared *s)
{
	struct job *j = s->queued;

	if (!j)
		return NULL;
	job_unlink(&s->queued, j);
	job_push(&s->running, j);
	j->start_us = now_monotonic_us();
	return j;
}

static void job_run(struct job *j)
{
	struct identity *i = &j->identity;

	(void)link_to("by-uuid", i->id.dev, i->uuid, sizeof(i->uuid));
	(void)link_to("by-label", i->id.dev, i->label, sizeof(i->label));
	(void)identity_from_device(j->name, i);
}

/* Goes on until nothing is queued, then wakes the loop: once for many answers. */
static void *job_thread(void *arg)
{
	struct job *j = arg;
	struct shared *s = j->shared;

	while (j) {
		job_run(j);
		pthread_mutex_lock(&s->lock);
		job_unlink(&s->running, j);
		job_push(&s->done, j);
		j = s->abandoned ? NULL : job_begin(s);
		if (!j)
			(void)eventfd_write(s->event_fd, 1);
		pthread_mutex_unlock(&s->lock);
	}
	shared_unref(s);
	return NULL;
}

/* Starts threads for what is queued, as far as there may be. With the lock held. */
static void run_queued(struct shared *s)
{
	uint64_t now_us = now_monotonic_us();
	unsigned all = 0, lively = 0;

	for (struct job *j = s->running; j; j = j->next) {
		all++;
		lively += now_us - j->start_us < THREAD_STUCK_US;
	}
	for (; s->queued && lively < THREADS && all < THREADS_MAX; all++, lively++) {
		struct job *j = job_begin(s);

		s->refs++;
		/* no memory, no task left: later */
		if (thread_start(job_thread, j, THREAD_STACK) < 0) {
			s->refs--;
			job_unlink(&s->running, j);
			job_push(&s->queued, j);
			return;
		}
	}
}

int identifier_new(struct identifier **ret)
{
	struct identifier *i = calloc(1, sizeof(*i));
	struct shared *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (i && s) {
		s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		r = s->event_fd < 0 ? -errno : 0;
	}
	if (r < 0) {
		free(i);
		free(s);
		return r;
	}
	blkid_init_debug(0); /* writes globals: once, before there are threads */
	pthread_mutex_init(&s->lock, NULL);
	s->refs = 1;
	i->shared = s;
	*ret = i;
	return 0;
}

void identifier_free(struct identifier *i)
{
	if (!i)
		return;
	pthread_mutex_lock(&i->shared->lock);
	i->shared->abandoned = true;
	pthread_mutex_unlock(&i->shared->lock);
	shared_unref(i->shared);
	free(i);
}

int identifier_fd(const struct identifier *i)
{
	return i->shared->event_fd;
}

int identifier_ask(struct identifier *i, const struct device_id *id, const char *name)
{
	struct shared *s = i->shared;
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->shared = s;
	j->identity.id = *id;
	snprintf(j->name, sizeof(j->name), "%s", name);
	pthread_mutex_lock(&s->lock);
	job_push(&s->queued, j);
	run_queued(s);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

bool identifier_next(struct identifier *i, struct identity *ret)
{
	struct shared *s = i->shared;
	struct job *j;
	eventfd_t ignored;

	pthread_mutex_lock(&s->lock);
	j = s->done;
	if (j)
		s->done = j->next;
	else
		(void)eventfd_read(s->event_fd, &ignored);
	run_queued(s);
	pthread_mutex_unlock(&s->lock);
	if (!j)
		return false;
	*ret = j->identity;
	free(j);
	return true;
}
