// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "knob.h"

static const struct knob_ops *const knobs[KNOB_MAX] = {
	[KNOB_FORCE_COPY] = &knob_force_copy,
	[KNOB_FAST_COMMIT] = &knob_fast_commit,
};

const struct knob_ops *knob_ops(enum knob_id id)
{
	return knobs[id];
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
