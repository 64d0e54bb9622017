// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/sysmacros.h>
#include <cmocka.h>
#include "fake-root.h"
#include "../../daemon/base/time-util.h"
#include "../../daemon/observe/sample.h"

/* --- the probes' side: these functions stand in for those of probe.c --- */

static struct fst_dev_stats stats;
static uint64_t activity;
static int read_result;
static unsigned n_reads;

uint64_t probe_activity(const struct probe *p _unused_, uint32_t slot)
{
	assert_int_equal(slot, 7);
	return activity;
}

int probe_read(struct probe *p _unused_, dev_t dev, struct fst_dev_stats *ret)
{
	assert_int_equal(dev, makedev(8, 5));
	n_reads++;
	if (read_result == 0)
		*ret = stats;
	return read_result;
}

const struct probe_measure *probe_measure(const struct probe *p _unused_, enum fst_measure m)
{
	static const struct probe_measure none = { .way = WAY_NONE },
					  some = { .way = WAY_TP_BTF };

	return m == FST_SHADOW_WAIT ? &none : &some;
}

static bool fast_commits_counted;

void probe_count_fast_commits(struct probe *p _unused_, uint32_t slot)
{
	assert_int_equal(slot, 7);
	fast_commits_counted = true;
}

static void event(enum fst_measure m, uint64_t ns)
{
	struct fst_hist *h = &stats.hist[m];

	h->count++;
	h->sum_ns += ns;
	h->max_ns = ns > h->max_ns ? ns : h->max_ns;
	h->slot[hist_slot(ns)]++;
	activity++;
}

/* --- helpers --- */

static struct device device = {
	.name = "sda5",
	.journal = "sda5-8",
	.block_size = 4096,
};

static struct sampler sampler;
static uint64_t now_us;

static int sample_setup(void **state)
{
	memset(&stats, 0, sizeof(stats));
	activity = 0;
	read_result = 0;
	n_reads = 0;
	fast_commits_counted = false;
	now_us = 1000 * USEC_PER_SEC;
	device.id.dev = device.journal_dev = makedev(8, 5);
	device.fast_commit = FEATURE_UNKNOWN;
	return fake_setup(state);
}

static int sample_teardown(void **state)
{
	sampler_done(&sampler);
	return fake_teardown(state);
}

static struct sample take_from(const char *sysroot, bool full)
{
	struct sample s;

	now_us += USEC_PER_SEC;
	assert_int_equal(
		sample_take(&sampler, NULL, &device, 7, sysroot, now_us, 1.5, full, &s), 0);
	return s;
}

static struct sample take(void)
{
	return take_from("/nonexistent", false);
}

static void set_stat(const struct fake_root *f, const char *text)
{
	fake_file(f, "/sys/dev/block/8:5/stat", text);
}

/* --- counters --- */

static void first_sample_counts_from_the_begin_of_tracking(void **state _unused_)
{
	struct sample s;

	event(FST_FSYNC, 5000000);
	stats.transactions = 2;
	s = take();
	assert_true(s.active);
	assert_int_equal(s.interval_us, 0);
	assert_int_equal(s.hist[FST_FSYNC].count, 1);
	assert_int_equal(s.hist[FST_FSYNC].max_ns, 5000000);
	assert_int_equal(s.transactions, 2);
	assert_int_equal(s.block_size, 4096);
	assert_true(s.memory_pressure == 1.5);
}

static void next_sample_is_the_difference(void **state _unused_)
{
	struct sample s;

	event(FST_COMMIT, 1000000);
	stats.transactions = 1;
	stats.blocks_logged = 10;
	stats.fast_commit_blocks = 4;
	take();
	event(FST_COMMIT, 2000000);
	event(FST_COMMIT, 2000000);
	stats.transactions = 3;
	stats.blocks_logged = 25;
	stats.fast_commit_blocks = 7;
	s = take();
	assert_int_equal(s.interval_us, USEC_PER_SEC);
	assert_int_equal(s.hist[FST_COMMIT].count, 2);
	assert_int_equal(s.hist[FST_COMMIT].sum_ns, 4000000);
	assert_int_equal(s.transactions, 2);
	assert_int_equal(s.blocks_logged, 15);
	assert_int_equal(s.fast_commit_blocks, 3);
}

