/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logging that never blocks. Under systemd, lines go to the journal's datagram socket
 * with MSG_DONTWAIT, elsewhere to stderr if it takes them at once; those that do not fit are
 * counted. An error is logged once, where it is known what was attempted, on what.
 */
#ifndef FSTUNED_BASE_LOG_H
#define FSTUNED_BASE_LOG_H

#include <errno.h>
#include <stdint.h>
#include <syslog.h>
#include "cleanup.h"

/* Chooses the target. `program` must outlive the process's logging. */
void log_open(const char *program);
void log_set_level(int level);
int log_get_level(void);

/* "debug", "info", "notice", "warning", "err" or "error"; -EINVAL otherwise. */
int log_level_from_string(const char *s);
/* The first of its names; NULL if it has none. */
const char *log_level_to_string(int level);

/* Messages that did not fit into the journal's socket, or stderr, since start. */
uint64_t log_dropped(void);

/*
 * One message with further journal fields. `fields` is a NULL-terminated array of
 * "NAME=value" strings (or NULL); a value may hold newlines. `error` is a positive or
 * negative errno (0: none), available to the format as %m.
 */
void log_full(int level, int error, const char *const *fields, const char *format, ...)
	_printf_(4, 5);

/* Evaluate to -errno of `error`, so that `return log_error_errno(r, "...: %m");` works. */
#define log_full_errno(level, error, ...)                       \
	({                                                      \
		int _e = (error);                               \
		if ((level) <= log_get_level())                 \
			log_full(level, _e, NULL, __VA_ARGS__); \
		_e < 0 ? _e : -_e;                              \
	})

#define log_error_errno(e, ...) log_full_errno(LOG_ERR, e, __VA_ARGS__)
#define log_warning_errno(e, ...) log_full_errno(LOG_WARNING, e, __VA_ARGS__)
#define log_notice_errno(e, ...) log_full_errno(LOG_NOTICE, e, __VA_ARGS__)
#define log_info_errno(e, ...) log_full_errno(LOG_INFO, e, __VA_ARGS__)
#define log_debug_errno(e, ...) log_full_errno(LOG_DEBUG, e, __VA_ARGS__)
#define log_error(...) ((void)log_error_errno(0, __VA_ARGS__))
#define log_warning(...) ((void)log_warning_errno(0, __VA_ARGS__))
#define log_notice(...) ((void)log_notice_errno(0, __VA_ARGS__))
#define log_info(...) ((void)log_info_errno(0, __VA_ARGS__))
#define log_debug(...) ((void)log_debug_errno(0, __VA_ARGS__))
#define log_oom() log_error_errno(ENOMEM, "Out of memory")

#endif
