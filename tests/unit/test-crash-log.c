// SPDX-License-Identifier: GPL-2.0-or-later
/* The log of a disk's writes: read as QEMU writes it, refused when damaged, and replayed. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "../vm/crash/points.h"

#define DISK (64 * 1024u)
#define FS (32 * 1024u) /* the file system; marks behind it */

struct super {
	uint64_t magic, version, n;
	uint32_t sector;
} __attribute__((packed));

struct raw {
	uint64_t sector, n, flags, data_len;
};

struct scene {
	int fd;
	off_t end;
	uint64_t n;
};

static void put(struct scene *s, const void *data, size_t len)
{
	assert_int_equal(pwrite(s->fd, data, len, s->end), len);
	s->end += (off_t)len;
}

static void put_entry(struct scene *s, uint64_t sector, uint64_t n, uint64_t flags,
		      const void *data)
{
	union {
		struct raw raw;
		uint8_t sector[SECTOR_BYTES];
	} u = { .raw = { .sector = sector, .n = n, .flags = flags } };

	put(s, &u, sizeof(u));
	if (n > 0)
		put(s, data, n * SECTOR_BYTES);
	s->n++;
}

static void put_super(struct scene *s, uint64_t n)
{
	struct super super = { 0x6a736677736872, 1, n, SECTOR_BYTES };

	assert_int_equal(pwrite(s->fd, &super, sizeof(super), 0), sizeof(super));
}

static void put_block(struct scene *s, unsigned block, uint8_t fill)
{
	uint8_t data[BLOCK_BYTES];

	memset(data, fill, sizeof(data));
	put_entry(s, block * (BLOCK_BYTES / SECTOR_BYTES), BLOCK_BYTES / SECTOR_BYTES, 0, data);
}

static void put_flush(struct scene *s)
{
	put_entry(s, 0, 0, 1, NULL);
}

static void put_mark(struct scene *s, enum mark_kind kind, unsigned worker, unsigned step)
{
	struct mark m = { .kind = kind, .worker = worker, .step = step, .steps = { 3, 4 } };
	uint8_t sector[MARK_BYTES];

	mark_encode(&m, sector);
	put_entry(s, (FS + worker * MARK_BYTES) / SECTOR_BYTES, 1, 0, sector);
}

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	s->fd = memfd_create("log", MFD_CLOEXEC);
	s->end = SECTOR_BYTES;
	*state = s;
	return s->fd < 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	close(s->fd);
	free(s);
	return 0;
}

static int open_log(const struct scene *s, struct write_log **ret)
{
	off_t where;

	return write_log_open(ret, s->fd, DISK, &where);
}

static void log_is_read_to_its_end(void **state)
{
	_cleanup_(write_log_freep) struct write_log *log = NULL;
	struct scene *s = *state;

	put_block(s, 1, 'a');
	put_flush(s);
	put_super(s, 2);
	/* Since the last flush that the super block knows of. */
	put_block(s, 2, 'b');
	assert_int_equal(ftruncate(s->fd, s->end + 4096), 0);
	assert_int_equal(open_log(s, &log), 0);
	assert_int_equal(log->n_entries, 3);
	assert_true(log->entries[1].flush);
	assert_int_equal(log->entries[2].offset_bytes, 2 * BLOCK_BYTES);
	assert_int_equal(log->entries[2].len_bytes, BLOCK_BYTES);
	assert_int_equal(write_log_last_flush(log, 3), 2);
	assert_int_equal(write_log_last_flush(log, 1), 0);
}

static void refused(const struct scene *s)
{
	struct write_log *log = NULL;

	assert_int_equal(open_log(s, &log), -EBADMSG);
	assert_null(log);
}

static void log_of_something_else_is_refused(void **state)
{
	struct scene *s = *state;

	put_block(s, 1, 'a');
	refused(s);
	put_super(s, 1);
	assert_int_equal(pwrite(s->fd, "x", 1, 8), 1);
	refused(s);
}

static void log_with_a_request_beyond_the_disk_is_refused(void **state)
{
	static const uint8_t data[SECTOR_BYTES];
	struct scene *s = *state;

	put_super(s, 1);
	put_entry(s, DISK / SECTOR_BYTES, 1, 0, data);
	refused(s);
}

static void log_whose_requests_are_no_writes_is_refused(void **state)
{
	static const uint8_t data[SECTOR_BYTES];
	struct scene *s = *state;

	put_super(s, 1);
	put_entry(s, 1, 1, 4, data);
	refused(s);
}

static void log_that_has_lost_its_end_is_refused(void **state)
{
	struct scene *s = *state;

	put_block(s, 1, 'a');
	put_flush(s);
	put_super(s, 3);
	refused(s);
}

/* Data taken for an entry: the log cannot be read on from a place that is shifted. */
static void log_that_is_shifted_is_refused(void **state)
{
	struct scene *s = *state;

	put_super(s, 1);
	s->end += 8;
	put_block(s, 1, 'a');
	refused(s);
}

static uint8_t block_after(struct replay *r, size_t n, enum fate fate, unsigned block)
{
	static uint8_t disk[FS];
	struct point p = { .n_entries = n, .fate = fate, .random = 5 };

	assert_int_equal(replay_build(r, &p, disk), 0);
	return disk[block * BLOCK_BYTES];
}

