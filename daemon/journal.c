// SPDX-License-Identifier: GPL-2.0-or-later
/* What was decided, kept for `fstunectl history`. */
#include <string.h>
#include "act/change-log.h"
#include "manager-internal.h"

/* Where the next entry goes; makes room by growing, then by going round. NULL: no memory. */
static struct history_entry *history_slot(struct history *h, size_t max)
{
	/* Only while in order from the array's start: else growing would tear it apart. */
	if (h->n == h->allocated && h->allocated < max && h->first == 0) {
		size_t want = h->allocated ? h->allocated * 2 : 16;
		struct history_entry *bigger;

		if (want > max)
			want = max;
		bigger = reallocarray(h->entries, want, sizeof(*bigger));
		if (bigger) {
			h->entries = bigger;
			h->allocated = want;
		}
	}
	if (h->allocated == 0)
		return NULL;
	if (h->n < h->allocated)
		return &h->entries[(h->first + h->n++) % h->allocated];

	struct history_entry *oldest = &h->entries[h->first];

	h->first = (h->first + 1) % h->allocated;
	return oldest;
}

void manager_record(struct manager *m, const char *device, const struct decision *d, int result,
		    int64_t uid)
{
	struct history_entry *e = history_slot(&m->history, m->config.history_size);
	unsigned kind = d->advice ? 0 : result == 0 ? 1 : 2;

	m->decisions[d->knob][kind]++;
	if (!e)
		return;
	*e = (struct history_entry){
		.time_us = now_realtime_us(),
		.decision = *d,
		.result = result,
		.uid = uid,
	};
	snprintf(e->device, sizeof(e->device), "%s", device);
}

void manager_note(struct manager *m, const char *device, const struct decision *d, int result,
		  int64_t uid)
{
	change_log(device, d, result);
	manager_record(m, device, d, result, uid);
}
