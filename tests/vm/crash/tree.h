/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker's directory as it is on a file system: carrying operations out, and looking. */
#ifndef FSTUNED_CRASH_TREE_H
#define FSTUNED_CRASH_TREE_H

#include "promise.h"

/* Carries `op` out below the directory `root_fd`; `w` is the world before it. -errno. */
int tree_do(int root_fd, const struct world *w, const struct op *op);

/*
 * All names below `root_fd`, a worker's directory, with what is to be known of each. The caller
 * frees the array. -errno if something cannot be read, -EUCLEAN for what no worker ever makes.
 */
int tree_look(int root_fd, unsigned worker, struct found **ret, size_t *ret_n);

#endif
