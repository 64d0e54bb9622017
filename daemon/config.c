// SPDX-License-Identifier: GPL-2.0-or-later
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "base/file.h"
#include "base/log.h"
#include "base/time-util.h"
#include "config-internal.h"
#include "paths.h"

#define CONFIG_NAME "fs-tuned.conf"

/* Where the distribution, then the administrator has files. */
static const char *const config_dirs[] = { FSTUNED_VENDOR_DIR, FSTUNED_ADMIN_DIR };

void config_defaults(struct config *c)
{
	c->observe_only = false;
	c->interval_us = USEC_PER_SEC;
	c->idle_interval_us = 10 * USEC_PER_SEC;
	c->log_level = LOG_INFO;
	c->history_size = 1000;
	c->policy = policy_config_default;
}

int config_init(struct config *c)
{
	*c = (struct config){ 0 };
	config_defaults(c);
	c->origins = calloc(config_n_keys, sizeof(*c->origins));
	if (!c->origins)
		return -ENOMEM;
	for (size_t i = 0; i < config_n_keys; i++)
		c->origins[i] = (struct config_origin){ .key = &config_keys[i], .device = -1 };
	c->n_origins = config_n_keys;
	return 0;
}

void config_done(struct config *c)
{
	for (size_t i = 0; i < c->n_devices; i++)
		free(c->devices[i].pattern);
	free(c->devices);
	for (size_t i = 0; i < c->n_origins; i++)
		free(c->origins[i].file);
	free(c->origins);
	*c = (struct config){ 0 };
}

/* --- files --- */

/* Parses one file. -errno if it cannot be read; nothing is logged of that. */
static int load_file(struct config *c, const char *path, bool regular)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = read_full_file(path, CONFIG_FILE_MAX, regular, &text, &len);

	return r < 0 ? r : config_parse(c, path, text, len);
}

/* One of the files that are looked for: what is wrong with it must not stop the daemon. */
static int load_found(struct config *c, const char *path)
{
	int r = load_file(c, path, true);

	if (r == -ENOENT || r == -ENOMEM)
		return r;
	if (r == -EFBIG) {
		c->warnings++;
		log_warning("%s: more than %d bytes; file ignored", path, CONFIG_FILE_MAX);
	} else if (r < 0) {
		c->warnings++;
		log_warning_errno(r, "%s: cannot be read, ignored: %m", path);
	}
	return 0;
}

