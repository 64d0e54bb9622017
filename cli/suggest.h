/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was probably meant. */
#ifndef FSTUNECTL_SUGGEST_H
#define FSTUNECTL_SUGGEST_H

#include <stddef.h>

/* The nearest of `names`, at most two slips of the finger away; NULL if none is that near. */
const char *suggest(const char *what, const char *const *names, size_t n);

#endif
