// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../daemon/act/knob.h"
#include "tree.h"

#define PATCHED "proc/fs/jbd2/sda5-8/force_copy"
#define MODULE "proc/fs/jbd2_force_copy/sda5-8"

static const struct knob_ops *const ops = &knob_force_copy;

static struct device device(const char *journal)
{
	struct device d = { .name = "sda5", .has_journal = true };

	snprintf(d.journal, sizeof(d.journal), "%s", journal);
	return d;
}

struct found {
	int r;
	char path[256], why[160];
};

static struct found probe(const struct tree *t, const char *journal)
{
	struct device d = device(journal);
	struct found f = { 0 };

	f.r = ops->probe(&d, t->root, f.path, sizeof(f.path), f.why, sizeof(f.why));
	assert_int_equal(f.r != 0, *f.why != 0);
	return f;
}

#define TREE(t)                             \
	_cleanup_(tree_done) struct tree t; \
	(void)state;                        \
	tree_init(&t)

static void knob_table_is_complete(void **state)
{
	enum knob_id id;

	(void)state;
	for (unsigned i = 0; i < KNOB_MAX; i++) {
		const struct knob_ops *o = knob_ops((enum knob_id)i);
		char value[KNOB_VALUE_MAX];

		assert_non_null(o);
		assert_int_equal(knob_from_string(o->name, &id), 0);
		assert_int_equal(id, i);
		assert_int_equal(o->parse(o->initial, value), 0);
		assert_string_equal(value, o->initial);
		assert_true(*o->cost && *o->unit && *o->missing && *o->place == '/');
	}
	assert_int_equal(knob_from_string("force-copy", &id), -ENOENT);
	assert_int_equal(knob_from_string("", &id), -ENOENT);
}

static void force_copy_is_found_in_both_places(void **state)
{
	TREE(t);
	tree_write(&t, MODULE, "0\n");
	assert_int_equal(probe(&t, "sda5-8").r, 0);
	assert_string_equal(probe(&t, "sda5-8").path, tree_path(&t, MODULE));
	/* a patched jbd2 needs no module */
	tree_write(&t, PATCHED, "0\n");
	assert_string_equal(probe(&t, "sda5-8").path, tree_path(&t, PATCHED));
}

static void force_copy_is_missing_on_an_ordinary_kernel(void **state)
{
	TREE(t);
	assert_int_equal(probe(&t, "sda5-8").r, -ENOENT);
	tree_write(&t, "proc/fs/jbd2/sda5-8/info", "x\n");
	assert_int_equal(probe(&t, "sda5-8").r, -ENOENT);
}

static void force_copy_needs_a_journal(void **state)
{
	TREE(t);
	assert_int_equal(probe(&t, "").r, -ENODEV);
}

static void force_copy_takes_odd_journal_names(void **state)
{
	TREE(t);
	tree_write(&t, "proc/fs/jbd2/cciss!c0d0p1-8/force_copy", "1\n");
	assert_int_equal(probe(&t, "cciss!c0d0p1-8").r, 0);
	tree_write(&t, "proc/fs/jbd2/..dm-0/force_copy", "1\n");
	assert_int_equal(probe(&t, "..dm-0").r, 0);
}

static void force_copy_refuses_names_that_lead_elsewhere(void **state)
{
	static const char *const names[] = { "..", ".", "../../etc", "a/b", "/", "sda5-8/" };

	TREE(t);
	tree_write(&t, "proc/fs/jbd2/force_copy", "0\n");
	tree_write(&t, "proc/fs/force_copy", "0\n");
	tree_write(&t, PATCHED, "0\n");
	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		assert_int_equal(probe(&t, names[i]).r, -EINVAL);
}

static void force_copy_is_a_file_and_nothing_else(void **state)
{
	TREE(t);
	tree_write(&t, PATCHED "/x", "0\n");
	assert_int_equal(probe(&t, "sda5-8").r, -ENOENT);
	/* opening a FIFO would wait for ever */
	tree_write(&t, "proc/fs/jbd2_force_copy/x", "0\n");
	assert_int_equal(mkfifo(tree_path(&t, MODULE), 0600), 0);
	assert_int_equal(probe(&t, "sda5-8").r, -ENOENT);
}

static void force_copy_reads_numbers(void **state)
{
	static const struct {
		const char *text, *value;
		int r;
	} cases[] = {
		{ "0\n", "0", 0 },
		{ "1\n", "1", 0 },
		{ "1", "1", 0 },
		{ " 1 \n", "1", 0 },
		{ "2\n", "2", 0 },
		{ "4294967295\n", "4294967295", 0 },
		{ "007\n", "7", 0 },
		{ "4294967296\n", "", -EBADMSG },
		{ "99999999999999999999999999\n", "", -EBADMSG },
		{ "", "", -EBADMSG },
		{ "\n", "", -EBADMSG },
		{ "-1\n", "", -EBADMSG },
		{ "+1\n", "", -EBADMSG },
		{ "0x1\n", "", -EBADMSG },
		{ "1 0\n", "", -EBADMSG },
		{ "on\n", "", -EBADMSG },
		{ "0000000000000000000000000000000000000000001\n", "", -EBADMSG },
	};

	TREE(t);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char value[KNOB_VALUE_MAX] = "";

		tree_write(&t, PATCHED, cases[i].text);
		assert_int_equal(ops->read(tree_path(&t, PATCHED), value), cases[i].r);
		assert_string_equal(value, cases[i].value);
	}
	assert_int_equal(ops->read(tree_path(&t, "nowhere"), (char[KNOB_VALUE_MAX]){ 0 }),
			 -ENOENT);
}

