// SPDX-License-Identifier: GPL-2.0-or-later
/* What the bus's methods mean, and the view that readers get. */
#include <string.h>
#include <sys/sysmacros.h>
#include "manager-internal.h"
#include "publish/interface.h"

/* --- the view --- */

static size_t copy_outliers(const struct managed *d, struct outlier *to)
{
	for (unsigned i = 0; i < d->n_outliers; i++)
		to[i] = d->outliers[(d->outlier_next + OUTLIERS_MAX - 1 - i) % OUTLIERS_MAX];
	return d->n_outliers;
}

static bool make_room(struct manager *m)
{
	size_t n = m->n_devices ? m->n_devices : 1;
	struct device_view *devices = reallocarray(m->view_devices, n, sizeof(*devices));
	struct outlier *outliers;

	if (!devices)
		return false;
	m->view_devices = devices;
	outliers = reallocarray(m->view_outliers, n * OUTLIERS_MAX, sizeof(*outliers));
	if (!outliers)
		return false;
	m->view_outliers = outliers;
	return true;
}

static void view_device(struct manager *m, size_t i)
{
	const struct managed *d = m->devices[i];
	struct outlier *outliers = m->view_outliers + i * OUTLIERS_MAX;

	m->view_devices[i] = (struct device_view){
		.device = d->device,
		.model = d->model,
		.policy = &d->policy,
		.config = &d->config,
		.knobs = d->knobs,
		.measured = d->tracked,
		.stats = d->sampler.last,
		.fast_commits = d->sampler.fast_commits,
		.outliers = outliers,
		.n_outliers = copy_outliers(d, outliers),
		.verdict = d->verdict,
		.verdict_text = d->verdict_text,
	};
}

static const struct view *get_view(void *userdata)
{
	struct manager *m = userdata;
	bool room = make_room(m);

	m->view = (struct view){
		.now_us = now_monotonic_us(),
		.start_us = m->start_us,
		.observe_only = manager_observe_only(m),
		.paused_until_us = m->paused_until_us,
		.caps = &m->caps,
		.probe = m->probe,
		.sysroot = m->options.sysroot,
		.ledger = actuator_ledger(m->actuator),
		.devices = m->view_devices,
		.n_devices = room ? m->n_devices : 0,
		.history = m->history.entries,
		.history_first = m->history.first,
		.n_history = m->history.n,
		.history_max = m->history.allocated,
		.decisions = m->decisions,
		.ticks = m->ticks,
		.log_dropped = log_dropped(),
	};
	for (size_t i = 0; i < m->view.n_devices; i++)
		view_device(m, i);
	if (m->view.paused_until_us <= m->view.now_us)
		m->view.paused_until_us = 0;
	return &m->view;
}

static const struct device *find(const char *what, void *userdata)
{
	struct manager *m = userdata;

	return device_list_find(&m->list, what);
}

/* --- changes --- */

static int add_waiter(struct manager *m, const struct device_id *id, enum knob_id knob,
		      sd_bus_message *message)
{
	struct waiter *w = malloc(sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct waiter){
		.next = m->waiters,
		.message = sd_bus_message_ref(message),
		.id = *id,
		.knob = knob,
	};
	m->waiters = w;
	return 0;
}

static struct waiter *unlink_waiter(struct waiter **p)
{
	struct waiter *w = *p;

	*p = w->next;
	return w;
}

static void free_waiter(struct waiter *w)
{
	sd_bus_message_unref(w->message);
	free(w);
}

static bool is_waiting(const struct manager *m, const sd_bus_message *message)
{
	for (const struct waiter *w = m->waiters; w; w = w->next)
		if (w->message == message)
			return true;
	return false;
}

/* Whoever has an answer must not get another one. */
static void forget_message(struct manager *m, const sd_bus_message *message)
{
	for (struct waiter **p = &m->waiters; *p;)
		if ((*p)->message == message)
			free_waiter(unlink_waiter(p));
		else
			p = &(*p)->next;
}

static struct waiter **find_waiter(struct manager *m, const struct device_id *id,
				   enum knob_id knob)
{
	struct waiter **p = &m->waiters;

	while (*p && !(device_id_equal(&(*p)->id, id) && (*p)->knob == knob))
		p = &(*p)->next;
	return p;
}

