// SPDX-License-Identifier: GPL-2.0-or-later
#include <ftw.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "../../daemon/base/file.h"
#include "../../daemon/publish/json.h"
#include "../../daemon/publish/status.h"
#include "../../daemon/base/utf8.h"
#include "view-fixture.h"

/* --- helpers --- */

static void json_putp(struct json_object **o)
{
	json_object_put(*o);
}
#define _cleanup_json_ _cleanup_(json_putp)

/* Parses strictly and frees the text. */
static struct json_object *parse(char *text)
{
	struct json_tokener *t = json_tokener_new_ex(32);
	struct json_object *o;

	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(t, text, (int)strlen(text) + 1);
	assert_int_equal(json_tokener_get_error(t), json_tokener_success);
	json_tokener_free(t);
	free(text);
	return o;
}

static struct json_object *describe(const struct fixture *f, const char *device)
{
	char *text;

	assert_int_equal(status_describe(&f->view, device, &text), 0);
	return parse(text);
}

/* A member by path, "a.b.0.c"; it must be there (null is NULL). */
static struct json_object *at(struct json_object *o, const char *path)
{
	char copy[128], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *p = strtok_r(copy, ".", &save); p; p = strtok_r(NULL, ".", &save)) {
		if (json_object_is_type(o, json_type_array))
			o = json_object_array_get_idx(o, (size_t)atoi(p));
		else if (!json_object_object_get_ex(o, p, &o))
			fail_msg("no \"%s\" of %s", p, path);
	}
	return o;
}

static const char *str(struct json_object *o, const char *path)
{
	return json_object_get_string(at(o, path));
}

static uint64_t num(struct json_object *o, const char *path)
{
	return json_object_get_uint64(at(o, path));
}

static int remove_one(const char *path, _unused_ const struct stat *st, _unused_ int flag,
		      _unused_ struct FTW *ftw)
{
	return remove(path);
}

/* A directory that goes with the test. */
static void make_root(char *dir)
{
	strcpy(dir, "/tmp/test-status-XXXXXX");
	assert_non_null(mkdtemp(dir));
}

static void drop_root(const char *dir)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_file(const char *root, const char *path, const char *text)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
			*p = '/';
		}
	assert_int_equal(write_file_atomic(full, text, strlen(text), 0644), 0);
}

/* --- documents --- */

static void last_minute_is_told_in_microseconds(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(2);
	_cleanup_json_ struct json_object *o = NULL;

	fixture_wait(f, 0, FST_FSYNC, 98, 1000);
	fixture_wait(f, 0, FST_FSYNC, 2, 500000);
	o = describe(f, "");
	assert_int_equal(num(o, "devices.0.measures.fsync.count"), 100);
	assert_in_range(num(o, "devices.0.measures.fsync.p50_us"), 900, 1100);
	assert_in_range(num(o, "devices.0.measures.fsync.p99_us"), 450000, 500000);
	assert_int_equal(num(o, "devices.0.measures.fsync.max_us"), 500000);
	assert_int_equal(num(o, "devices.0.measures.fsync.mean_us"), (98 + 2 * 500) * 10);
	/* An idle device has none, and is there all the same. */
	assert_int_equal(json_object_object_length(at(o, "devices.1.measures")), 0);
	assert_string_equal(str(o, "devices.1.device"), "sda2");
	assert_string_equal(str(o, "devices.1.dev"), "8:2");
}

static void f2fs_is_told_in_its_own_words(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(2);
	_cleanup_json_ struct json_object *one = NULL, *all = NULL;

	fixture_f2fs(f, 1);
	f->d[1].device.n_devices = 3;
	fixture_wait(f, 1, FST_F2FS_CHECKPOINT, 4, 2000);
	one = describe(f, "sda2");
	assert_string_equal(str(one, "devices.0.fstype"), "f2fs");
	assert_int_equal(num(one, "devices.0.devices"), 3);
	assert_int_equal(num(one, "devices.0.measures.f2fs_checkpoint.total_count"), 4);
	assert_int_equal(num(one, "devices.0.f2fs.merged_requests"), 60);
	assert_int_equal(num(one, "devices.0.f2fs.overlapping_requests"), 41);
	assert_int_equal(num(one, "devices.0.f2fs.waiting"), 2);
	assert_int_equal(num(one, "devices.0.f2fs.waiting_max"), 6);
	assert_null(at(one, "devices.0.journal"));
	assert_null(at(one, "devices.0.policy"));
	assert_null(at(one, "devices.0.counters"));
	all = describe(f, "sda1");
	assert_null(at(all, "devices.0.f2fs"));
	assert_non_null(at(all, "devices.0.policy"));
}

