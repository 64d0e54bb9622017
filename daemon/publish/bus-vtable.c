// SPDX-License-Identifier: GPL-2.0-or-later
/* The methods of interface.h. */
#include <string.h>
#include "../base/log.h"
#include "../base/units.h"
#include "../base/utf8.h"
#include "bus-internal.h"
#include "interface.h"
#include "metrics.h"
#include "status.h"

static const struct view *get_view(const struct bus *b)
{
	return b->ops->view(b->userdata);
}

enum devices { ONE, ONE_OR_ALL };

/* Reads a device's name and finds it. "" is all devices, NULL in *ret, where that may be. */
static int read_device(const struct bus *b, sd_bus_message *m, enum devices which,
		       const struct device **ret, sd_bus_error *error)
{
	const char *what;
	int r = sd_bus_message_read(m, "s", &what);

	*ret = NULL;
	if (r < 0 || (!*what && which == ONE_OR_ALL))
		return r;
	if (!*what)
		return sd_bus_error_set(error, FSTUNED_ERROR_NO_DEVICE, "No device named");
	*ret = b->ops->find(what, b->userdata);
	if (!*ret)
		return sd_bus_error_setf(error, FSTUNED_ERROR_NO_DEVICE,
					 "No such device: \"%s\"", what);
	return r;
}

static const char *name_of(const struct device *d)
{
	return d ? d->name : "";
}

/* Sends a document, or why there is none. */
static int reply_text(struct peer *peer, sd_bus_message *m, int r, const char *text,
		      sd_bus_error *error)
{
	if (r == -ENODEV)
		return sd_bus_error_set(error, FSTUNED_ERROR_NO_DEVICE, "The device is gone");
	if (r == -ENOENT)
		return sd_bus_error_set(error, FSTUNED_ERROR_NO_KNOB, "No such knob");
	if (r < 0)
		return sd_bus_error_setf(error, FSTUNED_ERROR_FAILED, "Cannot tell: %s",
					 strerror(-r));
	peer->unread_bytes += strlen(text);
	return sd_bus_reply_method_return(m, "s", text);
}

/* --- reading: for everybody --- */

static int method_describe(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct bus *b = ((struct peer *)userdata)->bus;
	_cleanup_free_ char *text = NULL;
	const struct device *device;
	int r;

	r = read_device(b, m, ONE_OR_ALL, &device, error);
	if (r < 0)
		return r;
	r = status_describe(get_view(b), name_of(device), &text);
	return reply_text(userdata, m, r, text, error);
}