/* A message that asked for several changes is answered after the last, or the first failure. */
static void answer_waiters(struct manager *m, const struct device_id *id, enum knob_id knob,
			   int r, const char *text)
{
	struct waiter **p;

	while (*(p = find_waiter(m, id, knob))) {
		struct waiter *w = unlink_waiter(p);

		if (r < 0 || !is_waiting(m, w->message)) {
			bus_reply(m->bus, w->message, r, text);
			forget_message(m, w->message);
		}
		free_waiter(w);
	}
}

void manager_drop_waiters(struct manager *m)
{
	while (m->waiters) {
		struct waiter *w = unlink_waiter(&m->waiters);

		bus_reply(m->bus, w->message, -ESHUTDOWN, "fs-tuned is stopping");
		forget_message(m, w->message);
		free_waiter(w);
	}
}

static const char *failure_of(int r, const char *detail)
{
	if (*detail)
		return detail;
	return r == -EBUSY ? "somebody else wrote it meanwhile" : strerror(-r);
}

void manager_on_done(const struct device_id *id, const struct decision *d, int r,
		     const char *detail, uid_t uid, void *userdata)
{
	struct manager *m = userdata;
	struct managed *managed = manager_find_id(m, id);
	char name[DEVICE_NAME_MAX], text[256];

	/* Unmounted meanwhile: it has no name any more. */
	snprintf(name, sizeof(name), "%u:%u", major(id->dev), minor(id->dev));
	manager_record(m, managed ? managed->device->name : name, d, r,
		       d->reason == REASON_ADMINISTRATOR ? (int64_t)uid : -1);
	snprintf(text, sizeof(text), "%s: %s", knob_ops(d->knob)->name, failure_of(r, detail));
	answer_waiters(m, id, d->knob, r, text);
	if (managed && (managed->adopt_again & (1u << d->knob)))
		manager_adopt(m, managed, d->knob);
	/* Of its own reconfiguration the kernel tells nobody, and other knobs may depend on it.
	 */
	if (r == 0 && knob_ops(d->knob)->reconfigures)
		(void)manager_mounts_changed(m);
}

/* May it be changed now? -errno with *error set if not. */
static int check_change(struct manager *m, struct managed *d, enum knob_id knob,
			sd_bus_error *error)
{
	struct knob_state *k = &d->knobs[knob];

	/* What somebody wrote since the last look must not pass for what is asked for. */
	manager_check(m, d, knob);
	if (!k->supported)
		return sd_bus_error_setf(error, FSTUNED_ERROR_UNSUPPORTED, "%s: %s: %s",
					 d->device->name, knob_ops(knob)->name, k->why);
	if (*k->refused)
		return sd_bus_error_setf(error, FSTUNED_ERROR_UNSUPPORTED,
					 "%s: %s is not changed here: %s", d->device->name,
					 knob_ops(knob)->name, k->refused);
	if (k->busy)
		return sd_bus_error_setf(error, FSTUNED_ERROR_BUSY,
					 "%s: a change of %s is in progress", d->device->name,
					 knob_ops(knob)->name);
	return 0;
}

/* One change asked for by an administrator, after check_change(). */
static int change(struct manager *m, struct managed *d, enum knob_id knob, const char *to,
		  const char *why, uid_t uid, sd_bus_error *error)
{
	struct knob_state *k = &d->knobs[knob];
	struct decision what = { .knob = knob, .reason = REASON_ADMINISTRATOR };
	int r;

	snprintf(what.from, sizeof(what.from), "%s", k->value);
	snprintf(what.to, sizeof(what.to), "%s", to);
	snprintf(what.why, sizeof(what.why), "%s", why);
	r = actuator_apply(m->actuator, d->device, k, &what, true, uid);
	if (r < 0) {
		manager_record(m, d->device->name, &what, r, uid);
		return sd_bus_error_setf(error, FSTUNED_ERROR_FAILED, "%s: %s not written: %s",
					 d->device->name, knob_ops(knob)->name, strerror(-r));
	}
	return 0;
}