static void measures_are_needed_where_their_file_system_is(_unused_ void **state)
{
	for (int f2fs = 0; f2fs < 2; f2fs++) {
		_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
		_cleanup_json_ struct json_object *o = NULL;
		char path[64];

		if (f2fs)
			fixture_f2fs(f, 0);
		o = describe(f, "");
		for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++) {
			bool is_f2fs = measure_fs_kind(m) == FS_F2FS;

			snprintf(path, sizeof(path), "measures.%d.needed", (int)m);
			assert_int_equal(json_object_get_boolean(at(o, path)), is_f2fs == f2fs);
		}
	}
}

static void one_device_is_told_in_depth(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(3);
	_cleanup_json_ struct json_object *o = NULL;

	fixture_wait(f, 1, FST_COMMIT, 3, 2000);
	f->d[1].policy.force_copy = (struct policy_force_copy){
		.state = FC_ON,
		.since_us = FIXTURE_NOW_US - 7 * USEC_PER_SEC,
		.next_trial_us = FIXTURE_NOW_US + 9 * USEC_PER_SEC,
	};
	for (unsigned i = 0; i < 7; i++)
		fixture_decided(f, i == 3 ? "sda1" : "sda2", "0", "1", REASON_STALL, 0, -1,
				(100 - i) * USEC_PER_SEC, "why");
	o = describe(f, "sda2");
	assert_int_equal(json_object_array_length(at(o, "devices")), 1);
	assert_int_equal(num(o, "devices.0.measures.commit.total_count"), 3);
	assert_int_equal(num(o, "devices.0.counters.transactions"), 3);
	assert_int_equal(num(o, "devices.0.policy.state_for_us"), 7 * USEC_PER_SEC);
	assert_int_equal(num(o, "devices.0.policy.next_trial_in_us"), 9 * USEC_PER_SEC);
	assert_null(at(o, "devices.0.policy.quiet_for_us"));
	/* The last five, oldest first, none of another device. */
	assert_int_equal(json_object_array_length(at(o, "devices.0.decisions")), 5);
	assert_int_equal(num(o, "devices.0.decisions.0.time_us"),
			 FIXTURE_REALTIME_US - 99 * USEC_PER_SEC);
	assert_int_equal(num(o, "devices.0.decisions.4.time_us"),
			 FIXTURE_REALTIME_US - 94 * USEC_PER_SEC);
}

static void fast_commits_are_told_where_there_are_any(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(2);
	_cleanup_json_ struct json_object *with = NULL, *without = NULL;

	fixture_fast_commits(f, 0);
	with = describe(f, "sda1");
	without = describe(f, "sda2");
	assert_int_equal(num(with, "devices.0.fast_commit.commits"), 1412);
	assert_int_equal(num(with, "devices.0.fast_commit.ineligible"), 37);
	assert_int_equal(num(with, "devices.0.fast_commit.blocks"), 2961);
	assert_int_equal(num(with, "devices.0.fast_commit.average_us"), 3698);
	assert_int_equal(json_object_array_length(at(with, "devices.0.fast_commit.reasons")),
			 3);
	assert_string_equal(str(with, "devices.0.fast_commit.reasons.0.reason"), "Dir renamed");
	assert_int_equal(num(with, "devices.0.fast_commit.reasons.0.count"), 33);
	assert_null(at(without, "devices.0.fast_commit"));
}

static void unknown_device_and_knob_are_errors(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	char *text = NULL;

	assert_int_equal(status_describe(&f->view, "sdb", &text), -ENODEV);
	assert_int_equal(status_get(&f->view, "sdb", "", &text), -ENODEV);
	assert_int_equal(status_get(&f->view, "sda1", "nonsense", &text), -ENOENT);
	assert_null(text);
}

