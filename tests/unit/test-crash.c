// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A SIGKILL between any two steps of a change: ledger and knob are put as each prefix of the
 * steps leaves them, then a daemon starts on them, and then fs-tuned --restore runs on them.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <cmocka.h>
#include "actuator-scene.h"

/* What is on disk and in the kernel. */
struct remains {
	char *ledger; /* NULL: no file */
	int knob;
};

/* Before the intent; after it; after the write; after the ledger has it settled. */
enum { BEFORE, INTENT, WRITTEN, SETTLED, STEPS };

/* What a change begins with, what it does, and what must come of each prefix. */
struct crash {
	const char *name;
	int first;      /* -1, or a value written before it ... */
	bool first_pin; /* ... by the administrator */
	int to;
	bool pin;
	struct outcome {
		enum knob_mode mode;
		bool ours;
		int restored; /* the knob after --restore */
	} outcome[STEPS];
};

#define AUTO                        \
	{                           \
		KNOB_AUTO, false, 0 \
	}
#define OURS                       \
	{                          \
		KNOB_AUTO, true, 0 \
	}
#define PINNED(value)                     \
	{                                 \
		KNOB_MANUAL, false, value \
	}

static const struct crash crashes[] = {
	{ "policy turns it on", -1, false, 1, false, { AUTO, AUTO, OURS, OURS } },
	{ "policy turns it off", 1, false, 0, false, { OURS, OURS, AUTO, AUTO } },
	{ "set 1", -1, false, 1, true, { AUTO, AUTO, PINNED(1), PINNED(1) } },
	{ "set 0 over the policy's 1",
	  1,
	  false,
	  0,
	  true,
	  { OURS, OURS, PINNED(0), PINNED(0) } },
	{ "set 0 over a set 1",
	  1,
	  true,
	  0,
	  true,
	  { PINNED(1), PINNED(1), PINNED(0), PINNED(0) } },
};

static char *read_ledger(const struct scene *s)
{
	const char *text = tree_read(&s->t, LEDGER);

	return text ? strdup(text) : NULL;
}

/* Runs the change and keeps what it leaves after each step. */
static void record(struct scene *s, const struct crash *c, struct remains remains[STEPS])
{
	char to[KNOB_VALUE_MAX];
	struct decision d;

	scene_start(s, KNOB_AUTO);
	snprintf(to, sizeof(to), "%d", c->first);
	if (c->first >= 0)
		assert_int_equal(apply(s, to, c->first_pin), 0);
	remains[BEFORE] = (struct remains){ read_ledger(s), knob(s) };

	snprintf(to, sizeof(to), "%d", c->to);
	d = decision(s->k.value, to, c->pin ? REASON_ADMINISTRATOR : REASON_STALL);
	assert_int_equal(actuator_apply(s->a, &s->d, &s->k, &d, c->pin, 7), 0);
	remains[INTENT] = (struct remains){ read_ledger(s), remains[BEFORE].knob };
	loop_until_done(s, s->done + 1);
	assert_int_equal(s->r, 0);
	remains[SETTLED] = (struct remains){ read_ledger(s), knob(s) };
	remains[WRITTEN] = (struct remains){ strdup(remains[INTENT].ledger), knob(s) };
	actuator_free(TAKE_PTR(s->a));
}

static void put_back(const struct scene *s, const struct remains *r, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d\n", value);
	tree_write(&s->t, KNOB, text);
	if (r->ledger)
		tree_write(&s->t, LEDGER, r->ledger);
	else
		(void)unlink(tree_path(&s->t, LEDGER));
}

static void start_understands(struct scene *s, const struct outcome *o)
{
	assert_int_equal(scene_start(s, KNOB_AUTO), o->ours);
	assert_int_equal(s->k.mode, o->mode);
	assert_int_equal(s->k.ours, o->ours);
	if (o->mode == KNOB_MANUAL)
		assert_string_equal(s->k.pinned_by, "fstunectl (uid 7)");
	/* It does so in the ledger too: the intent is settled, or of no consequence. */
	if (entry(s))
		assert_int_not_equal(entry(s)->state, LEDGER_INTENT);
	actuator_free(TAKE_PTR(s->a));
}

