// SPDX-License-Identifier: GPL-2.0-or-later
/* What superblocks say, from images made by hand. */
#include <endian.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "../../daemon/observe/superblock.h"

/* Offsets of include/linux/f2fs_fs.h and fs/ext4/ext4.h, counted from a superblock's begin. */
#define SB 1024
#define F2FS_LOG_BLOCKSIZE 16
#define F2FS_DEVS 2201
#define F2FS_DEV_SIZE 68
#define EXT4_MAGIC 56
#define EXT4_FEATURE_COMPAT 92

static uint8_t image[8192];

static struct identity read_image(size_t size)
{
	struct identity i = { 0 };
	int fd = memfd_create("superblock", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, image, size), size);
	superblock_read(fd, &i);
	close(fd);
	return i;
}

static int blank(void **state)
{
	(void)state;
	memset(image, 0, sizeof(image));
	return 0;
}

static void put32(size_t at, uint32_t v)
{
	v = htole32(v);
	memcpy(image + SB + at, &v, sizeof(v));
}

static void make_f2fs(void)
{
	put32(0, 0xf2f52010);
	put32(F2FS_LOG_BLOCKSIZE, 12);
}

static void add_device(unsigned i, const char *path)
{
	strcpy((char *)image + SB + F2FS_DEVS + i * F2FS_DEV_SIZE, path);
}

static void f2fs_on_one_device_names_none(void **state)
{
	struct identity i;

	(void)state;
	make_f2fs();
	i = read_image(sizeof(image));
	assert_int_equal(i.block_size, 4096);
	assert_int_equal(i.n_devices, 1);
	assert_int_equal(i.fast_commit, FEATURE_UNKNOWN);
}

static void devices_of_an_f2fs_are_counted(void **state)
{
	(void)state;
	make_f2fs();
	add_device(0, "/dev/vdb");
	add_device(1, "/dev/vdc");
	assert_int_equal(read_image(sizeof(image)).n_devices, 2);
	for (unsigned i = 0; i < 8; i++)
		add_device(i, "/dev/disk/by-id/x");
	assert_int_equal(read_image(sizeof(image)).n_devices, 8);
}

static void impossible_block_size_is_unknown(void **state)
{
	(void)state;
	make_f2fs();
	put32(F2FS_LOG_BLOCKSIZE, 77);
	assert_int_equal(read_image(sizeof(image)).block_size, 0);
}

static void short_or_blank_device_tells_nothing(void **state)
{
	static const struct identity none;
	struct identity i = read_image(sizeof(image));

	(void)state;
	assert_memory_equal(&i, &none, sizeof(i));
	make_f2fs();
	i = read_image(SB + F2FS_DEVS);
	assert_memory_equal(&i, &none, sizeof(i));
}

static void ext4_tells_of_fast_commits(void **state)
{
	struct identity i;

	(void)state;
	put32(EXT4_MAGIC, 0xef53);
	assert_int_equal(read_image(sizeof(image)).fast_commit, FEATURE_NO);
	put32(EXT4_FEATURE_COMPAT, 0x400);
	i = read_image(sizeof(image));
	assert_int_equal(i.fast_commit, FEATURE_YES);
	assert_int_equal(i.n_devices, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(f2fs_on_one_device_names_none, blank),
		cmocka_unit_test_setup(devices_of_an_f2fs_are_counted, blank),
		cmocka_unit_test_setup(impossible_block_size_is_unknown, blank),
		cmocka_unit_test_setup(short_or_blank_device_tells_nothing, blank),
		cmocka_unit_test_setup(ext4_tells_of_fast_commits, blank),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
