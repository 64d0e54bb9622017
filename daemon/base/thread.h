/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FSTUNED_BASE_THREAD_H
#define FSTUNED_BASE_THREAD_H

#include <stddef.h>

/*
 * Starts a detached thread that takes no signals: those are the loop's, and a thread that took
 * one would take it from its signalfd. -errno; then it does not run.
 */
int thread_start(void *(*run)(void *), void *arg, size_t stack_bytes);

#endif
