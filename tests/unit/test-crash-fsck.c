// SPDX-License-Identifier: GPL-2.0-or-later
/* What of e2fsck's findings the crash test lets pass: wrong counts, and nothing beside them. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../vm/crash/examine.h"
#include "tree.h"

#define BEGIN                                                                      \
	"e2fsck 1.47.0 (5-Feb-2023)\nPass 1: Checking inodes, blocks, and sizes\n" \
	"Pass 2: Checking directory structure\n"
#define END                                                                            \
	"\n/tmp/crashed: ********** WARNING: Filesystem still has errors **********\n" \
	"\n/tmp/crashed: 231/16384 files (0.4% non-contiguous), 5367/16384 blocks\n"
#define COUNTS                                                                  \
	"Inode 249, i_blocks is 0, should be 8.  Fix? no\n\n"                   \
	"Pass 4: Checking reference counts\n"                                   \
	"Inode 214 ref count is 4, should be 5.  Fix? no\n\n"                   \
	"Directories count wrong for group #0 (212, counted=214).\nFix? no\n\n" \
	"Free blocks count wrong (11027, counted=10972).\nFix? no\n\n"

static bool passes(const char *text)
{
	struct tree t;
	bool r;

	tree_init(&t);
	tree_write(&t, "said", text);
	r = said_only_counts(tree_path(&t, "said"));
	tree_done(&t);
	return r;
}

static void wrong_counts_pass(void **state)
{
	(void)state;
	assert_true(passes(BEGIN COUNTS END));
}

static void anything_else_does_not(void **state)
{
	(void)state;
	assert_false(
		passes(BEGIN COUNTS "Unattached inode 233\nConnect to /lost+found? no\n" END));
	assert_false(passes(
		BEGIN
		"Entry 'a' in /w0 (12) has deleted/unused inode 257.  Clear? no\n" COUNTS END));
	assert_false(passes(BEGIN "Block bitmap differences:  +5357\nFix? no\n" COUNTS END));
	assert_false(passes(COUNTS "e2fsck: Superblock checksum does not match superblock\n"));
}

static void to_say_nothing_is_not_to_complain_of_counts(void **state)
{
	(void)state;
	assert_false(passes(""));
	assert_false(passes(BEGIN END));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_counts_pass),
		cmocka_unit_test(anything_else_does_not),
		cmocka_unit_test(to_say_nothing_is_not_to_complain_of_counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
