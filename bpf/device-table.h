/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a device to its slot: plain arithmetic, for programs and user space alike. A device
 * stands at one of a few places in a row; all of them are looked at, so that one that goes
 * leaves nothing behind but a free place.
 */
#ifndef DEVICE_TABLE_H
#define DEVICE_TABLE_H

#include "fstuned.h"

/*
 * With every slot taken a quarter of the table is, and a device finds all of its places
 * taken in one case of 60,000; minors in a row, as devices are numbered, are spread evenly.
 */
#define FST_DEVICE_PLACES 8
#define FST_NO_SLOT (~0U)

/* The i-th place of a device. 2654435769 is 2^32 over the golden ratio. */
static inline __attribute__((always_inline)) __u32 fst_device_place(__u32 dev, __u32 i)
{
	return ((dev * 2654435769U >> 20) + i) % FST_DEVICE_TABLE;
}

/* Slot of a device, FST_NO_SLOT if it is not tracked. */
static inline __attribute__((always_inline)) __u32 fst_device_slot(const struct fst_shared *sh,
								   __u32 dev)
{
	__u64 entry;

	if (!dev) /* no block device is 0:0, and a free place looks like it */
		return FST_NO_SLOT;
		/* The first place mostly is it: unrolled, the rest is code in the way. */
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (__u32 i = 0; i < FST_DEVICE_PLACES; i++) {
		entry = *(const volatile __u64 *)&sh->device[fst_device_place(dev, i)];
		if ((__u32)entry == dev)
			return entry >> 32;
	}
	return FST_NO_SLOT;
}

#endif