static void
requests_of_an_f2fs_are_differences_but_for_those_that_wait_now(void **state _unused_)
{
	struct sample s;

	event(FST_F2FS_REQUEST, 1000000);
	stats.f2fs = (struct fst_f2fs_counters){ .merged_requests = 10,
						 .overlapping = 5,
						 .waiting = 3 };
	take();
	event(FST_F2FS_REQUEST, 1000000);
	stats.f2fs.merged_requests = 14;
	stats.f2fs.overlapping = 6;
	s = take();
	assert_int_equal(s.merged_requests, 4);
	assert_int_equal(s.overlapping_requests, 1);
	assert_int_equal(s.waiting_requests, 3);
	/* begun anew */
	memset(&stats, 0, sizeof(stats));
	stats.f2fs.merged_requests = 2;
	activity++;
	s = take();
	assert_int_equal(s.merged_requests, 2);
	assert_int_equal(s.waiting_requests, 0);
}

static void one_device_of_several_tells_no_service_time(void **state)
{
	struct sample s;

	device.n_devices = 2;
	set_stat(*state, "10 0 0 100 20 0 0 200 1 300 0 0 0 0 0 4 40\n");
	take_from("/nonexistent", true);
	set_stat(*state, "11 0 0 110 21 0 0 210 1 310 0 0 0 0 0 4 40\n");
	s = take_from("/nonexistent", true);
	device.n_devices = 0;
	assert_false(s.service.known);
	s = take_from("/nonexistent", true);
	set_stat(*state, "12 0 0 120 22 0 0 220 1 320 0 0 0 0 0 4 40\n");
	s = take_from("/nonexistent", true);
	assert_true(s.service.known);
}

static void idle_device_costs_no_read(void **state)
{
	struct sample s;

	set_stat(*state, "1 0 0 1 1 0 0 1 0 1 1\n");
	event(FST_COMMIT, 1000000);
	take();
	assert_int_equal(n_reads, 1);
	s = take();
	assert_int_equal(n_reads, 1);
	assert_false(s.active);
	assert_false(s.service.known);
	assert_int_equal(s.hist[FST_COMMIT].count, 0);
	s = take_from("/nonexistent", true);
	assert_int_equal(n_reads, 2);
	assert_false(s.active);
	assert_true(s.service.known);
}

static void measures_without_a_way_are_not_measured(void **state _unused_)
{
	struct sample s = take();

	assert_int_equal(s.measured, (1u << FST_MEASURE_MAX) - 1 - (1u << FST_SHADOW_WAIT));
}

static void counters_that_began_anew_are_not_a_huge_difference(void **state _unused_)
{
	struct sample s;

	for (int i = 0; i < 5; i++)
		event(FST_COMMIT, 1000000);
	stats.transactions = 5;
	take();
	memset(&stats, 0, sizeof(stats));
	event(FST_COMMIT, 3000000);
	stats.transactions = 1;
	s = take();
	assert_int_equal(s.hist[FST_COMMIT].count, 1);
	assert_int_equal(s.transactions, 1);
}

static void failed_read_loses_nothing(void **state _unused_)
{
	struct sample s;

	event(FST_COMMIT, 1000000);
	take();
	event(FST_COMMIT, 1000000);
	read_result = -ENOENT;
	now_us += USEC_PER_SEC;
	assert_int_equal(sample_take(&sampler, NULL, &device, 7, "", now_us, 0, false, &s),
			 -ENOENT);
	assert_false(s.active);
	assert_int_equal(s.hist[FST_COMMIT].count, 0);
	read_result = 0;
	s = take();
	assert_int_equal(s.hist[FST_COMMIT].count, 1);
}

/* --- service time --- */

