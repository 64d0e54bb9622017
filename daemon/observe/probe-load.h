/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Getting one file system's programs into the kernel: a way is chosen for each hook, objects
 * are loaded and attached; a hook that the kernel refuses falls to its next way.
 */
#ifndef FSTUNED_OBSERVE_PROBE_LOAD_H
#define FSTUNED_OBSERVE_PROBE_LOAD_H

#include <bpf/libbpf.h>
#include "probe-table.h"

/* A hook as it stands. Zero-initialise. */
struct hook_state {
	enum way way; /* WAY_NONE: nothing of it is attached */
	struct bpf_link *links[2];
	char why[160];    /* why not a better way, or none */
	bool found;       /* the kernel has BTF of it */
	bool absent;      /* a tracepoint that this kernel has not */
	bool number;      /* and passes a number as the hook's text_arg */
	bool hidden;      /* and has the member with which it is of no use */
	unsigned refused; /* WAY_BIT()s that were tried in vain */
	char refused_why[WAY_MAX][112];
};

/* Descriptors of the maps that all objects share. */
struct probe_maps {
	int stats, shared, events;
};

/*
 * Chooses for each hook of `fs` the first way that nothing is known against. What begins and
 * what ends a wait go the same way: start times lie in the object that both are in. What
 * serves instead of a hook goes no way where that one does.
 */
void hooks_choose(struct hook_state states[static HOOK_MAX], enum fs_kind fs,
		  const struct kernel_caps *caps);

/*
 * Attaches all hooks of `fs`. 0, or -errno if none could be: then every why says why. The
 * caller detaches.
 */
int hooks_attach(struct hook_state states[static HOOK_MAX], enum fs_kind fs,
		 const struct kernel_caps *caps, const struct probe_maps *maps);

/* Detaches the hooks of `fs` and forgets what was refused. */
void hooks_detach(struct hook_state states[static HOOK_MAX], enum fs_kind fs);

#endif
