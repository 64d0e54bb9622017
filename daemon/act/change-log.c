// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "../base/log.h"
#include "change-log.h"
#include "knob.h"
#include "message-id.h"

static const char *message_id(const struct decision *d, int r)
{
	static const char *const ids[REASON_MAX] = {
		[REASON_NONE] = MESSAGE_ID_ON,
		[REASON_STALL] = MESSAGE_ID_ON,
		[REASON_LONG_WAIT] = MESSAGE_ID_ON,
		[REASON_TRIAL] = MESSAGE_ID_TRIAL,
		[REASON_TRIAL_FAILED] = MESSAGE_ID_TRIAL_FAILED,
		[REASON_TRIAL_KEPT] = MESSAGE_ID_TRIAL_KEPT,
		[REASON_TRIAL_VOID] = MESSAGE_ID_TRIAL_VOID,
		[REASON_MEMORY] = MESSAGE_ID_MEMORY,
		[REASON_FROZEN] = MESSAGE_ID_FROZEN,
		[REASON_CONFIGURED] = MESSAGE_ID_CONFIGURED,
		[REASON_ADMINISTRATOR] = MESSAGE_ID_ADMINISTRATOR,
		[REASON_FOREIGN] = MESSAGE_ID_FOREIGN,
		[REASON_ADOPTED] = MESSAGE_ID_ADOPTED,
		[REASON_RESTORED] = MESSAGE_ID_RESTORED,
	};

	if (r < 0)
		return MESSAGE_ID_FAILED;
	return d->advice ? MESSAGE_ID_ADVICE : ids[d->reason];
}

#define FIELD_MAX (DECISION_WHY_MAX + 8)

struct fields {
	char id[64], device[96], knob[64], from[64], to[64], reason[64], why[FIELD_MAX];
	char error[32];
	const char *list[9];
};

static void fields_fill(struct fields *f, const char *id, const char *device,
			const struct decision *d, int r)
{
	size_t n = 0;

	snprintf(f->id, sizeof(f->id), "MESSAGE_ID=%s", id);
	snprintf(f->device, sizeof(f->device), "DEVICE=%s", device);
	snprintf(f->knob, sizeof(f->knob), "KNOB=%s", knob_ops(d->knob)->name);
	snprintf(f->from, sizeof(f->from), "FROM=%s", d->from);
	snprintf(f->to, sizeof(f->to), "TO=%s", d->to);
	snprintf(f->reason, sizeof(f->reason), "REASON=%s", reason_to_string(d->reason));
	snprintf(f->why, sizeof(f->why), "WHY=%s", d->why);
	f->list[n++] = f->id;
	f->list[n++] = f->device;
	f->list[n++] = f->knob;
	f->list[n++] = f->from;
	f->list[n++] = f->to;
	f->list[n++] = f->reason;
	f->list[n++] = f->why;
	if (r < 0) {
		snprintf(f->error, sizeof(f->error), "ERRNO=%d", -r);
		f->list[n++] = f->error;
	}
	f->list[n] = NULL;
}

void change_log(const char *device, const struct decision *d, int r)
{
	const char *name = knob_ops(d->knob)->name, *reason = reason_to_string(d->reason);
	struct fields f;

	fields_fill(&f, message_id(d, r), device, d, r);
	if (r < 0)
		log_full(LOG_WARNING, r, f.list, "%s: %s not set from %s to %s: %m (%s: %s)",
			 device, name, d->from, d->to, reason, d->why);
	else if (strcmp(d->from, d->to) == 0)
		log_full(LOG_NOTICE, 0, f.list, "%s: %s stays %s (%s): %s", device, name, d->to,
			 reason, d->why);
	else
		log_full(LOG_NOTICE, 0, f.list, "%s: %s %s -> %s%s (%s): %s", device, name,
			 d->from, d->to, d->advice ? " advised" : "", reason, d->why);
}

void change_log_stuck(const char *device, const struct decision *d, uint64_t us)
{
	char lasting[TIME_STR_MAX];
	struct fields f;

	fields_fill(&f, MESSAGE_ID_STUCK, device, d, 0);
	log_full(LOG_WARNING, 0, f.list, "%s: %s: writing %s has not returned for %s", device,
		 knob_ops(d->knob)->name, d->to, format_time_us(lasting, sizeof(lasting), us));
}
