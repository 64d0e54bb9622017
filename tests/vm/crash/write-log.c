// SPDX-License-Identifier: GPL-2.0-or-later
#include <endian.h>
#include <string.h>
#include "write-log.h"

#define LOG_MAGIC UINT64_C(0x6a736677736872)
#define LOG_VERSION 1

enum {
	FLAG_FLUSH = 1 << 0,
	FLAG_FUA = 1 << 1,
	FLAG_DISCARD = 1 << 2,
	FLAG_MARK = 1 << 3,
};

struct raw_super {
	uint64_t magic, version, nr_entries;
	uint32_t sectorsize;
} __attribute__((packed));

struct raw_entry {
	uint64_t sector, nr_sectors, flags, data_len;
};

int read_all(int fd, void *buf, size_t len, off_t at)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(fd, (char *)buf + done, len - done, at + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENODATA;
		done += (size_t)n;
	}
	return 0;
}

static int check_super(int fd, uint64_t *ret_entries)
{
	struct raw_super super;
	int r = read_all(fd, &super, sizeof(super), 0);

	if (r < 0)
		return r;
	if (le64toh(super.magic) != LOG_MAGIC || le64toh(super.version) != LOG_VERSION ||
	    le32toh(super.sectorsize) != SECTOR_BYTES)
		return -EBADMSG;
	*ret_entries = le64toh(super.nr_entries);
	return 0;
}

/*
 * Only writes and flushes: the disk has no FUA, so the guest's kernel flushes after such a
 * write itself, and the load discards nothing.
 */
static int parse_entry(const struct raw_entry *raw, uint64_t disk_bytes, struct log_entry *ret)
{
	uint64_t sector = le64toh(raw->sector), n = le64toh(raw->nr_sectors);
	uint64_t flags = le64toh(raw->flags), disk = disk_bytes / SECTOR_BYTES;

	if ((flags & ~(uint64_t)FLAG_FLUSH) || le64toh(raw->data_len) != 0 || sector > disk ||
	    n > disk - sector || (n == 0) != (flags == FLAG_FLUSH))
		return -EBADMSG;
	*ret = (struct log_entry){
		.offset_bytes = sector * SECTOR_BYTES,
		.len_bytes = n * SECTOR_BYTES,
		.flush = flags == FLAG_FLUSH,
	};
	return 0;
}

static int add_entry(struct write_log *log, const struct log_entry *e)
{
	/* Grows by powers of two. */
	if ((log->n_entries & (log->n_entries - 1)) == 0) {
		size_t n = log->n_entries ? log->n_entries * 2 : 1;
		struct log_entry *entries = reallocarray(log->entries, n, sizeof(*e));

		if (!entries)
			return -ENOMEM;
		log->entries = entries;
	}
	log->entries[log->n_entries++] = *e;
	return 0;
}

static bool is_end(const struct raw_entry *raw)
{
	static const struct raw_entry nothing;

	return memcmp(raw, &nothing, sizeof(nothing)) == 0;
}

int write_log_open(struct write_log **ret, int fd, uint64_t disk_bytes, off_t *ret_where)
{
	_cleanup_(write_log_freep) struct write_log *log = calloc(1, sizeof(*log));
	uint64_t at_least;
	int r;

	if (!log)
		return -ENOMEM;
	*ret_where = 0;
	log->fd = fd;
	r = check_super(fd, &at_least);
	if (r < 0)
		return r;
	/*
	 * The super block counts the entries as of some flush; while the disk is in use there
	 * are more. The file was empty, so the end is where nothing has been written.
	 */
	for (*ret_where = SECTOR_BYTES;;) {
		struct raw_entry raw;
		struct log_entry e;

		r = read_all(fd, &raw, sizeof(raw), *ret_where);
		if (r == -ENODATA || (r == 0 && is_end(&raw)))
			break;
		if (r == 0)
			r = parse_entry(&raw, disk_bytes, &e);
		if (r < 0)
			return r;
		e.data_bytes = (uint64_t)*ret_where + SECTOR_BYTES;
		r = add_entry(log, &e);
		if (r < 0)
			return r;
		*ret_where = (off_t)(e.data_bytes + e.len_bytes);
	}
	if (log->n_entries < at_least)
		return -EBADMSG;
	*ret = TAKE_PTR(log);
	return 0;
}

void write_log_free(struct write_log *log)
{
	free(log->entries);
	free(log);
}

int write_log_read(const struct write_log *log, const struct log_entry *e, uint64_t from,
		   void *buf, size_t len)
{
	return read_all(log->fd, buf, len, (off_t)(e->data_bytes + from));
}

size_t write_log_last_flush(const struct write_log *log, size_t n)
{
	while (n > 0 && !log->entries[n - 1].flush)
		n--;
	return n;
}
