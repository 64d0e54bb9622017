// SPDX-License-Identifier: GPL-2.0-or-later
#include <libmount/libmount.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "mountinfo.h"

DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table)
DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter)

/* A line of mountinfo; strings belong to the table. */
struct line {
	dev_t dev;
	bool part; /* shows a subtree: a bind mount */
	const char *mountpoint;
	struct libmnt_fs *fs;
};

/* Best name first within a device; the last comparison only makes the choice stable. */
static int line_cmp(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;
	size_t la, lb;

	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (a->part != b->part)
		return a->part ? 1 : -1;
	la = strlen(a->mountpoint);
	lb = strlen(b->mountpoint);
	if (la != lb)
		return la < lb ? -1 : 1;
	return strcmp(a->mountpoint, b->mountpoint);
}

static void entry_done(struct mount_entry *e)
{
	free(e->fstype);
	free(e->source);
	free(e->mountpoint);
	free(e->options);
}

void mounts_done(struct mounts *m)
{
	for (size_t i = 0; i < m->n; i++)
		entry_done(&m->entries[i]);
	free(m->entries);
	*m = (struct mounts){ 0 };
}

static int copy(char **to, const char *from)
{
	*to = strdup(from ?: "");
	return *to ? 0 : -ENOMEM;
}

static int entry_fill(struct mount_entry *e, const struct line *l)
{
	e->dev = l->dev;
	if (copy(&e->fstype, mnt_fs_get_fstype(l->fs)) < 0 ||
	    copy(&e->source, mnt_fs_get_source(l->fs)) < 0 ||
	    copy(&e->mountpoint, l->mountpoint) < 0 ||
	    copy(&e->options, mnt_fs_get_fs_options(l->fs)) < 0)
		return -ENOMEM;
	e->read_only = strcmp(e->options, "ro") == 0 || strncmp(e->options, "ro,", 3) == 0;
	return 0;
}

/* Lines of block devices; what has no device of its own has major 0. */
static int collect(struct libmnt_table *table, struct line **ret, size_t *ret_n)
{
	_cleanup_(mnt_free_iterp) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	_cleanup_free_ struct line *lines = NULL;
	int n_all = mnt_table_get_nents(table);
	struct libmnt_fs *fs;
	size_t n = 0;

	lines = calloc((size_t)n_all + 1, sizeof(*lines));
	if (!iter || !lines)
		return -ENOMEM;
	while (mnt_table_next_fs(table, iter, &fs) == 0) {
		const char *root = mnt_fs_get_root(fs), *target = mnt_fs_get_target(fs);
		dev_t dev = mnt_fs_get_devno(fs);

		if (major(dev) == 0 || !root || !target)
			continue;
		lines[n++] = (struct line){
			.dev = dev,
			.part = strcmp(root, "/") != 0,
			.mountpoint = target,
			.fs = fs,
		};
	}
	*ret = TAKE_PTR(lines);
	*ret_n = n;
	return 0;
}

static int group(struct mounts *ret, struct line *lines, size_t n)
{
	struct mounts m = { 0 };

	qsort(lines, n, sizeof(*lines), line_cmp);
	m.entries = calloc(n + 1, sizeof(*m.entries));
	if (!m.entries)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (m.n == 0 || m.entries[m.n - 1].dev != lines[i].dev) {
			if (entry_fill(&m.entries[m.n++], &lines[i]) < 0) {
				mounts_done(&m);
				return -ENOMEM;
			}
		}
		m.entries[m.n - 1].n_mounts++;
	}
	*ret = m;
	return 0;
}

/*
 * Takes out the lines of file systems without a device of their own (major 0), which on a
 * host of containers are nearly all. Returns the new length.
 */
static size_t drop_deviceless(char *text, size_t len)
{
	char *to = text, *end = text + len;

	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *next = newline ? newline + 1 : end;
		char *field = memchr(line, ' ', (size_t)(next - line));

		/* ID PARENT MAJOR:MINOR ... */
		if (field)
			field = memchr(field + 1, ' ', (size_t)(next - field - 1));
		if (!field || next - field < 3 || field[1] != '0' || field[2] != ':') {
			memmove(to, line, (size_t)(next - line));
			to += next - line;
		}
		line = next;
	}
	return (size_t)(to - text);
}

/* A line that makes no sense is left out, the others stay. */
static int skip_line(struct libmnt_table *table _unused_, const char *name _unused_,
		     int line _unused_)
{
	return 1;
}

int mounts_parse(struct mounts *ret, const char *text, size_t len)
{
	_cleanup_(mnt_unref_tablep) struct libmnt_table *table = mnt_new_table();
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ struct line *lines = NULL;
	size_t n;
	int r;

	*ret = (struct mounts){ 0 };
	if (!table)
		return -ENOMEM;
	if (len == 0)
		return 0;
	f = fmemopen((void *)text, len, "r");
	if (!f)
		return -errno;
	mnt_table_set_parser_errcb(table, skip_line);
	r = mnt_table_parse_stream(table, f, "mountinfo");
	if (r < 0)
		return r;
	r = collect(table, &lines, &n);
	if (r < 0)
		return r;
	return group(ret, lines, n);
}

int mounts_read(struct mounts *ret, int fd)
{
	_cleanup_free_ char *buf = NULL;
	size_t size = 0, len = 0;

	*ret = (struct mounts){ 0 };
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	for (;;) {
		ssize_t n;

		if (len == size) {
			char *bigger;

			if (size >= MOUNTINFO_SIZE_MAX)
				return -EFBIG;
			size = size ? size * 2 : 16384;
			bigger = realloc(buf, size);
			if (!bigger)
				return -ENOMEM;
			buf = bigger;
		}
		n = read(fd, buf + len, size - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return mounts_parse(ret, buf, drop_deviceless(buf, len));
}

static int entry_cmp(const void *key, const void *member)
{
	dev_t dev = *(const dev_t *)key;
	const struct mount_entry *e = member;

	return dev < e->dev ? -1 : dev > e->dev;
}

const struct mount_entry *mounts_find(const struct mounts *m, dev_t dev)
{
	return m->n ? bsearch(&dev, m->entries, m->n, sizeof(*m->entries), entry_cmp) : NULL;
}

const struct mount_entry *mounts_find_source(const struct mounts *m, const char *name)
{
	const struct mount_entry *found = NULL;

	for (size_t i = 0; i < m->n; i++) {
		const char *slash = strrchr(m->entries[i].source, '/');

		if (strcmp(slash ? slash + 1 : m->entries[i].source, name) != 0)
			continue;
		if (found)
			return NULL;
		found = &m->entries[i];
	}
	return found;
}