static void disk_has_what_was_flushed_and_some_of_the_rest(void **state)
{
	_cleanup_(write_log_freep) struct write_log *log = NULL;
	_cleanup_(replay_freep) struct replay *r = NULL;
	_cleanup_close_ int base = memfd_create("base", MFD_CLOEXEC);
	unsigned kept = 0;
	struct scene *s = *state;

	put_super(s, 0);
	put_block(s, 1, 'a');
	put_block(s, 1, 'b');
	put_flush(s);
	for (unsigned i = 2; i < 8; i++)
		put_block(s, i, 'c');
	put_mark(s, MARK_DONE, 0, 1);
	assert_int_equal(open_log(s, &log), 0);
	assert_int_equal(ftruncate(base, FS), 0);
	assert_int_equal(replay_new(&r, log, base, FS), 0);

	assert_int_equal(block_after(r, 1, FATE_LOST, 1), 0);
	assert_int_equal(block_after(r, 1, FATE_KEPT, 1), 'a');
	assert_int_equal(block_after(r, 10, FATE_LOST, 1), 'b');
	assert_int_equal(block_after(r, 10, FATE_LOST, 7), 0);
	assert_int_equal(block_after(r, 10, FATE_KEPT, 7), 'c');
	for (unsigned i = 2; i < 8; i++)
		kept += block_after(r, 10, FATE_ANY, i) == 'c';
	assert_in_range(kept, 1, 5);
	/* It does not go back. */
	assert_int_equal(replay_build(r, &(struct point){ .n_entries = 1 }, NULL), -EINVAL);
}

static void marks_tell_what_is_done_and_what_has_begun(void **state)
{
	_cleanup_(write_log_freep) struct write_log *log = NULL;
	_cleanup_(marks_freep) struct marks *m = NULL;
	struct progress p[WORLD_WORKERS];
	struct scene *s = *state;

	put_super(s, 0);
	put_mark(s, MARK_DONE, 0, 10);
	put_mark(s, MARK_SYNCFS, 0, 0);
	put_block(s, 1, 'a');
	put_mark(s, MARK_BEGIN, 0, 14);
	put_mark(s, MARK_DONE, 1, 7);
	assert_int_equal(open_log(s, &log), 0);
	assert_int_equal(marks_read(&m, log, FS), 0);
	assert_int_equal(m->n, 4);

	marks_progress(m, 0, p);
	assert_int_equal(p[0].done, 0);
	assert_int_equal(p[0].synced, 0);
	assert_int_equal(p[0].begun, 11);
	marks_progress(m, 3, p);
	assert_int_equal(p[0].done, 11);
	assert_int_equal(p[0].begun, 14);
	assert_int_equal(p[0].synced, 3);
	assert_int_equal(p[1].synced, 4);
	assert_int_equal(p[1].done, 0);
	assert_int_equal(p[1].begun, 8);
	marks_progress(m, 5, p);
	assert_int_equal(p[0].done, 14);
	assert_int_equal(p[0].begun, UINT_MAX);
}

static void mark_that_was_tampered_with_is_refused(void **state)
{
	_cleanup_(write_log_freep) struct write_log *log = NULL;
	struct marks *m = NULL;
	struct scene *s = *state;
	off_t at;

	put_super(s, 0);
	at = s->end + (off_t)SECTOR_BYTES + 16;
	put_mark(s, MARK_DONE, 0, 10);
	assert_int_equal(pwrite(s->fd, "\x0b", 1, at), 1);
	assert_int_equal(open_log(s, &log), 0);
	assert_int_equal(marks_read(&m, log, FS), -EBADMSG);
}

static void points_are_in_order_and_not_beyond_the_last_mark(void **state)
{
	_cleanup_(write_log_freep) struct write_log *log = NULL;
	_cleanup_(marks_freep) struct marks *m = NULL;
	struct scene *s = *state;
	struct point points[30];

	put_super(s, 0);
	for (unsigned i = 0; i < 20; i++) {
		put_block(s, 1, 'a');
		put_flush(s);
		put_mark(s, MARK_DONE, 0, i);
	}
	put_block(s, 1, 'b');
	put_flush(s);
	assert_int_equal(open_log(s, &log), 0);
	assert_int_equal(marks_read(&m, log, FS), 0);
	points_choose(m, log, 1, points, 30);
	for (unsigned i = 0; i < 30; i++) {
		assert_in_range(points[i].n_entries, i ? points[i - 1].n_entries : 1, 60);
		if (points[i].fate == FATE_KEPT)
			assert_true(log->entries[points[i].n_entries - 1].flush);
		if (points[i].fate == FATE_LOST)
			assert_int_equal(points[i].n_entries % 3, 0);
	}
	points_last(m, points);
	assert_int_equal(points->n_entries, 60);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(log_is_read_to_its_end),
		TEST(log_of_something_else_is_refused),
		TEST(log_with_a_request_beyond_the_disk_is_refused),
		TEST(log_whose_requests_are_no_writes_is_refused),
		TEST(log_that_has_lost_its_end_is_refused),
		TEST(log_that_is_shifted_is_refused),
		TEST(disk_has_what_was_flushed_and_some_of_the_rest),
		TEST(marks_tell_what_is_done_and_what_has_begun),
		TEST(mark_that_was_tampered_with_is_refused),
		TEST(points_are_in_order_and_not_beyond_the_last_mark),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