static void service_time_is_the_difference_in_microseconds(void **state)
{
	struct sample s;

	set_stat(*state, "      10 1 80 100 20 2 160 200 0 150 300 0 0 0 0 5 50\n");
	s = take_from("", true);
	assert_false(s.service.known);
	set_stat(*state, "      13 1 80 107 25 2 160 240 4 180 300 0 0 0 0 7 59\n");
	s = take_from("", true);
	assert_true(s.service.known);
	assert_int_equal(s.service.reads, 3);
	assert_int_equal(s.service.read_us, 7000);
	assert_int_equal(s.service.writes, 5);
	assert_int_equal(s.service.write_us, 40000);
	assert_int_equal(s.service.flushes, 2);
	assert_int_equal(s.service.flush_us, 9000);
	assert_int_equal(s.service.busy_us, 30000);
	assert_int_equal(s.service.in_flight, 4);
	assert_false(s.active); /* other traffic is no event of ours */
}

static void flushes_of_a_partition_are_those_of_its_disk(void **state)
{
	const struct fake_root *f = *state;
	struct sample s;

	fake_dirs(f, "/sys/devices/sda/sda5/");
	fake_link(f, "/sys/dev/block/8:5", "../../devices/sda/sda5");
	set_stat(f, "10 1 80 100 20 2 160 200 0 150 300 0 0 0 0 0 0\n");
	fake_file(f, "/sys/devices/sda/stat",
		  "99 1 80 100 99 2 160 200 0 150 300 0 0 0 0 5 50\n");
	take_from("", true);
	set_stat(f, "13 1 80 107 25 2 160 240 4 180 300 0 0 0 0 0 0\n");
	fake_file(f, "/sys/devices/sda/stat", "199 1 80 1 199 2 1 2 0 1 3 0 0 0 0 7 59\n");
	s = take_from("", true);
	assert_true(s.service.known && s.service.flushes_known);
	assert_int_equal(s.service.flushes, 2);
	assert_int_equal(s.service.flush_us, 9000);
	assert_int_equal(s.service.reads, 3);
	assert_int_equal(s.service.writes, 5);
}

static void a_device_that_counts_no_flushes_leaves_them_unknown(void **state)
{
	struct sample s;

	set_stat(*state, "10 1 80 100 20 2 160 200 0 150 300 0 0 0 0 0 0\n");
	take_from("", true);
	s = take_from("", true);
	assert_true(s.service.known);
	assert_false(s.service.flushes_known);
}

static void an_external_journal_has_service_times_of_its_own(void **state)
{
	const struct fake_root *f = *state;
	struct sample s;

	set_stat(f, "10 1 80 100 20 2 160 200 0 150 300 0 0 0 0 5 50\n");
	fake_file(f, "/sys/dev/block/8:32/stat", "1 1 1 1 1 1 1 1 0 1 1 0 0 0 0 1 1\n");
	take_from("", true);
	s = take_from("", true);
	assert_true(s.service.known);
	assert_false(s.journal_service.known); /* inside */
	device.journal_dev = makedev(8, 32);
	take_from("", true);
	fake_file(f, "/sys/dev/block/8:32/stat", "1 1 1 1 4 1 1 31 0 1 1 0 0 0 0 3 41\n");
	s = take_from("", true);
	assert_true(s.journal_service.known && s.journal_service.flushes_known);
	assert_int_equal(s.journal_service.writes, 3);
	assert_int_equal(s.journal_service.write_us, 30000);
	assert_int_equal(s.journal_service.flushes, 2);
	assert_int_equal(s.journal_service.flush_us, 40000);
	assert_int_equal(s.service.writes, 0);
}

static void older_kernels_have_fewer_columns(void **state)
{
	struct sample s;

	set_stat(*state, "10 1 80 100 20 2 160 200 0 150 300\n");
	take_from("", true);
	set_stat(*state, "11 1 80 101 22 2 160 203 0 154 300\n");
	s = take_from("", true);
	assert_true(s.service.known);
	assert_int_equal(s.service.reads, 1);
	assert_int_equal(s.service.writes, 2);
	assert_int_equal(s.service.flushes, 0);
	set_stat(*state, "11 1 80 101 22 2 160 203 0 154\n");
	s = take_from("", true);
	assert_false(s.service.known);
}

