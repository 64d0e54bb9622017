// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <libmount/libmount.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include "device.h"
#include "discover.h"
#include "identify.h"
#include "mountinfo.h"
#include "../base/file.h"
#include "../base/log.h"

/* What the list keeps beside each device. */
struct entry {
	struct device device; /* first: a struct device of the list is always one of these */
	bool is_new, seen, changed;
};

/* What one refresh reads once, for all devices. */
struct survey {
	struct names ext4, f2fs, jbd2;
	struct mounts mounts;
	bool have_mounts;
};

static struct entry *entry_of(struct device *d)
{
	return (struct entry *)d;
}

static void device_free(struct device *d)
{
	if (!d)
		return;
	free(d->mountpoint);
	free(d->mount_options);
	free(entry_of(d));
}
DEFINE_CLEANUP(struct device *, device_free)

bool device_set_journal(struct device *d, const char *journal)
{
	if (!*journal || strcmp(d->journal, journal) == 0)
		return false;
	snprintf(d->journal, sizeof(d->journal), "%s", journal);
	d->has_journal = true;
	discover_journal_dev(d);
	return true;
}

/* --- list --- */

static int open_mountinfo(void)
{
	/* Ours shows a sandbox's flags; but where PID 1 is not to be seen it is the best. */
	static const char *const paths[] = { "/proc/1/mountinfo", "/proc/self/mountinfo" };
	char path[PATH_MAX];
	int fd = -1;

	for (size_t i = 0; i < ELEMENTSOF(paths) && fd < 0; i++)
		if (discover_path(path, sizeof(path), "%s", paths[i]) == 0)
			fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd;
}

int device_list_init(struct device_list *l, const char *sysroot)
{
	int r;

	*l = (struct device_list){ .sysroot = sysroot };
	l->mountinfo_fd = open_mountinfo();
	if (l->mountinfo_fd < 0)
		log_warning_errno(errno,
				  "Cannot open mountinfo, mount points stay unknown: %m");
	r = identifier_new(&l->identifier);
	if (r < 0)
		l->mountinfo_fd = safe_close(l->mountinfo_fd);
	return r;
}

void device_list_done(struct device_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		device_free(l->devices[i]);
	free(l->devices);
	if (l->mountinfo_fd >= 0)
		safe_close(l->mountinfo_fd);
	identifier_free(l->identifier);
	*l = (struct device_list){ .mountinfo_fd = -1 };
}

int device_list_identify_fd(const struct device_list *l)
{
	return l->identifier ? identifier_fd(l->identifier) : -1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct device *const *)a)->name, (*(struct device *const *)b)->name);
}

static struct device *find_name(const struct device_list *l, const char *name)
{
	struct device key, *pkey = &key, **found;

	if (l->n == 0 || strlen(name) >= sizeof(key.name))
		return NULL;
	strcpy(key.name, name);
	found = bsearch(&pkey, l->devices, l->n, sizeof(*l->devices), by_name);
	return found ? *found : NULL;
}

struct device *device_list_find_dev(const struct device_list *l, dev_t dev)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->devices[i]->id.dev == dev)
			return l->devices[i];
	return NULL;
}

struct device *device_list_find(const struct device_list *l, const char *what)
{
	struct device *d = find_name(l, what);
	dev_t dev;

	if (d)
		return d;
	if (parse_dev(what, &dev) == 0)
		return device_list_find_dev(l, dev);
	for (size_t i = 0; i < l->n; i++) {
		d = l->devices[i];
		if (strncmp(what, "UUID=", 5) == 0 && d->uuid[0] &&
		    strcasecmp(d->uuid, what + 5) == 0)
			return d;
		if (strncmp(what, "LABEL=", 6) == 0 && d->label[0] &&
		    strcmp(d->label, what + 6) == 0)
			return d;
		if (d->journal[0] && strcmp(d->journal, what) == 0)
			return d;
	}
	return NULL;
}

/* --- one device --- */

