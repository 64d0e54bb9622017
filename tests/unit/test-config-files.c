// SPDX-License-Identifier: GPL-2.0-or-later
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "capture.h"
#include "../../daemon/base/log.h"
#include "../../daemon/base/time-util.h"
#include "../../daemon/config-internal.h"

static int remove_entry(const char *path, const struct stat *st _unused_, int type _unused_,
			struct FTW *ftw _unused_)
{
	return remove(path);
}

struct tree {
	char top[64];
	char vendor[80], admin[80];
	const char *dirs[2];
};

static void make_dir(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void make_file(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int tree_setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	strcpy(t->top, "/tmp/test-config-XXXXXX");
	assert_non_null(mkdtemp(t->top));
	snprintf(t->vendor, sizeof(t->vendor), "%s/usr", t->top);
	snprintf(t->admin, sizeof(t->admin), "%s/etc", t->top);
	make_dir(t->top, "usr");
	make_dir(t->top, "etc");
	make_dir(t->vendor, "fs-tuned.conf.d");
	make_dir(t->admin, "fs-tuned.conf.d");
	t->dirs[0] = t->vendor;
	t->dirs[1] = t->admin;
	*state = t;
	return 0;
}

static int tree_teardown(void **state)
{
	struct tree *t = *state;

	nftw(t->top, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(t);
	return 0;
}

static const char *load(struct config *c, const struct tree *t)
{
	int r;

	capture();
	r = config_load_dirs(c, t->dirs, 2);
	const char *log = logged();

	assert_int_equal(r, 0);
	return log;
}

static void nothing_there_means_defaults(void **state)
{
	struct config c, defaults = { 0 };

	assert_string_equal(load(&c, *state), "");
	config_defaults(&defaults);
	assert_memory_equal(&c.policy, &defaults.policy, sizeof(c.policy));
	assert_int_equal(c.interval_us, defaults.interval_us);
	config_done(&c);
}

static void dropins_of_both_places_apply_by_name(void **state)
{
	struct tree *t = *state;
	struct config c;

	make_file(t->vendor, "fs-tuned.conf", "[Manager]\nHistorySize=1\nInterval=9s\n");
	make_file(t->admin, "fs-tuned.conf", "[Manager]\nHistorySize=2\n");
	make_file(t->vendor, "fs-tuned.conf.d/50-a.conf", "[Policy]\nChangesMax=5\n");
	make_file(t->admin, "fs-tuned.conf.d/40-b.conf",
		  "[Policy]\nChangesMax=4\nForceCopy=0\n");
	make_file(t->vendor, "fs-tuned.conf.d/60-c.conf", "[Policy]\nForceCopyTrial=6s\n");
	make_file(t->admin, "fs-tuned.conf.d/60-c.conf", "[Policy]\nForceCopyTrial=7s\n");
	make_file(t->admin, "fs-tuned.conf.d/70-d.conf.bak", "[Policy]\nChangesMax=7\n");
	make_file(t->admin, "fs-tuned.conf.d/.80-e.conf", "[Policy]\nChangesMax=8\n");
	assert_string_equal(load(&c, t), "");
	assert_int_equal(c.history_size, 2);
	assert_int_equal(c.interval_us, USEC_PER_SEC); /* the vendor's file is masked */
	assert_int_equal(c.policy.changes_max, 5);
	assert_int_equal(c.policy.knob[KNOB_FORCE_COPY].mode, KNOB_MANUAL);
	assert_int_equal(c.policy.trial_us, 7 * USEC_PER_SEC);
	config_done(&c);
}

static void link_to_dev_null_masks(void **state)
{
	struct tree *t = *state;
	char path[PATH_MAX];
	struct config c;

	make_file(t->vendor, "fs-tuned.conf.d/50-a.conf", "[Policy]\nChangesMax=5\n");
	make_file(t->vendor, "fs-tuned.conf", "[Manager]\nHistorySize=1\n");
	snprintf(path, sizeof(path), "%s/fs-tuned.conf.d/50-a.conf", t->admin);
	assert_int_equal(symlink("/dev/null", path), 0);
	snprintf(path, sizeof(path), "%s/fs-tuned.conf", t->admin);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_string_equal(load(&c, t), "");
	assert_int_equal(c.policy.changes_max, policy_config_default.changes_max);
	assert_int_equal(c.history_size, 1000);
	config_done(&c);
}

static void what_cannot_be_read_is_one_warning_each(void **state)
{
	struct tree *t = *state;
	char path[PATH_MAX];
	struct config c;
	const char *log;

	make_dir(t->admin, "fs-tuned.conf.d/10-dir.conf");
	snprintf(path, sizeof(path), "%s/fs-tuned.conf.d/20-loop.conf", t->admin);
	assert_int_equal(symlink("20-loop.conf", path), 0);
	snprintf(path, sizeof(path), "%s/fs-tuned.conf.d/30-huge.conf", t->admin);
	make_file(t->admin, "fs-tuned.conf.d/30-huge.conf", "[Manager]\nHistorySize=3\n");
	assert_int_equal(truncate(path, CONFIG_FILE_MAX + 1), 0);
	snprintf(path, sizeof(path), "%s/fs-tuned.conf.d/40-fifo.conf", t->admin);
	assert_int_equal(mkfifo(path, 0600), 0);
	make_file(t->admin, "fs-tuned.conf.d/90-good.conf", "[Manager]\nHistorySize=9\n");
	log = load(&c, t);
	assert_non_null(strstr(log, "10-dir.conf: cannot be read, ignored: Is a directory"));
	assert_non_null(strstr(log, "20-loop.conf: cannot be read"));
	assert_non_null(strstr(log, "30-huge.conf: more than 262144 bytes"));
	assert_non_null(strstr(log, "40-fifo.conf: cannot be read"));
	assert_int_equal(count_of(log, "\n"), 4);
	assert_int_equal(c.warnings, 4);
	assert_int_equal(c.history_size, 9);
	config_done(&c);
}

static void dropin_directory_that_is_none_is_a_warning(void **state)
{
	struct tree *t = *state;
	char path[PATH_MAX];
	struct config c;

	snprintf(path, sizeof(path), "%s/fs-tuned.conf.d", t->vendor);
	assert_int_equal(rmdir(path), 0);
	make_file(t->vendor, "fs-tuned.conf.d", "");
	make_file(t->admin, "fs-tuned.conf.d/90-good.conf", "[Manager]\nHistorySize=9\n");
	assert_non_null(strstr(load(&c, t), "cannot be listed"));
	assert_int_equal(c.history_size, 9);
	config_done(&c);
}

static void named_file_is_read_alone_or_is_an_error(void **state)
{
	struct tree *t = *state;
	char path[PATH_MAX];
	struct config c;

	make_file(t->admin, "mine", "[Manager]\nHistorySize=4\n");
	snprintf(path, sizeof(path), "%s/mine", t->admin);
	assert_int_equal(config_load(&c, path), 0);
	assert_int_equal(c.history_size, 4);
	config_done(&c);
	assert_int_equal(config_load(&c, "/dev/null"), 0);
	config_done(&c);

	capture();
	int missing = config_load(&c, "/nonexistent/fs-tuned.conf");
	int directory = config_load(&c, t->admin);
	const char *log = logged();

	assert_int_equal(missing, -ENOENT);
	assert_int_equal(directory, -EISDIR);
	assert_non_null(strstr(log, "/nonexistent/fs-tuned.conf: No such file"));
	assert_int_equal(count_of(log, "\n"), 2);
}

static void idle_interval_is_never_below_the_interval(void **state)
{
	struct tree *t = *state;
	struct config c;

	make_file(t->admin, "fs-tuned.conf",
		  "[Manager]\nInterval=20s\n[Policy]\nForceCopyTrialIntervalMax=1min\n");
	assert_int_equal(count_of(load(&c, t), "using that"), 2);
	assert_int_equal(c.idle_interval_us, 20 * USEC_PER_SEC);
	assert_int_equal(c.policy.trial_interval_max_us, c.policy.trial_interval_us);
	config_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_there_means_defaults, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(dropins_of_both_places_apply_by_name,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(link_to_dev_null_masks, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_one_warning_each,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(dropin_directory_that_is_none_is_a_warning,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(named_file_is_read_alone_or_is_an_error,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(idle_interval_is_never_below_the_interval,
						tree_setup, tree_teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	log_open("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
