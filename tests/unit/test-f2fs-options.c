// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "../../daemon/act/f2fs-options.h"

#define KEY "checkpoint_merge"
/* As Linux 6.1 writes them for a file system with nothing special. */
#define PLAIN                                                                             \
	"rw,lazytime,background_gc=on,discard,no_heap,user_xattr,inline_xattr,acl,"       \
	"inline_data,inline_dentry,flush_merge,extent_cache,mode=adaptive,active_logs=6," \
	"alloc_mode=default,checkpoint_merge,fsync_mode=posix,discard_unit=block,memory=" \
	"normal"

static void options_are_taken_apart(void **state)
{
	static const struct {
		const char *text;
		const char *keys[4], *values[4];
	} cases[] = {
		{ "rw", { "rw" }, { NULL } },
		{ "rw,mode=lfs,acl", { "rw", "mode", "acl" }, { NULL, "lfs", NULL } },
		{ "a=b=c", { "a" }, { "b=c" } },
		{ "usrjquota=", { "usrjquota" }, { "" } },
		{ "x=a\\054b\\040c\\134", { "x" }, { "a,b c\\" } },
		{ "context=\"u:r:t:s0:c1,c2\",acl",
		  { "context", "acl" },
		  { "u:r:t:s0:c1,c2" } },
		{ "x=\"open,y", { "x" }, { "\"open,y" } },
		{ "x=\"", { "x" }, { "\"" } },
		{ "compress_algorithm=zstd:3,mode=fragment:block",
		  { "compress_algorithm", "mode" },
		  { "zstd:3", "fragment:block" } },
		{ "", { NULL }, { NULL } },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char text[128], *rest = text;
		struct f2fs_option o;
		size_t n = 0;

		strcpy(text, cases[i].text);
		for (; f2fs_option_next(&rest, &o); n++) {
			assert_string_equal(o.key, cases[i].keys[n]);
			if (cases[i].values[n])
				assert_string_equal(o.value, cases[i].values[n]);
			else
				assert_null(o.value);
		}
		assert_true(n == ELEMENTSOF(cases[i].keys) || !cases[i].keys[n]);
	}
}

static void flag_is_found_as_a_whole_option(void **state)
{
	(void)state;
	assert_int_equal(f2fs_options_flag(PLAIN, KEY), 1);
	assert_int_equal(f2fs_options_flag("rw,nocheckpoint_merge", KEY), 0);
	assert_int_equal(f2fs_options_flag("checkpoint_merge,rw", KEY), 1);
	assert_int_equal(f2fs_options_flag("rw,checkpoint_merge2", KEY), -ENOENT);
	assert_int_equal(f2fs_options_flag("rw,xcheckpoint_merge", KEY), -ENOENT);
	assert_int_equal(f2fs_options_flag("rw,x=\"a,checkpoint_merge\"", KEY), -ENOENT);
	assert_int_equal(f2fs_options_flag("", KEY), -ENOENT);
}

static void one_option_is_set_and_all_others_stay(void **state)
{
	static const struct {
		const char *from;
		bool on;
		const char *to;
	} cases[] = {
		{ "rw,checkpoint_merge,acl", false, "rw,nocheckpoint_merge,acl" },
		{ "rw,nocheckpoint_merge,acl", true, "rw,checkpoint_merge,acl" },
		{ "rw,checkpoint_merge", true, "rw,checkpoint_merge" },
		{ "checkpoint_merge", false, "nocheckpoint_merge" },
		{ "a=\"x,y\",nocheckpoint_merge", true, "a=\"x,y\",checkpoint_merge" },
		{ "a=x\\054y,checkpoint_merge", false, "a=x\\054y,nocheckpoint_merge" },
	};
	char text[F2FS_OPTIONS_MAX], large[F2FS_OPTIONS_MAX];

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_int_equal(f2fs_options_set(cases[i].from, KEY, cases[i].on, text), 0);
		assert_string_equal(text, cases[i].to);
	}
	assert_int_equal(f2fs_options_set("rw,acl", KEY, true, text), -ENOENT);
	/* one byte too many with "no" */
	memset(large, 'x', sizeof(large));
	strcpy(large + sizeof(large) - 1 - strlen("," KEY), "," KEY);
	assert_int_equal(f2fs_options_set(large, KEY, true, text), 0);
	assert_int_equal(f2fs_options_set(large, KEY, false, text), -ENOBUFS);
}

static void what_would_not_stay_as_it_is_is_refused(void **state)
{
	static const struct {
		const char *options, *why; /* NULL: allowed */
	} cases[] = {
		{ PLAIN, NULL },
		{ "rw,lazytime,usrquota,fsync_mode=posix,nocheckpoint_merge", NULL },
		{ "rw,sync,dirsync,lazytime,errors=continue", NULL },
		{ "ro,lazytime,fsync_mode=posix", "read-only" },
		{ "rw,fsync_mode=posix", "nolazytime" },
		{ "", "nolazytime" },
		{ "rw,lazytime,fsync_mode=strict", "fsync_mode" },
		{ "rw,lazytime,fsync_mode=nobarrier", "fsync_mode" },
		{ "rw,lazytime,checkpoint=disable:0", "checkpoints are disabled" },
		{ "rw,lazytime,jqfmt=vfsv1", "journaled quota" },
		{ "rw,lazytime,usrjquota=aquota.user", "journaled quota" },
		{ "rw,lazytime,errors=remount-ro", "errors=" },
		/* inside a label it means nothing */
		{ "rw,context=\"a,lazytime\"", "nolazytime" },
	};
	char large[F2FS_OPTIONS_MAX + 1] = "rw,lazytime,x=";

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const char *why = f2fs_options_refusal(cases[i].options);

		if (!cases[i].why)
			assert_null(why);
		else
			assert_true(why && strstr(why, cases[i].why));
	}
	memset(large + strlen(large), 'y', sizeof(large) - 1 - strlen(large));
	assert_non_null(f2fs_options_refusal(large));
}

static void first_difference_is_named(void **state)
{
	static const struct {
		const char *wanted, *found, *why;
	} cases[] = {
		{ "rw,acl", "rw,noacl", "noacl instead of acl" },
		{ "rw,acl", "rw", "nothing instead of acl" },
		{ "rw", "rw,acl", "acl instead of nothing" },
		{ "rw,mode=lfs", "rw,mode=adaptive", "mode=adaptive instead of mode=lfs" },
		{ "rw,a", "ro,a", "ro instead of rw" },
	};
	char why[128];

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_false(
			f2fs_options_same(cases[i].wanted, cases[i].found, why, sizeof(why)));
		assert_string_equal(why, cases[i].why);
	}
	assert_true(f2fs_options_same(PLAIN, PLAIN, why, sizeof(why)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_taken_apart),
		cmocka_unit_test(flag_is_found_as_a_whole_option),
		cmocka_unit_test(one_option_is_set_and_all_others_stay),
		cmocka_unit_test(what_would_not_stay_as_it_is_is_refused),
		cmocka_unit_test(first_difference_is_named),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