/* A link to /dev/null where a file would be says: not that one. */
static bool is_mask(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* The last place that has a main file, alone. */
static int load_main(struct config *c, const char *const *dirs, size_t n_dirs)
{
	for (size_t i = n_dirs; i > 0; i--) {
		char path[PATH_MAX];
		int r;

		snprintf(path, sizeof(path), "%s/%s", dirs[i - 1], CONFIG_NAME);
		if (is_mask(path))
			return 0;
		r = load_found(c, path);
		if (r != -ENOENT)
			return r;
	}
	return 0;
}

struct dropin {
	char *path;
	const char *name; /* within path */
	size_t place;     /* index of its directory */
};

struct dropins {
	struct dropin *v;
	size_t n;
};

static void dropins_done(struct dropins *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
}

static int dropins_add(struct dropins *l, const char *dir, const char *name, size_t place)
{
	struct dropin *v = reallocarray(l->v, l->n + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	l->v = v;
	v += l->n;
	if (asprintf(&v->path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	v->name = strrchr(v->path, '/') + 1;
	v->place = place;
	l->n++;
	return 0;
}

static int dropins_find(struct config *c, struct dropins *l, const char *place_dir,
			size_t place)
{
	_cleanup_closedir_ DIR *d = NULL;
	char dir[PATH_MAX];
	struct dirent *de;

	snprintf(dir, sizeof(dir), "%s/%s.d", place_dir, CONFIG_NAME);
	d = opendir(dir);
	if (!d) {
		if (errno != ENOENT) {
			c->warnings++;
			log_warning_errno(errno, "%s: cannot be listed, ignored: %m", dir);
		}
		return 0;
	}
	while ((de = readdir(d))) {
		size_t len = strlen(de->d_name);
		int r;

		if (de->d_name[0] == '.' || len <= 5 ||
		    strcmp(de->d_name + len - 5, ".conf") != 0)
			continue;
		r = dropins_add(l, dir, de->d_name, place);
		if (r < 0)
			return r;
	}
	return 0;
}

/* By name; of those with one name, the last place first. */
static int dropin_cmp(const void *pa, const void *pb)
{
	const struct dropin *a = pa, *b = pb;
	int r = strcmp(a->name, b->name);

	return r ?: (a->place < b->place) - (a->place > b->place);
}

static int load_dropins(struct config *c, const char *const *dirs, size_t n_dirs)
{
	_cleanup_(dropins_done) struct dropins l = { 0 };
	const char *last = "";
	int r = 0;

	for (size_t i = 0; i < n_dirs && r == 0; i++)
		r = dropins_find(c, &l, dirs[i], i);
	if (r < 0)
		return r;
	if (l.n)
		qsort(l.v, l.n, sizeof(*l.v), dropin_cmp);
	for (size_t i = 0; i < l.n; i++) {
		if (strcmp(l.v[i].name, last) == 0)
			continue;
		last = l.v[i].name;
		if (is_mask(l.v[i].path))
			continue;
		r = load_found(c, l.v[i].path);
		if (r < 0 && r != -ENOENT)
			return r;
	}
	return 0;
}

/* What a section sets goes over what there is. */
static void overlay(struct policy_config *to, const struct config *c,
		    const struct config_device *section)
{
	for (size_t k = 0; k < config_n_keys; k++) {
		if (section->set & UINT64_C(1) << k)
			config_key_copy(&config_keys[k], to, &section->policy);
		else if (section->reset & UINT64_C(1) << k)
			config_key_copy(&config_keys[k], to, &c->policy);
	}
}

/* A pinned value that another setting forbids is only advised. True: there was one. */
static bool drop_forbidden(struct policy_config *p)
{
	bool any = false;

	for (enum knob_id id = 0; id < KNOB_MAX; id++) {
		if (p->knob[id].mode != KNOB_MANUAL ||
		    !policy_forbids(p, id, p->knob[id].value))
			continue;
		p->knob[id] = (struct knob_setting){ .mode = KNOB_OBSERVE };
		any = true;
	}
	return any;
}

static void warn_forbidden(struct config *c, const char *section)
{
	c->warnings++;
	log_warning("[%s]: CkptThreadIoprio=rt,... needs RealTimeIoprio=yes; using observe",
		    section);
}

/* Values that are right alone and wrong together. */
static void check(struct config *c)
{
	struct policy_config *p = &c->policy;

	if (c->idle_interval_us < c->interval_us) {
		c->warnings++;
		log_warning("IdleInterval= is shorter than Interval=; using that");
		c->idle_interval_us = c->interval_us;
	}
	if (p->trial_interval_max_us < p->trial_interval_us) {
		c->warnings++;
		log_warning("ForceCopyTrialIntervalMax= is shorter than "
			    "ForceCopyTrialInterval=; using that");
		p->trial_interval_max_us = p->trial_interval_us;
	}
	if (p->fast_interval_max_us < p->fast_interval_us) {
		c->warnings++;
		log_warning("FastCommitTrialIntervalMax= is shorter than "
			    "FastCommitTrialInterval=; using that");
		p->fast_interval_max_us = p->fast_interval_us;
	}
	if (drop_forbidden(p))
		warn_forbidden(c, "Policy");
	for (size_t i = 0; i < c->n_devices; i++) {
		struct policy_config whole = *p;

		overlay(&whole, c, &c->devices[i]);
		if (drop_forbidden(&whole))
			warn_forbidden(c, c->devices[i].pattern);
	}
}

int config_load_dirs(struct config *c, const char *const *dirs, size_t n_dirs)
{
	int r = config_init(c);

	if (r == 0)
		r = load_main(c, dirs, n_dirs);
	if (r == 0)
		r = load_dropins(c, dirs, n_dirs);
	if (r < 0) {
		config_done(c);
		return log_error_errno(r, "Cannot read the configuration: %m");
	}
	check(c);
	return 0;
}

int config_load(struct config *c, const char *file)
{
	int r;

	if (!file)
		return config_load_dirs(c, config_dirs, ELEMENTSOF(config_dirs));
	r = config_init(c);
	if (r == 0)
		r = load_file(c, file, false);
	if (r < 0) {
		config_done(c);
		return log_error_errno(r, "Cannot read configuration %s: %m", file);
	}
	check(c);
	return 0;
}

/* --- devices --- */

static bool glob(const char *pattern, const char *s, int flags)
{
	return strcmp(pattern, s) == 0 || fnmatch(pattern, s, flags) == 0;
}

/* "/dev/sda5", a glob of such, or a link that leads to it. */
static bool path_matches(const char *path, const struct device *d)
{
	char name[DEVICE_NAME_MAX];
	struct stat st;

	snprintf(name, sizeof(name), "%s", d->name);
	for (char *p = name; *p; p++)
		if (*p == '!')
			*p = '/';
	if (glob(path + strlen("/dev/"), name, FNM_PATHNAME))
		return true;
	return stat(path, &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev == d->id.dev;
}

bool config_device_matches(const char *pattern, const struct device *d)
{
	char dev[32];

	if (strncmp(pattern, "UUID=", 5) == 0)
		return d->uuid[0] && glob(pattern + 5, d->uuid, FNM_CASEFOLD);
	if (strncmp(pattern, "LABEL=", 6) == 0)
		return d->label[0] && glob(pattern + 6, d->label, 0);
	if (strncmp(pattern, "/dev/", 5) == 0 && path_matches(pattern, d))
		return true;
	if (pattern[0] == '/')
		return d->mountpoint && glob(pattern, d->mountpoint, FNM_PATHNAME);
	snprintf(dev, sizeof(dev), "%u:%u", major(d->id.dev), minor(d->id.dev));
	return strcmp(pattern, dev) == 0 || glob(pattern, d->name, 0);
}

void config_for_device(const struct config *c, const struct device *d,
		       struct policy_config *ret)
{
	*ret = c->policy;
	for (size_t i = 0; i < c->n_devices; i++) {
		const struct config_device *section = &c->devices[i];

		if (config_device_matches(section->pattern, d))
			overlay(ret, c, section);
	}
	(void)drop_forbidden(ret);
	if (ret->trial_interval_max_us < ret->trial_interval_us)
		ret->trial_interval_max_us = ret->trial_interval_us;
	if (ret->fast_interval_max_us < ret->fast_interval_us)
		ret->fast_interval_max_us = ret->fast_interval_us;
}
