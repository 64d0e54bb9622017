/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hooks of the BPF objects and what each measure needs of them: tables alone. A new
 * hook is a row here and a program in bpf/.
 */
#ifndef FSTUNED_OBSERVE_PROBE_TABLE_H
#define FSTUNED_OBSERVE_PROBE_TABLE_H

#include "../../bpf/classic.h"
#include "probe.h"

enum hook_id {
	HOOK_COMMIT_START,
	HOOK_COMMIT_FLUSH,
	HOOK_COMMIT_LOG,
	HOOK_COMMIT_RECORD,
	HOOK_COMMIT_STATS,
	HOOK_COMMIT_END,
	HOOK_CHECKPOINT_STATS,
	HOOK_CHECKPOINT,
	HOOK_LOG_SPACE,
	HOOK_LOCKED,
	HOOK_WAIT_COMMIT,
	HOOK_SHADOW,
	HOOK_FSYNC_ENTER,
	HOOK_FSYNC_EXIT,
	HOOK_FC_START,
	HOOK_FC_STOP,
	HOOK_FC_LOCK,
	HOOK_F2FS_CHECKPOINT,
	HOOK_F2FS_ISSUE,
	HOOK_F2FS_SYNC,
	HOOK_F2FS_MERGE,
	HOOK_F2FS_SB_READER,
	HOOK_F2FS_READER,
	HOOK_F2FS_WRITER,
	HOOK_F2FS_FSYNC_ENTER,
	HOOK_F2FS_FSYNC_EXIT,
	HOOK_MAX,
};

#define WAY_BIT(w) (1U << (w))

/*
 * A place in the kernel. Programs are named after it: PROG for a tracepoint, by BTF or
 * classic; PROG_enter and PROG_exit by fentry and fexit; PROG_kenter and PROG_kexit by
 * kprobe and kretprobe.
 */
struct hook {
	const char *target; /* tracepoint or function */
	const char *prog;
	enum fs_kind fs;
	unsigned ways;   /* WAY_BIT()s */
	bool enter_only; /* a function's begin alone */
	bool paired;     /* begins or ends what partner ends or begins, by start times */
	enum hook_id partner;
	bool reads;    /* not to be had where the kernel's memory must not be read */
	bool may_lack; /* a tracepoint; kernels without it do nothing of the kind */
	/*
	 * The tracepoint's argument of this number, from 1, is text to be read, unless BTF says
	 * that this kernel passes a number there. 0: none.
	 */
	unsigned text_arg;
	/* What serves in its place where no way to it is left, and only then. */
	bool has_instead;
	enum hook_id instead;
	/* Kernels whose BTF has this member of this struct do it elsewhere: `hidden_why`. */
	const char *hidden_by_struct, *hidden_by_member, *hidden_why;
};

extern const struct hook hooks[HOOK_MAX];

/* Names of a hook's programs for a way, at most two; returns how many. */
#define PROG_NAME_MAX 32
size_t hook_programs(const struct hook *h, enum way way, char names[static 2][PROG_NAME_MAX]);

/* An object file: the classic tracepoints of a file system, or all its other programs. */
const void *hook_object(enum fs_kind fs, bool classic, size_t *ret_size);

struct measure {
	const char *name;
	enum fs_kind fs;
	enum hook_id needs[3];
	size_t n_needs;
	bool one_way; /* all of them must go the same way: what one finds out another uses */
};

extern const struct measure measures[FST_MEASURE_MAX];

/* Where the classic programs find their fields. */
struct classic_source {
	enum hook_id hook;
	const char *field;
	bool or_next; /* the record has it, or that of the source after this one */
};

extern const struct classic_source classic_sources[CLASSIC_FIELD_MAX];

#endif