static int method_list(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	const struct bus *b = ((struct peer *)userdata)->bus;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const struct view *v = get_view(b);
	int r;

	r = sd_bus_message_new_method_return(m, &reply);
	if (r < 0)
		return r;
	r = sd_bus_message_open_container(reply, 'a', "s");
	for (size_t i = 0; r >= 0 && i < v->n_devices; i++)
		r = sd_bus_message_append(reply, "s", v->devices[i].device->name);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int method_get(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct bus *b = ((struct peer *)userdata)->bus;
	_cleanup_free_ char *text = NULL;
	const struct device *device;
	const char *knob;
	int r;

	r = read_device(b, m, ONE, &device, error);
	if (r >= 0)
		r = sd_bus_message_read(m, "s", &knob);
	if (r < 0)
		return r;
	r = status_get(get_view(b), device->name, knob, &text);
	return reply_text(userdata, m, r, text, error);
}

static int method_explain(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct bus *b = ((struct peer *)userdata)->bus;
	_cleanup_free_ char *text = NULL;
	const struct device *device;
	int r;

	r = read_device(b, m, ONE, &device, error);
	if (r < 0)
		return r;
	r = status_explain(get_view(b), device->name, &text);
	return reply_text(userdata, m, r, text, error);
}

static int method_history(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct bus *b = ((struct peer *)userdata)->bus;
	_cleanup_free_ char *text = NULL;
	const struct device *device;
	uint64_t since;
	int r;

	r = read_device(b, m, ONE_OR_ALL, &device, error);
	if (r >= 0)
		r = sd_bus_message_read(m, "t", &since);
	if (r < 0)
		return r;
	r = status_history(get_view(b), name_of(device), since, &text);
	return reply_text(userdata, m, r, text, error);
}

static int method_config(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct bus *b = ((struct peer *)userdata)->bus;
	_cleanup_free_ char *text = NULL;
	int r = b->ops->config(&text, b->userdata);

	/* Files may hold any bytes, a D-Bus string may not. */
	for (char *p = text; r >= 0 && *p;) {
		size_t len = utf8_len(p);

		if (len == 0)
			*p = '?';
		p += len ? len : 1;
	}
	return reply_text(userdata, m, r, text, error);
}

static int method_metrics(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct bus *b = ((struct peer *)userdata)->bus;
	_cleanup_free_ char *text = NULL;
	int openmetrics, r;

	r = sd_bus_message_read(m, "b", &openmetrics);
	if (r < 0)
		return r;
	r = metrics_render(get_view(b), openmetrics, &text);
	return reply_text(userdata, m, r, text, error);
}

static int method_doctor(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct bus *b = ((struct peer *)userdata)->bus;
	_cleanup_free_ char *text = NULL;
	int r = status_doctor(get_view(b), &text);

	return reply_text(userdata, m, r, text, error);
}

static int method_verify(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct bus *b = ((struct peer *)userdata)->bus;
	_cleanup_free_ char *text = NULL;
	int r = status_verify(get_view(b), &text);

	return reply_text(userdata, m, r, text, error);
}

/* --- changing: for root --- */

/* 0 done, 1 an answer follows, -errno. */
typedef int (*change_fn)(struct bus *b, sd_bus_message *m, uid_t uid, sd_bus_error *error);

/* A change from the system bus that waits for the broker to say who asks. */
struct question {
	struct bus *bus;
	sd_bus_message *message;
	change_fn change;
};

static void question_free(void *p)
{
	struct question *q = p;

	sd_bus_message_unref(q->message);
	free(q);
}

static int carry_out(struct peer *peer, sd_bus_message *m, uid_t uid, change_fn change)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = change(peer->bus, m, uid, &error);

	if (r > 0) {
		peer->waits += !peer->broker;
		return 1;
	}
	if (r == 0)
		return sd_bus_reply_method_return(m, NULL);
	if (sd_bus_error_is_set(&error))
		return sd_bus_reply_method_error(m, &error);
	return sd_bus_reply_method_errorf(m, FSTUNED_ERROR_FAILED, "%s", strerror(-r));
}

static int on_sender(sd_bus_message *answer, void *userdata, _unused_ sd_bus_error *error)
{
	struct question *q = userdata;
	uint32_t uid = (uint32_t)-1;

	if (!sd_bus_message_is_method_error(answer, NULL))
		(void)sd_bus_message_read(answer, "u", &uid);
	if (uid != 0) {
		sd_bus_reply_method_errorf(q->message, SD_BUS_ERROR_ACCESS_DENIED,
					   "Only root may change this");
		return 1;
	}
	carry_out(&q->bus->system_peer, q->message, uid, q->change);
	return 1;
}

/*
 * sd-bus's own check of callers asks the broker and waits for the answer, up to 25 s when the
 * broker hangs in the very stall that is watched. So methods that change are open as far as
 * sd-bus is concerned, and this asks without waiting. The bus's policy file refuses them too.
 */
static int ask_who(struct bus *b, sd_bus_message *m, change_fn change)
{
	struct question *q = malloc(sizeof(*q));
	sd_bus_slot *slot = NULL;
	int r;

	if (!q)
		return -ENOMEM;
	*q = (struct question){ b, sd_bus_message_ref(m), change };
	r = sd_bus_call_method_async(b->system, &slot, "org.freedesktop.DBus",
				     "/org/freedesktop/DBus", "org.freedesktop.DBus",
				     "GetConnectionUnixUser", on_sender, q, "s",
				     sd_bus_message_get_sender(m));
	if (r < 0) {
		question_free(q);
		return r;
	}
	sd_bus_slot_set_destroy_callback(slot, question_free);
	sd_bus_slot_set_floating(slot, true);
	sd_bus_slot_unref(slot);
	return 1;
}

