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
	unsigned types;    /* bit per enum device_type: file systems that can have it */
	bool any_at_mount; /* a mount option: what is found is no foreign write */
	bool reconfigures; /* a change reconfigures the file system */
	/*
	 * Is it there for this device? 0, or -errno with one line in why: -ENODEV (no journal),
	 * -ENOENT (kernel has none), -EOPNOTSUPP (the file system lacks what it needs), -EINVAL
	 * (a name that is none), -EROFS, -EACCES. On 0, path is where it is. 1: so too, but it
	 * may only be read, and why says why.
	 */
	int (*probe)(const struct device *d, const char *sysroot, char *path, size_t path_size,
		     char *why, size_t why_size);
	/* 0, or -errno (-EBADMSG: not a value this knob knows). */
	int (*read)(const char *path, char value[static KNOB_VALUE_MAX]);
	int (*write)(const char *path, const char *value);
	/* As write, with one line in why on failure. One of the two is NULL. */
	int (*change)(const char *path, const char *value, char *why, size_t why_size);
	/* -EINVAL unless a value of this knob; canonical form into ret. */
	int (*parse)(const char *s, char ret[static KNOB_VALUE_MAX]);
	const char *cost;    /* what turning it on costs, one sentence */
	const char *missing; /* how to get it where it is not offered, a clause */
};

extern const struct knob_ops knob_force_copy;
extern const struct knob_ops knob_fast_commit;
extern const struct knob_ops knob_checkpoint_merge;
extern const struct knob_ops knob_ckpt_thread_ioprio;

/* Never NULL for a valid id. */
const struct knob_ops *knob_ops(enum knob_id id);

/* Can this file system have the knob at all? */
bool knob_concerns(enum knob_id id, const struct device *d);

/* Writes, whichever way the knob has. `why` gets one line on failure, or stays empty. */
int knob_write(const struct knob_ops *ops, const char *path, const char *value, char *why,
	       size_t why_size);

/* -ENOENT for a name that is none. */
int knob_from_string(const char *name, enum knob_id *ret);

#endif
