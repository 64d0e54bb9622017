/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The manager's side of the bus: shows a fixture, notes what it was asked for. */
#ifndef FSTUNED_TESTS_BUS_FIXTURE_H
#define FSTUNED_TESTS_BUS_FIXTURE_H

#include <sys/sysmacros.h>
#include "../../daemon/publish/bus.h"
#include "../../daemon/publish/interface.h"
#include "view-fixture.h"

struct served {
	struct fixture *f;
	char asked[128]; /* the last command */
	sd_bus_message *kept;
	unsigned reloads, views, configs;
	size_t config_bytes; /* so long is its answer; 0: a short one */
};

static inline const struct view *served_view(void *userdata)
{
	struct served *s = userdata;

	s->views++;
	return &s->f->view;
}

static inline const struct device *served_find(const char *what, void *userdata)
{
	struct served *s = userdata;
	char dev[32];

	for (size_t i = 0; i < s->f->view.n_devices; i++) {
		const struct device *d = &s->f->d[i].device;

		snprintf(dev, sizeof(dev), "%u:%u", major(d->id.dev), minor(d->id.dev));
		if (strcmp(what, d->name) == 0 || strcmp(what, dev) == 0)
			return d;
	}
	return NULL;
}

/* "later" is answered by the test, "bad" is none, the rest is taken at once. */
static inline int served_set(const struct device *d, const char *knob, const char *value,
			     uid_t uid, sd_bus_message *m, sd_bus_error *error, void *userdata)
{
	struct served *s = userdata;

	if (strcmp(value, "bad") == 0)
		return sd_bus_error_setf(error, FSTUNED_ERROR_BAD_VALUE,
					 "\"%s\" is no value of %s", value, knob);
	snprintf(s->asked, sizeof(s->asked), "set %s %s %s %u", d->name, knob, value, uid);
	if (strcmp(value, "later") != 0)
		return 0;
	s->kept = sd_bus_message_ref(m);
	return 1;
}

static inline int served_auto(const struct device *d, const char *knob, uid_t uid,
			      _unused_ sd_bus_error *error, void *userdata)
{
	struct served *s = userdata;

	snprintf(s->asked, sizeof(s->asked), "auto %s %s %u", d ? d->name : "all", knob, uid);
	return 0;
}

static inline int served_revert(const struct device *d, uid_t uid, _unused_ sd_bus_message *m,
				_unused_ sd_bus_error *error, void *userdata)
{
	struct served *s = userdata;

	snprintf(s->asked, sizeof(s->asked), "revert %s %u", d ? d->name : "all", uid);
	return 0;
}

static inline int served_pause(uint64_t usec, _unused_ uid_t uid, void *userdata)
{
	struct served *s = userdata;

	s->f->view.paused_until_us = usec == USEC_INFINITY ? usec
				     : usec                ? s->f->view.now_us + usec
							   : 0;
	return 0;
}

static inline int served_config(char **ret, void *userdata)
{
	struct served *s = userdata;

	s->configs++;
	if (s->config_bytes) {
		*ret = malloc(s->config_bytes + 1);
		if (!*ret)
			return -ENOMEM;
		memset(*ret, 'x', s->config_bytes);
		(*ret)[s->config_bytes] = '\0';
		return 0;
	}
	*ret = strdup(
		"{\"settings\":[{\"section\":\"Policy\",\"key\":\"ForceCopyQuiet\","
		"\"value\":\"10min\",\"default\":\"5min\",\"file\":\"/etc/x\xff.conf\","
		"\"line\":3},{\"section\":\"Manager\",\"key\":\"Mode\",\"value\":\"auto\","
		"\"default\":\"auto\",\"file\":null,\"line\":null}],\"warnings\":0}");
	return *ret ? 0 : -ENOMEM;
}

static inline int served_reload(_unused_ sd_bus_error *error, void *userdata)
{
	struct served *s = userdata;

	s->reloads++;
	return 0;
}

static const struct bus_ops served_ops = {
	.view = served_view,
	.find = served_find,
	.set = served_set,
	.automatic = served_auto,
	.revert = served_revert,
	.pause = served_pause,
	.config = served_config,
	.reload = served_reload,
};

#endif