static void any_bytes_of_a_name_give_valid_json(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_json_ struct json_object *o = NULL;
	struct device *d = &f->d[0].device;
	char all[256];

	for (int i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	all[255] = '\0';
	free(d->mountpoint);
	d->mountpoint = strdup(all);
	strcpy(d->label, "\xed\xa0\x80\xf5"); /* a surrogate, and beyond Unicode */
	f->d[0].outlier.event.waiter.pid = 1;
	memset(f->d[0].outlier.event.waiter.comm, 0xfe, FST_COMM_LEN); /* not terminated */
	f->views[0].outliers = &f->d[0].outlier;
	f->views[0].n_outliers = 1;
	o = describe(f, "sda1");
	assert_non_null(strstr(str(o, "devices.0.mountpoint"), "\\x80"));
	assert_string_equal(str(o, "devices.0.label"), "\\xed\\xa0\\x80\\xf5");
	assert_int_equal(strlen(str(o, "devices.0.outliers.0.waiter.comm")), 4 * FST_COMM_LEN);
}

static void valid_utf8_is_left_alone(_unused_ void **state)
{
	static const char *const texts[] = { "plain", "\xc3\xa4", "\xe2\x82\xac",
					     "\xf0\x9f\x92\xbe", "" };

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		_cleanup_free_ char *clean = utf8_clean(texts[i]);

		assert_string_equal(clean, texts[i]);
	}
}

static void state_is_paused_only_while_it_lasts(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(0);
	_cleanup_json_ struct json_object *now = NULL, *later = NULL, *ever = NULL;

	f->view.paused_until_us = FIXTURE_NOW_US + 5;
	now = describe(f, "");
	assert_string_equal(str(now, "state"), "paused");
	assert_int_equal(num(now, "paused_for_us"), 5);
	f->view.paused_until_us = FIXTURE_NOW_US;
	f->view.observe_only = true;
	later = describe(f, "");
	assert_string_equal(str(later, "state"), "observing");
	f->view.paused_until_us = USEC_INFINITY;
	ever = describe(f, "");
	assert_string_equal(str(ever, "state"), "paused");
	assert_null(at(ever, "paused_for_us"));
}

static void history_goes_round_and_keeps_the_order(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(2);
	_cleanup_json_ struct json_object *all = NULL, *some = NULL;
	char *text;

	for (unsigned i = 0; i < FIXTURE_HISTORY + 3; i++)
		fixture_decided(f, i % 2 ? "sda1" : "sda2", "0", "1", REASON_ADMINISTRATOR,
				i % 2 ? -EIO : 0, i % 2 ? 1000 : 0, 100 - i, "");
	assert_int_equal(status_history(&f->view, "", 0, &text), 0);
	all = parse(text);
	assert_int_equal(json_object_array_length(at(all, "history")), FIXTURE_HISTORY);
	assert_int_equal(num(all, "history.0.time_us"), FIXTURE_REALTIME_US - 97);
	assert_string_equal(str(all, "history.0.result"), "refused");
	assert_string_equal(str(all, "history.0.error"), "Input/output error");
	assert_int_equal(num(all, "history.0.uid"), 1000);
	assert_int_equal(status_history(&f->view, "sda1", FIXTURE_REALTIME_US - 93, &text), 0);
	some = parse(text);
	assert_int_equal(json_object_array_length(at(some, "history")), 2);
}

/* --- verify --- */

static void verify_compares_each_knob_with_its_file(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(4);
	_cleanup_json_ struct json_object *o = NULL;
	char root[64], *text;

	make_root(root);
	make_file(root, "/same", "1\n");
	make_file(root, "/differs", "0\n");
	for (unsigned i = 0; i < 3; i++)
		fixture_knob(f, i, "1", KNOB_AUTO);
	snprintf(f->d[0].knobs[0].path, 256, "%s/same", root);
	snprintf(f->d[1].knobs[0].path, 256, "%s/differs", root);
	snprintf(f->d[2].knobs[0].path, 256, "%s/gone", root);
	assert_int_equal(status_verify(&f->view, &text), 0);
	drop_root(root);
	o = parse(text);
	/* The fourth has no knob. */
	assert_int_equal(json_object_array_length(at(o, "knobs")), 3);
	assert_string_equal(str(o, "knobs.0.state"), "same");
	assert_string_equal(str(o, "knobs.1.state"), "differs");
	assert_string_equal(str(o, "knobs.1.believed"), "1");
	assert_string_equal(str(o, "knobs.1.actual"), "0");
	assert_string_equal(str(o, "knobs.2.state"), "unknown");
	assert_string_equal(str(o, "knobs.2.error"), "No such file or directory");
}

