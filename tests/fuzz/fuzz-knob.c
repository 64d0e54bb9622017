// SPDX-License-Identifier: GPL-2.0-or-later
/* A knob's file and what people type: never more than a value of the knob comes of it. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include "../../daemon/act/knob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_read(const struct knob_ops *ops, const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = memfd_create("knob", MFD_CLOEXEC);
	char path[32], value[KNOB_VALUE_MAX], again[KNOB_VALUE_MAX], why[160];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	memset(value, 'x', sizeof(value));
	if (ops->read(path, value) < 0)
		return;
	if (strnlen(value, sizeof(value)) == sizeof(value) || !*value ||
	    (strspn(value, "0123456789") != strlen(value) && ops->parse(value, again) < 0))
		abort();
	/* What was read reads the same once it is written. */
	if (ftruncate(fd, 0) < 0 || knob_write(ops, path, value, why, sizeof(why)) < 0 ||
	    ops->read(path, again) < 0 || strcmp(value, again) != 0)
		abort();
}

static void check_parse(const struct knob_ops *ops, const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1);
	char value[KNOB_VALUE_MAX], again[KNOB_VALUE_MAX];

	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	if (ops->parse(text, value) < 0)
		return;
	if (ops->parse(value, again) < 0 || strcmp(value, again) != 0)
		abort();
}

static void check_probe(const struct knob_ops *ops, const uint8_t *data, size_t size)
{
	struct device d = { .has_journal = true, .fast_commit = FEATURE_YES };
	char path[256] = "", why[160];

	if (size >= sizeof(d.journal) || size >= sizeof(d.name))
		return;
	memcpy(d.journal, data, size);
	memcpy(d.name, data, size);
	if (ops->probe(&d, "/nonexistent", path, sizeof(path), why, sizeof(why)) >= 0)
		abort();
	/* It may lead to no place but those of knobs. */
	if (*path && (strchr(d.journal, '/') || strstr(path, "/../") ||
		      strncmp(path, "/nonexistent", 12) != 0 ||
		      strncmp(path + 12, ops->place, strlen(ops->place)) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (unsigned i = 0; i < KNOB_MAX; i++) {
		const struct knob_ops *ops = knob_ops((enum knob_id)i);

		check_read(ops, data, size);
		check_parse(ops, data, size);
		check_probe(ops, data, size);
	}
	return 0;
}
