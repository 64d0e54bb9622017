/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UUID, label, sizes and features. udev's database answers at once; what only the
 * device knows is read by threads, since a device may take for ever to answer.
 */
#ifndef FSTUNED_OBSERVE_IDENTIFY_H
#define FSTUNED_OBSERVE_IDENTIFY_H

#include "device.h"

struct identity {
	struct device_id id;    /* whom it was asked for */
	char uuid[40];          /* "" unknown */
	char label[64];         /* raw; "" none or unknown */
	uint32_t block_size;    /* bytes; 0 unknown */
	uint64_t journal_bytes; /* of an internal journal; 0 unknown */
	unsigned n_devices;     /* of an f2fs; 0 unknown */
	enum feature fast_commit;
};

/* UUID and label from /run/udev/data. -ENOENT: not known there. */
int identity_from_udev(dev_t dev, struct identity *ret);

struct identifier;

int identifier_new(struct identifier **ret);

/* Waits for nobody: a thread that hangs in its device keeps what it needs. */
void identifier_free(struct identifier *i);
DEFINE_CLEANUP(struct identifier *, identifier_free)

/* Readable (EPOLLIN) when identifier_next() has something. */
int identifier_fd(const struct identifier *i);

/* Asks the device itself; `name` is its kernel name. -errno; the answer may never come. */
int identifier_ask(struct identifier *i, const struct device_id *id, const char *name);

/* True and the next answer in *ret, or false. Starts what waited for a free thread. */
bool identifier_next(struct identifier *i, struct identity *ret);

#endif
