// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "knob.h"

static const struct knob_ops *const knobs[KNOB_MAX] = {
	[KNOB_FORCE_COPY] = &knob_force_copy,
	[KNOB_FAST_COMMIT] = &knob_fast_commit,
	[KNOB_CHECKPOINT_MERGE] = &knob_checkpoint_merge,
	[KNOB_CKPT_THREAD_IOPRIO] = &knob_ckpt_thread_ioprio,
};

const struct knob_ops *knob_ops(enum knob_id id)
{
	return knobs[id];
}

bool knob_concerns(enum knob_id id, const struct device *d)
{
	return knobs[id]->types & 1u << d->type;
}

int knob_write(const struct knob_ops *ops, const char *path, const char *value, char *why,
	       size_t why_size)
{
	*why = '\0';
	return ops->change ? ops->change(path, value, why, why_size) : ops->write(path, value);
}

int knob_from_string(const char *name, enum knob_id *ret)
{
	for (size_t i = 0; i < KNOB_MAX; i++)
		if (strcmp(knobs[i]->name, name) == 0) {
			*ret = (enum knob_id)i;
			return 0;
		}
	return -ENOENT;
}