/* What it is, or, its disk being unplugged under it, what mountinfo has left of that. */
static int identify(const char *name, const struct survey *s, struct device_id *ret)
{
	const struct mount_entry *m;
	int r = device_id_read(name, ret);

	if (r != -ENODEV)
		return r;
	m = mounts_find_source(&s->mounts, name);
	if (!m)
		return r;
	*ret = (struct device_id){ .dev = m->dev };
	return 0;
}

/* A superblock seen for the first time. */
static int device_new(struct device **ret, const char *name, uint64_t ino,
		      enum device_type type, const struct survey *s)
{
	static const char *const fstypes[] = {
		[DEVICE_EXT4] = "ext4",
		[DEVICE_F2FS] = "f2fs",
		[DEVICE_JBD2] = "jbd2",
	};
	_cleanup_(device_freep) struct device *d = NULL;
	struct entry *e = calloc(1, sizeof(*e));
	struct identity identity = { 0 };
	int r;

	if (!e)
		return -ENOMEM;
	d = &e->device;
	r = identify(name, s, &d->id);
	if (r < 0)
		return r;
	d->id.ino = ino;
	snprintf(d->name, sizeof(d->name), "%s", name);
	d->type = type;
	e->is_new = true;
	strcpy(d->fstype, fstypes[type]);
	if (type == DEVICE_EXT4) {
		r = discover_journal(d, &s->jbd2);
		if (r < 0)
			return r;
	}
	discover_journal_dev(d);
	if (identity_from_udev(d->id.dev, &identity) == 0) {
		memcpy(d->uuid, identity.uuid, sizeof(d->uuid));
		memcpy(d->label, identity.label, sizeof(d->label));
	}
	*ret = TAKE_PTR(d);
	return 0;
}

/* Returns true if *to changed. Without memory it stays as it was, for the next time. */
static bool replace(char **to, const char *from)
{
	char *new = NULL;

	if (*to == from || (*to && from && strcmp(*to, from) == 0))
		return false;
	if (from && !(new = strdup(from)))
		return false;
	free(*to);
	*to = new;
	return true;
}

static void update_mount(struct entry *e, const struct survey *s)
{
	struct device *d = &e->device;
	const struct mount_entry *m = mounts_find(&s->mounts, d->id.dev);
	bool read_only = d->read_only, changed = false;
	unsigned n_mounts = m ? m->n_mounts : 0;

	if (!s->have_mounts)
		return;
	changed |= replace(&d->mountpoint, m ? m->mountpoint : NULL);
	changed |= replace(&d->mount_options, m ? m->options : NULL);
	if (m) {
		read_only = m->read_only;
		if (strncmp(d->fstype, m->fstype, sizeof(d->fstype) - 1) != 0) {
			snprintf(d->fstype, sizeof(d->fstype), "%s", m->fstype);
			changed = true;
		}
	} else if (d->type == DEVICE_EXT4) {
		int r = discover_read_only(d->name);

		read_only = r < 0 ? read_only : r > 0;
	}
	changed |= d->n_mounts != n_mounts || d->read_only != read_only;
	d->n_mounts = n_mounts;
	d->read_only = read_only;
	e->changed |= changed;
}

const char *device_mount_option(const struct device *d, const char *name, size_t *ret_len)
{
	char *value = NULL;

	return d->mount_options && mnt_optstr_get_option(d->mount_options, name, &value,
							 ret_len) == 0
		       ? value
		       : NULL;
}

bool device_has_fast_commit_switch(const struct device *d, const char *sysroot)
{
	char path[PATH_MAX];

	return discover_path(path, sizeof(path), "%s/sys/fs/ext4/%s/fast_commit", sysroot,
			     d->name) == 0 &&
	       access(path, F_OK) == 0;
}

