// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <cmocka.h>
#include "actuator-scene.h"
#include "../../daemon/observe/discover.h"

#define MERGE (&knob_checkpoint_merge)
#define IOPRIO (&knob_ckpt_thread_ioprio)
#define ON "rw,lazytime,checkpoint_merge,fsync_mode=posix"
#define OFF "rw,lazytime,nocheckpoint_merge,fsync_mode=posix"

/* An f2fs on `d` with these options; NULL: not mounted where that can be seen. */
static void mount_it(const struct tree *t, const struct device *d, const char *options)
{
	char name[256], text[512] = "";

	snprintf(name, sizeof(name), "sys/fs/f2fs/%s/ckpt_thread_ioprio", d->name);
	tree_write(t, name, "be,3\n");
	if (options)
		snprintf(text, sizeof(text), "9 1 %u:%u / /mnt rw - f2fs /dev/x %s\n",
			 major(d->id.dev), minor(d->id.dev), options);
	tree_write(t, "proc/1/mountinfo", text);
}

#define SCENE_F2FS(s, knob, options)             \
	_cleanup_(scene_done) struct scene s;    \
	(void)state;                             \
	scene_init(&s);                          \
	s.d.type = DEVICE_F2FS;                  \
	strcpy(s.d.fstype, "f2fs");              \
	mount_it(&s.t, &s.d, options);           \
	s.k = (struct knob_state){ .id = knob }; \
	assert_int_equal(actuator_new(&s.a, s.event, s.t.run, s.t.root, scene_on_done, &s), 0)

struct found {
	int r;
	char path[256], why[160];
};

static struct found probe(const struct scene *s, const struct knob_ops *ops)
{
	struct found f = { 0 };

	f.r = ops->probe(&s->d, s->t.root, f.path, sizeof(f.path), f.why, sizeof(f.why));
	assert_true(f.r == 0 || *f.why);
	return f;
}

static void checkpoint_merge_is_read_from_the_mount_options(void **state)
{
	char value[KNOB_VALUE_MAX];
	struct found f;

	SCENE_F2FS(s, KNOB_CHECKPOINT_MERGE, ON);
	f = probe(&s, MERGE);
	assert_true(f.r >= 0);
	assert_int_equal(MERGE->read(f.path, value), 0);
	assert_string_equal(value, "1");
	mount_it(&s.t, &s.d, OFF);
	assert_int_equal(MERGE->read(f.path, value), 0);
	assert_string_equal(value, "0");
	mount_it(&s.t, &s.d, NULL);
	assert_int_equal(MERGE->read(f.path, value), -ENOENT);
}

static void checkpoint_merge_is_missing_on_an_old_kernel(void **state)
{
	SCENE_F2FS(s, KNOB_CHECKPOINT_MERGE, "rw,lazytime,fsync_mode=posix");
	assert_int_equal(probe(&s, MERGE).r, -ENOENT);
	mount_it(&s.t, &s.d, NULL);
	assert_int_equal(probe(&s, MERGE).r, -ENOENT);
}

/* Whatever a test writes into a tree, the machine's own file systems stay as they are. */
static void below_another_root_nothing_is_reconfigured(void **state)
{
	char why[160] = "";
	struct found f;

	SCENE_F2FS(s, KNOB_CHECKPOINT_MERGE, ON);
	f = probe(&s, MERGE);
	assert_int_equal(f.r, 1);
	assert_string_equal(f.why, "it is below another root");
	assert_int_equal(MERGE->change(f.path, "0", why, sizeof(why)), -EOPNOTSUPP);
	assert_string_equal(why, "it is below another root");
}

static void mount_option_is_no_foreign_write(void **state)
{
	SCENE_F2FS(s, KNOB_CHECKPOINT_MERGE, OFF);
	assert_int_equal(actuator_adopt(s.a, &s.d, KNOB_AUTO, &s.k), 0);
	assert_true(s.k.supported);
	assert_string_equal(s.k.value, "0");
	assert_int_equal(s.k.mode, KNOB_AUTO);
	/* but what changes while one looks is */
	mount_it(&s.t, &s.d, ON);
	*s.k.refused = '\0';
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 1);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
}

static void knob_is_of_its_file_systems_alone(void **state)
{
	SCENE_F2FS(s, KNOB_FORCE_COPY, ON);
	assert_int_equal(actuator_adopt(s.a, &s.d, KNOB_AUTO, &s.k), 0);
	assert_false(s.k.supported);
	assert_string_equal(s.k.why, "not a knob of f2fs");
	assert_false(knob_concerns(KNOB_FORCE_COPY, &s.d));
	assert_true(knob_concerns(KNOB_CHECKPOINT_MERGE, &s.d));
	s.d.type = DEVICE_JBD2;
	assert_true(knob_concerns(KNOB_FORCE_COPY, &s.d));
	assert_false(knob_concerns(KNOB_FAST_COMMIT, &s.d));
	assert_false(knob_concerns(KNOB_CKPT_THREAD_IOPRIO, &s.d));
}

static void ioprio_may_only_be_read_without_the_thread(void **state)
{
	struct decision d;

	SCENE_F2FS(s, KNOB_CKPT_THREAD_IOPRIO, OFF);
	assert_int_equal(probe(&s, IOPRIO).r, 1);
	assert_int_equal(actuator_adopt(s.a, &s.d, KNOB_AUTO, &s.k), 0);
	assert_true(s.k.supported);
	assert_string_equal(s.k.value, "be,3");
	assert_string_equal(s.k.refused, "without checkpoint_merge no thread has it");
	d = decision("be,3", "be,0", REASON_ADMINISTRATOR);
	d.knob = KNOB_CKPT_THREAD_IOPRIO;
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, true, 7), -EOPNOTSUPP);

	/* the next look finds that it may be written again */
	mount_it(&s.t, &s.d, ON);
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 0);
	assert_string_equal(s.k.refused, "");
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, true, 7), 0);
	loop_until_done(&s, 1);
	assert_int_equal(s.r, 0);
	assert_string_equal(s.k.value, "be,0");
	/* where nothing can be seen, nothing is forbidden */
	mount_it(&s.t, &s.d, NULL);
	assert_int_equal(probe(&s, IOPRIO).r, 0);
}

