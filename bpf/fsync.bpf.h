/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An fsync, shared by the ways to get at it. The device is taken at the end: the tracepoint
 * at the begin goes by the file's path, and for a file of an overlay, up to 6.8, that is the
 * overlay's own, which would hide all fsyncs of containers. So there is room for something
 * else where other waits have their device: which of the measures after its own it is of.
 */
#ifndef FSYNC_BPF_H
#define FSYNC_BPF_H

#include "start.bpf.h"

/* `m` is that of the file system. */
static __always_inline void fsync_begin(enum fst_measure m)
{
	wait_begin(m, 0);
}

static __always_inline void fsync_end(enum fst_measure m, __u32 dev)
{
	__u32 none;
	__u64 start = wait_take(m, 0, &none);

	wait_record(dev, m, start);
}

/*
 * As one of up to three measures after its own. The mask is for the verifier: it forgets what
 * was compared with a number that the compiler had put onto the stack before.
 */
static __always_inline void fsync_end_as(enum fst_measure m, __u32 dev)
{
	__u32 as = 0;
	__u64 start = wait_take(m, 0, &as);

	wait_record(dev, m + (as & 3), start);
}

#endif
