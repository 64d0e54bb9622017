// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include "examine.h"
#include "tree.h"

#define E2FSCK_SAID "/tmp/e2fsck.said"

extern char **environ;

bool said_only_counts(const char *path)
{
	static const char *const counts[] = { ", i_blocks is ", " ref count is ",
					      " count wrong " };
	static const char *const harmless[] = { "e2fsck 1.", "Pass ", "Fix? no",
						"WARNING: ", " files (" };
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[512];
	unsigned n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		bool known = *line == '\n';

		for (size_t i = 0; i < ELEMENTSOF(counts) && !known; i++)
			known = strstr(line, counts[i]) && ++n;
		for (size_t i = 0; i < ELEMENTSOF(harmless) && !known; i++)
			known = strstr(line, harmless[i]);
		if (!known)
			return false;
	}
	return n > 0;
}

static void say(const struct scene *s, const char *who, const char *what, int error)
{
	if (s->out)
		fprintf(s->out, "%s: %s%s%s\n", who, what, error ? ": " : "",
			error ? strerror(-error) : "");
}

static void show(FILE *out, const char *who, const char *path)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[512];

	while (out && f && fgets(line, sizeof(line), f))
		if (*line != '\n')
			fprintf(out, "%s: %s", who, line);
}

/* Returns e2fsck's exit status, or -errno. */
static int run_e2fsck(const char *how, const char *image)
{
	char *const argv[] = { (char *)"e2fsck", (char *)how, (char *)image, NULL };
	posix_spawn_file_actions_t actions;
	int status, r;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, E2FSCK_SAID,
					 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	r = posix_spawnp(&pid, *argv, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (r > 0)
		return -r;
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* `who` did the recovery. At most `allowed` is the exit status of a file system that is well.
 */
static int fsck(const struct scene *s, const char *who, const char *how, int allowed,
		struct verdict *v)
{
	int r = run_e2fsck(how, s->image);

	if (r <= allowed)
		return r < 0 ? r : 0;
	if (r == 4 && said_only_counts(E2FSCK_SAID)) {
		v->miscounted++;
		return 0;
	}
	v->unclean++;
	if (s->out)
		fprintf(s->out, "%s: e2fsck %s ends with %d\n", who, how, r);
	show(s->out, who, E2FSCK_SAID);
	return 0;
}

static int look_at_worker(const struct scene *s, unsigned worker,
			  const struct progress *progress)
{
	_cleanup_(expectations_freep) struct expectations *e = NULL;
	_cleanup_(world_freep) struct world *w = NULL;
	_cleanup_free_ struct found *found = NULL;
	_cleanup_close_ int fd = -EBADF;
	char path[256];
	size_t n;
	int r;

	snprintf(path, sizeof(path), "%s/w%u", s->dir, worker);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = fd < 0 ? -errno : tree_look(fd, worker, &found, &n);
	if (r < 0) {
		say(s, path, "cannot be read", r);
		return 1;
	}
	r = world_new(&w, s->seed, worker, s->xattrs);
	if (r == 0)
		r = promises(&e, w, s->seed, progress);
	return r < 0 ? r : promises_check(e, found, n, s->out);
}

static int mount_and_look(const struct scene *s, const char *who, unsigned long flags,
			  const struct progress progress[WORLD_WORKERS], struct verdict *v)
{
	int r = 0;

	if (mount(s->device, s->dir, "ext4", flags, NULL) < 0) {
		v->unclean++;
		say(s, who, "does not mount", -errno);
		return 0;
	}
	for (unsigned i = 0; i < s->workers && r >= 0; i++) {
		r = look_at_worker(s, i, &progress[i]);
		v->lost += r > 0 ? r : 0;
	}
	if (umount(s->dir) < 0)
		return -errno;
	return r < 0 ? r : 0;
}

int examine_kernel(const struct scene *s, const struct progress progress[WORLD_WORKERS],
		   struct verdict *ret)
{
	int r;

	*ret = (struct verdict){ 0 };
	r = mount_and_look(s, "kernel", 0, progress, ret);
	return r < 0 ? r : fsck(s, "kernel", "-fn", 0, ret);
}

int examine_e2fsck(const struct scene *s, const struct progress progress[WORLD_WORKERS],
		   struct verdict *ret)
{
	int r;

	*ret = (struct verdict){ 0 };
	/* 1: it has corrected something, which is what recovery is. */
	r = fsck(s, "e2fsck", "-fy", 1, ret);
	if (r == 0)
		r = mount_and_look(s, "e2fsck", MS_RDONLY, progress, ret);
	return r < 0 ? r : fsck(s, "e2fsck", "-fn", 0, ret);
}