static void sigkill_between_any_two_steps_is_understood(void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(crashes); i++) {
		const struct crash *c = &crashes[i];
		struct remains remains[STEPS];

		SCENE(s, "0");
		record(&s, c, remains);
		for (unsigned step = 0; step < STEPS; step++) {
			const struct remains *r = &remains[step];
			const struct outcome *o = &c->outcome[step];

			print_message("# %s, step %u\n", c->name, step);
			put_back(&s, r, r->knob);
			start_understands(&s, o);
			assert_int_equal(knob(&s), r->knob); /* looking writes nothing */
			/* A second start, and a restore after either. */
			start_understands(&s, o);
			assert_int_equal(restore_all(&s), o->ours);
			assert_int_equal(knob(&s), o->restored);
			put_back(&s, r, r->knob);
			assert_int_equal(restore_all(&s), o->ours);
			assert_int_equal(knob(&s), o->restored);
			/* Idempotent. */
			assert_int_equal(restore_all(&s), 0);
			assert_int_equal(knob(&s), o->restored);
		}
		for (unsigned step = 0; step < STEPS; step++)
			free(remains[step].ledger);
	}
}

/* Somebody else was faster, at whatever step. */
static void foreign_write_after_a_sigkill_is_left_alone(void **state)
{
	for (size_t i = 0; i < ELEMENTSOF(crashes); i++) {
		struct remains remains[STEPS];

		SCENE(s, "0");
		record(&s, &crashes[i], remains);
		for (unsigned step = 0; step < STEPS; step++) {
			put_back(&s, &remains[step], 5);
			assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
			assert_int_equal(s.k.mode, KNOB_MANUAL);
			assert_string_equal(s.k.pinned_by, "foreign write");
			actuator_free(TAKE_PTR(s.a));
			put_back(&s, &remains[step], 5);
			assert_int_equal(restore_all(&s), 0);
			assert_int_equal(knob(&s), 5);
			free(remains[step].ledger);
		}
	}
}

/* Waits till the ledger holds `text`; whoever replaces it renames a file into the directory. */
static void wait_for_ledger(const struct scene *s, const char *text)
{
	_cleanup_close_ int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	uint64_t until = now_monotonic_us() + PATIENCE_US;
	struct pollfd fd = { .fd = watch, .events = POLLIN };
	char events[4096];

	assert_true(inotify_add_watch(watch, s->t.run, IN_MOVED_TO) >= 0);
	for (;;) {
		const char *ledger = tree_read(&s->t, LEDGER);

		if (ledger && strstr(ledger, text))
			return;
		assert_true(now_monotonic_us() < until);
		(void)poll(&fd, 1, (int)(PATIENCE_US / USEC_PER_MSEC));
		(void)!read(watch, events, sizeof(events));
	}
}

/* Kills a --restore that waits to open the knob for writing: a lease makes it. */
static void kill_restore_before_its_write(struct scene *s)
{
	_cleanup_close_ int fd = open(tree_path(&s->t, KNOB), O_RDONLY | O_CLOEXEC);
	pid_t pid;

	signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		scene_skip(s);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)restore_all(s);
		_exit(0);
	}
	wait_for_ledger(s, "\"restored\"");
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* --restore itself is killed between its intent and its write, and after its write. */
static void sigkill_of_restore_leaves_no_foreign_write(void **state)
{
	static const int values[] = { 1, 0 };

	for (size_t i = 0; i < ELEMENTSOF(values); i++) {
		struct remains r;

		SCENE(s, "0");
		scene_start(&s, KNOB_AUTO);
		assert_int_equal(apply(&s, "1", false), 0);
		actuator_free(TAKE_PTR(s.a));
		kill_restore_before_its_write(&s);
		assert_int_equal(knob(&s), 1);
		r = (struct remains){ read_ledger(&s), values[i] };

		put_back(&s, &r, r.knob);
		assert_int_equal(scene_start(&s, KNOB_AUTO), r.knob);
		assert_int_equal(s.k.mode, KNOB_AUTO);
		actuator_free(TAKE_PTR(s.a));
		put_back(&s, &r, r.knob);
		assert_int_equal(restore_all(&s), r.knob);
		assert_int_equal(knob(&s), 0);
		free(r.ledger);
	}
}

/* --- restore --- */

static void restore_gives_back_what_is_ours(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	actuator_free(TAKE_PTR(s.a));
	assert_int_equal(restore_all(&s), 1);
	assert_int_equal(knob(&s), 0);
	/* Nothing is to be remembered, so nothing is left. */
	assert_int_equal(access(tree_path(&s.t, LEDGER), F_OK), -1);
	assert_int_equal(restore_all(&s), 0);
	/* What starts after it finds a fresh knob. */
	assert_int_equal(scene_start(&s, KNOB_AUTO), 0);
	assert_int_equal(s.k.mode, KNOB_AUTO);
}

