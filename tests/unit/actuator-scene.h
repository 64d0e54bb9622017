/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An actuator on a real event loop, a device that exists, and its knob in a throw-away tree. */
#ifndef FSTUNED_TESTS_ACTUATOR_SCENE_H
#define FSTUNED_TESTS_ACTUATOR_SCENE_H

#include "../../daemon/act/actuator.h"
#include "../../daemon/base/log.h"
#include "../../daemon/base/time-util.h"
#include "tree.h"

#define KNOB "proc/fs/jbd2/test-8/force_copy"
#define LEDGER "run/ledger.json"
/* How long anything may take that is to happen. */
#define PATIENCE_US (20 * USEC_PER_SEC)

struct scene {
	struct tree t;
	sd_event *event;
	struct actuator *a;
	struct device d;
	struct knob_state k;
	unsigned done;
	int r;
	uid_t uid;
	struct decision decision;
};

static inline void scene_on_done(const struct device_id *id, const struct decision *d, int r,
				 const char *detail, uid_t uid, void *userdata)
{
	struct scene *s = userdata;

	(void)detail;
	assert_true(device_id_equal(id, &s->d.id));
	s->done++;
	s->r = r;
	s->uid = uid;
	s->decision = *d;
}

/* Any block device will do: only its identity is looked at. False: there is none here. */
static inline bool find_device(struct device *d)
{
	_cleanup_closedir_ DIR *dir = opendir("/sys/class/block");
	const struct dirent *e;

	*d = (struct device){ .journal = "test-8", .has_journal = true, .fstype = "ext4" };
	while (dir && (e = readdir(dir)))
		if (device_id_read(e->d_name, &d->id) == 0) {
			snprintf(d->name, sizeof(d->name), "%.63s", e->d_name);
			return true;
		}
	return false;
}

/* As a daemon that starts: what was in memory is gone. Returns what adopting said. */
static inline int scene_start(struct scene *s, enum knob_mode configured)
{
	if (s->a)
		actuator_free(TAKE_PTR(s->a));
	s->k = (struct knob_state){ .id = KNOB_FORCE_COPY };
	assert_int_equal(actuator_new(&s->a, s->event, s->t.run, s->t.root, scene_on_done, s),
			 0);
	return actuator_adopt(s->a, &s->d, configured, &s->k);
}

static inline void scene_init(struct scene *s)
{
	*s = (struct scene){ 0 };
	log_set_level(LOG_CRIT);
	if (!find_device(&s->d))
		skip();
	tree_init(&s->t);
	assert_int_equal(sd_event_new(&s->event), 0);
}

static inline void scene_done(struct scene *s)
{
	if (s->a)
		actuator_free(s->a);
	sd_event_unref(s->event);
	tree_done(&s->t);
}

/* skip() jumps: nothing is cleaned up by itself. */
static inline void scene_skip(struct scene *s)
{
	scene_done(s);
	skip();
}

#define SCENE(s, value)                       \
	_cleanup_(scene_done) struct scene s; \
	(void)state;                          \
	scene_init(&s);                       \
	tree_write(&s.t, KNOB, value "\n")

static inline struct decision decision(const char *from, const char *to, enum reason reason)
{
	struct decision d = { .knob = KNOB_FORCE_COPY, .reason = reason, .why = "a test" };

	snprintf(d.from, sizeof(d.from), "%s", from);
	snprintf(d.to, sizeof(d.to), "%s", to);
	return d;
}

static inline void loop_until_done(struct scene *s, unsigned n)
{
	uint64_t until = now_monotonic_us() + PATIENCE_US;

	while (s->done < n && now_monotonic_us() < until)
		assert_true(sd_event_run(s->event, 100 * USEC_PER_MSEC) >= 0);
	assert_int_equal(s->done, n);
}

/* Applies and waits for the end. */
static inline int apply(struct scene *s, const char *to, bool pin)
{
	struct decision d = decision(s->k.value, to, pin ? REASON_ADMINISTRATOR : REASON_STALL);
	unsigned before = s->done;

	assert_int_equal(actuator_apply(s->a, &s->d, &s->k, &d, pin, 7), 0);
	loop_until_done(s, before + 1);
	assert_false(s->k.busy);
	return s->r;
}

/* Number and not text: a real knob ends its value with a newline. */
static inline int knob(const struct scene *s)
{
	const char *text = tree_read(&s->t, KNOB);

	return text ? atoi(text) : -1;
}

static inline const struct ledger_entry *entry(struct scene *s)
{
	return ledger_find(actuator_ledger(s->a), &s->d.id, KNOB_FORCE_COPY);
}

static inline int restore_all(const struct scene *s)
{
	return actuator_restore_all(s->t.run, s->t.root, NULL);
}

#endif