static int change_for(sd_bus_message *m, struct peer *peer, change_fn change)
{
	if (peer->broker)
		return ask_who(peer->bus, m, change);
	return carry_out(peer, m, peer->uid, change);
}

static int do_set(struct bus *b, sd_bus_message *m, uid_t uid, sd_bus_error *error)
{
	const char *knob, *value;
	const struct device *device;
	int r;

	r = read_device(b, m, ONE, &device, error);
	if (r >= 0)
		r = sd_bus_message_read(m, "ss", &knob, &value);
	if (r < 0)
		return r;
	return b->ops->set(device, knob, value, uid, m, error, b->userdata);
}

static int do_auto(struct bus *b, sd_bus_message *m, uid_t uid, sd_bus_error *error)
{
	const struct device *device;
	const char *knob;
	int r;

	r = read_device(b, m, ONE_OR_ALL, &device, error);
	if (r >= 0)
		r = sd_bus_message_read(m, "s", &knob);
	if (r < 0)
		return r;
	return b->ops->automatic(device, knob, uid, error, b->userdata);
}

static int do_revert(struct bus *b, sd_bus_message *m, uid_t uid, sd_bus_error *error)
{
	const struct device *device;
	int r;

	r = read_device(b, m, ONE_OR_ALL, &device, error);
	if (r < 0)
		return r;
	return b->ops->revert(device, uid, m, error, b->userdata);
}

static int do_pause(struct bus *b, sd_bus_message *m, uid_t uid, _unused_ sd_bus_error *error)
{
	uint64_t usec;
	int r;

	r = sd_bus_message_read(m, "t", &usec);
	if (r < 0)
		return r;
	return b->ops->pause(usec ? usec : USEC_INFINITY, uid, b->userdata);
}

static int do_resume(struct bus *b, _unused_ sd_bus_message *m, uid_t uid,
		     _unused_ sd_bus_error *error)
{
	return b->ops->pause(0, uid, b->userdata);
}

static int do_reload(struct bus *b, _unused_ sd_bus_message *m, _unused_ uid_t uid,
		     sd_bus_error *error)
{
	return b->ops->reload(error, b->userdata);
}

#define CHANGE(name)                                                \
	static int method_##name(sd_bus_message *m, void *userdata, \
				 _unused_ sd_bus_error *error)      \
	{                                                           \
		return change_for(m, userdata, do_##name);          \
	}

CHANGE(set)
CHANGE(auto)
CHANGE(revert)
CHANGE(pause)
CHANGE(resume)
CHANGE(reload)

#define METHOD(name, in, out, handler) \
	SD_BUS_METHOD(name, in, out, handler, SD_BUS_VTABLE_UNPRIVILEGED)

const sd_bus_vtable bus_vtable[] = {
	SD_BUS_VTABLE_START(0),
	METHOD("Describe", "s", "s", method_describe),
	METHOD("ListDevices", "", "as", method_list),
	METHOD("Get", "ss", "s", method_get),
	METHOD("Explain", "s", "s", method_explain),
	METHOD("History", "st", "s", method_history),
	METHOD("Config", "", "s", method_config),
	METHOD("Metrics", "b", "s", method_metrics),
	METHOD("Doctor", "", "s", method_doctor),
	METHOD("Verify", "", "s", method_verify),
	METHOD("Set", "sss", "", method_set),
	METHOD("Auto", "ss", "", method_auto),
	METHOD("Revert", "s", "", method_revert),
	METHOD("Pause", "t", "", method_pause),
	METHOD("Resume", "", "", method_resume),
	METHOD("Reload", "", "", method_reload),
	SD_BUS_VTABLE_END,
};
