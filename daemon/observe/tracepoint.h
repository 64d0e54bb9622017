/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classic tracepoints: tracefs, the format files in it, and perf events on them. Nothing is
 * mounted here: where tracefs is not, these tracepoints are not to be had.
 */
#ifndef FSTUNED_OBSERVE_TRACEPOINT_H
#define FSTUNED_OBSERVE_TRACEPOINT_H

#include <stdint.h>
#include <sys/types.h>
#include "../base/cleanup.h"

/* Directory with "events" in it, NULL if neither tracefs nor debugfs is mounted. */
const char *tracefs_path(void);

/*
 * A tracepoint's number and the text of its format file (the caller frees). -ENOENT: no
 * such tracepoint, or its module is not loaded; -ENODEV: no tracefs.
 */
int tracepoint_format(const char *system, const char *name, uint32_t *ret_id,
		      char **ret_format);

/*
 * Where in a record the low 32 bits of a field lie, in bytes; of one of 16 bits, where 32 lie
 * of which it is the low half. -ENOENT: no such field; -ERANGE: it is narrower than that.
 */
int tracepoint_field(const char *format, const char *field, uint16_t *ret_offset);

/* Opens a perf event on every task and CPU, disabled, for a program to be attached to. */
int tracepoint_open(uint32_t id);

/* The same on a function: a kprobe or kretprobe. -ENODEV: this kernel has none. */
int kprobe_open(const char *func, bool ret);

#endif
