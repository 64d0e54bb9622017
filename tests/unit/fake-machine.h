/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block devices and ext4 file systems of a fake root. */
#ifndef TEST_FAKE_MACHINE_H
#define TEST_FAKE_MACHINE_H

#include "fake-root.h"

static inline void add_block(const struct fake_root *f, const char *name, unsigned maj,
			     unsigned min, unsigned seq)
{
	char dev[32], diskseq[32];

	snprintf(dev, sizeof(dev), "%u:%u\n", maj, min);
	snprintf(diskseq, sizeof(diskseq), "%u\n", seq);
	fake_filef(f, dev, "/sys/class/block/%s/dev", name);
	fake_filef(f, diskseq, "/sys/class/block/%s/diskseq", name);
}

static inline void add_journal(const struct fake_root *f, const char *journal)
{
	fake_filef(f, "0 transactions\n", "/proc/fs/jbd2/%s/info", journal);
}

/* An ext4 whose journal's thread has the pid and the name given. */
static inline void add_ext4(const struct fake_root *f, const char *name, const char *task,
			    const char *comm)
{
	char text[128];

	snprintf(text, sizeof(text), "%s\n", task);
	fake_filef(f, text, "/sys/fs/ext4/%s/journal_task", name);
	if (comm) {
		snprintf(text, sizeof(text), "%s\n", comm);
		fake_filef(f, text, "/proc/%s/comm", task);
	}
}

static inline void add_f2fs(const struct fake_root *f, const char *name)
{
	fake_filef(f, "0\n", "/sys/fs/f2fs/%s/dirty_segments", name);
}

static inline int machine_setup(void **state)
{
	struct fake_root *f;

	fake_setup(state);
	f = *state;
	fake_file(f, "/sys/fs/ext4/features/lazy_itable_init", "supported\n");
	fake_file(f, "/proc/1/mountinfo", "");
	return 0;
}

/* One ordinary device: sda5, journal inside, mounted once. */
static inline void add_sda5(const struct fake_root *f)
{
	add_block(f, "sda5", 8, 5, 3);
	add_journal(f, "sda5-8");
	add_ext4(f, "sda5", "200", "jbd2/sda5-8");
	fake_file(f, "/proc/1/mountinfo", "30 1 8:5 / /data rw - ext4 /dev/sda5 rw,noquota\n");
}

#endif