static int cmd_set(const struct device *device, const char *name, const char *value, uid_t uid,
		   sd_bus_message *message, sd_bus_error *error, void *userdata)
{
	struct manager *m = userdata;
	struct managed *d = manager_find_id(m, &device->id);
	char canonical[KNOB_VALUE_MAX];
	enum knob_id knob;
	const char *why;
	int r;

	if (!d)
		return sd_bus_error_setf(error, FSTUNED_ERROR_NO_DEVICE, "%s is gone",
					 device->name);
	if (knob_from_string(name, &knob) < 0)
		return sd_bus_error_setf(error, FSTUNED_ERROR_NO_KNOB, "No knob \"%s\"", name);
	if (knob_ops(knob)->parse(value, canonical) < 0)
		return sd_bus_error_setf(error, FSTUNED_ERROR_BAD_VALUE,
					 "\"%s\" is no value of %s (%s)", value, name,
					 knob_ops(knob)->unit);
	why = policy_forbids(&d->config, knob, canonical);
	if (why)
		return sd_bus_error_setf(error, FSTUNED_ERROR_BAD_VALUE, "%s: %s=%s needs %s",
					 device->name, name, canonical, why);
	r = check_change(m, d, knob, error);
	if (r == 0)
		r = add_waiter(m, &d->device->id, knob, message);
	if (r == 0)
		r = change(m, d, knob, canonical, "set with fstunectl", uid, error);
	if (r < 0)
		/* The caller answers this message itself: it must not be answered twice. */
		forget_message(m, message);
	return r < 0 ? r : 1;
}

/* One device failing is no reason to leave the others; the first error is what is told. */
static int each_device(struct manager *m, const struct device *device,
		       int (*f)(struct manager *m, struct managed *d, void *arg), void *arg)
{
	int r = 0;

	for (size_t i = 0; i < m->n_devices; i++)
		if (!device || m->devices[i]->device == device) {
			int q = f(m, m->devices[i], arg);

			if (q < 0 ? r >= 0 : r == 0)
				r = q;
		}
	return r;
}

struct automatic {
	bool all;
	enum knob_id knob;
	uid_t uid;
};

static int hand_back(struct manager *m, struct managed *d, struct knob_state *k, uid_t uid)
{
	struct decision what = { .knob = k->id, .reason = REASON_ADMINISTRATOR };
	int r;

	if (k->busy)
		return -EBUSY;
	manager_check(m, d, k->id);
	r = actuator_pin(m->actuator, d->device, k, false, NULL);
	snprintf(what.from, sizeof(what.from), "%s", k->value);
	snprintf(what.to, sizeof(what.to), "%s", k->value);
	if (r >= 0) {
		/* The configuration may have a word to say on it. */
		manager_adopt(m, d, k->id);
		if (k->mode == KNOB_AUTO && strcmp(k->value, knob_ops(k->id)->initial) != 0)
			policy_ops(k->id)->adopt(&d->policy, &d->config, now_monotonic_us());
	}
	if (k->mode != KNOB_MANUAL)
		snprintf(what.why, sizeof(what.why), "handed back to the policy");
	else if (strcmp(k->pinned_by, PINNED_BY_CONFIGURATION) == 0)
		snprintf(what.why, sizeof(what.why), "handed back: the configuration pins it");
	else
		snprintf(what.why, sizeof(what.why),
			 "somebody else wrote %s meanwhile: still pinned", k->value);
	manager_note(m, d->device->name, &what, r, uid);
	return r;
}

static int automatic_one(struct manager *m, struct managed *d, void *arg)
{
	const struct automatic *a = arg;
	int r = 0;

	for (enum knob_id knob = 0; knob < KNOB_MAX; knob++) {
		struct knob_state *k = &d->knobs[knob];
		int q = 0;

		if ((a->all || knob == a->knob) && k->mode == KNOB_MANUAL)
			q = hand_back(m, d, k, a->uid);
		r = q < 0 && r == 0 ? q : r;
	}
	return r;
}

static int cmd_auto(const struct device *device, const char *name, uid_t uid,
		    sd_bus_error *error, void *userdata)
{
	struct automatic a = { .all = !name || !*name, .uid = uid };
	int r;

	if (!a.all && knob_from_string(name, &a.knob) < 0)
		return sd_bus_error_setf(error, FSTUNED_ERROR_NO_KNOB, "No knob \"%s\"", name);
	r = each_device(userdata, device, automatic_one, &a);
	if (r < 0)
		return sd_bus_error_setf(error, FSTUNED_ERROR_FAILED, "Not handed back: %s",
					 strerror(-r));
	return 0;
}

