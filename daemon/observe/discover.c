// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "discover.h"
#include "../base/file.h"

/* Before 5.17 /proc/PID/comm holds this many bytes of a kernel thread's name at most. */
#define COMM_SHORT 15
#define JOURNAL_THREAD "jbd2/"

/* A copy: a thread may be looking at something when a test has gone on. */
static char discover_root[128];

void discover_set_root(const char *root)
{
	snprintf(discover_root, sizeof(discover_root), "%s", root);
}

int discover_path(char *buf, size_t size, const char *format, ...)
{
	int n = snprintf(buf, size, "%s", discover_root), m;
	va_list ap;

	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	va_start(ap, format);
	m = vsnprintf(buf + n, size - (size_t)n, format, ap);
	va_end(ap);
	return m < 0 || (size_t)m >= size - (size_t)n ? -ENAMETOOLONG : 0;
}

/* --- names --- */

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void names_done(struct names *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->v[i]);
	free(n->v);
	*n = (struct names){ 0 };
}

static int names_add(struct names *n, const char *name)
{
	char **v;

	/* grows at powers of two */
	if ((n->n & (n->n - 1)) == 0) {
		v = reallocarray(n->v, n->n ? n->n * 2 : 1, sizeof(*v));
		if (!v)
			return -ENOMEM;
		n->v = v;
	}
	n->v[n->n] = strdup(name);
	if (!n->v[n->n])
		return -ENOMEM;
	n->n++;
	return 0;
}

int names_read(struct names *ret, const char *dir)
{
	_cleanup_closedir_ DIR *d = NULL;
	_cleanup_(names_done) struct names n = { 0 };
	char path[PATH_MAX];
	struct dirent *de;
	int r;

	*ret = (struct names){ 0 };
	r = discover_path(path, sizeof(path), "%s", dir);
	if (r < 0)
		return r;
	d = opendir(path);
	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while (errno = 0, (de = readdir(d))) {
		if (de->d_name[0] == '.')
			continue;
		r = names_add(&n, de->d_name);
		if (r < 0)
			return r;
	}
	if (errno)
		return -errno;
	if (n.n)
		qsort(n.v, n.n, sizeof(*n.v), name_cmp);
	*ret = n;
	n = (struct names){ 0 };
	return 0;
}

bool names_have(const struct names *n, const char *name)
{
	return n->n && bsearch(&name, n->v, n->n, sizeof(*n->v), name_cmp);
}

int discover_read_only(const char *name)
{
	char path[PATH_MAX], line[8] = "";
	_cleanup_fclose_ FILE *f = NULL;
	int r = discover_path(path, sizeof(path), "/proc/fs/ext4/%s/options", name);

	if (r < 0)
		return r;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	/* ext4_seq_options_show() begins with "ro" or "rw", from sb_rdonly() */
	if (!fgets(line, sizeof(line), f))
		return -EBADMSG;
	if (strcmp(line, "ro\n") == 0)
		return 1;
	return strcmp(line, "rw\n") == 0 ? 0 : -EBADMSG;
}

/* --- journal --- */

int journal_device(const char *journal, char ret[static DEVICE_NAME_MAX])
{
	const char *dash = strrchr(journal, '-');
	size_t len = dash ? (size_t)(dash - journal) : 0;

	if (len == 0 || len >= DEVICE_NAME_MAX || !isdigit((unsigned char)dash[1]) ||
	    dash[1 + strspn(dash + 1, "0123456789")])
		return -EINVAL;
	memcpy(ret, journal, len);
	ret[len] = '\0';
	return 0;
}

static bool journal_is_of(const char *journal, const char *device)
{
	char name[DEVICE_NAME_MAX];

	return journal_device(journal, name) == 0 && strcmp(name, device) == 0;
}

/*
 * The only directory that begins with `prefix`, or, where there are several, the only one of
 * them named after the device itself. NULL if that is not enough to tell.
 */
static const char *journal_match(const struct names *jbd2, const char *prefix,
				 const char *device)
{
	const char *any = NULL, *internal = NULL;
	size_t n_any = 0, n_internal = 0, len = strlen(prefix);

	for (size_t i = 0; i < jbd2->n; i++) {
		if (strncmp(jbd2->v[i], prefix, len) != 0)
			continue;
		any = jbd2->v[i];
		n_any++;
		if (journal_is_of(any, device)) {
			internal = any;
			n_internal++;
		}
	}
	if (len && n_any == 1)
		return any;
	return n_internal == 1 ? internal : NULL;
}

/*
 * A kernel thread is named after its journal. ret is "" if that cannot be seen; a name that
 * may have been cut off sets *cut.
 */
static void journal_of_thread(unsigned long pid, char *ret, size_t size, bool *cut)
{
	char path[PATH_MAX], comm[128];
	size_t prefix = strlen(JOURNAL_THREAD);
	ssize_t n;

	*ret = '\0';
	if (discover_path(path, sizeof(path), "/proc/%lu/comm", pid) < 0)
		return;
	n = read_small_at(AT_FDCWD, path, comm, sizeof(comm));
	if (n <= (ssize_t)prefix || strncmp(comm, JOURNAL_THREAD, prefix) != 0)
		return;
	*cut = n == COMM_SHORT;
	if ((size_t)snprintf(ret, size, "%s", comm + prefix) >= size)
		*ret = '\0';
}

void discover_journal_dev(struct device *d)
{
	d->journal_dev = d->id.dev;
	if (d->journal[0] && !journal_is_of(d->journal, d->name))
		(void)discover_dev(d->journal, &d->journal_dev);
}

/*
 * journal_task (ext4's journal_task_show()) is "<none>", or the pid of the journal's thread
 * as the reader's PID namespace numbers it: 0 where that does not contain kernel threads.
 * Kernels before 4.18 have no such file.
 */
int discover_journal(struct device *d, const struct names *jbd2)
{
	char path[PATH_MAX], task[32] = "", thread[FST_JOURNAL_NAME_LEN] = "";
	const char *match = NULL;
	unsigned long pid;
	bool cut = false;
	ssize_t n;
	int r;

	r = discover_path(path, sizeof(path), "/sys/fs/ext4/%s/journal_task", d->name);
	if (r < 0)
		return r;
	n = read_small_at(AT_FDCWD, path, task, sizeof(task));
	if (n < 0 && n != -ENOENT)
		return (int)n;
	if (strcmp(task, "<none>") == 0)
		return 0;

	d->has_journal = n > 0;
	pid = strtoul(task, NULL, 10);
	if (pid)
		journal_of_thread(pid, thread, sizeof(thread), &cut);
	if (thread[0] && (!cut || names_have(jbd2, thread)))
		match = thread;
	else
		match = journal_match(jbd2, thread, d->name);
	if (match) {
		snprintf(d->journal, sizeof(d->journal), "%s", match);
		d->has_journal = true;
	}
	return 0;
}
