/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this kernel allows, found out once, by trying and from BTF, never from its version.
 * Everything else reads the answers; nothing else asks.
 */
#ifndef FSTUNED_OBSERVE_KERNEL_H
#define FSTUNED_OBSERVE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include "modules.h"

/* Ways to get at an event, best first. */
enum way {
	WAY_NONE,
	WAY_TP_BTF,     /* BTF-typed raw tracepoint */
	WAY_FENTRY,     /* fentry and fexit */
	WAY_KPROBE,     /* kprobe pair */
	WAY_TRACEPOINT, /* classic tracepoint, offsets from its format file */
	WAY_MAX,
};

const char *
way_to_string(enum way way); /* "tp_btf", "fentry", "kprobe", "tracepoint", "none" */

struct kernel_way {
	bool usable;
	char why[160]; /* empty if usable, else one line: what was tried, what it answered */
};

struct kernel_caps {
	struct kernel_way way[WAY_MAX]; /* WAY_NONE unused */
	bool btf;                       /* BTF of vmlinux is readable */
	bool module_btf; /* split BTF of modules is there (or nothing is a module) */
	char btf_why[160];
	bool read_memory;  /* programs may read the kernel's memory: not under lockdown */
	char lockdown[32]; /* "none", "integrity", "confidentiality", "unknown" */
	char release[65];  /* uname -r, for people only */
	struct patched_modules modules; /* as they were at start */
};

/* Loads and attaches tiny programs and lets them go again. 0, or -errno if nothing at all
 * works. */
int kernel_caps_probe(struct kernel_caps *ret);

/* A name to look for in BTF: a function, or else a type (a tracepoint T is btf_trace_T). */
struct btf_name {
	const char *name;
	bool func;
	const char *member; /* a struct, to be found only if it has this member; NULL */
	unsigned arg;       /* of a tracepoint, from 1: is it a number? 0: not asked */
	bool found;
	bool number; /* the answer; false for a pointer */
};

/*
 * Looks all of them up in the BTF of the kernel and of the modules that are loaded now: one
 * pass, since reading BTF costs milliseconds and megabytes. Finds nothing without BTF.
 */
void kernel_find_btf(const struct kernel_caps *caps, struct btf_name *names, size_t n);

/* True if kernel or a loaded module has BTF of a function of this name. */
bool kernel_has_btf_func(const struct kernel_caps *caps, const char *func);

#endif
