// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <cmocka.h>
#include "../../daemon/observe/mountinfo.h"

static struct mounts parsed(const char *text)
{
	struct mounts m;

	assert_int_equal(mounts_parse(&m, text, strlen(text)), 0);
	return m;
}

static void one_entry_per_file_system_however_often_mounted(void **state _unused_)
{
	struct mounts m = parsed(
		"30 1 8:5 / /srv/data rw,relatime shared:1 - ext4 /dev/sda5 "
		"rw,errors=remount-ro\n"
		"31 1 8:5 / /var/lib/docker rw,relatime - ext4 /dev/sda5 rw,errors=remount-ro\n"
		"32 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		"33 1 8:5 /sub /a ro - ext4 /dev/sda5 rw,errors=remount-ro\n");
	const struct mount_entry *e = mounts_find(&m, makedev(8, 5));

	assert_int_equal(m.n, 2);
	assert_non_null(e);
	assert_int_equal(e->n_mounts, 3);
	/* /a is shorter but shows only a part; one read-only mount says nothing of the rest */
	assert_string_equal(e->mountpoint, "/srv/data");
	assert_string_equal(e->options, "rw,errors=remount-ro");
	assert_string_equal(e->fstype, "ext4");
	assert_false(e->read_only);
	assert_null(mounts_find(&m, makedev(8, 2)));
	mounts_done(&m);
}

static void bind_mount_names_what_is_mounted_nowhere_else(void **state _unused_)
{
	struct mounts m = parsed("33 1 8:5 /longer /bb rw - ext4 /dev/sda5 rw\n"
				 "34 1 8:5 /x /ab rw - ext4 /dev/sda5 rw\n");

	assert_int_equal(m.n, 1);
	assert_string_equal(m.entries[0].mountpoint, "/ab");
	mounts_done(&m);
}

static void read_only_is_the_superblocks(void **state _unused_)
{
	struct mounts m = parsed("30 1 8:5 / /a ro,relatime - ext4 /dev/sda5 rw\n"
				 "31 1 8:6 / /b rw,relatime - ext4 /dev/sda6 ro,noload\n"
				 "32 1 8:7 / /c rw,relatime - ext4 /dev/sda7 ro\n"
				 "33 1 8:8 / /d rw,relatime - ext4 /dev/sda8 rw,rostock\n");

	assert_false(mounts_find(&m, makedev(8, 5))->read_only);
	assert_true(mounts_find(&m, makedev(8, 6))->read_only);
	assert_true(mounts_find(&m, makedev(8, 7))->read_only);
	assert_false(mounts_find(&m, makedev(8, 8))->read_only);
	mounts_done(&m);
}

static void mount_point_is_unescaped(void **state _unused_)
{
	struct mounts m = parsed("30 1 8:5 / /a\\040b\\011c\\012d\\134e\"'\xc3\xa4 rw - ext4 "
				 "/dev/mapper/x\\040y rw\n");

	assert_int_equal(m.n, 1);
	assert_string_equal(m.entries[0].mountpoint, "/a b\tc\nd\\e\"'\xc3\xa4");
	assert_string_equal(m.entries[0].source, "/dev/mapper/x y");
	mounts_done(&m);
}

static void file_systems_without_a_device_are_left_out(void **state _unused_)
{
	struct mounts m = parsed("21 1 0:21 / /proc rw - proc proc rw\n"
				 "22 1 0:40 / /b rw - btrfs /dev/sdb rw\n"
				 "23 1 259:300000 / /n rw - ext4 /dev/nvme9n1p1 rw\n");

	assert_int_equal(m.n, 1);
	assert_non_null(mounts_find(&m, makedev(259, 300000)));
	mounts_done(&m);
}

static void line_that_is_none_is_left_out(void **state _unused_)
{
	struct mounts m = parsed("30 1 8:5 / /a rw - ext4 /dev/sda5 rw\n"
				 "garbage\n"
				 "31 1 8:x / /b rw - ext4 /dev/sda6 rw\n"
				 "32 1 8:7 / /c rw - ext4\n"
				 "\n"
				 "33 1 8:8 / /d rw - ext4 /dev/sda8 rw\n"
				 "34 1 8:9 / /cut");

	assert_non_null(mounts_find(&m, makedev(8, 5)));
	assert_non_null(mounts_find(&m, makedev(8, 8)));
	assert_null(mounts_find(&m, makedev(8, 9)));
	mounts_done(&m);
}

static void nothing_is_an_empty_list(void **state _unused_)
{
	struct mounts m = parsed("");

	assert_int_equal(m.n, 0);
	assert_null(mounts_find(&m, makedev(8, 5)));
	assert_null(mounts_find_source(&m, "sda5"));
	mounts_done(&m);
}

static void source_finds_only_what_is_unique(void **state _unused_)
{
	struct mounts m = parsed("30 1 8:5 / /a rw - ext4 /dev/sda5 rw\n"
				 "31 1 8:6 / /b rw - ext4 /dev/twice rw\n"
				 "32 1 8:7 / /c rw - ext4 /other/twice rw\n");

	assert_int_equal(mounts_find_source(&m, "sda5")->dev, makedev(8, 5));
	assert_null(mounts_find_source(&m, "twice"));
	assert_null(mounts_find_source(&m, "sda"));
	mounts_done(&m);
}

/* Longer than any buffer that might be of fixed size: the descriptor is read from its begin. */
static void long_file_is_read_whole_each_time(void **state _unused_)
{
	int fd = memfd_create("mountinfo", MFD_CLOEXEC);
	const int n = 3000;

	assert_true(fd >= 0);
	for (int i = 0; i < n; i++)
		dprintf(fd, "%d 1 8:%d / /mnt/%d rw - ext4 /dev/sd%d rw\n", i + 30, i, i, i);
	for (int round = 0; round < 2; round++) {
		struct mounts m;

		assert_int_equal(mounts_read(&m, fd), 0);
		assert_int_equal(m.n, n);
		assert_string_equal(mounts_find(&m, makedev(8, n - 1))->mountpoint,
				    "/mnt/2999");
		mounts_done(&m);
	}
	close(fd);
}

/* The same from a file, of which those without a device are not even parsed. */
static void file_gives_what_its_text_gives(void **state _unused_)
{
	static const char text[] = "21 1 0:21 / /proc rw - proc proc rw\n"
				   "0: 0:1 0:5 / /x rw - ext4 /dev/x rw\n"
				   "30 1 8:5 / /a rw - ext4 /dev/sda5 rw\n"
				   "0:\n\n 0:\n  0:"
				   "31 1 8:0 / /b rw - ext4 /dev/sda rw\n"
				   "32 1 10:0 / /0: rw - ext4 /dev/x rw\n"
				   "22 1 0:22 / /sys rw - sysfs sysfs rw\n"
				   "33 1 8:8 / /c rw - ext4 /dev/sda8 rw\n"
				   "23 1 0:23 / /end";
	int fd = memfd_create("mountinfo", MFD_CLOEXEC);
	struct mounts from_text = parsed(text), from_file;

	assert_true(write(fd, text, sizeof(text) - 1) > 0);
	assert_int_equal(mounts_read(&from_file, fd), 0);
	assert_int_equal(from_file.n, 3);
	assert_int_equal(from_file.n, from_text.n);
	for (size_t i = 0; i < from_file.n; i++)
		assert_string_equal(from_file.entries[i].mountpoint,
				    from_text.entries[i].mountpoint);
	mounts_done(&from_text);
	mounts_done(&from_file);
	close(fd);
}

static void descriptor_that_cannot_be_read_is_an_error(void **state _unused_)
{
	struct mounts m;

	assert_int_equal(mounts_read(&m, -1), -EBADF);
	assert_int_equal(m.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_entry_per_file_system_however_often_mounted),
		cmocka_unit_test(bind_mount_names_what_is_mounted_nowhere_else),
		cmocka_unit_test(read_only_is_the_superblocks),
		cmocka_unit_test(mount_point_is_unescaped),
		cmocka_unit_test(file_systems_without_a_device_are_left_out),
		cmocka_unit_test(line_that_is_none_is_left_out),
		cmocka_unit_test(nothing_is_an_empty_list),
		cmocka_unit_test(source_finds_only_what_is_unique),
		cmocka_unit_test(long_file_is_read_whole_each_time),
		cmocka_unit_test(file_gives_what_its_text_gives),
		cmocka_unit_test(descriptor_that_cannot_be_read_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