static void wrapped_milliseconds_go_on(void **state)
{
	struct sample s;

	set_stat(*state, "1 0 0 4294967290 1 0 0 1 0 4294967295 1\n");
	take_from("", true);
	set_stat(*state, "2 0 0 4 1 0 0 1 0 0 1\n");
	s = take_from("", true);
	assert_true(s.service.known);
	assert_int_equal(s.service.read_us, 10000);
	assert_int_equal(s.service.busy_us, 1000);
}

static void statistics_that_went_back_begin_anew(void **state)
{
	struct sample s;

	set_stat(*state, "100 0 0 100 100 0 0 100 0 100 1\n");
	take_from("", true);
	set_stat(*state, "3 0 0 3 3 0 0 3 0 3 1\n");
	s = take_from("", true);
	assert_false(s.service.known);
	set_stat(*state, "4 0 0 4 3 0 0 3 0 3 1\n");
	s = take_from("", true);
	assert_true(s.service.known);
	assert_int_equal(s.service.reads, 1);
}

static void traffic_of_a_long_idle_time_is_not_put_into_one_tick(void **state)
{
	struct sample s;

	set_stat(*state, "100 0 0 100 100 0 0 100 0 100 1\n");
	event(FST_COMMIT, 1000);
	take();
	now_us += 60 * USEC_PER_SEC;
	set_stat(*state, "9000 0 0 9000 100 0 0 100 0 100 1\n");
	event(FST_COMMIT, 1000);
	s = take();
	assert_false(s.service.known);
	set_stat(*state, "9001 0 0 9000 100 0 0 100 0 100 1\n");
	event(FST_COMMIT, 1000);
	s = take();
	assert_true(s.service.known);
	assert_int_equal(s.service.reads, 1);
}

/* --- force_copy's account --- */

static void account_of_the_kernel_is_read_below_sysroot(void **state)
{
	const struct fake_root *f = *state;
	struct sample s;

	fake_file(f, "/proc/fs/jbd2/sda5-8/force_copy_stats",
		  "copied_blocks 10\ncopied_bytes 40960\ncopy_failures 0\navoided_waits 3\n");
	s = take_from(f->top, true);
	assert_false(s.copy_known); /* since when, nobody knows */
	fake_file(f, "/proc/fs/jbd2/sda5-8/force_copy_stats",
		  "avoided_waits 4\nnew_line 9\ncopied_blocks 15\n");
	s = take_from(f->top, true);
	assert_true(s.copy_known);
	assert_int_equal(s.copied_blocks, 5);
	assert_int_equal(s.avoided_waits, 1);
	assert_true(s.active);
	s = take_from(f->top, true);
	assert_true(s.copy_known);
	assert_false(s.active);
}

static void account_of_the_module_has_a_place_of_its_own(void **state)
{
	const struct fake_root *f = *state;
	struct sample s;

	fake_file(f, "/proc/fs/jbd2_force_copy/sda5-8.stats",
		  "copied_blocks 1\navoided_waits 1\n");
	take_from(f->top, true);
	fake_file(f, "/proc/fs/jbd2_force_copy/sda5-8.stats",
		  "copied_blocks 2\navoided_waits 3\n");
	s = take_from(f->top, true);
	assert_true(s.copy_known);
	assert_int_equal(s.avoided_waits, 2);
}

static void account_that_went_back_begins_anew(void **state)
{
	const struct fake_root *f = *state;
	const char *name = "/proc/fs/jbd2/sda5-8/force_copy_stats";
	struct sample s;

	fake_file(f, name, "copied_blocks 100\navoided_waits 100\n");
	take_from(f->top, true);
	fake_file(f, name, "copied_blocks 2\navoided_waits 1\n");
	s = take_from(f->top, true);
	assert_false(s.copy_known);
	assert_int_equal(s.copied_blocks, 0);
	fake_file(f, name, "copied_blocks 5\navoided_waits 1\n");
	s = take_from(f->top, true);
	assert_true(s.copy_known);
	assert_int_equal(s.copied_blocks, 3);
}

