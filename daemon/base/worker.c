// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include "thread.h"
#include "units.h"
#include "worker.h"

/* Enough for a file name or two and the C library; locked memory is not what we want to own. */
#define STACK_SIZE (128 * 1024)

/* What thread and owner both hold; the last of them frees it. */
struct shared {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	unsigned refs;
	bool ended;
	int result;
	int eventfd;
	worker_fn run;
	void *arg;
};

struct worker {
	struct shared *shared;
	sd_event_source *end_source;
	sd_event_source *late_source;
	worker_done_cb done;
	worker_late_cb late;
	void *userdata;
};

static void shared_unref(struct shared *s)
{
	bool last;

	pthread_mutex_lock(&s->mutex);
	last = --s->refs == 0;
	pthread_mutex_unlock(&s->mutex);
	if (!last)
		return;
	pthread_cond_destroy(&s->cond);
	pthread_mutex_destroy(&s->mutex);
	safe_close(s->eventfd);
	free(s->arg);
	free(s);
}

static int shared_new(struct shared **ret, worker_fn run, void *arg)
{
	struct shared *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (!s) {
		free(arg);
		return -ENOMEM;
	}
	pthread_mutex_init(&s->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->cond, &attr);
	pthread_condattr_destroy(&attr);
	s->refs = 1;
	s->run = run;
	s->arg = arg;
	s->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->eventfd < 0) {
		int r = -errno;

		shared_unref(s);
		return r;
	}
	*ret = s;
	return 0;
}

static void *thread_main(void *p)
{
	struct shared *s = p;
	int r = s->run(s->arg);

	pthread_mutex_lock(&s->mutex);
	s->result = r;
	s->ended = true;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->mutex);
	(void)eventfd_write(s->eventfd, 1);
	shared_unref(s);
	return NULL;
}

static int on_end(sd_event_source *source _unused_, int fd _unused_, uint32_t events _unused_,
		  void *userdata)
{
	struct worker *w = userdata;
	int r;

	if (!worker_wait(w, 0, &r))
		return 0;
	w->done(w->shared->arg, r, w->userdata);
	return 0;
}

static int on_late(sd_event_source *source _unused_, uint64_t us _unused_, void *userdata)
{
	struct worker *w = userdata;

	w->late(w->userdata);
	return 0;
}

static int add_sources(struct worker *w, sd_event *event, uint64_t deadline_us)
{
	int r = sd_event_add_io(event, &w->end_source, w->shared->eventfd, EPOLLIN, on_end, w);

	if (r < 0 || !w->late || deadline_us == USEC_INFINITY)
		return r;
	return sd_event_add_time_relative(event, &w->late_source, CLOCK_MONOTONIC, deadline_us,
					  0, on_late, w);
}

int worker_start(struct worker **ret, sd_event *event, const struct worker_ops *ops, void *arg,
		 void *userdata)
{
	_cleanup_(worker_freep) struct worker *w = calloc(1, sizeof(*w));
	int r;

	if (!w) {
		free(arg);
		return -ENOMEM;
	}
	r = shared_new(&w->shared, ops->run, arg);
	if (r < 0)
		return r;
	w->done = ops->done;
	w->late = ops->late;
	w->userdata = userdata;
	r = add_sources(w, event, ops->deadline_us);
	if (r < 0)
		return r;
	w->shared->refs = 2;
	r = thread_start(thread_main, w->shared, STACK_SIZE);
	if (r < 0) {
		w->shared->refs = 1;
		return r;
	}
	*ret = TAKE_PTR(w);
	return 0;
}

static void stop_sources(struct worker *w)
{
	w->end_source = sd_event_source_disable_unref(w->end_source);
	w->late_source = sd_event_source_disable_unref(w->late_source);
}

bool worker_wait(struct worker *w, uint64_t wait_us, int *ret_r)
{
	struct shared *s = w->shared;
	struct timespec until;
	bool ended;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(wait_us / USEC_PER_SEC);
	until.tv_nsec += (long)(wait_us % USEC_PER_SEC * NSEC_PER_USEC);
	if (until.tv_nsec >= (long)NSEC_PER_SEC) {
		until.tv_sec++;
		until.tv_nsec -= (long)NSEC_PER_SEC;
	}

	pthread_mutex_lock(&s->mutex);
	while (!s->ended && wait_us > 0 && r == 0)
		r = pthread_cond_timedwait(&s->cond, &s->mutex, &until);
	ended = s->ended;
	*ret_r = s->result;
	pthread_mutex_unlock(&s->mutex);
	if (ended)
		stop_sources(w);
	return ended;
}

void *worker_arg(struct worker *w)
{
	return w->shared->arg;
}

void worker_free(struct worker *w)
{
	stop_sources(w);
	if (w->shared)
		shared_unref(w->shared);
	free(w);
}
