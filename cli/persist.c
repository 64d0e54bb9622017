// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include "../daemon/base/file.h"
#include "persist.h"

static int explain(int r, const char *what, char *error, size_t error_size)
{
	snprintf(error, error_size, "%s: %s", what, strerror(-r));
	return r;
}

static int file_name(const char *dir, const char *uuid, char *ret, size_t size)
{
	/* It becomes a file's name and a section's. */
	if (!*uuid || strspn(uuid, "0123456789abcdefABCDEF-") != strlen(uuid))
		return -EINVAL;
	if ((size_t)snprintf(ret, size, "%s/50-fstunectl-%s.conf", dir, uuid) >= size)
		return -ENAMETOOLONG;
	return 0;
}

/* "force_copy" is ForceCopy= in the configuration. */
static void key_of(const char *knob, char *ret, size_t size)
{
	bool up = true;
	size_t n = 0;

	for (; *knob && n + 1 < size; knob++) {
		if (*knob == '_') {
			up = true;
			continue;
		}
		ret[n++] = up ? (char)toupper((unsigned char)*knob) : *knob;
		up = false;
	}
	ret[n] = '\0';
}

static int make_dirs(const char *dir)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s", dir) >= sizeof(path))
		return -ENAMETOOLONG;
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

int persist_write(const char *dir, const char *uuid, const char *knob, const char *value,
		  char *error, size_t error_size)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX], key[64];
	int n, r;

	r = file_name(dir, uuid, path, sizeof(path));
	if (r < 0)
		return explain(r, uuid, error, error_size);
	r = make_dirs(dir);
	if (r < 0)
		return explain(r, dir, error, error_size);
	key_of(knob, key, sizeof(key));
	n = asprintf(
		&text,
		"# Written by fstunectl set --persist; fstunectl auto --persist removes it.\n"
		"[Device UUID=%s]\n%s=%s\n",
		uuid, key, value);
	if (n < 0) {
		text = NULL;
		return explain(-ENOMEM, path, error, error_size);
	}
	r = write_file_atomic(path, text, (size_t)n, 0644);
	return r < 0 ? explain(r, path, error, error_size) : 0;
}

int persist_remove(const char *dir, const char *uuid, char *error, size_t error_size)
{
	char path[PATH_MAX];
	int r = file_name(dir, uuid, path, sizeof(path));

	if (r < 0)
		return explain(r, uuid, error, error_size);
	if (unlink(path) < 0 && errno != ENOENT)
		return explain(-errno, path, error, error_size);
	return 0;
}