static int revert_knob(struct manager *m, struct managed *d, enum knob_id knob, uid_t uid,
		       sd_bus_error *error)
{
	const struct knob_state *k = &d->knobs[knob];

	return change(m, d, knob, *k->original ? k->original : k->value,
		      "reverted with fstunectl", uid, error);
}

/* One that may only be read, and was never written, is as it was. */
static bool has_what_to_revert(const struct knob_state *k)
{
	return k->supported && (!*k->refused || *k->original);
}

/* Every knob that there is; the message waits for all of them. */
static int revert_device(struct manager *m, struct managed *d, uid_t uid,
			 sd_bus_message *message, sd_bus_error *error)
{
	unsigned knobs = 0;
	int r = 0;

	for (enum knob_id knob = 0; knob < KNOB_MAX && r == 0; knob++) {
		if (!has_what_to_revert(&d->knobs[knob]))
			continue;
		r = check_change(m, d, knob, error);
		if (r == 0)
			r = add_waiter(m, &d->device->id, knob, message);
		knobs |= 1u << knob;
	}
	if (knobs == 0)
		return sd_bus_error_setf(error, FSTUNED_ERROR_UNSUPPORTED,
					 "%s: there is no knob to revert", d->device->name);
	for (enum knob_id knob = 0; knob < KNOB_MAX && r == 0; knob++)
		if (knobs & 1u << knob)
			r = revert_knob(m, d, knob, uid, error);
	if (r < 0)
		forget_message(m, message);
	return r < 0 ? r : 1;
}

struct revert {
	uid_t uid;
	sd_bus_error *error;
};

/* With all devices at once nobody can wait for each: the history tells. */
static int revert_one(struct manager *m, struct managed *d, void *arg)
{
	const struct revert *v = arg;
	int r = 0;

	for (enum knob_id knob = 0; knob < KNOB_MAX; knob++) {
		const struct knob_state *k = &d->knobs[knob];
		sd_bus_error *error = sd_bus_error_is_set(v->error) ? NULL : v->error;
		int q = 0;

		if (k->supported && *k->original)
			q = check_change(m, d, knob, error);
		if (q == 0 && k->supported && *k->original)
			q = revert_knob(m, d, knob, v->uid, error);
		r = q < 0 && r == 0 ? q : r;
	}
	return r;
}

static int cmd_revert(const struct device *device, uid_t uid, sd_bus_message *message,
		      sd_bus_error *error, void *userdata)
{
	struct manager *m = userdata;
	struct managed *d = device ? manager_find_id(m, &device->id) : NULL;
	struct revert v = { .uid = uid, .error = error };

	if (!device)
		return each_device(m, NULL, revert_one, &v);
	if (!d)
		return sd_bus_error_setf(error, FSTUNED_ERROR_NO_DEVICE, "%s is gone",
					 device->name);
	return revert_device(m, d, uid, message, error);
}

static int cmd_pause(uint64_t usec, uid_t uid, void *userdata)
{
	struct manager *m = userdata;
	char buf[TIME_STR_MAX];

	if (usec == 0)
		m->paused_until_us = 0;
	else if (__builtin_add_overflow(now_monotonic_us(), usec, &m->paused_until_us))
		m->paused_until_us = USEC_INFINITY;
	manager_store_pause(m);
	if (usec == 0)
		log_notice("Decisions resumed (uid %u)", uid);
	else
		log_notice("Decisions paused (uid %u): %s", uid,
			   usec == USEC_INFINITY ? "until fstunectl resume"
						 : format_time_us(buf, sizeof(buf), usec));
	return 0;
}

static int cmd_config(char **ret, void *userdata)
{
	const struct manager *m = userdata;

	return config_describe(&m->config, ret);
}

static int cmd_reload(sd_bus_error *error, void *userdata)
{
	int r = manager_reload(userdata);

	if (r < 0)
		return sd_bus_error_setf(error, FSTUNED_ERROR_FAILED,
					 "Not reloaded, the former configuration holds: %s",
					 strerror(-r));
	return 0;
}

const struct bus_ops manager_bus_ops = {
	.view = get_view,
	.find = find,
	.set = cmd_set,
	.automatic = cmd_auto,
	.revert = cmd_revert,
	.pause = cmd_pause,
	.config = cmd_config,
	.reload = cmd_reload,
};