static void verify_does_not_pass_over_what_it_cannot_look_at(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(2);
	_cleanup_json_ struct json_object *o = NULL;
	struct ledger_entry entries[] = {
		{ .id = f->d[1].device.id, .device = "sda2", .written = "1" },
		{ .id = { .dev = 7 }, .device = "sdz", .written = "1" },
	};
	struct ledger l = { .entries = entries, .n = ELEMENTSOF(entries) };
	char *text;

	f->view.ledger = &l;
	snprintf(f->d[1].knobs[0].why, sizeof(f->d[1].knobs[0].why), "holds no value");
	assert_int_equal(status_verify(&f->view, &text), 0);
	o = parse(text);
	assert_int_equal(json_object_array_length(at(o, "knobs")), 2);
	assert_string_equal(str(o, "knobs.0.device"), "sda2");
	assert_string_equal(str(o, "knobs.0.believed"), "1");
	assert_string_equal(str(o, "knobs.0.state"), "unknown");
	assert_string_equal(str(o, "knobs.0.error"), "holds no value");
	assert_string_equal(str(o, "knobs.1.state"), "unknown");
}

/* --- doctor --- */

/* A check by name; NULL if there is none. */
static struct json_object *check(struct json_object *o, const char *name)
{
	struct json_object *checks = at(o, "checks");

	for (size_t i = 0; i < json_object_array_length(checks); i++) {
		struct json_object *c = json_object_array_get_idx(checks, i);

		if (strcmp(str(c, "name"), name) == 0)
			return c;
	}
	return NULL;
}

static struct json_object *doctor(const struct fixture *f)
{
	char *text;

	assert_int_equal(status_doctor(&f->view, &text), 0);
	return parse(text);
}

static void doctor_notices_that_an_upgrade_dropped_the_modules(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_json_ struct json_object *none = NULL, *dropped = NULL, *unloaded = NULL,
					  *unknown = NULL, *loaded = NULL;

	none = doctor(f);
	assert_string_equal(str(check(none, "modules"), "state"), "ok");
	strcpy(f->caps.modules.other, "6.1.0-41-amd64");
	dropped = doctor(f);
	assert_string_equal(str(check(dropped, "modules"), "state"), "problem");
	assert_non_null(
		strstr(str(check(dropped, "modules"), "text"), "6.1.0-41-amd64, but not"));
	f->caps.modules.installed = true;
	unloaded = doctor(f);
	assert_non_null(strstr(str(check(unloaded, "modules"), "text"), "others are loaded"));
	f->caps.modules.error = EACCES;
	unknown = doctor(f);
	assert_non_null(strstr(str(check(unknown, "modules"), "text"), "could not look"));
	fixture_knob(f, 0, "0", KNOB_AUTO);
	loaded = doctor(f);
	assert_null(check(loaded, "modules"));
}

/* /lib/modules is on the disk that may stall just when somebody asks what is wrong. */
static void doctor_does_not_look_at_the_disk(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_json_ struct json_object *answer = NULL;
	char root[64];

	make_root(root);
	f->view.sysroot = root;
	make_file(root, "/lib/modules/6.1.0-42-amd64/updates/fs-tuned/jbd2.ko", "");
	answer = doctor(f);
	assert_string_equal(str(check(answer, "modules"), "state"), "ok");
	drop_root(root);
}

static void doctor_says_once_what_holds_for_many_devices(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(256);
	_cleanup_json_ struct json_object *o = NULL;
	size_t n = 0;

	fixture_knob(f, 3, "0", KNOB_AUTO);
	o = doctor(f);
	for (size_t i = 0; i < json_object_array_length(at(o, "checks")); i++)
		n += strcmp(str(json_object_array_get_idx(at(o, "checks"), i), "name"),
			    "knob force_copy") == 0;
	assert_int_equal(n, 2);
	assert_non_null(
		strstr(str(check(o, "knob force_copy"), "text"), "sda1, sda2, sda3, sda5"));
}

static void doctor_sees_a_stale_and_a_broken_ledger(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_json_ struct json_object *well = NULL, *stale = NULL, *bad = NULL;
	struct ledger_entry entries[2] = { { .id = f->d[0].device.id } };
	char root[64], path[128];
	struct ledger l = { .path = path, .entries = entries, .n = 1 };

	make_root(root);
	snprintf(path, sizeof(path), "%s/ledger.json", root);
	f->view.ledger = &l;
	well = doctor(f);
	assert_string_equal(str(check(well, "ledger"), "state"), "ok");
	l.n = 2; /* the second is of no device that is here */
	stale = doctor(f);
	assert_string_equal(str(check(stale, "ledger"), "state"), "note");
	make_file(root, "/ledger.json.bad", "?");
	bad = doctor(f);
	assert_string_equal(str(check(bad, "ledger"), "state"), "problem");
	drop_root(root);
}