static void restore_gives_back_what_the_configuration_pinned(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_MANUAL);
	assert_int_equal(apply(&s, "1", false), 0);
	actuator_free(TAKE_PTR(s.a));
	assert_int_equal(restore_all(&s), 1);
	assert_int_equal(knob(&s), 0);
}

static void restore_leaves_what_the_administrator_pinned(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", true), 0);
	actuator_free(TAKE_PTR(s.a));
	assert_int_equal(restore_all(&s), 0);
	assert_int_equal(knob(&s), 1);
	/* and remembers it, until auto */
	scene_start(&s, KNOB_AUTO);
	assert_string_equal(s.k.pinned_by, "fstunectl (uid 7)");
}

static void restore_leaves_what_somebody_else_wrote(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	actuator_free(TAKE_PTR(s.a));
	tree_write(&s.t, KNOB, "3\n");
	assert_int_equal(restore_all(&s), 0);
	assert_int_equal(knob(&s), 3);
}

static void restore_leaves_another_mount_alone(void **state)
{
	SCENE(s, "0");
	s.d.id.ino++; /* of a mount that there is no more */
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	actuator_free(TAKE_PTR(s.a));
	assert_int_equal(restore_all(&s), 0);
	assert_int_equal(knob(&s), 1);
}

static void restore_writes_to_places_of_knobs_only(void **state)
{
	struct ledger_entry e;

	SCENE(s, "0");
	tree_write(&s.t, "etc/important", "1\n");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	e = *entry(&s);
	snprintf(e.path, sizeof(e.path), "%s", tree_path(&s.t, "etc/important"));
	assert_int_equal(ledger_put(actuator_ledger(s.a), &e), 0);
	actuator_free(TAKE_PTR(s.a));
	assert_int_equal(restore_all(&s), 0);
	assert_string_equal(tree_read(&s.t, "etc/important"), "1");
}

static void restore_survives_a_knob_that_is_gone(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	actuator_free(TAKE_PTR(s.a));
	assert_int_equal(unlink(tree_path(&s.t, KNOB)), 0);
	assert_int_equal(restore_all(&s), 0);
	assert_int_equal(knob(&s), -1);
}

static void restore_without_anything_does_nothing(void **state)
{
	SCENE(s, "1");
	assert_int_equal(restore_all(&s), 0);
	assert_int_equal(actuator_restore_all("/nonexistent", s.t.root, NULL), 0);
	assert_int_equal(knob(&s), 1);
}

static void restore_gives_back_nothing_by_a_ledger_that_is_none(void **state)
{
	SCENE(s, "1");
	tree_write(&s.t, LEDGER, "{\"version\": 99, \"entries\": []}");
	assert_int_equal(restore_all(&s), -EBADMSG);
	assert_int_equal(knob(&s), 1);
	assert_int_equal(restore_all(&s), 0);
}

/* The ledger is read-only, the knob is not: giving back is what was asked for. */
static void restore_gives_back_though_the_ledger_cannot_be_written(void **state)
{
	SCENE(s, "0");
	scene_start(&s, KNOB_AUTO);
	assert_int_equal(apply(&s, "1", false), 0);
	actuator_free(TAKE_PTR(s.a));
	/* where the new one would be written is something else */
	assert_int_equal(mkdir(tree_path(&s.t, LEDGER ".tmp"), 0700), 0);
	assert_int_equal(restore_all(&s), 1);
	assert_int_equal(knob(&s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sigkill_between_any_two_steps_is_understood),
		cmocka_unit_test(foreign_write_after_a_sigkill_is_left_alone),
		cmocka_unit_test(sigkill_of_restore_leaves_no_foreign_write),
		cmocka_unit_test(restore_gives_back_what_is_ours),
		cmocka_unit_test(restore_gives_back_what_the_configuration_pinned),
		cmocka_unit_test(restore_leaves_what_the_administrator_pinned),
		cmocka_unit_test(restore_leaves_what_somebody_else_wrote),
		cmocka_unit_test(restore_leaves_another_mount_alone),
		cmocka_unit_test(restore_writes_to_places_of_knobs_only),
		cmocka_unit_test(restore_survives_a_knob_that_is_gone),
		cmocka_unit_test(restore_without_anything_does_nothing),
		cmocka_unit_test(restore_gives_back_nothing_by_a_ledger_that_is_none),
		cmocka_unit_test(restore_gives_back_though_the_ledger_cannot_be_written),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