static void account_that_is_none_is_unknown(void **state)
{
	static const char *const bad[] = { "", "copied_blocks 1\n", "avoided_waits 1\n",
					   "copied_blocks x\navoided_waits 1\n", "\n\n\n" };
	const struct fake_root *f = *state;

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		fake_file(f, "/proc/fs/jbd2/sda5-8/force_copy_stats", bad[i]);
		for (int round = 0; round < 2; round++)
			assert_false(take_from(f->top, true).copy_known);
	}
}

/* --- ext4's account of its fast commits --- */

#define FC_INFO "/proc/fs/ext4/sda5/fc_info"

static void set_fast_commits(const struct fake_root *f, unsigned commits, unsigned ineligible,
			     unsigned renamed)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "fc stats:\n%u commits\n%u ineligible\n%u numblks\n9us avg_commit_time\n"
		 "Ineligible reasons:\n\"Dir renamed\":\t%u\n",
		 commits, ineligible, 2 * commits, renamed);
	fake_file(f, FC_INFO, text);
}

static struct sample take_after(uint64_t us)
{
	now_us += us - USEC_PER_SEC;
	return take();
}

static void fast_commits_are_the_difference_since_they_were_read(void **state)
{
	struct sample s;

	device.fast_commit = FEATURE_YES;
	set_fast_commits(*state, 100, 10, 1);
	s = take();
	assert_false(s.fast_commits.known); /* since when, nobody knows */
	assert_int_equal(sampler.fast_commits->commits, 100);
	set_fast_commits(*state, 103, 11, 5);
	event(FST_FSYNC, 1000);
	s = take_after(10 * USEC_PER_SEC);
	assert_true(s.fast_commits.known);
	assert_int_equal(s.fast_commits.interval_us, 10 * USEC_PER_SEC);
	assert_int_equal(s.fast_commits.commits, 3);
	assert_int_equal(s.fast_commits.ineligible, 1);
	assert_int_equal(s.fast_commits.blocks, 6);
	assert_int_equal(sampler.fast_commits->reasons[0].count, 5);
}

static void fast_commits_are_read_seldom_and_once_more_after_the_last_event(void **state)
{
	struct sample s;

	device.fast_commit = FEATURE_YES;
	set_fast_commits(*state, 1, 0, 0);
	take();
	for (unsigned i = 2; i <= 9; i++) {
		set_fast_commits(*state, i, 0, 0);
		event(FST_FSYNC, 1000);
		s = take();
		assert_false(s.fast_commits.known);
	}
	assert_int_equal(sampler.fast_commits->commits, 1);
	s = take_after(5 * USEC_PER_SEC); /* nothing happens any more */
	assert_false(s.active);
	assert_true(s.fast_commits.known);
	assert_int_equal(s.fast_commits.commits, 8);
	fake_remove(*state, FC_INFO);
	s = take_after(60 * USEC_PER_SEC);
	assert_false(s.fast_commits.known);
	assert_int_equal(sampler.fast_commits->commits, 9);
}

static void full_sample_reads_fast_commits_at_once(void **state)
{
	struct sample s;

	device.fast_commit = FEATURE_YES;
	set_fast_commits(*state, 1, 0, 0);
	take();
	set_fast_commits(*state, 2, 0, 0);
	s = take_from("/nonexistent", true);
	assert_int_equal(s.fast_commits.commits, 1);
}

static void file_system_without_the_feature_has_no_fast_commits(void **state)
{
	device.fast_commit = FEATURE_NO;
	set_fast_commits(*state, 5, 5, 5);
	take_from("/nonexistent", true);
	assert_null(sampler.fast_commits);
}

