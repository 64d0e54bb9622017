// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <json-c/json.h>
#include "../../daemon/publish/explain.h"
#include "../../daemon/publish/status.h"
#include "tree.h"
#include "view-fixture.h"

static void json_putp(struct json_object **o)
{
	json_object_put(*o);
}
#define _cleanup_json_ _cleanup_(json_putp)

static struct json_object *explain(struct fixture *f, const char *device)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *o;

	fixture_judge(f);
	assert_int_equal(status_explain(&f->view, device, &text), 0);
	o = json_tokener_parse(text);
	assert_non_null(o);
	return o;
}

static struct json_object *at(struct json_object *o, const char *a, const char *b)
{
	struct json_object *v = NULL;

	assert_true(json_object_object_get_ex(o, a, &v));
	if (b)
		assert_true(json_object_object_get_ex(v, b, &v));
	return v;
}

/* The text of a finding; NULL: there is none. */
static const char *finding(struct json_object *o, const char *name)
{
	struct json_object *all = at(o, "findings", NULL);

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *f = json_object_array_get_idx(all, i);

		if (strcmp(json_object_get_string(at(f, "finding", NULL)), name) == 0)
			return json_object_get_string(at(f, "text", NULL));
	}
	return NULL;
}

static double share(struct json_object *o, const char *measure)
{
	struct json_object *all = at(o, "parts", NULL);

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *p = json_object_array_get_idx(all, i);

		if (strcmp(json_object_get_string(at(p, "measure", NULL)), measure) == 0)
			return json_object_get_double(at(p, "share_percent", NULL));
	}
	return -1;
}

/* In a second, 600 fsyncs of 30 ms, and a commit of 24 ms for so many of them. */
static struct fixture *loaded(unsigned fsyncs_per_commit)
{
	struct fixture *f = fixture_new(1);
	unsigned commits = 600 / fsyncs_per_commit;

	f->d[0].device.fast_commit = FEATURE_NO;
	fixture_wait(f, 0, FST_FSYNC, 600, 30000);
	fixture_wait(f, 0, FST_COMMIT_WAIT, 600, 27000);
	fixture_wait(f, 0, FST_COMMIT, commits, 24000);
	fixture_wait(f, 0, FST_COMMIT_LOGGING, commits, 16000);
	fixture_wait(f, 0, FST_COMMIT_RECORD, commits, 6000);
	return f;
}

static void explain_says_where_the_time_goes(void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = loaded(1);
	_cleanup_json_ struct json_object *o = explain(f, "sda1");

	(void)state;
	assert_in_range((unsigned)share(o, "commit_wait"), 89, 91);
	assert_in_range((unsigned)share(o, "commit_logging"), 65, 68);
	assert_in_range((unsigned)share(o, "commit_record"), 24, 26);
	assert_non_null(strstr(finding(o, "fsync"), "fsync takes 30ms"));
	assert_non_null(strstr(finding(o, "fsync"), "90 % of that it waits for a commit"));
	assert_non_null(
		strstr(finding(o, "phase"), "commit_logging (16ms) is 67 % of a commit"));
	assert_non_null(finding(o, "verdict"));
}

static void explain_of_an_f2fs_speaks_of_checkpoints(void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_json_ struct json_object *o = NULL;

	(void)state;
	fixture_f2fs(f, 0);
	fixture_wait(f, 0, FST_F2FS_FSYNC, 100, 50000);
	fixture_wait(f, 0, FST_F2FS_REQUEST, 100, 40000);
	fixture_wait(f, 0, FST_F2FS_CHECKPOINT, 50, 30000);
	fixture_wait(f, 0, FST_F2FS_WRITE, 50, 27000);
	o = explain(f, "sda1");
	assert_in_range((unsigned)share(o, "f2fs_request"), 79, 81);
	assert_in_range((unsigned)share(o, "f2fs_checkpoint_write"), 89, 91);
	assert_non_null(strstr(finding(o, "fsync"), "80 % of that it waits for a checkpoint"));
	assert_non_null(strstr(finding(o, "phase"), "is 90 % of a checkpoint: it writes"));
	assert_null(finding(o, "fast-commit"));
	assert_null(finding(o, "kernel"));
	assert_null(at(o, "fast_commit", NULL));
}

static void explain_says_what_fast_commits_would_act_on(void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = loaded(1);
	_cleanup_json_ struct json_object *o = explain(f, "sda1");

	(void)state;
	assert_in_range(json_object_get_int(at(o, "fast_commit", "commits_forced")), 598, 599);
	assert_non_null(
		strstr(finding(o, "forced"), "100 % of 600 commits, 1.0 fsyncs for each"));
	assert_non_null(strstr(finding(o, "fast-commit"), "would act on these: instead"));
	assert_string_equal(json_object_get_string(at(o, "fast_commit", "command")),
			    "tune2fs -O fast_commit /dev/sda1");
}

static void explain_doubts_them_where_a_flush_is_shared(void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = loaded(6);
	_cleanup_json_ struct json_object *o = NULL;

	(void)state;
	fixture_wait(f, 0, FST_COMMIT_RECORD, 100, 18000);
	o = explain(f, "sda1");
	assert_non_null(strstr(finding(o, "fast-commit"), "more likely cost than help"));
}