static void ioprio_is_missing_on_an_old_kernel(void **state)
{
	SCENE_F2FS(s, KNOB_CKPT_THREAD_IOPRIO, ON);
	snprintf(s.d.name, sizeof(s.d.name), "another");
	assert_int_equal(probe(&s, IOPRIO).r, -ENOENT);
	snprintf(s.d.name, sizeof(s.d.name), "../x");
	assert_int_equal(probe(&s, IOPRIO).r, -EINVAL);
	assert_int_equal(probe(&s, MERGE).r, -EINVAL);
}

static void ioprio_has_sixteen_values(void **state)
{
	static const char *const good[] = { "be,0", "be,7", "rt,0", "rt,7" };
	static const char *const bad[] = { "",      "be",    "be,",   "be,8",   "be,-1",
					   "be,00", "be,3 ", " be,3", "idle,0", "rt,8",
					   "3",     "BE,3",  "be,3\n" };
	char value[KNOB_VALUE_MAX];

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(good); i++) {
		assert_int_equal(IOPRIO->parse(good[i], value), 0);
		assert_string_equal(value, good[i]);
	}
	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		assert_int_equal(IOPRIO->parse(bad[i], value), -EINVAL);
}

static void ioprio_is_read_as_the_kernel_writes_it(void **state)
{
	static const struct {
		const char *text, *value;
		int r;
	} cases[] = {
		{ "be,3\n", "be,3", 0 },      { "rt,0\n", "rt,0", 0 },
		{ "be,3", "be,3", 0 },        { "", "", -EBADMSG },
		{ "3\n", "", -EBADMSG },      { "be,9\n", "", -EBADMSG },
		{ "be,3,4\n", "", -EBADMSG }, { "be,333333333333333333333\n", "", -EBADMSG },
	};
	char value[KNOB_VALUE_MAX];

	SCENE_F2FS(s, KNOB_CKPT_THREAD_IOPRIO, ON);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		*value = '\0';
		tree_write(&s.t, "prio", cases[i].text);
		assert_int_equal(IOPRIO->read(tree_path(&s.t, "prio"), value), cases[i].r);
		if (cases[i].r == 0)
			assert_string_equal(value, cases[i].value);
	}
	assert_int_equal(IOPRIO->read(tree_path(&s.t, "none"), value), -ENOENT);
}

static void real_time_needs_to_be_allowed(void **state)
{
	struct policy_config c = policy_config_default;

	(void)state;
	assert_string_equal(policy_forbids(&c, KNOB_CKPT_THREAD_IOPRIO, "rt,7"),
			    "RealTimeIoprio=yes");
	assert_null(policy_forbids(&c, KNOB_CKPT_THREAD_IOPRIO, "be,0"));
	assert_null(policy_forbids(&c, KNOB_CHECKPOINT_MERGE, "1"));
	c.real_time_ioprio = true;
	assert_null(policy_forbids(&c, KNOB_CKPT_THREAD_IOPRIO, "rt,7"));
}

static bool yes(void)
{
	return true;
}

static bool no(void)
{
	return false;
}

/* A mount option that is ours, and a restore that would give it back. */
static void shutdown_leaves_mount_options_alone(void **state)
{
	struct ledger_entry e = {
		.knob = KNOB_CHECKPOINT_MERGE,
		.state = LEDGER_APPLIED,
		.original = "1",
		.from = "0",
		.written = "0",
		.reason = REASON_STALL,
	};

	SCENE_F2FS(s, KNOB_CHECKPOINT_MERGE, OFF);
	e.id = s.d.id;
	snprintf(e.device, sizeof(e.device), "%s", s.d.name);
	snprintf(e.path, sizeof(e.path), "%s", probe(&s, MERGE).path);
	assert_int_equal(ledger_put(actuator_ledger(s.a), &e), 0);
	assert_int_equal(actuator_restore_all(s.t.run, s.t.root, yes), 0);
	assert_non_null(tree_read(&s.t, LEDGER));
	/* else it is tried: here that is refused, and it stays to be tried again */
	assert_int_equal(actuator_restore_all(s.t.run, s.t.root, no), -EOPNOTSUPP);
	assert_int_equal(actuator_restore_all(s.t.run, s.t.root, NULL), -EOPNOTSUPP);
	assert_non_null(strstr(tree_read(&s.t, LEDGER), "checkpoint_merge"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checkpoint_merge_is_read_from_the_mount_options),
		cmocka_unit_test(checkpoint_merge_is_missing_on_an_old_kernel),
		cmocka_unit_test(below_another_root_nothing_is_reconfigured),
		cmocka_unit_test(mount_option_is_no_foreign_write),
		cmocka_unit_test(knob_is_of_its_file_systems_alone),
		cmocka_unit_test(ioprio_may_only_be_read_without_the_thread),
		cmocka_unit_test(ioprio_is_missing_on_an_old_kernel),
		cmocka_unit_test(ioprio_has_sixteen_values),
		cmocka_unit_test(ioprio_is_read_as_the_kernel_writes_it),
		cmocka_unit_test(real_time_needs_to_be_allowed),
		cmocka_unit_test(shutdown_leaves_mount_options_alone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