static void unread_device_has_fast_commits_if_they_were_counted(void **state)
{
	set_fast_commits(*state, 0, 0, 0);
	take();
	assert_null(sampler.fast_commits);
	event(FST_FSYNC, 1000);
	/* 5.10 counts so where there is no such feature. */
	set_fast_commits(*state, 0, 5, 0);
	take_after(10 * USEC_PER_SEC);
	assert_null(sampler.fast_commits);
	assert_false(fast_commits_counted);
	event(FST_FSYNC, 1000);
	set_fast_commits(*state, 1, 5, 0);
	take_after(10 * USEC_PER_SEC);
	assert_non_null(sampler.fast_commits);
	assert_true(fast_commits_counted);
	/* The device has answered at last. */
	device.fast_commit = FEATURE_NO;
	take();
	assert_null(sampler.fast_commits);
	device.fast_commit = FEATURE_YES;
	set_fast_commits(*state, 0, 0, 0);
	take();
	assert_non_null(sampler.fast_commits);
}

static void fast_commits_that_cannot_be_read_are_not_told(void **state)
{
	struct sample s;

	device.fast_commit = FEATURE_YES;
	set_fast_commits(*state, 7, 0, 0);
	take();
	fake_file(*state, FC_INFO, "fc stats:\n");
	s = take_from("/nonexistent", true);
	assert_false(s.fast_commits.known);
	assert_null(sampler.fast_commits);
	set_fast_commits(*state, 9, 0, 0);
	take_from("/nonexistent", true);
	set_fast_commits(*state, 8, 0, 0);
	s = take_from("/nonexistent", true);
	assert_false(s.fast_commits.known); /* less than before */
	assert_int_equal(s.fast_commits.commits, 0);
	assert_int_equal(sampler.fast_commits->commits, 8);
}

/* --- memory pressure --- */

static void memory_pressure_is_the_ten_second_average_of_some(void **state)
{
	fake_file(*state, "/proc/pressure/memory",
		  "some avg10=12.34 avg60=5.00 avg300=0.00 total=99\n"
		  "full avg10=1.00 avg60=0.00 avg300=0.00 total=9\n");
	assert_true(memory_pressure_read() == 12.34);
	fake_file(*state, "/proc/pressure/memory", "full avg10=1.00\n");
	assert_true(memory_pressure_read() == -1.0);
	fake_remove(*state, "/proc/pressure");
	assert_true(memory_pressure_read() == -1.0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_setup, sample_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(first_sample_counts_from_the_begin_of_tracking),
		TEST(next_sample_is_the_difference),
		TEST(requests_of_an_f2fs_are_differences_but_for_those_that_wait_now),
		TEST(one_device_of_several_tells_no_service_time),
		TEST(idle_device_costs_no_read),
		TEST(measures_without_a_way_are_not_measured),
		TEST(counters_that_began_anew_are_not_a_huge_difference),
		TEST(failed_read_loses_nothing),
		TEST(service_time_is_the_difference_in_microseconds),
		TEST(flushes_of_a_partition_are_those_of_its_disk),
		TEST(a_device_that_counts_no_flushes_leaves_them_unknown),
		TEST(an_external_journal_has_service_times_of_its_own),
		TEST(older_kernels_have_fewer_columns),
		TEST(wrapped_milliseconds_go_on),
		TEST(statistics_that_went_back_begin_anew),
		TEST(traffic_of_a_long_idle_time_is_not_put_into_one_tick),
		TEST(account_of_the_kernel_is_read_below_sysroot),
		TEST(account_of_the_module_has_a_place_of_its_own),
		TEST(account_that_went_back_begins_anew),
		TEST(account_that_is_none_is_unknown),
		TEST(fast_commits_are_the_difference_since_they_were_read),
		TEST(fast_commits_are_read_seldom_and_once_more_after_the_last_event),
		TEST(full_sample_reads_fast_commits_at_once),
		TEST(file_system_without_the_feature_has_no_fast_commits),
		TEST(unread_device_has_fast_commits_if_they_were_counted),
		TEST(fast_commits_that_cannot_be_read_are_not_told),
		TEST(memory_pressure_is_the_ten_second_average_of_some),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
