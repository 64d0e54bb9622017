// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <cmocka.h>
#include "../../daemon/act/reconfigure.h"
#include "../../daemon/observe/mount-lines.h"
#include "tree.h"

#define TREE(t)                             \
	_cleanup_(tree_done) struct tree t; \
	(void)state;                        \
	tree_init(&t)

static void escapes_become_the_bytes_they_stand_for(void **state)
{
	static const char *const cases[][2] = {
		{ "/mnt/a\\040b", "/mnt/a b" },
		{ "\\011\\012\\134\\043", "\t\n\\#" },
		{ "/plain", "/plain" },
		{ "\\", "\\" },
		{ "\\04", "\\04" },
		{ "\\0408", " 8" },
		{ "\\777", "\\777" },
		{ "\\000x", "\\000x" },
		{ "a\\x40", "a\\x40" },
		{ "\\303\\244", "\xc3\xa4" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char text[32];

		strcpy(text, cases[i][0]);
		mount_unescape(text);
		assert_string_equal(text, cases[i][1]);
	}
}

static void line_is_taken_apart(void **state)
{
	char text[] = "36 35 254:16 /sub /mnt/a\\040b ro,noatime shared:7 master:1 - f2fs "
		      "/dev/vdb rw,lazytime,mode=lfs";
	struct mount_line l;

	(void)state;
	assert_int_equal(mount_line_parse(text, &l), 0);
	assert_int_equal(l.id, 36);
	assert_true(l.dev == makedev(254, 16));
	assert_string_equal(l.mountpoint, "/mnt/a b");
	assert_string_equal(l.flags, "ro,noatime");
	assert_string_equal(l.fstype, "f2fs");
	assert_string_equal(l.options, "rw,lazytime,mode=lfs");
}

static void what_is_no_line_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		" - ",
		"36 35 8:1 / /mnt rw f2fs /dev/x rw",
		"36 35 8:1 / /mnt - f2fs /dev/x rw",
		"36 35 8:1 / /mnt rw - f2fs /dev/x",
		"36 35 8:1 / /mnt rw - f2fs",
		"x 35 8:1 / /mnt rw - f2fs /dev/x rw",
		"36 35 8 / /mnt rw - f2fs /dev/x rw",
		"36 35 -8:1 / /mnt rw - f2fs /dev/x rw",
		"36  35 8:1 / /mnt rw - f2fs /dev/x rw",
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		struct mount_line l;
		char text[128];

		strcpy(text, bad[i]);
		assert_int_equal(mount_line_parse(text, &l), -EBADMSG);
	}
}

struct seen {
	unsigned n;
	char last[64];
	unsigned stop_at; /* 0: never */
};

static int see(struct mount_line *l, void *userdata)
{
	struct seen *s = userdata;

	snprintf(s->last, sizeof(s->last), "%s", l->mountpoint);
	s->n++;
	return s->n == s->stop_at ? 42 : 0;
}

static void lines_of_one_device_are_read(void **state)
{
	struct seen s = { 0 }, first = { .stop_at = 1 };

	TREE(t);
	tree_write(&t, "mountinfo",
		   "1 0 8:1 / /a rw - f2fs /dev/x rw\n"
		   "nonsense\n"
		   "2 0 8:2 / /b rw - f2fs /dev/y rw\n"
		   "3 0 8:1 /s /c rw - f2fs /dev/x rw\n");
	assert_int_equal(mount_lines_read(tree_path(&t, "mountinfo"), makedev(8, 1), see, &s),
			 0);
	assert_int_equal(s.n, 2);
	assert_string_equal(s.last, "/c");
	assert_int_equal(
		mount_lines_read(tree_path(&t, "mountinfo"), makedev(8, 1), see, &first), 42);
	assert_string_equal(first.last, "/a");
	assert_int_equal(mount_lines_read(tree_path(&t, "none"), makedev(8, 1), see, &s),
			 -ENOENT);
}

/* Longer than what is read at once, and than any line can be. */
static void long_files_and_lines_lose_nothing_else(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct seen s = { 0 };
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	TREE(t);
	for (int i = 0; i < 3000; i++)
		fprintf(f, "%d 0 8:%d / /m%d rw - f2fs /dev/x rw\n", i + 1, i % 2, i);
	fprintf(f, "9 0 8:1 / /%0100000d rw - f2fs /dev/x rw\n", 0);
	fputs("9 0 8:1 / /last rw - f2fs /dev/x rw\n", f);
	fclose(f);
	tree_write(&t, "mountinfo", text);
	assert_int_equal(mount_lines_read(tree_path(&t, "mountinfo"), makedev(8, 1), see, &s),
			 0);
	assert_int_equal(s.n, 1501);
	assert_string_equal(s.last, "/last");
}

static int count(pid_t pid, void *userdata)
{
	unsigned *n = userdata;

	if (*n == 0)
		assert_int_equal(pid, 1);
	(*n)++;
	return 0;
}

static void each_namespace_is_looked_at_once(void **state)
{
	unsigned n = 0;

	TREE(t);
	tree_write(&t, "proc/1/ns/mnt", "");
	tree_write(&t, "proc/20/ns/mnt", "");
	tree_write(&t, "proc/self/ns/mnt", "");
	/* the same namespace as 20 */
	tree_write(&t, "proc/21/ns/x", "");
	assert_int_equal(link(tree_path(&t, "proc/20/ns/mnt"), tree_path(&t, "proc/21/ns/mnt")),
			 0);
	/* has just ended */
	tree_write(&t, "proc/22/x", "");
	assert_int_equal(mount_namespaces_read(t.root, count, &n), 0);
	assert_int_equal(n, 2);
}

static void options_are_found_in_another_namespace(void **state)
{
	char options[F2FS_OPTIONS_MAX];

	TREE(t);
	tree_write(&t, "proc/1/ns/mnt", "");
	tree_write(&t, "proc/1/mountinfo", "1 0 8:2 / / rw - ext4 /dev/y rw\n");
	assert_int_equal(reconfigure_read(t.root, makedev(8, 1), options), -ENOENT);
	tree_write(&t, "proc/20/ns/mnt", "");
	tree_write(&t, "proc/20/mountinfo", "7 0 8:1 / /b rw - f2fs /dev/x rw,lazytime\n");
	assert_int_equal(reconfigure_read(t.root, makedev(8, 1), options), 0);
	assert_string_equal(options, "rw,lazytime");
	/* PID 1's own come first */
	tree_write(&t, "proc/1/mountinfo", "1 0 8:1 / / rw - f2fs /dev/x rw,acl\n");
	assert_int_equal(reconfigure_read(t.root, makedev(8, 1), options), 0);
	assert_string_equal(options, "rw,acl");
	/* another file system under the same number is none */
	tree_write(&t, "proc/1/mountinfo", "1 0 8:1 / / rw - ext4 /dev/x rw,acl\n");
	tree_write(&t, "proc/20/mountinfo", "");
	assert_int_equal(reconfigure_read(t.root, makedev(8, 1), options), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_become_the_bytes_they_stand_for),
		cmocka_unit_test(line_is_taken_apart),
		cmocka_unit_test(what_is_no_line_is_refused),
		cmocka_unit_test(lines_of_one_device_are_read),
		cmocka_unit_test(long_files_and_lines_lose_nothing_else),
		cmocka_unit_test(each_namespace_is_looked_at_once),
		cmocka_unit_test(options_are_found_in_another_namespace),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
