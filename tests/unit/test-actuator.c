// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "actuator-scene.h"

/* --- adopting --- */

static void adopt_finds_a_fresh_knob(void **state)
{
	SCENE(s, "0");
	assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
	assert_true(s.k.supported);
	assert_string_equal(s.k.value, "0");
	assert_string_equal(s.k.path, tree_path(&s.t, KNOB));
	assert_int_equal(s.k.mode, KNOB_AUTO);
	assert_false(s.k.ours);
	assert_string_equal(s.k.original, "");
	assert_null(tree_read(&s.t, LEDGER));
}

static void adopt_says_why_a_knob_is_not_supported(void **state)
{
	SCENE(s, "0");
	s.d.journal[0] = '\0';
	s.d.has_journal = false;
	assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
	assert_false(s.k.supported);
	assert_string_equal(s.k.why, "no journal");
	snprintf(s.d.journal, sizeof(s.d.journal), "other-8");
	assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
	assert_string_equal(s.k.why, "this kernel has no force_copy");
	tree_write(&s.t, "proc/fs/jbd2/other-8/force_copy", "maybe\n");
	assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
	assert_false(s.k.supported);
	assert_non_null(strstr(s.k.why, "no value of this knob"));
}

static void adopt_takes_what_is_set_for_somebody_elses(void **state)
{
	SCENE(s, "1");
	assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_string_equal(s.k.pinned_by, "foreign write");
	assert_false(s.k.ours);
	/* where only advice is given, there is nobody to be kept off */
	assert_int_equal(scene_start(&s, KNOB_OBSERVE), 0);
	assert_int_equal(s.k.mode, KNOB_OBSERVE);
}

static void adopt_lets_the_configuration_pin(void **state)
{
	SCENE(s, "1");
	assert_int_equal(scene_start(&s, KNOB_MANUAL), 0);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_string_equal(s.k.pinned_by, "configuration");
}

static void adopt_takes_over_what_a_former_run_has_set(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	assert_int_equal(scene_start(&s, KNOB_AUTO), 1);
	assert_int_equal(s.k.mode, KNOB_AUTO);
	assert_true(s.k.ours);
	assert_string_equal(s.k.original, "0");
	/* and where the configuration has come to allow advice only, it can be given back */
	assert_int_equal(scene_start(&s, KNOB_OBSERVE), 1);
	assert_int_equal(s.k.mode, KNOB_OBSERVE);
	assert_true(s.k.ours);
}

static void adopt_again_changes_nothing(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(actuator_adopt(s.a, &s.d, KNOB_AUTO, &s.k), 1);
		assert_true(s.k.ours);
		assert_int_equal(entry(&s)->state, LEDGER_APPLIED);
	}
}

static void adopt_drops_the_entry_of_a_former_mount(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	/* unmounted, mounted again: the same name, another superblock, whose knob is 0 */
	tree_write(&s.t, KNOB, "0\n");
	s.d.id.ino++;
	assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
	assert_int_equal(s.k.mode, KNOB_AUTO);
	assert_int_equal(actuator_ledger(s.a)->n, 0);
}

static void adopt_goes_on_without_a_ledger_it_cannot_read(void **state)
{
	SCENE(s, "0");
	tree_write(&s.t, LEDGER, "\001\002 no ledger");
	assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
	assert_int_equal(s.k.mode, KNOB_AUTO);
	assert_string_equal(tree_read(&s.t, LEDGER ".bad"), "\001\002 no ledger");
	assert_int_equal(apply(&s, "1", false), 0);
	assert_int_equal(scene_start(&s, KNOB_AUTO), 1);
}

/* --- applying --- */

