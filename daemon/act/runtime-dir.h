/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runtime directory has one owner at a time: a daemon, or a --restore. */
#ifndef FSTUNED_ACT_RUNTIME_DIR_H
#define FSTUNED_ACT_RUNTIME_DIR_H

/*
 * Takes DIR/lock for as long as the descriptor returned is open: it goes with the process,
 * however that ends. -EBUSY: somebody else has it; -EPERM: the directory is not root's (or
 * ours) alone; all errors are logged.
 */
int runtime_dir_lock(const char *dir);

#endif
