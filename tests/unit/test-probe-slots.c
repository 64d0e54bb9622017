// SPDX-License-Identifier: GPL-2.0-or-later
/* How devices get slots. The calls into the kernel are stood in for: maps are memory files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "../../bpf/device-table.h"
#include "../../daemon/observe/probe.h"

static int stats_fd, shared_fd;
static const struct fst_shared *shared;
static unsigned n_waits, n_counters;
static unsigned waits_before_counters; /* when counters were written last */

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key _unused_, __u32 value,
		   __u32 n, const struct bpf_map_create_opts *opts _unused_)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, (off_t)value * n), 0);
	if (type == BPF_MAP_TYPE_ARRAY_OF_MAPS)
		stats_fd = fd;
	if (strcmp(name, "fst_shared") == 0)
		shared_fd = fd;
	return fd;
}

/* An update of the outer map is what waits for programs. */
int bpf_map_update_elem(int fd, const void *key _unused_, const void *value _unused_,
			__u64 flags _unused_)
{
	if (fd == stats_fd) {
		n_waits++;
	} else {
		n_counters++;
		waits_before_counters = n_waits;
	}
	return 0;
}

/* What a device's counters are, in the kernel. */
static struct fst_dev_stats counters;

int bpf_map_lookup_elem(int fd _unused_, const void *key _unused_, void *value)
{
	memcpy(value, &counters, sizeof(counters));
	return 0;
}

struct ring_buffer *ring_buffer__new(int fd _unused_, ring_buffer_sample_fn cb _unused_,
				     void *ctx, const struct ring_buffer_opts *opts _unused_)
{
	return ctx; /* never used */
}

void ring_buffer__free(struct ring_buffer *rb _unused_)
{
}

static int probe_setup(void **state)
{
	const struct kernel_caps caps = { .release = "test" };
	struct probe *p;

	assert_int_equal(probe_new(&p, &caps), 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
	assert_true(shared != MAP_FAILED);
	n_waits = n_counters = 0;
	*state = p;
	return 0;
}

static int probe_teardown(void **state)
{
	munmap((void *)shared, sizeof(*shared));
	probe_free(*state);
	return 0;
}

static uint32_t track(struct probe *p, unsigned minor)
{
	uint32_t slot;

	assert_int_equal(probe_track(p, makedev(8, minor), &slot), 0);
	return slot;
}

static void new_slots_need_no_wait(void **state)
{
	for (unsigned i = 0; i < FST_CHUNK_DEVICES; i++)
		assert_int_equal(track(*state, i), i);
	assert_int_equal(n_counters, FST_CHUNK_DEVICES);
	assert_int_equal(n_waits, 0);
}

static void left_slot_is_given_away_when_no_program_is_at_it(void **state)
{
	uint32_t slot = track(*state, 1);

	assert_int_equal(probe_untrack(*state, makedev(8, 1)), 0);
	assert_int_equal(fst_device_slot(shared, kdev_from_dev(makedev(8, 1))), FST_NO_SLOT);
	assert_int_equal(n_waits, 0);
	assert_int_equal(track(*state, 2), slot);
	assert_int_equal(waits_before_counters, 1);
	assert_int_equal(fst_device_slot(shared, kdev_from_dev(makedev(8, 2))), slot);
}

static void one_wait_is_for_all_that_were_left(void **state)
{
	for (unsigned i = 0; i < 4; i++)
		track(*state, i);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(probe_untrack(*state, makedev(8, i)), 0);
	for (unsigned i = 0; i < 4; i++)
		track(*state, 16 + i);
	assert_int_equal(n_waits, 1);
	assert_int_equal(probe_untrack(*state, makedev(8, 16)), 0);
	track(*state, 32);
	assert_int_equal(n_waits, 2);
}

static void f2fs_is_watched_until_it_is_untracked(void **state)
{
	for (unsigned i = 1; i <= 3; i++) {
		track(*state, i);
		assert_int_equal(probe_watch_semaphores(*state, makedev(8, i)), 0);
	}
	assert_int_equal(shared->f2fs_end, 3);
	((struct fst_shared *)shared)->f2fs[1].sbi = 4096; /* as a program does */
	assert_int_equal(probe_untrack(*state, makedev(8, 2)), 0);
	assert_int_equal(shared->f2fs[1].dev, 0);
	assert_int_equal(shared->f2fs[1].sbi, 0);
	assert_int_equal(shared->f2fs_end, 3);
	assert_int_equal(probe_untrack(*state, makedev(8, 3)), 0);
	assert_int_equal(shared->f2fs_end, 1);
	assert_int_equal(shared->f2fs[0].dev, kdev_from_dev(makedev(8, 1)));
}

static void more_f2fs_than_can_be_watched_are_tracked(void **state)
{
	for (unsigned i = 1; i <= FST_F2FS_MAX; i++) {
		track(*state, i);
		assert_int_equal(probe_watch_semaphores(*state, makedev(8, i)), 0);
	}
	track(*state, FST_F2FS_MAX + 1);
	assert_int_equal(probe_watch_semaphores(*state, makedev(8, FST_F2FS_MAX + 1)), -ENOSPC);
	assert_int_equal(probe_untrack(*state, makedev(8, FST_F2FS_MAX + 1)), 0);
	assert_int_equal(shared->f2fs_end, FST_F2FS_MAX);
}

static void new_device_in_an_old_slot_has_no_fast_commits_yet(void **state)
{
	uint32_t slot = track(*state, 1);

	probe_count_fast_commits(*state, slot);
	assert_true(shared->fast_commits[slot]);
	assert_int_equal(probe_untrack(*state, makedev(8, 1)), 0);
	assert_int_equal(track(*state, 2), slot);
	assert_false(shared->fast_commits[slot]);
}

/* Programs count each once, by what served it. */
static void fsyncs_are_those_of_all_kinds(void **state)
{
	struct fst_dev_stats read;

	memset(&counters, 0, sizeof(counters));
	for (unsigned i = 0; i < 3; i++) {
		struct fst_hist *h = &counters.hist[FST_FSYNC + i];

		h->slot[5 + i] = h->slot[40] = 1 + i;
		h->sum_ns = 1000 * (1 + i);
		h->max_ns = 900 - i;
	}
	track(*state, 1);
	assert_int_equal(probe_read(*state, makedev(8, 1), &read), 0);
	assert_int_equal(read.hist[FST_FSYNC].count, 2 * (1 + 2 + 3));
	assert_int_equal(read.hist[FST_FSYNC].slot[5], 1);
	assert_int_equal(read.hist[FST_FSYNC].slot[7], 3);
	assert_int_equal(read.hist[FST_FSYNC].slot[40], 1 + 2 + 3);
	assert_int_equal(read.hist[FST_FSYNC].sum_ns, 1000 * (1 + 2 + 3));
	assert_int_equal(read.hist[FST_FSYNC].max_ns, 900);
	assert_int_equal(read.hist[FST_FSYNC_FAST].count, 4);
	assert_int_equal(read.hist[FST_FSYNC_FULL].count, 6);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, probe_setup, probe_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(new_slots_need_no_wait),
		TEST(left_slot_is_given_away_when_no_program_is_at_it),
		TEST(one_wait_is_for_all_that_were_left),
		TEST(f2fs_is_watched_until_it_is_untracked),
		TEST(more_f2fs_than_can_be_watched_are_tracked),
		TEST(new_device_in_an_old_slot_has_no_fast_commits_yet),
		TEST(fsyncs_are_those_of_all_kinds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