static void apply_writes_and_reports(void **state)
{
	struct decision d = decision("0", "1", REASON_STALL);

	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, false, 0), 0);
	assert_true(s.k.busy);
	assert_int_equal(s.done, 0); /* not before the loop runs */
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, false, 0), -EBUSY);
	assert_int_equal(actuator_pin(s.a, &s.d, &s.k, true, "x"), -EBUSY);
	assert_int_equal(actuator_adopt(s.a, &s.d, KNOB_AUTO, &s.k), -EBUSY);
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 0);
	assert_int_equal(entry(&s)->state, LEDGER_INTENT);
	loop_until_done(&s, 1);

	assert_int_equal(s.r, 0);
	assert_memory_equal(&s.decision, &d, sizeof(d));
	assert_int_equal(knob(&s), 1);
	assert_false(s.k.busy);
	assert_string_equal(s.k.value, "1");
	assert_string_equal(s.k.original, "0");
	assert_true(s.k.ours);
	assert_int_equal(s.k.mode, KNOB_AUTO);
	assert_int_equal(entry(&s)->state, LEDGER_APPLIED);
	assert_int_equal(entry(&s)->reason, REASON_STALL);
}

static void apply_back_to_the_original_leaves_nothing(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	assert_int_equal(apply(&s, "0", false), 0);
	assert_int_equal(knob(&s), 0);
	assert_false(s.k.ours);
	assert_null(entry(&s));
}

static void apply_never_writes_what_is_there(void **state)
{
	_cleanup_close_ int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char events[512];

	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_true(inotify_add_watch(watch, s.k.path, IN_MODIFY | IN_OPEN) >= 0);
	assert_int_equal(apply(&s, "0", false), 0);
	assert_int_equal(apply(&s, "0", true), 0); /* only pinned */
	assert_int_equal(read(watch, events, sizeof(events)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_int_equal(entry(&s)->state, LEDGER_PINNED);
}

static void apply_leaves_what_somebody_else_wrote_meanwhile(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	tree_write(&s.t, KNOB, "5\n");
	assert_int_equal(apply(&s, "1", false), -EBUSY);
	assert_int_equal(knob(&s), 5);
	assert_string_equal(s.k.value, "5");
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_string_equal(s.k.pinned_by, "foreign write");
	assert_false(s.k.ours);
	/* also where it is what we wanted to write: it is not ours */
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_int_equal(actuator_pin(s.a, &s.d, &s.k, false, NULL), 0);
	tree_write(&s.t, KNOB, "1\n");
	assert_int_equal(apply(&s, "1", false), -EBUSY);
	assert_string_equal(s.k.pinned_by, "foreign write");
}

static void apply_touches_nothing_without_a_ledger(void **state)
{
	struct decision d = decision("0", "1", REASON_STALL);
	char away[128];

	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	snprintf(away, sizeof(away), "%s-away", s.t.run);
	assert_int_equal(rename(s.t.run, away), 0);
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, false, 0), -ENOENT);
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, true, 0), -ENOENT);
	assert_false(s.k.busy);
	assert_int_equal(s.k.mode, KNOB_AUTO);
	assert_int_equal(knob(&s), 0);
	assert_int_equal(s.done, 0);
	/* and works again when the directory is back */
	assert_int_equal(rename(away, s.t.run), 0);
	assert_int_equal(apply(&s, "1", false), 0);
	assert_int_equal(knob(&s), 1);
}

static void apply_survives_a_knob_that_vanishes(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(unlink(s.k.path), 0);
	assert_int_equal(apply(&s, "1", false), -ENOENT);
	assert_false(s.k.supported);
	assert_null(entry(&s));
	assert_int_equal(knob(&s), -1); /* not made anew */
}

/* A file of the kernel that takes a 1 and reads as 0: its unit is coarser than that. */
static void apply_notices_a_write_without_effect(void **state)
{
	SCENE(s, "0");
	if (access("/proc/self/oom_adj", W_OK) < 0)
		scene_skip(&s);
	assert_int_equal(unlink(tree_path(&s.t, KNOB)), 0);
	assert_int_equal(symlink("/proc/self/oom_adj", tree_path(&s.t, KNOB)), 0);
	scene_start(&s, KNOB_AUTO);
	if (!s.k.supported || strcmp(s.k.value, "0") != 0)
		scene_skip(&s);
	assert_int_equal(apply(&s, "1", false), -EIO);
	assert_string_equal(s.k.value, "0");
	assert_int_equal(s.k.mode, KNOB_AUTO);
	assert_null(entry(&s));
}