/* A kernel without an account of fast commits makes none. */
static void update_safety(const struct device_list *l, struct device *d)
{
	char account[PATH_MAX];

	d->fast_commits_lose = d->fast_commit == FEATURE_YES && !d->read_only &&
			       !device_has_fast_commit_switch(d, l->sysroot) &&
			       discover_path(account, sizeof(account),
					     "/proc/fs/ext4/%s/fc_info", d->name) == 0 &&
			       access(account, F_OK) == 0;
}

/* --- refresh --- */

static void survey_done(struct survey *s)
{
	names_done(&s->ext4);
	names_done(&s->f2fs);
	names_done(&s->jbd2);
	mounts_done(&s->mounts);
}

/* What cannot be listed now must not look like an unmount of everything. */
static int survey_take(struct survey *s, const struct device_list *l)
{
	const struct {
		const char *dir;
		struct names *names;
	} lists[] = { { "/sys/fs/ext4", &s->ext4 },
		      { "/sys/fs/f2fs", &s->f2fs },
		      { "/proc/fs/jbd2", &s->jbd2 } };
	int r;

	for (size_t i = 0; i < ELEMENTSOF(lists); i++) {
		r = names_read(lists[i].names, lists[i].dir);
		if (r < 0)
			return log_warning_errno(r, "Cannot list %s: %m", lists[i].dir);
	}
	if (l->mountinfo_fd < 0)
		return 0;
	r = mounts_read(&s->mounts, l->mountinfo_fd);
	if (r < 0)
		log_warning_errno(r, "Cannot read mountinfo, names stay as they were: %m");
	s->have_mounts = r >= 0;
	return 0;
}

/* Keeps the entry if it is the same superblock still, else makes one; new ones go to `add`. */
static void see(struct device_list *l, const char *name, uint64_t ino, enum device_type type,
		const struct survey *s, struct device **add, size_t *n_add)
{
	struct device *d = find_name(l, name);
	struct entry *e = d ? entry_of(d) : NULL;
	int r;

	/* sysfs never uses an inode number twice, so nothing else need be read again */
	if (e && d->type == type && d->id.ino == ino) {
		e->seen = true;
		return;
	}
	r = device_new(&d, name, ino, type, s);
	if (r < 0) {
		log_debug_errno(r, "%s: not yet usable: %m", name);
		return;
	}
	entry_of(d)->seen = true;
	add[(*n_add)++] = d;
}

/* Directories of /sys/fs/ext4 and /sys/fs/f2fs that are no file systems. */
static bool is_common(const char *name)
{
	static const char *const common[] = { "features", "tuning" };

	for (size_t i = 0; i < ELEMENTSOF(common); i++)
		if (strcmp(name, common[i]) == 0)
			return true;
	return false;
}

static void see_sysfs(struct device_list *l, const struct names *names, enum device_type type,
		      const struct survey *s, struct device **add, size_t *n_add)
{
	for (size_t i = 0; i < names->n; i++) {
		const char *name = names->v[i];
		uint64_t ino;
		struct device *d;
		int r;

		if (is_common(name))
			continue;
		r = discover_ino(name, &ino);
		if (r >= 0) {
			see(l, name, ino, type, s, add, n_add);
		} else if (r != -ENOENT && (d = find_name(l, name))) {
			/* listed but not readable this time: no reason to think it gone */
			entry_of(d)->seen = true;
		}
	}
}

/*
 * Journals inside file systems other than ext4 (ocfs2). A bare name is an external journal's
 * and belongs to an ext4, whether or not we know to which.
 */
static void see_jbd2(struct device_list *l, const struct survey *s, struct device **add,
		     size_t *n_add)
{
	for (size_t i = 0; i < s->jbd2.n; i++) {
		const char *journal = s->jbd2.v[i];
		char name[DEVICE_NAME_MAX];
		size_t n = *n_add;

		if (journal_device(journal, name) < 0 || names_have(&s->ext4, name) ||
		    (n > 0 && strcmp(add[n - 1]->name, name) == 0))
			continue;
		see(l, name, 0, DEVICE_JBD2, s, add, n_add);
		if (*n_add > n)
			(void)device_set_journal(add[n], journal);
	}
}