static void explain_counts_no_commits_of_the_timer(void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_json_ struct json_object *o = NULL;

	(void)state;
	f->d[0].device.fast_commit = FEATURE_NO;
	fixture_wait(f, 0, FST_COMMIT, 1, 5000);
	fixture_wait(f, 0, FST_FSYNC, 2, 5000);
	o = explain(f, "sda1");
	assert_int_equal(json_object_get_int(at(o, "fast_commit", "commits_forced")), 0);
	assert_null(at(o, "fast_commit", "command"));
	assert_non_null(
		strstr(finding(o, "fast-commit"), "nothing for fast commits to act on"));
}

static void explain_goes_by_the_commit_interval_of_the_mount(void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	struct explain_fast_commit fast;

	(void)state;
	fixture_wait(f, 0, FST_COMMIT, 2, 5000); /* in a second */
	fixture_wait(f, 0, FST_FSYNC, 100, 5000);
	f->d[0].device.mount_options = strdup("rw,errors=remount-ro,commit=1,data=ordered");
	explain_fast_commit(&f->view, &f->views[0], &fast);
	assert_true(fast.forced == 0);
	strcpy(f->d[0].device.mount_options, "rw,commit=30");
	explain_fast_commit(&f->view, &f->views[0], &fast);
	assert_true(fast.forced > 0.9);
}

static void explain_knows_a_kernel_that_keeps_its_promises(void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = loaded(1);
	_cleanup_json_ struct json_object *stock = NULL, *patched = NULL;
	_cleanup_(tree_done) struct tree t;

	(void)state;
	tree_init(&t);
	f->view.sysroot = t.root;
	stock = explain(f, "sda1");
	assert_true(json_object_get_boolean(at(stock, "fast_commit", "kernel_loses_data")));
	assert_non_null(strstr(finding(stock, "kernel"), "known to lose files"));
	tree_write(&t, "sys/fs/ext4/sda1/fast_commit", "0\n");
	patched = explain(f, "sda1");
	assert_false(json_object_get_boolean(at(patched, "fast_commit", "kernel_loses_data")));
	assert_non_null(strstr(finding(patched, "kernel"), "has the fix"));
}

static void explain_tells_what_they_did_where_they_are_on(void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = loaded(1);
	_cleanup_json_ struct json_object *o = NULL;

	(void)state;
	f->d[0].device.fast_commit = FEATURE_YES;
	fixture_fast_commits(f, 0);
	fixture_wait(f, 0, FST_FSYNC_FAST, 450, 2000);
	f->d[0].policy.fast_commit.last = (struct fast_commit_trial){
		.end = REASON_TRIAL_KEPT,
		.on = true,
		.here = { USEC_PER_SEC, 100, 8e6 },
		.there = { USEC_PER_SEC, 200, 8e6 },
	};
	o = explain(f, "sda1");
	assert_non_null(strstr(finding(o, "fast-commit"), "1412 fsyncs were served by fast"));
	assert_non_null(
		strstr(finding(o, "fast-fsync"), "served 75.0 % of fsyncs, in 2.0ms; "));
	assert_non_null(
		strstr(finding(o, "forced"), "25 % of 600 commits, 0.2 fsyncs for each"));
	assert_non_null(
		strstr(finding(o, "trial"), "with 1 200 fsync/s of 40ms: better, kept"));
	assert_null(at(o, "fast_commit", "command"));
}

static void explain_of_an_idle_device_is_short(void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_json_ struct json_object *o = NULL;
	char *text = NULL;

	(void)state;
	f->d[0].device.fast_commit = FEATURE_NO;
	o = explain(f, "sda1");
	assert_int_equal(json_object_array_length(at(o, "parts", NULL)), 0);
	assert_null(finding(o, "fsync"));
	assert_null(finding(o, "kernel"));
	assert_int_equal(status_explain(&f->view, "sdb", &text), -ENODEV);
	assert_null(text);
}

static void doctor_says_the_same_in_short(void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = loaded(1), *idle = fixture_new(1);
	_cleanup_free_ char *text = NULL, *quiet = NULL;

	(void)state;
	assert_int_equal(status_doctor(&f->view, &text), 0);
	assert_non_null(strstr(text, "fsync forces most commits of sda1"));
	idle->d[0].device.fast_commit = FEATURE_NO;
	assert_int_equal(status_doctor(&idle->view, &quiet), 0);
	assert_null(strstr(quiet, "fsync forces"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explain_says_where_the_time_goes),
		cmocka_unit_test(explain_of_an_f2fs_speaks_of_checkpoints),
		cmocka_unit_test(explain_says_what_fast_commits_would_act_on),
		cmocka_unit_test(explain_doubts_them_where_a_flush_is_shared),
		cmocka_unit_test(explain_counts_no_commits_of_the_timer),
		cmocka_unit_test(explain_goes_by_the_commit_interval_of_the_mount),
		cmocka_unit_test(explain_knows_a_kernel_that_keeps_its_promises),
		cmocka_unit_test(explain_tells_what_they_did_where_they_are_on),
		cmocka_unit_test(explain_of_an_idle_device_is_short),
		cmocka_unit_test(doctor_says_the_same_in_short),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