static void apply_refuses_what_makes_no_sense(void **state)
{
	struct decision d = decision("0", "1", REASON_STALL);

	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	*d.to = '\0';
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, false, 0), -EINVAL);
	s.k.supported = false;
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, false, 0), -EOPNOTSUPP);
	assert_int_equal(actuator_pin(s.a, &s.d, &s.k, true, "x"), -EOPNOTSUPP);
}

/* --- a write that hangs: a lease makes whoever opens for writing wait --- */

static int lease(struct scene *s)
{
	int fd = open(s->k.path, O_RDONLY | O_CLOEXEC);

	signal(SIGIO, SIG_IGN);
	assert_true(fd >= 0);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		scene_skip(s);
	return fd;
}

static void write_that_hangs_is_stuck_and_ends_at_last(void **state)
{
	_cleanup_close_ int fd = -EBADF;
	struct decision d = decision("0", "1", REASON_STALL);
	uint64_t until = now_monotonic_us() + PATIENCE_US;

	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	fd = lease(&s);
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, false, 0), 0);
	while (!s.k.stuck && now_monotonic_us() < until)
		assert_true(sd_event_run(s.event, USEC_PER_SEC) >= 0);
	assert_true(s.k.stuck);
	assert_true(s.k.busy);
	assert_int_equal(s.done, 0);
	assert_int_equal(knob(&s), 0);
	fd = safe_close(fd);
	loop_until_done(&s, 1);
	assert_int_equal(s.r, 0);
	assert_false(s.k.stuck);
	assert_int_equal(knob(&s), 1);
}

static void device_that_goes_during_a_write_is_not_touched(void **state)
{
	_cleanup_close_ int fd = -EBADF;
	struct decision d = decision("0", "1", REASON_STALL);
	struct knob_state gone;

	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	fd = lease(&s);
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, false, 0), 0);
	actuator_forget(s.a, &s.d.id);
	memset(&s.k, 0xa5, sizeof(s.k));
	gone = s.k;
	fd = safe_close(fd);
	loop_until_done(&s, 1);
	assert_memory_equal(&s.k, &gone, sizeof(gone));
	/* The ledger knows: the daemon may only be stopping. */
	assert_int_equal(scene_start(&s, KNOB_AUTO), 1);
}

static void free_finishes_what_is_under_way(void **state)
{
	struct decision d = decision("0", "1", REASON_STALL);

	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(actuator_apply(s.a, &s.d, &s.k, &d, false, 0), 0);
	actuator_free(TAKE_PTR(s.a));
	assert_int_equal(s.done, 0);
	assert_int_equal(knob(&s), 1);
	assert_non_null(strstr(tree_read(&s.t, LEDGER), "\"applied\""));
}

/* --- checking --- */

static void check_notices_a_foreign_write_once(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 0);
	tree_write(&s.t, KNOB, "0\n");
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 1);
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 0);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_string_equal(s.k.pinned_by, "foreign write");
	assert_false(s.k.ours);
	assert_string_equal(s.k.value, "0");
	/* a restart does not forget it, though the knob looks fresh */
	assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_string_equal(s.k.pinned_by, "foreign write");
}

static void check_follows_a_knob_that_goes_and_comes(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(unlink(tree_path(&s.t, KNOB)), 0);
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 0);
	assert_false(s.k.supported);
	assert_true(*s.k.why);
	/* the module's place this time */
	tree_write(&s.t, "proc/fs/jbd2_force_copy/test-8", "0\n");
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 0);
	assert_true(s.k.supported);
	assert_int_equal(s.k.mode, KNOB_AUTO);
	assert_non_null(strstr(s.k.path, "jbd2_force_copy"));
}

