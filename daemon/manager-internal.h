/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The manager's state, shared by its files: manager.c, devices.c, tick.c, commands.c,
 * journal.c. */
#ifndef FSTUNED_MANAGER_INTERNAL_H
#define FSTUNED_MANAGER_INTERNAL_H

#include <systemd/sd-event.h>
#include "base/log.h"
#include "base/time-util.h"
#include "config.h"
#include "manager.h"
#include "publish/bus.h"

#define OUTLIERS_MAX 16 /* kept per device, for `status DEVICE` */
#define VERDICT_TEXT_MAX 160

/* A file system under care. */
struct managed {
	struct device *device; /* the list's; valid until it reports it as removed */
	uint32_t slot;
	bool tracked;
	bool track_failed; /* and it was said */
	struct sampler sampler;
	struct model *model;
	struct policy_state policy;
	struct policy_config config;
	struct knob_state knobs[KNOB_MAX];
	unsigned adopt_again; /* bit per knob: the configuration changed while it was busy */
	struct outlier outliers[OUTLIERS_MAX]; /* ring; the newest is before outlier_next */
	unsigned outlier_next, n_outliers;
	bool active; /* something happened in the last tick */
	enum verdict verdict;
	char verdict_text[VERDICT_TEXT_MAX];
};

/* A client that waits for a change to end. */
struct waiter {
	struct waiter *next;
	sd_bus_message *message;
	struct device_id id;
	enum knob_id knob;
};

/* What was decided, newest last; grows up to config.history_size, then goes round. */
struct history {
	struct history_entry *entries;
	size_t first, n, allocated;
};

struct manager {
	struct manager_options options;
	struct config config;
	sd_event *event;
	sd_event_source *tick_source;
	sd_event_source *refresh_source; /* the device list, after a mount or unmount */
	sd_event_source *mountinfo_source;
	sd_event_source *identify_source;
	sd_event_source *probe_source;
	int lock_fd;
	struct kernel_caps caps;
	struct probe *probe;
	struct device_list list;
	struct actuator *actuator;
	struct bus *bus;
	struct managed **devices; /* sorted by name */
	size_t n_devices;
	struct history history;
	uint64_t decisions[KNOB_MAX][3]; /* advised, applied, refused */
	struct waiter *waiters;
	uint64_t start_us, last_tick_us, last_refresh_us;
	uint64_t mounts_us;    /* last mount or unmount */
	unsigned refresh_step; /* how often the list was read since */
	uint64_t paused_until_us;
	uint64_t ticks;
	bool idle;
	/* the view, rebuilt for each reader */
	struct view view;
	struct device_view *view_devices;
	struct outlier *view_outliers;
};

/* --- manager.c --- */

/* Reads the configuration anew; on -errno the former one holds. */
int manager_reload(struct manager *m);

/* A mount, an unmount, a change of options: the device list is read anew, soon and again later.
 */
int manager_mounts_changed(struct manager *m);

/* Keeps the pause over a restart. */
void manager_store_pause(struct manager *m);

/* --- devices.c --- */

/* Reads the device list anew; new devices are tracked and adopted, gone ones forgotten. */
void manager_refresh(struct manager *m);

/* Applies the configuration to all devices anew (start, reload). */
void manager_configure_devices(struct manager *m);

/* Looks at a knob (all of them) as if for the first time: after a start, a pin, a reload. */
void manager_adopt(struct manager *m, struct managed *d, enum knob_id id);
void manager_adopt_all(struct manager *m, struct managed *d);

/* What somebody else did to a knob since it was last looked at; whether it came or went. */
void manager_check(struct manager *m, struct managed *d, enum knob_id id);

/* Begins a change of the policy's or the configuration's; its end is manager_on_done(). */
void manager_apply(struct manager *m, struct managed *d, const struct decision *what);

struct managed *manager_find(struct manager *m, dev_t dev);
struct managed *manager_find_id(struct manager *m, const struct device_id *id);
void manager_forget_devices(struct manager *m);

/* True if the policy may act on nothing: --mode=observe or Mode=observe. */
bool manager_observe_only(const struct manager *m);

/* --- tick.c --- */

/* One pass over all devices: observe, decide, act. */
void manager_tick(struct manager *m);

/* Puts the next tick where it belongs: busy, idle, or now. */
int manager_schedule(struct manager *m);
int manager_schedule_now(struct manager *m);

/* Ring buffer: an outlier, or the wake-up after idleness. */
void manager_on_event(const struct fst_event *event, void *userdata);

/* --- journal.c --- */

/* Records what was decided and how it ended: history, counters. uid -1: the policy. */
void manager_record(struct manager *m, const char *device, const struct decision *d, int result,
		    int64_t uid);

/* The same, and says it in the log: for what does not end in a write, which says it itself. */
void manager_note(struct manager *m, const char *device, const struct decision *d, int result,
		  int64_t uid);

/* --- commands.c --- */

extern const struct bus_ops manager_bus_ops;

/* A change has ended: answers who waited for it. */
void manager_on_done(const struct device_id *id, const struct decision *d, int r,
		     const char *detail, uid_t uid, void *userdata);
void manager_drop_waiters(struct manager *m);

#endif
