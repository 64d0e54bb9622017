/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names from the kernel are bytes; D-Bus, JSON and Prometheus want UTF-8. */
#ifndef FSTUNED_BASE_UTF8_H
#define FSTUNED_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the valid character at `s`, 1 to 4; 0 if there is none (or at the end). */
size_t utf8_len(const char *s);

/*
 * A copy in which every byte that belongs to no valid character is \xNN, as lsblk has it.
 * The caller frees; NULL when out of memory.
 */
char *utf8_clean(const char *s);

#endif