static void pin_is_not_forgotten_while_the_knob_cannot_be_read(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", true), 0);
	tree_write(&s.t, KNOB, "garbage\n");
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(actuator_check(s.a, &s.d, &s.k), 0);
		assert_false(s.k.supported);
		assert_int_equal(s.k.mode, KNOB_MANUAL);
		assert_string_equal(s.k.pinned_by, "fstunectl (uid 7)");
	}
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	tree_write(&s.t, KNOB, "1\n");
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 0);
	assert_true(s.k.supported);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
}

static void prune_drops_what_was_unmounted(void **state)
{
	struct ledger_entry e;

	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	e = *entry(&s);
	e.id.ino++; /* mounted again since */
	assert_int_equal(ledger_put(actuator_ledger(s.a), &e), 0);
	e.id.ino++;
	snprintf(e.device, sizeof(e.device), "nosuch0"); /* pulled out */
	assert_int_equal(ledger_put(actuator_ledger(s.a), &e), 0);
	snprintf(e.device, sizeof(e.device), "..");
	e.id.ino++;
	assert_int_equal(ledger_put(actuator_ledger(s.a), &e), 0);
	actuator_prune(s.a);
	assert_int_equal(actuator_ledger(s.a)->n, 1);
	assert_non_null(entry(&s));
	/* also in the file */
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(actuator_ledger(s.a)->n, 1);
}

static void foreign_pin_holds_also_without_a_ledger(void **state)
{
	char away[128];

	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	assert_int_equal(apply(&s, "0", false), 0);
	snprintf(away, sizeof(away), "%s-away", s.t.run);
	assert_int_equal(rename(s.t.run, away), 0);
	tree_write(&s.t, KNOB, "1\n");
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 1);
	tree_write(&s.t, KNOB, "0\n");
	assert_int_equal(actuator_check(s.a, &s.d, &s.k), 1);
	assert_int_equal(actuator_adopt(s.a, &s.d, KNOB_AUTO, &s.k), 0);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_string_equal(s.k.pinned_by, "foreign write");
	assert_int_equal(rename(away, s.t.run), 0);
}

/* --- pins --- */

static void set_pins_until_auto(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", true), 0);
	assert_int_equal(s.uid, 7);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_string_equal(s.k.pinned_by, "fstunectl (uid 7)");
	assert_string_equal(s.k.original, "0"); /* for revert */
	assert_false(s.k.ours);
	assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_string_equal(s.k.pinned_by, "fstunectl (uid 7)");

	/* Handed back, it is the policy's, and what was before us is not forgotten. */
	assert_int_equal(actuator_pin(s.a, &s.d, &s.k, false, NULL), 0);
	assert_int_equal(s.k.mode, KNOB_AUTO);
	assert_string_equal(s.k.pinned_by, "");
	assert_true(s.k.ours);
	assert_int_equal(scene_start(&s, KNOB_AUTO), 1);
	actuator_free(TAKE_PTR(s.a));
	assert_int_equal(restore_all(&s), 1);
	assert_int_equal(knob(&s), 0);
}

static void pin_of_the_administrator_outranks_the_configuration(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_MANUAL);
	assert_int_equal(apply(&s, "1", false), 0); /* the configuration's value: ours */
	assert_int_equal(scene_start(&s, KNOB_MANUAL), 1);
	assert_string_equal(s.k.pinned_by, "configuration");
	assert_int_equal(apply(&s, "0", true), 0);
	scene_start(&s, KNOB_MANUAL);
	assert_string_equal(s.k.pinned_by, "fstunectl (uid 7)");
}

static void revert_writes_the_original_and_pins(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	assert_int_equal(apply(&s, s.k.original, true), 0);
	assert_int_equal(knob(&s), 0);
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_int_equal(actuator_pin(s.a, &s.d, &s.k, false, NULL), 0);
	assert_null(entry(&s));
	assert_int_equal(s.k.mode, KNOB_AUTO);
}