/* UUID, label, sizes and features that came from the devices themselves. */
static void take_identities(struct device_list *l)
{
	struct identity i;

	while (identifier_next(l->identifier, &i)) {
		struct device *d = device_list_find_dev(l, i.id.dev);

		if (!d || !device_id_equal(&d->id, &i.id))
			continue;
		if (i.uuid[0] && strcmp(d->uuid, i.uuid) != 0) {
			memcpy(d->uuid, i.uuid, sizeof(d->uuid));
			entry_of(d)->changed = true;
		}
		if (i.label[0] && strcmp(d->label, i.label) != 0) {
			memcpy(d->label, i.label, sizeof(d->label));
			entry_of(d)->changed = true;
		}
		if (!d->has_journal)
			i.journal_bytes = 0; /* left from before it was taken away */
		if (i.block_size != d->block_size || i.journal_bytes != d->journal_bytes ||
		    i.n_devices != d->n_devices || i.fast_commit != d->fast_commit) {
			d->block_size = i.block_size;
			d->journal_bytes = i.journal_bytes;
			d->n_devices = i.n_devices;
			d->fast_commit = i.fast_commit;
			entry_of(d)->changed = true;
		}
	}
}

/*
 * Makes l->devices the seen and the added ones, and *gone those that are neither. `both` has
 * room for all.
 */
static size_t partition(struct device_list *l, struct device **both, struct device **add,
			size_t n_add, struct device **gone)
{
	size_t n = 0, n_gone = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (entry_of(l->devices[i])->seen)
			both[n++] = l->devices[i];
		else
			gone[n_gone++] = l->devices[i];
	}
	for (size_t i = 0; i < n_add; i++)
		both[n++] = add[i];
	if (n)
		qsort(both, n, sizeof(*both), by_name);
	free(l->devices);
	l->devices = both;
	l->n = n;
	return n_gone;
}

static void report(struct device_list *l, struct device **gone, size_t n_gone,
		   const struct device_events *events, void *userdata)
{
	for (size_t i = 0; i < n_gone; i++) {
		if (events->removed)
			events->removed(gone[i], userdata);
		device_free(gone[i]);
	}
	for (size_t i = 0; i < l->n; i++) {
		struct entry *e = entry_of(l->devices[i]);
		bool is_new = e->is_new, changed = e->changed;

		e->is_new = e->changed = e->seen = false;
		if (is_new && events->added)
			events->added(&e->device, userdata);
		else if (!is_new && changed && events->changed)
			events->changed(&e->device, userdata);
	}
}

int device_list_refresh(struct device_list *l, const struct device_events *events,
			void *userdata)
{
	_cleanup_(survey_done) struct survey s = { 0 };
	_cleanup_free_ struct device **add = NULL, **gone = NULL;
	struct device **both;
	size_t n_add = 0, n_gone, max;
	int r;

	r = survey_take(&s, l);
	if (r < 0)
		return r;
	max = l->n + s.ext4.n + s.f2fs.n + s.jbd2.n + 1;
	add = calloc(max, sizeof(*add));
	gone = calloc(max, sizeof(*gone));
	both = calloc(max, sizeof(struct device *));
	if (!add || !gone || !both) {
		free(both);
		return log_oom();
	}

	see_sysfs(l, &s.ext4, DEVICE_EXT4, &s, add, &n_add);
	see_sysfs(l, &s.f2fs, DEVICE_F2FS, &s, add, &n_add);
	see_jbd2(l, &s, add, &n_add);
	n_gone = partition(l, both, add, n_add, gone);
	take_identities(l);
	for (size_t i = 0; i < l->n; i++) {
		update_mount(entry_of(l->devices[i]), &s);
		update_safety(l, l->devices[i]);
	}
	for (size_t i = 0; i < n_add; i++)
		(void)identifier_ask(l->identifier, &add[i]->id, add[i]->name);
	report(l, gone, n_gone, events, userdata);
	return 0;
}
