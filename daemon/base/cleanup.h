/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ownership helpers: what a scope owns is freed on every path out of it. */
#ifndef FSTUNED_BASE_CLEANUP_H
#define FSTUNED_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _unused_ __attribute__((unused))
#define _printf_(a, b) __attribute__((format(printf, a, b)))

#define ELEMENTSOF(x) (sizeof(x) / sizeof((x)[0]))

/* Hands the pointer over and forgets it. */
#define TAKE_PTR(p)                          \
	({                                   \
		__typeof__(p) *_pp = &(p);   \
		__typeof__(p) _taken = *_pp; \
		*_pp = NULL;                 \
		_taken;                      \
	})

#define TAKE_FD(fd)                 \
	({                          \
		int *_fdp = &(fd);  \
		int _taken = *_fdp; \
		*_fdp = -EBADF;     \
		_taken;             \
	})

/* Defines NAMEp() for _cleanup_(NAMEp), calling `f` on a non-null pointer. */
#define DEFINE_CLEANUP(type, f)                   \
	static inline _unused_ void f##p(type *p) \
	{                                         \
		if (*p)                           \
			f(*p);                    \
	}

static inline void freep(void *p)
{
	free(*(void **)p);
}

/* Closes a descriptor, keeping errno; returns -EBADF for `fd = safe_close(fd)`. */
static inline int safe_close(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return -EBADF;
}

static inline void closep(int *fd)
{
	*fd = safe_close(*fd);
}

DEFINE_CLEANUP(FILE *, fclose)
DEFINE_CLEANUP(DIR *, closedir)

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)

#endif
