// SPDX-License-Identifier: GPL-2.0-or-later
#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include "../base/file.h"
#include "tracepoint.h"

#define FORMAT_MAX (64 * 1024) /* bytes of a format file; the longest have some 10 KiB */
#define KPROBE_PMU "/sys/bus/event_source/devices/kprobe"

const char *tracefs_path(void)
{
	static const char *const dirs[] = { "/sys/kernel/tracing",
					    "/sys/kernel/debug/tracing" };
	char path[PATH_MAX];

	for (size_t i = 0; i < ELEMENTSOF(dirs); i++) {
		(void)snprintf(path, sizeof(path), "%s/events", dirs[i]);
		if (access(path, F_OK) == 0)
			return dirs[i];
	}
	return NULL;
}

int tracepoint_format(const char *system, const char *name, uint32_t *ret_id, char **ret_format)
{
	const char *tracefs = tracefs_path();
	char path[PATH_MAX];
	unsigned long long id;
	int r;

	if (!tracefs)
		return -ENODEV;
	(void)snprintf(path, sizeof(path), "%s/events/%s/%s/id", tracefs, system, name);
	r = read_u64_at(AT_FDCWD, path, &id);
	if (r < 0)
		return r;
	*ret_id = (uint32_t)id;
	(void)snprintf(path, sizeof(path), "%s/events/%s/%s/format", tracefs, system, name);
	return read_full_file(path, FORMAT_MAX, false, ret_format, NULL);
}

/* A line is "\tfield:unsigned long tid;\toffset:16;\tsize:8;\tsigned:0;". */
int tracepoint_field(const char *format, const char *field, uint16_t *ret_offset)
{
	size_t len = strlen(field);

	for (const char *p = format; (p = strstr(p, "field:"));) {
		const char *end = strchr(p, ';');
		unsigned offset, size;

		if (!end)
			break;
		if ((size_t)(end - p) > len && end[-(ssize_t)len - 1] == ' ' &&
		    strncmp(end - len, field, len) == 0) {
			if (sscanf(end, "; offset:%u; size:%u;", &offset, &size) != 2)
				break;
			if (size < sizeof(uint16_t) || size > UINT16_MAX ||
			    offset > UINT16_MAX - size || offset + size < sizeof(uint32_t))
				return -ERANGE;
			if (BYTE_ORDER == BIG_ENDIAN)
				offset = offset + size - (unsigned)sizeof(uint32_t);
			*ret_offset = (uint16_t)offset;
			return 0;
		}
		p = end;
	}
	return -ENOENT;
}

static int perf_open(struct perf_event_attr *attr)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int tracepoint_open(uint32_t id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
		.wakeup_events = 1,
	};

	return perf_open(&attr);
}

int kprobe_open(const char *func, bool ret)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.kprobe_func = (uint64_t)(uintptr_t)func,
	};
	char bit[32];
	unsigned long long type;
	unsigned retprobe;
	int r = read_u64_at(AT_FDCWD, KPROBE_PMU "/type", &type);

	if (r < 0)
		return r == -ENOENT ? -ENODEV : r;
	attr.type = (uint32_t)type;
	if (ret) {
		r = (int)read_small_at(AT_FDCWD, KPROBE_PMU "/format/retprobe", bit,
				       sizeof(bit));
		if (r < 0)
			return r;
		if (sscanf(bit, "config:%u", &retprobe) != 1 || retprobe > 63)
			return -EBADMSG;
		attr.config = UINT64_C(1) << retprobe;
	}
	return perf_open(&attr);
}