static void fast_commits_that_lose_files_are_warned_of(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(3);
	_cleanup_json_ struct json_object *none = NULL, *o = NULL, *lose = NULL, *keep = NULL;

	none = doctor(f);
	assert_string_equal(str(check(none, "fast commit safety"), "state"), "ok");
	f->d[1].device.fast_commit = f->d[2].device.fast_commit = FEATURE_YES;
	f->d[1].device.fast_commits_lose = true;
	o = describe(f, "");
	assert_null(at(o, "devices.0.warning"));
	assert_non_null(strstr(str(o, "devices.1.warning"), "may lose files"));
	assert_null(at(o, "devices.2.warning"));
	lose = doctor(f);
	assert_string_equal(str(check(lose, "fast commit safety"), "state"), "problem");
	assert_non_null(strstr(str(check(lose, "fast commit safety"), "text"), ": sda2."));
	f->d[1].device.fast_commits_lose = false;
	keep = doctor(f);
	assert_string_equal(str(check(keep, "fast commit safety"), "state"), "ok");
	assert_non_null(strstr(str(check(keep, "fast commit safety"), "text"), "sda2, sda3"));
}

static void doctor_names_what_the_kernel_lacks(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(0);
	_cleanup_json_ struct json_object *o = NULL;

	f->caps.btf = false;
	strcpy(f->caps.btf_why, "No such file or directory");
	strcpy(f->caps.lockdown, "confidentiality");
	f->caps.way[WAY_TP_BTF].usable = true;
	strcpy(f->caps.way[WAY_FENTRY].why, "attaching: Operation not permitted");
	f->view.log_dropped = 3;
	o = doctor(f);
	assert_string_equal(str(check(o, "btf"), "state"), "problem");
	assert_string_equal(str(check(o, "lockdown"), "state"), "problem");
	assert_string_equal(str(check(o, "way tp_btf"), "state"), "ok");
	assert_non_null(strstr(str(check(o, "way fentry"), "text"), "not permitted"));
	assert_string_equal(str(check(o, "log"), "state"), "note");
	assert_string_equal(str(check(o, "events"), "state"), "ok");
}

/* --- the builder --- */

static void builder_errors_stick(_unused_ void **state)
{
	_cleanup_(doc_done) struct doc j = { 0 };
	char *text = NULL;

	for (int i = 0; i <= DOC_DEPTH_MAX; i++)
		doc_open_array(&j, NULL);
	doc_u64(&j, NULL, 1);
	assert_int_equal(doc_finish(&j, &text), -EOVERFLOW);
	assert_null(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_minute_is_told_in_microseconds),
		cmocka_unit_test(one_device_is_told_in_depth),
		cmocka_unit_test(f2fs_is_told_in_its_own_words),
		cmocka_unit_test(measures_are_needed_where_their_file_system_is),
		cmocka_unit_test(fast_commits_are_told_where_there_are_any),
		cmocka_unit_test(fast_commits_that_lose_files_are_warned_of),
		cmocka_unit_test(unknown_device_and_knob_are_errors),
		cmocka_unit_test(any_bytes_of_a_name_give_valid_json),
		cmocka_unit_test(valid_utf8_is_left_alone),
		cmocka_unit_test(state_is_paused_only_while_it_lasts),
		cmocka_unit_test(history_goes_round_and_keeps_the_order),
		cmocka_unit_test(verify_compares_each_knob_with_its_file),
		cmocka_unit_test(verify_does_not_pass_over_what_it_cannot_look_at),
		cmocka_unit_test(doctor_notices_that_an_upgrade_dropped_the_modules),
		cmocka_unit_test(doctor_does_not_look_at_the_disk),
		cmocka_unit_test(doctor_says_once_what_holds_for_many_devices),
		cmocka_unit_test(doctor_sees_a_stale_and_a_broken_ledger),
		cmocka_unit_test(doctor_names_what_the_kernel_lacks),
		cmocka_unit_test(builder_errors_stick),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
