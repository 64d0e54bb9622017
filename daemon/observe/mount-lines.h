/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every mount of one file system, in every mount namespace, with its flags: what mountinfo.h
 * takes together. Allocates nothing, so that a thread beside the loop can use it.
 */
#ifndef FSTUNED_OBSERVE_MOUNT_LINES_H
#define FSTUNED_OBSERVE_MOUNT_LINES_H

#include <sys/types.h>
#include "../base/cleanup.h"

/* A line of a mountinfo. Valid during the call that hands it over, which may write to it. */
struct mount_line {
	unsigned long long id; /* of the mount; no two in the system have the same */
	dev_t dev;
	char *mountpoint; /* unescaped; as the namespace's processes see it */
	char *flags;      /* of this mount alone: "rw,nosuid,relatime" */
	char *fstype;
	char *options; /* of the superblock, escaped still: "rw,lazytime,mode=adaptive" */
};

/* Returns 0 to go on; anything else ends the reading, and is what that returns. */
typedef int (*mount_line_fn)(struct mount_line *line, void *userdata);

/* Takes a line apart, in place. -EBADMSG. */
int mount_line_parse(char *text, struct mount_line *ret);

/* Octal escapes of /proc become the bytes that they stand for, in place. */
void mount_unescape(char *text);

/* The lines of `dev`. -errno. A line longer than any that the kernel writes is left out. */
int mount_lines_read(const char *path, dev_t dev, mount_line_fn f, void *userdata);

/* As mount_line_fn, for a process. */
typedef int (*mount_namespace_fn)(pid_t pid, void *userdata);

/*
 * One process of each mount namespace, PID 1 first. `root` is before /proc. Telling namespaces
 * apart takes CAP_SYS_PTRACE; without it only that of PID 1 is known. -E2BIG beyond
 * MOUNT_NAMESPACES_MAX. A namespace that no process is in (kept by a file) cannot be found.
 */
#define MOUNT_NAMESPACES_MAX 4096
int mount_namespaces_read(const char *root, mount_namespace_fn f, void *userdata);

#endif
