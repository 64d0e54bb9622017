/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One vtable per knob, and the table of all knobs. */
#ifndef FSTUNED_ACT_KNOB_H
#define FSTUNED_ACT_KNOB_H

#include "../decide/policy.h"
#include "../observe/device.h"

struct knob_ops {
	const char *name; /* "force_copy" */
	const char *unit; /* what a value is: "0|1" */
	const char
		*initial;  /* where it is offered: value after a mount, before anybody wrote */
	const char *place; /* below sysroot: where files of this knob are, none elsewhere */
	/*
	 * Is it there for this device? 0, or -errno with one line in why: -ENODEV (no journal),
	 * -ENOENT (kernel has none), -EOPNOTSUPP (the file system lacks what it needs), -EINVAL
	 * (a name that is none), -EROFS, -EACCES. On 0, path is where it is.
	 */
	int (*probe)(const struct device *d, const char *sysroot, char *path, size_t path_size,
		     char *why, size_t why_size);
	/* 0, or -errno (-EBADMSG: not a value this knob knows). */
	int (*read)(const char *path, char value[static KNOB_VALUE_MAX]);
	int (*write)(const char *path, const char *value);
	/* -EINVAL unless a value of this knob; canonical form into ret. */
	int (*parse)(const char *s, char ret[static KNOB_VALUE_MAX]);
	const char *cost;    /* what turning it on costs, one sentence */
	const char *missing; /* how to get it where it is not offered, a clause */
};

extern const struct knob_ops knob_force_copy;
extern const struct knob_ops knob_fast_commit;

/* Never NULL for a valid id. */
const struct knob_ops *knob_ops(enum knob_id id);

/* -ENOENT for a name that is none. */
int knob_from_string(const char *name, enum knob_id *ret);

#endif
