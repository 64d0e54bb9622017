/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One wait that has begun: plain arithmetic, for programs and tests alike. Two tasks may write
 * one entry at once, and an end may be lost, or be another's: the seal tells a whole entry of
 * one writer, for the same object, from anything else, without a lock or a compare and swap
 * (which BPF has since 5.12).
 */
#ifndef START_ENTRY_H
#define START_ENTRY_H

#include <linux/types.h>

struct start {
	__u64 ns; /* 0: free */
	__u32 dev;
	__u32 tag;  /* which task waits for what */
	__u64 seal; /* of the above and the object: see start_seal() */
};

/* `object` is an address that tells waits of one kind apart; 0 where an end cannot be
 * another's. */
static inline __attribute__((always_inline)) __u64 start_seal(const struct start *s,
							      __u64 object)
{
	return s->ns ^ ((__u64)s->tag << 32 | s->dev) ^ object;
}

/* True if the entry is what the task, measure and object began. */
static inline __attribute__((always_inline)) int start_is(const struct start *s, __u32 tag,
							  __u64 object)
{
	return s->ns && s->tag == tag && s->seal == start_seal(s, object);
}

#endif
