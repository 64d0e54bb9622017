// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The load of the crash test: workers that do what world.h says, each in a directory of its
 * own, and say by marks how far they are, while another thread keeps the journal committing
 * what makes fast commits ineligible, and a third turns fast commit on and off where there is a
 * switch.
 *
 * The directory must have been given w0, w1, ... and bulk/0 to bulk/199.
 */
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include "mark.h"
#include "tree.h"

#define BULK_DIRS 200u

static struct {
	uint64_t seed;
	unsigned workers;
	unsigned seconds;
	bool calm; /* nothing that makes a commit ineligible */
	const char *marks, *knob, *dir;
} arg = { .workers = 3, .seconds = 20 };

static int dir_fd, marks_fd;
static bool marks_seekable;
static atomic_bool stopping;
static atomic_uint steps[WORLD_WORKERS];
static atomic_uint toggles;

static void fail(const char *what, const char *on, int error)
{
	fprintf(stderr, "crash-load: %s %s: %s\n", what, on,
		strerror(error < 0 ? -error : error));
	_exit(1);
}

/* Direct, so that it goes its way at once and stands in the log where it belongs. */
static void put_mark(const struct mark *m, unsigned place)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	_Alignas(4096) uint8_t sector[MARK_BYTES];
	ssize_t n;

	mark_encode(m, sector);
	if (marks_seekable) {
		n = pwrite(marks_fd, sector, sizeof(sector),
			   (off_t)place * (off_t)sizeof(sector));
	} else {
		pthread_mutex_lock(&lock);
		n = write(marks_fd, sector, sizeof(sector));
		pthread_mutex_unlock(&lock);
	}
	if (n != (ssize_t)sizeof(sector))
		fail("cannot write to", arg.marks, n < 0 ? errno : EIO);
}

static void pause_ms(uint64_t *random, unsigned at_most)
{
	poll(NULL, 0, (int)(next_random(random) % (at_most + 1)));
}

static void work(struct world *w, int root_fd)
{
	struct mark m = { .worker = w->worker };
	struct op op;

	while (!stopping && world_next(w, &op)) {
		char what[WORLD_NAME + 64];
		int r;

		m.step = w->steps;
		m.kind = MARK_BEGIN;
		if (op_takes_away(op.kind))
			put_mark(&m, w->worker);
		r = tree_do(root_fd, w, &op);
		if (r < 0) {
			snprintf(what, sizeof(what), "%u, kind %d, object %u, %s", m.step,
				 op.kind, op.object, op.name);
			fail("operation", what, r);
		}
		m.kind = MARK_DONE;
		if (op_is_sync(op.kind))
			put_mark(&m, w->worker);
		if (world_apply(w, &op) < 0)
			fail("no", "memory", ENOMEM);
		steps[w->worker] = w->steps;
	}
	m.step = w->steps;
	m.kind = MARK_BEGIN;
	put_mark(&m, w->worker);
}

static void *worker(void *userdata)
{
	unsigned number = (unsigned)(uintptr_t)userdata;
	_cleanup_(world_freep) struct world *w = NULL;
	_cleanup_close_ int root_fd = -EBADF;
	char name[16];

	snprintf(name, sizeof(name), "w%u", number);
	root_fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		fail("cannot open", name, errno);
	if (world_new(&w, arg.seed, number, !arg.calm) < 0)
		fail("no", "memory", ENOMEM);
	work(w, root_fd);
	return NULL;
}

/* Makes the running transaction ineligible for a fast commit. */
static void rename_directory(unsigned turn)
{
	if (renameat(dir_fd, turn % 2 ? "bulk/turned" : "bulk/0", dir_fd,
		     turn % 2 ? "bulk/0" : "bulk/turned") < 0)
		fail("cannot rename", "bulk/0", errno);
}

/* Changes one block in each of many directories: a transaction that takes seconds to commit. */
static void change_directories(unsigned turn, unsigned n)
{
	char path[64];

	for (unsigned i = 1; i <= n && !stopping; i++) {
		snprintf(path, sizeof(path), "bulk/%u/turn%u", i, turn / 2);
		if (turn % 2) {
			if (unlinkat(dir_fd, path, 0) < 0 && errno != ENOENT)
				fail("cannot remove", path, errno);
		} else if (mknodat(dir_fd, path, S_IFREG | 0600, 0) < 0) {
			fail("cannot make", path, errno);
		}
	}
}