static void force_copy_writes_and_never_creates(void **state)
{
	TREE(t);
	tree_write(&t, PATCHED, "0\n");
	assert_int_equal(ops->write(tree_path(&t, PATCHED), "1"), 0);
	assert_string_equal(tree_read(&t, PATCHED), "1");
	assert_int_equal(ops->write(tree_path(&t, MODULE), "1"), -ENOENT);
	assert_null(tree_read(&t, MODULE));
}

static void force_copy_parses_what_people_type(void **state)
{
	static const char *const yes[] = { "1", "on", "yes", "true", "ON", "Yes" };
	static const char *const no[] = { "0", "off", "no", "false", "Off" };
	static const char *const bad[] = {
		"", "2", "-1", "01", "1 ", " 1", "onn", "enable", "o"
	};
	char value[KNOB_VALUE_MAX];

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(yes); i++) {
		assert_int_equal(ops->parse(yes[i], value), 0);
		assert_string_equal(value, "1");
	}
	for (size_t i = 0; i < ELEMENTSOF(no); i++) {
		assert_int_equal(ops->parse(no[i], value), 0);
		assert_string_equal(value, "0");
	}
	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		assert_int_equal(ops->parse(bad[i], value), -EINVAL);
}

static void force_copy_path_that_does_not_fit_is_refused(void **state)
{
	struct device d = device("sda5-8");
	char path[16], why[160];

	TREE(t);
	tree_write(&t, PATCHED, "0\n");
	assert_int_equal(ops->probe(&d, t.root, path, sizeof(path), why, sizeof(why)),
			 -ENAMETOOLONG);
}

/* --- fast_commit --- */

#define SWITCH "sys/fs/ext4/sda5/fast_commit"

static struct found probe_fast(const struct tree *t, const struct device *d)
{
	struct found f = { 0 };

	f.r = knob_fast_commit.probe(d, t->root, f.path, sizeof(f.path), f.why, sizeof(f.why));
	assert_int_equal(f.r != 0, *f.why != 0);
	return f;
}

static void fast_commit_is_found_where_the_feature_is(void **state)
{
	struct device d = { .name = "sda5", .has_journal = true, .fast_commit = FEATURE_YES };

	TREE(t);
	tree_write(&t, SWITCH, "1\n");
	assert_int_equal(probe_fast(&t, &d).r, 0);
	assert_string_equal(probe_fast(&t, &d).path, tree_path(&t, SWITCH));
}

static void fast_commit_says_why_it_is_not_offered(void **state)
{
	static const struct {
		struct device d;
		bool has_switch;
		int r;
		const char *why;
	} cases[] = {
		{ { .has_journal = true }, true, -EINVAL, "no device's name" },
		{ { .name = "sda5", .has_journal = true, .fast_commit = FEATURE_YES },
		  false,
		  -ENOENT,
		  "this kernel has no switch" },
		{ { .name = "sda5",
		    .has_journal = true,
		    .fast_commit = FEATURE_YES,
		    .mount_options = "rw,data=journal" },
		  true,
		  -EOPNOTSUPP,
		  "data=journal" },
		{ { .name = "sda5", .has_journal = true, .fast_commit = FEATURE_NO },
		  true,
		  -EOPNOTSUPP,
		  "no feature fast_commit" },
		{ { .name = "sda5", .has_journal = true }, true, -EAGAIN, "is not known" },
		{ { .name = "sda5",
		    .has_journal = true,
		    .fast_commit = FEATURE_YES,
		    .read_only = true },
		  true,
		  -EROFS,
		  "read-only" },
		{ { .name = "sda5", .fast_commit = FEATURE_YES }, true, -ENODEV, "no journal" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(tree_done) struct tree t;
		struct found f;

		tree_init(&t);
		if (cases[i].has_switch)
			tree_write(&t, SWITCH, "1\n");
		f = probe_fast(&t, &cases[i].d);
		assert_int_equal(f.r, cases[i].r);
		assert_non_null(strstr(f.why, cases[i].why));
	}
}

static void fast_commit_refuses_names_that_lead_elsewhere(void **state)
{
	static const char *const names[] = { "..", ".", "../../etc", "a/b", "/" };
	struct device d = { .has_journal = true, .fast_commit = FEATURE_YES };

	TREE(t);
	tree_write(&t, "sys/fs/fast_commit", "1\n");
	tree_write(&t, "sys/fs/ext4/fast_commit", "1\n");
	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		snprintf(d.name, sizeof(d.name), "%s", names[i]);
		assert_int_equal(probe_fast(&t, &d).r, -EINVAL);
	}
	strcpy(d.name, "cciss!c0d0p1");
	tree_write(&t, "sys/fs/ext4/cciss!c0d0p1/fast_commit", "1\n");
	assert_int_equal(probe_fast(&t, &d).r, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knob_table_is_complete),
		cmocka_unit_test(force_copy_is_found_in_both_places),
		cmocka_unit_test(force_copy_is_missing_on_an_ordinary_kernel),
		cmocka_unit_test(force_copy_needs_a_journal),
		cmocka_unit_test(force_copy_takes_odd_journal_names),
		cmocka_unit_test(force_copy_refuses_names_that_lead_elsewhere),
		cmocka_unit_test(force_copy_is_a_file_and_nothing_else),
		cmocka_unit_test(force_copy_reads_numbers),
		cmocka_unit_test(force_copy_writes_and_never_creates),
		cmocka_unit_test(force_copy_parses_what_people_type),
		cmocka_unit_test(force_copy_path_that_does_not_fit_is_refused),
		cmocka_unit_test(fast_commit_is_found_where_the_feature_is),
		cmocka_unit_test(fast_commit_says_why_it_is_not_offered),
		cmocka_unit_test(fast_commit_refuses_names_that_lead_elsewhere),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
