/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * File systems, found in /sys/fs/ext4, /sys/fs/f2fs and /proc/fs/jbd2 (so one that is mounted
 * only in a container is there too), named from /proc/1/mountinfo. One entry per file system
 * however often it is mounted and on however many devices it lies.
 */
#ifndef FSTUNED_OBSERVE_DEVICE_H
#define FSTUNED_OBSERVE_DEVICE_H

#include <stdint.h>
#include <sys/types.h>
#include "../../bpf/fstuned.h"
#include "../base/cleanup.h"

#define DEVICE_NAME_MAX 64

/*
 * Tells one mount's superblock from the next one under the same name. Two identities are
 * the same superblock if and only if all three are equal.
 */
struct device_id {
	dev_t dev;
	uint64_t ino;     /* st_ino of /sys/fs/FS/NAME, new at each mount; 0 unknown */
	uint64_t diskseq; /* of the whole disk; 0 unknown */
};

/* A feature of a file system, as its superblock on the device says. */
enum feature {
	FEATURE_UNKNOWN, /* the device has not been read, or cannot be */
	FEATURE_NO,
	FEATURE_YES,
};

bool device_id_equal(const struct device_id *a, const struct device_id *b);

/*
 * What a kernel name ("sda5") denotes now, from /sys/class/block and /sys/fs alone, so that it
 * works without a device list. -ENODEV: no such block device; -EINVAL: not a kernel name.
 */
int device_id_read(const char *name, struct device_id *ret);

/* Whose file system it is: which probes measure it and which knobs it may have. */
enum device_type {
	DEVICE_EXT4, /* also when mounted as ext3 or ext2 */
	DEVICE_F2FS,
	DEVICE_JBD2, /* any other with a journal of jbd2: ocfs2 */
};

struct device {
	struct device_id id;
	enum device_type type;
	char name[DEVICE_NAME_MAX]; /* kernel name, as in /sys/class/block: "sda5", "dm-0" */
	char fstype[16];            /* as mounted: "ext4", "ext3", "f2fs", "ocfs2" */
	char journal[FST_JOURNAL_NAME_LEN]; /* directory in /proc/fs/jbd2: "sda5-8"; "" none */
	bool has_journal; /* also true where its name is not known: see device_set_journal() */
	/* The superblock is read-only. Of an f2fs that no mountinfo shows nothing tells: false.
	 */
	bool read_only;
	/*
	 * Devices that an f2fs lies on; 0 unknown. With several, this entry is that of the
	 * first, by which the file system goes; nothing is known here of the others.
	 */
	unsigned n_devices;
	uint32_t block_size;      /* bytes; 0 unknown */
	uint64_t journal_bytes;   /* 0 unknown */
	enum feature fast_commit; /* of ext4; it cannot change while mounted */
	/*
	 * Its fast commits may lose files that were fsynced, as those of all kernels do that do
	 * not have the project's patches.
	 */
	bool fast_commits_lose;
	char uuid[40];       /* "" unknown */
	char label[64];      /* raw; "" none */
	char *mountpoint;    /* shortest of those PID 1 sees, unescaped; NULL none */
	char *mount_options; /* superblock options of mountinfo; NULL unknown */
	unsigned n_mounts;   /* that PID 1 sees */
	dev_t journal_dev;   /* the journal's own device; = id.dev if internal or unknown */
};

struct device_list {
	struct device **devices; /* sorted by name */
	size_t n;
	const char *sysroot; /* "" or the prefix of /proc and /sys for knob files; borrowed */
	int mountinfo_fd;    /* poll with EPOLLPRI; -1 if it cannot be had */
	struct identifier *identifier; /* opaque: UUID and label off the loop */
};

/* What changed; `device` in `removed` is valid only during the call. userdata is the caller's.
 */
struct device_events {
	void (*added)(struct device *device, void *userdata);
	void (*changed)(struct device *device,
			void *userdata); /* names, flags, UUID, journal */
	void (*removed)(struct device *device, void *userdata);
};

int device_list_init(struct device_list *l, const char *sysroot);
void device_list_done(struct device_list *l);

/*
 * Reads everything anew and reports the differences. A superblock that was replaced under
 * the same name is removed, then added. Pointers to entries stay valid until `removed`.
 */
int device_list_refresh(struct device_list *l, const struct device_events *events,
			void *userdata);

/*
 * Journal name as the kernel itself gives it (fst_dev_stats.journal), better than what /proc
 * tells in another PID namespace. Returns true if that was news; no event follows.
 */
bool device_set_journal(struct device *d, const char *journal);

/*
 * The value of a mount option NAME=VALUE, not terminated, the device's; NULL if it has none or
 * the options are unknown.
 */
const char *device_mount_option(const struct device *d, const char *name, size_t *ret_len);

/*
 * Is there /sys/fs/ext4/DEVICE/fast_commit? The series of patches that brings it begins with
 * what makes fast commits safe, so it tells both. `sysroot` as in device_list.
 */
bool device_has_fast_commit_switch(const struct device *d, const char *sysroot);

/*
 * Descriptor that becomes readable (EPOLLIN) when a UUID or label that had to be read from
 * the device itself is known; then call device_list_refresh(). -1: none needed.
 */
int device_list_identify_fd(const struct device_list *l);

/*
 * By kernel name, "M:N", "UUID=...", "LABEL=..." or journal name; NULL if unknown. Paths are
 * the client's business: it turns them into M:N.
 */
struct device *device_list_find(const struct device_list *l, const char *what);
struct device *device_list_find_dev(const struct device_list *l, dev_t dev);

#endif
