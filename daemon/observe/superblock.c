// SPDX-License-Identifier: GPL-2.0-or-later
#include <endian.h>
#include <stddef.h>
#include "superblock.h"

/* Both kinds begin here. */
#define SB_OFFSET 1024

/* What is read of ext4's (fs/ext4/ext4.h, struct ext4_super_block). */
#define EXT4_SB_MAGIC 0xef53
#define EXT4_COMPAT_FAST_COMMIT 0x0400
struct ext4_sb_part {
	uint8_t before[0x38];
	uint16_t magic;
	uint8_t middle[0x5c - 0x3a];
	uint32_t feature_compat;
	uint8_t more[0xfd - 0x60];
	uint8_t jnl_backup_type; /* 1: jnl_blocks is i_block[15], then the inode's size */
	uint8_t after[0x10c - 0xfe];
	uint32_t jnl_blocks[17];
} __attribute__((packed));

_Static_assert(offsetof(struct ext4_sb_part, magic) == 0x38, "s_magic");
_Static_assert(offsetof(struct ext4_sb_part, feature_compat) == 0x5c, "s_feature_compat");
_Static_assert(offsetof(struct ext4_sb_part, jnl_backup_type) == 0xfd, "s_jnl_backup_type");
_Static_assert(offsetof(struct ext4_sb_part, jnl_blocks) == 0x10c, "s_jnl_blocks");

/* And of f2fs's (include/linux/f2fs_fs.h, struct f2fs_super_block). */
#define F2FS_SB_MAGIC 0xf2f52010
#define F2FS_BLOCK_BITS_MAX 16 /* 64 KiB, the largest page of any machine */
struct f2fs_sb_part {
	uint32_t magic;
	uint8_t before[0x10 - 0x4];
	uint32_t log_blocksize;
	uint8_t middle[0x899 - 0x14];
	struct {
		char path[64]; /* empty: no such device; all are where there is but one */
		uint32_t total_segments;
	} __attribute__((packed)) devs[8];
} __attribute__((packed));

_Static_assert(offsetof(struct f2fs_sb_part, log_blocksize) == 0x10, "log_blocksize");
_Static_assert(offsetof(struct f2fs_sb_part, devs) == 0x899, "devs");

/*
 * What the mount goes by: neither sysfs nor every kernel's options tell whether a file system
 * has fast commits, and the account of those that it made is all zero until the first.
 */
static void read_ext4(int fd, struct identity *ret)
{
	struct ext4_sb_part sb;

	if (pread(fd, &sb, sizeof(sb), SB_OFFSET) != sizeof(sb) ||
	    le16toh(sb.magic) != EXT4_SB_MAGIC)
		return;
	ret->fast_commit =
		le32toh(sb.feature_compat) & EXT4_COMPAT_FAST_COMMIT ? FEATURE_YES : FEATURE_NO;
	if (sb.jnl_backup_type == 1)
		ret->journal_bytes =
			(uint64_t)le32toh(sb.jnl_blocks[15]) << 32 | le32toh(sb.jnl_blocks[16]);
}

static void read_f2fs(int fd, struct identity *ret)
{
	struct f2fs_sb_part sb;
	unsigned n = 0;

	if (pread(fd, &sb, sizeof(sb), SB_OFFSET) != sizeof(sb) ||
	    le32toh(sb.magic) != F2FS_SB_MAGIC)
		return;
	while (n < ELEMENTSOF(sb.devs) && *sb.devs[n].path)
		n++;
	ret->n_devices = n ? n : 1;
	if (le32toh(sb.log_blocksize) <= F2FS_BLOCK_BITS_MAX)
		ret->block_size = UINT32_C(1) << le32toh(sb.log_blocksize);
}

void superblock_read(int fd, struct identity *ret)
{
	read_ext4(fd, ret);
	read_f2fs(fd, ret);
}