static void auto_takes_over_what_somebody_else_has_set(void **state)
{
	SCENE(s, "1");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(s.k.mode, KNOB_MANUAL);
	assert_int_equal(actuator_pin(s.a, &s.d, &s.k, false, NULL), 0);
	/* and a restart does not take it for foreign again */
	assert_int_equal(scene_start(&s, KNOB_AUTO), 1);
	assert_int_equal(s.k.mode, KNOB_AUTO);
	assert_int_equal(apply(&s, "0", false), 0);
	actuator_free(TAKE_PTR(s.a));
	assert_int_equal(restore_all(&s), 1);
	assert_int_equal(knob(&s), 1); /* as it was found */
}

static void auto_leaves_advice_only_where_that_is_configured(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_OBSERVE);
	assert_int_equal(apply(&s, "1", true), 0);
	assert_int_equal(actuator_pin(s.a, &s.d, &s.k, false, NULL), 0);
	assert_int_equal(s.k.mode, KNOB_OBSERVE);
}

/* --- what is said --- */

static void change_says_what_from_what_to_what_and_why_in_one_line(void **state)
{
	int memory = memfd_create("log", MFD_CLOEXEC), real = dup(STDERR_FILENO);
	char text[1024] = "", expected[512];
	ssize_t n;

	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	log_set_level(LOG_INFO);
	dup2(memory, STDERR_FILENO);
	assert_int_equal(apply(&s, "1", false), 0);
	tree_write(&s.t, KNOB, "0\n");
	assert_int_equal(apply(&s, "0", false), -EBUSY);
	dup2(real, STDERR_FILENO);
	close(real);
	n = pread(memory, text, sizeof(text) - 1, 0);
	close(memory);
	assert_true(n > 0);
	snprintf(
		expected, sizeof(expected),
		"fs-tuned: %s: force_copy 0 -> 1 (stall): a test\n"
		"fs-tuned: %s: force_copy not set from 1 to 0: Device or resource busy (stall: "
		"a test)\n",
		s.d.name, s.d.name);
	assert_string_equal(text, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adopt_finds_a_fresh_knob),
		cmocka_unit_test(adopt_says_why_a_knob_is_not_supported),
		cmocka_unit_test(adopt_takes_what_is_set_for_somebody_elses),
		cmocka_unit_test(adopt_lets_the_configuration_pin),
		cmocka_unit_test(adopt_takes_over_what_a_former_run_has_set),
		cmocka_unit_test(adopt_again_changes_nothing),
		cmocka_unit_test(adopt_drops_the_entry_of_a_former_mount),
		cmocka_unit_test(adopt_goes_on_without_a_ledger_it_cannot_read),
		cmocka_unit_test(apply_writes_and_reports),
		cmocka_unit_test(apply_back_to_the_original_leaves_nothing),
		cmocka_unit_test(apply_never_writes_what_is_there),
		cmocka_unit_test(apply_leaves_what_somebody_else_wrote_meanwhile),
		cmocka_unit_test(apply_touches_nothing_without_a_ledger),
		cmocka_unit_test(apply_survives_a_knob_that_vanishes),
		cmocka_unit_test(apply_notices_a_write_without_effect),
		cmocka_unit_test(apply_refuses_what_makes_no_sense),
		cmocka_unit_test(write_that_hangs_is_stuck_and_ends_at_last),
		cmocka_unit_test(device_that_goes_during_a_write_is_not_touched),
		cmocka_unit_test(free_finishes_what_is_under_way),
		cmocka_unit_test(check_notices_a_foreign_write_once),
		cmocka_unit_test(check_follows_a_knob_that_goes_and_comes),
		cmocka_unit_test(pin_is_not_forgotten_while_the_knob_cannot_be_read),
		cmocka_unit_test(prune_drops_what_was_unmounted),
		cmocka_unit_test(foreign_pin_holds_also_without_a_ledger),
		cmocka_unit_test(set_pins_until_auto),
		cmocka_unit_test(pin_of_the_administrator_outranks_the_configuration),
		cmocka_unit_test(revert_writes_the_original_and_pins),
		cmocka_unit_test(auto_takes_over_what_somebody_else_has_set),
		cmocka_unit_test(auto_leaves_advice_only_where_that_is_configured),
		cmocka_unit_test(change_says_what_from_what_to_what_and_why_in_one_line),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
