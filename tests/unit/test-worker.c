// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <cmocka.h>
#include "../../daemon/base/time-util.h"
#include "../../daemon/base/worker.h"

/* How long anything may take that is to happen. */
#define PATIENCE_US (20 * USEC_PER_SEC)

struct scene {
	sd_event *event;
	int gate; /* eventfd: the function waits for it */
	int gone; /* eventfd: the function is about to return */
	unsigned done, late;
	int r;
};

struct job {
	int gate, gone, r;
	char text[32];
};

static void setup(struct scene *s)
{
	*s = (struct scene){ .gate = eventfd(0, EFD_CLOEXEC), .gone = eventfd(0, EFD_CLOEXEC) };
	assert_int_equal(sd_event_new(&s->event), 0);
}

static void teardown(struct scene *s)
{
	sd_event_unref(s->event);
	close(s->gate);
	close(s->gone);
}

#define SCENE(s)                            \
	_cleanup_(teardown) struct scene s; \
	(void)state;                        \
	setup(&s)

static int run(void *arg)
{
	struct job *j = arg;
	eventfd_t v;

	assert_int_equal(eventfd_read(j->gate, &v), 0);
	snprintf(j->text, sizeof(j->text), "from the thread");
	assert_int_equal(eventfd_write(j->gone, 1), 0);
	return j->r;
}

static void on_done(void *arg, int r, void *userdata)
{
	struct scene *s = userdata;
	struct job *j = arg;

	assert_string_equal(j->text, "from the thread");
	s->done++;
	s->r = r;
}

static void on_late(void *userdata)
{
	((struct scene *)userdata)->late++;
}

static struct worker *start(struct scene *s, int r, uint64_t deadline_us)
{
	const struct worker_ops ops = {
		.run = run,
		.done = on_done,
		.late = on_late,
		.deadline_us = deadline_us,
	};
	struct job *j = calloc(1, sizeof(*j));
	struct worker *w = NULL;

	assert_non_null(j);
	*j = (struct job){ .gate = s->gate, .gone = s->gone, .r = r };
	assert_int_equal(worker_start(&w, s->event, &ops, j, s), 0);
	return w;
}

static void loop_until(struct scene *s, const unsigned *counter, unsigned n)
{
	uint64_t until = now_monotonic_us() + PATIENCE_US;

	while (*counter < n && now_monotonic_us() < until)
		assert_true(sd_event_run(s->event, 100 * USEC_PER_MSEC) >= 0);
	assert_int_equal(*counter, n);
}

static void worker_reports_its_end_on_the_loop(void **state)
{
	_cleanup_(worker_freep) struct worker *w = NULL;

	SCENE(s);
	w = start(&s, -EXDEV, USEC_INFINITY);
	assert_int_equal(sd_event_run(s.event, 0), 0);
	assert_int_equal(s.done, 0);
	assert_int_equal(eventfd_write(s.gate, 1), 0);
	loop_until(&s, &s.done, 1);
	assert_int_equal(s.r, -EXDEV);
	/* once */
	assert_int_equal(sd_event_run(s.event, 0), 0);
	assert_int_equal(s.done, 1);
	assert_int_equal(s.late, 0);
}

static void worker_says_when_it_is_late_and_still_ends(void **state)
{
	_cleanup_(worker_freep) struct worker *w = NULL;

	SCENE(s);
	w = start(&s, 0, USEC_PER_MSEC);
	loop_until(&s, &s.late, 1);
	assert_int_equal(s.done, 0);
	assert_int_equal(eventfd_write(s.gate, 1), 0);
	loop_until(&s, &s.done, 1);
	assert_int_equal(s.late, 1);
}

static void worker_that_hangs_keeps_no_other_waiting(void **state)
{
	_cleanup_(worker_freep) struct worker *hanging = NULL, *w = NULL;
	eventfd_t v;

	SCENE(s);
	hanging = start(&s, 1, USEC_INFINITY);
	s.gate = eventfd(0, EFD_CLOEXEC); /* another gate than the first one's */
	w = start(&s, 2, USEC_INFINITY);
	assert_int_equal(eventfd_write(s.gate, 1), 0);
	loop_until(&s, &s.done, 1);
	assert_int_equal(s.r, 2);
	assert_int_equal(eventfd_read(s.gone, &v), 0);

	int gate = ((struct job *)worker_arg(hanging))->gate;

	assert_int_equal(eventfd_write(gate, 1), 0);
	loop_until(&s, &s.done, 2);
	assert_int_equal(s.r, 1);
	close(gate);
}

static void worker_wait_takes_the_result(void **state)
{
	_cleanup_(worker_freep) struct worker *w = NULL;
	int r = 0;

	SCENE(s);
	w = start(&s, 42, USEC_INFINITY);
	assert_false(worker_wait(w, 0, &r));
	assert_false(worker_wait(w, USEC_PER_MSEC, &r));
	assert_int_equal(eventfd_write(s.gate, 1), 0);
	assert_true(worker_wait(w, PATIENCE_US, &r));
	assert_int_equal(r, 42);
	assert_string_equal(((struct job *)worker_arg(w))->text, "from the thread");
	assert_int_equal(sd_event_run(s.event, 0), 0);
	assert_int_equal(s.done, 0);
}

/* The sanitizers see whether the thread touches what was freed, or nobody frees it. */
static void worker_let_go_while_running_ends_alone(void **state)
{
	eventfd_t v;

	SCENE(s);
	worker_free(start(&s, 0, USEC_PER_MSEC));
	assert_int_equal(eventfd_write(s.gate, 1), 0);
	assert_int_equal(eventfd_read(s.gone, &v), 0);
	assert_int_equal(sd_event_run(s.event, 0), 0);
	assert_int_equal(s.done, 0);
	assert_int_equal(s.late, 0);
}

static int block_of_signals(void *arg)
{
	sigset_t now;

	(void)arg;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	return sigismember(&now, SIGTERM) && sigismember(&now, SIGHUP) &&
	       sigismember(&now, SIGCHLD);
}

static void worker_takes_no_signals(void **state)
{
	static const struct worker_ops ops = {
		.run = block_of_signals,
		.done = on_done,
		.deadline_us = USEC_INFINITY,
	};
	_cleanup_(worker_freep) struct worker *w = NULL;
	sigset_t before, after;
	int r = 0;

	SCENE(s);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(worker_start(&w, s.event, &ops, malloc(1), &s), 0);
	assert_true(worker_wait(w, PATIENCE_US, &r));
	assert_int_equal(r, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worker_reports_its_end_on_the_loop),
		cmocka_unit_test(worker_says_when_it_is_late_and_still_ends),
		cmocka_unit_test(worker_that_hangs_keeps_no_other_waiting),
		cmocka_unit_test(worker_wait_takes_the_result),
		cmocka_unit_test(worker_let_go_while_running_ends_alone),
		cmocka_unit_test(worker_takes_no_signals),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