static void sync_all(void)
{
	struct mark m = { .kind = MARK_SYNCFS };

	for (unsigned i = 0; i < WORLD_WORKERS; i++)
		m.steps[i] = steps[i];
	if (syncfs(dir_fd) < 0)
		fail("syncfs", arg.dir, errno);
	put_mark(&m, WORLD_WORKERS);
}

static void *bulk(void *userdata)
{
	uint64_t random = arg.seed ^ 0xb01cull;

	(void)userdata;
	for (unsigned turn = 0; !stopping; turn++) {
		if (!arg.calm)
			rename_directory(turn);
		change_directories(turn, 20 + (unsigned)(next_random(&random) % 100));
		sync_all();
		pause_ms(&random, 3000);
	}
	return NULL;
}

static void *toggle(void *userdata)
{
	uint64_t random = arg.seed ^ 0x70991eull;
	int fd = open(arg.knob, O_WRONLY | O_CLOEXEC);

	(void)userdata;
	if (fd < 0)
		fail("cannot open", arg.knob, errno);
	while (!stopping) {
		if (pwrite(fd, next_random(&random) % 3 ? "1" : "0", 1, 0) != 1)
			fail("cannot write to", arg.knob, errno);
		toggles++;
		pause_ms(&random, 150);
	}
	close(fd);
	return NULL;
}

static pthread_t start(void *(*run)(void *), void *userdata)
{
	pthread_t thread;
	int r = pthread_create(&thread, NULL, run, userdata);

	if (r > 0)
		fail("no", "thread", r);
	return thread;
}

static void *sync_once(void *userdata)
{
	(void)userdata;
	syncfs(dir_fd);
	return NULL;
}

/* The shortest way to the loss. */
static void recipe(void)
{
	if (!arg.calm)
		rename_directory(0);
	change_directories(0, BULK_DIRS - 1);
	start(sync_once, NULL);
	poll(NULL, 0, 500); /* into the commit, which at 400 kB/s takes some seconds */
	worker((void *)0);
}

static void run(void)
{
	pthread_t thread[WORLD_WORKERS + 2];
	unsigned n = 0;

	for (unsigned i = 0; i < arg.workers; i++)
		thread[n++] = start(worker, (void *)(uintptr_t)i);
	thread[n++] = start(bulk, NULL);
	if (arg.knob)
		thread[n++] = start(toggle, NULL);
	poll(NULL, 0, (int)arg.seconds * 1000);
	stopping = true;
	while (n > 0)
		pthread_join(thread[--n], NULL);
}

static void open_marks(void)
{
	struct stat st;

	if (stat(arg.marks, &st) < 0)
		fail("cannot find", arg.marks, errno);
	marks_seekable = S_ISBLK(st.st_mode);
	marks_fd =
		open(arg.marks, O_WRONLY | O_CLOEXEC | (marks_seekable ? O_DIRECT : O_APPEND));
	if (marks_fd < 0)
		fail("cannot open", arg.marks, errno);
}

static _Noreturn void usage(void)
{
	fprintf(stderr, "usage: crash-load [--seed N] [--workers N] [--seconds N] [--calm] "
			"[--knob FILE] --marks FILE DIRECTORY\n");
	exit(2);
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "workers", required_argument, NULL, 'w' },
		{ "seconds", required_argument, NULL, 't' },
		{ "knob", required_argument, NULL, 'k' },
		{ "marks", required_argument, NULL, 'm' },
		{ "calm", no_argument, NULL, 'c' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case 's':
			arg.seed = strtoull(optarg, NULL, 10);
			break;
		case 'w':
			arg.workers = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 't':
			arg.seconds = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'k':
			arg.knob = optarg;
			break;
		case 'm':
			arg.marks = optarg;
			break;
		case 'c':
			arg.calm = true;
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc || !arg.marks || arg.workers > WORLD_WORKERS)
		usage();
	arg.dir = argv[optind];
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	dir_fd = open(arg.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		fail("cannot open", arg.dir, errno);
	open_marks();
	if (arg.seed == 0)
		recipe();
	else
		run();
	for (unsigned i = 0; i < arg.workers; i++)
		printf("worker %u: %u operations\n", i, steps[i]);
	if (arg.knob)
		printf("switch: written %u times\n", toggles);
	fflush(stdout);
	_exit(0);
}
