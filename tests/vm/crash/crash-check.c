// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rebuilds the disk as power cuts would have left it, at many points of the log, and has each
 * examined. Or examines one disk that something left behind, with the marks that came by a
 * port.
 *
 * Standard output: for each point that was not well a line, followed by what was wrong, and at
 * the end one line of counts. Exit status 0: all were well; 1: some were not; 2: it could not
 * be done.
 */
#include <fcntl.h>
#include <getopt.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include "examine.h"
#include "points.h"

#define IMAGE "/tmp/crashed"
#define DIRECTORY "/tmp/recovered"

/* In the log they are on the disk behind the file system. */
#define MARKS_BYTES (UINT64_C(1) << 20)

static struct {
	uint64_t seed, random;
	unsigned workers, n_points;
	unsigned only; /* this point alone; 0: all */
	bool calm, last, e2fsck;
	uint64_t bytes;
	const char *base, *log, *marks;
} arg = { .workers = 3, .n_points = 10 };

static struct {
	unsigned points;
	struct verdict kernel, e2fsck;
	unsigned bad;
} sum;

static int fail(const char *what, const char *on, int error)
{
	fprintf(stderr, "crash-check: %s %s: %s\n", what, on, strerror(-error));
	return error;
}

static int open_or_fail(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd < 0 ? fail("cannot open", path, -errno) : fd;
}

static int attach(int image_fd, char *device, size_t size)
{
	_cleanup_close_ int control = open_or_fail("/dev/loop-control", O_RDWR), fd = -EBADF;
	struct loop_config config = { .fd = (uint32_t)image_fd };
	int n;

	if (control < 0)
		return control;
	n = ioctl(control, LOOP_CTL_GET_FREE);
	if (n < 0)
		return fail("no loop device in", "/dev/loop-control", -errno);
	snprintf(device, size, "/dev/loop%d", n);
	fd = open_or_fail(device, O_RDWR);
	if (fd < 0)
		return fd;
	return ioctl(fd, LOOP_CONFIGURE, &config) < 0 ? fail("cannot set up", device, -errno)
						      : 0;
}

/* Not by itself at the last close: that one must drop what is cached of the disk before. */
static void detach(const char *device)
{
	_cleanup_close_ int fd = open_or_fail(device, O_RDWR);

	if (fd >= 0 && ioctl(fd, LOOP_CLR_FD) < 0)
		fail("cannot release", device, -errno);
}

/* Adds up what was found at one place, and says it. */
static int report(const char *where, const struct verdict *kernel, const struct verdict *e2fsck,
		  const char *said)
{
	sum.points++;
	sum.kernel.lost += kernel->lost > 0;
	sum.kernel.unclean += kernel->unclean > 0;
	sum.kernel.miscounted += kernel->miscounted > 0;
	sum.e2fsck.lost += e2fsck->lost > 0;
	sum.e2fsck.unclean += e2fsck->unclean > 0;
	if (kernel->lost + kernel->unclean + e2fsck->lost + e2fsck->unclean == 0)
		return 0;
	sum.bad++;
	printf("%s: not well\n%s", where, said);
	return fflush(stdout) ? -EIO : 0;
}

/* `again` puts the disk back to where it was. */
static int examine(const struct scene *scene, const char *where,
		   const struct progress progress[WORLD_WORKERS], int (*again)(void *),
		   void *userdata)
{
	_cleanup_free_ char *said = NULL;
	struct scene s = *scene;
	struct verdict kernel = { 0 }, e2fsck = { 0 };
	size_t len;
	int r;

	s.out = open_memstream(&said, &len);
	if (!s.out)
		return -ENOMEM;
	r = again(userdata);
	if (r == 0)
		r = examine_kernel(&s, progress, &kernel);
	if (r == 0 && arg.e2fsck)
		r = again(userdata);
	if (r == 0 && arg.e2fsck)
		r = examine_e2fsck(&s, progress, &e2fsck);
	fclose(s.out);
	return r < 0 ? fail("cannot examine", where, r) : report(where, &kernel, &e2fsck, said);
}

struct rebuild {
	const struct write_log *log;
	struct marks *marks;
	struct replay *replay;
	const struct point *point;
	uint8_t *disk;
};

static int rebuild(void *userdata)
{
	struct rebuild *b = userdata;

	return replay_build(b->replay, b->point, b->disk);
}

static int examine_points(const struct scene *s, struct rebuild *b, const struct point *points,
			  unsigned n)
{
	static const char *const fates[] = { "all kept", "all lost", "any of them lost" };
	int r = 0;

	for (unsigned i = 0; i < n && r == 0; i++) {
		struct progress progress[WORLD_WORKERS];
		char where[160];

		if (arg.only && arg.only != i + 1)
			continue;
		b->point = &points[i];
		marks_progress(b->marks, points[i].n_entries, progress);
		snprintf(where, sizeof(where),
			 "point %u: seed %llu, after %zu of %zu entries, %zu unflushed, %s",
			 i + 1, (unsigned long long)arg.seed, points[i].n_entries,
			 b->log->n_entries,
			 points[i].n_entries -
				 write_log_last_flush(b->log, points[i].n_entries),
			 fates[points[i].fate]);
		r = examine(s, where, progress, rebuild, b);
	}
	return r;
}

static int check_log(const struct scene *s, int base_fd, uint8_t *disk)
{
	_cleanup_(write_log_freep) struct write_log *log = NULL;
	_cleanup_(marks_freep) struct marks *marks = NULL;
	_cleanup_(replay_freep) struct replay *replay = NULL;
	_cleanup_close_ int fd = open_or_fail(arg.log, O_RDONLY);
	_cleanup_free_ struct point *points = calloc(arg.n_points, sizeof(*points));
	struct rebuild b;
	off_t where;
	int r;

	if (fd < 0 || !points)
		return fd < 0 ? fd : -ENOMEM;
	r = write_log_open(&log, fd, arg.bytes + MARKS_BYTES, &where);
	if (r < 0) {
		fprintf(stderr, "crash-check: byte %lld\n", (long long)where);
		return fail("cannot read", arg.log, r);
	}
	r = marks_read(&marks, log, arg.bytes);
	if (r < 0)
		return fail("cannot read the marks in", arg.log, r);
	if (marks->n == 0)
		return fail("no marks in", arg.log, -ENODATA);
	r = replay_new(&replay, log, base_fd, arg.bytes);
	if (r < 0)
		return fail("cannot read", arg.base, r);
	printf("%s: %zu entries, %zu marks\n", arg.log, log->n_entries, marks->n);
	b = (struct rebuild){ .log = log, .marks = marks, .replay = replay, .disk = disk };
	if (arg.last)
		points_last(marks, points);
	else
		points_choose(marks, log, arg.random, points, arg.n_points);
	return examine_points(s, &b, points, arg.last ? 1 : arg.n_points);
}

struct copy {
	int base_fd;
	uint8_t *disk;
};

static int copy_base(void *userdata)
{
	const struct copy *c = userdata;

	for (size_t done = 0; done < arg.bytes;) {
		ssize_t n = pread(c->base_fd, c->disk + done, arg.bytes - done, (off_t)done);

		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		done += (size_t)n;
	}
	return 0;
}

static int check_left(const struct scene *s, int base_fd, uint8_t *disk)
{
	_cleanup_close_ int fd = open_or_fail(arg.marks, O_RDONLY);
	struct copy c = { .base_fd = base_fd, .disk = disk };
	struct progress progress[WORLD_WORKERS];
	uint8_t sector[MARK_BYTES];
	char where[64];
	struct mark m;
	unsigned n = 0;

	if (fd < 0)
		return fd;
	progress_init(progress);
	while (read(fd, sector, sizeof(sector)) == (ssize_t)sizeof(sector)) {
		if (mark_decode(sector, &m) < 0)
			return fail("no mark in", arg.marks, -EBADMSG);
		progress_before(progress, &m);
		n++;
	}
	printf("%s: %u marks\n", arg.marks, n);
	snprintf(where, sizeof(where), "seed %llu, killed", (unsigned long long)arg.seed);
	return examine(s, where, progress, copy_base, &c);
}

static int check(void)
{
	char device[32];
	struct scene s = { .image = IMAGE,
			   .device = device,
			   .dir = DIRECTORY,
			   .seed = arg.seed,
			   .workers = arg.workers,
			   .xattrs = !arg.calm };
	_cleanup_close_ int base_fd = open_or_fail(arg.base, O_RDONLY);
	_cleanup_close_ int image_fd = open_or_fail(IMAGE, O_RDWR | O_CREAT | O_TRUNC);
	uint8_t *disk;
	int r;

	if (base_fd < 0 || image_fd < 0)
		return base_fd < 0 ? base_fd : image_fd;
	if (mkdir(DIRECTORY, 0700) < 0 && errno != EEXIST)
		return fail("cannot make", DIRECTORY, -errno);
	if (ftruncate(image_fd, (off_t)arg.bytes) < 0)
		return fail("cannot make", IMAGE, -errno);
	disk = mmap(NULL, arg.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, image_fd, 0);
	if (disk == MAP_FAILED)
		return fail("cannot map", IMAGE, -errno);
	r = attach(image_fd, device, sizeof(device));
	if (r < 0)
		return r;
	r = arg.log ? check_log(&s, base_fd, disk) : check_left(&s, base_fd, disk);
	detach(device);
	return r;
}

static _Noreturn void usage(void)
{
	fprintf(stderr,
		"usage: crash-check --seed N [--workers N] [--calm] [--e2fsck] --bytes N "
		"--base FILE\n"
		"       {--log FILE [--points N] [--random N] [--only N] "
		"[--last] |\n"
		"       --marks FILE}\n");
	exit(2);
}

static const struct option options[] = {
	{ "seed", required_argument, NULL, 's' },   { "workers", required_argument, NULL, 'w' },
	{ "bytes", required_argument, NULL, 'b' },

	{ "base", required_argument, NULL, 'f' },   { "log", required_argument, NULL, 'l' },
	{ "points", required_argument, NULL, 'p' }, { "random", required_argument, NULL, 'r' },
	{ "only", required_argument, NULL, 'o' },   { "marks", required_argument, NULL, 'm' },
	{ "calm", no_argument, NULL, 'c' },         { "last", no_argument, NULL, 'x' },
	{ "e2fsck", no_argument, NULL, 'e' },       { 0 },
};

static void parse_option(int c, char *value)
{
	uint64_t number = value ? strtoull(value, NULL, 10) : 0;

	switch (c) {
	case 's':
		arg.seed = number;
		break;
	case 'w':
		arg.workers = (unsigned)number;
		break;
	case 'b':
		arg.bytes = number;
		break;
	case 'f':
		arg.base = value;
		break;
	case 'l':
		arg.log = value;
		break;
	case 'p':
		arg.n_points = (unsigned)number;
		break;
	case 'r':
		arg.random = number;
		break;
	case 'o':
		arg.only = (unsigned)number;
		break;
	case 'm':
		arg.marks = value;
		break;
	case 'c':
		arg.calm = true;
		break;
	case 'e':
		arg.e2fsck = true;
		break;
	case 'x':
		arg.last = true;
		break;
	default:
		usage();
	}
}

int main(int argc, char **argv)
{
	int c, r;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0)
		parse_option(c, optarg);
	if (optind != argc || arg.workers > WORLD_WORKERS || arg.bytes == 0 || !arg.base ||
	    arg.n_points == 0 || !arg.log == !arg.marks)
		usage();
	r = check();
	printf("points=%u bad=%u lost=%d unclean=%d miscounted=%d", sum.points, sum.bad,
	       sum.kernel.lost, sum.kernel.unclean, sum.kernel.miscounted);
	if (arg.e2fsck)
		printf(" e2fsck_lost=%d e2fsck_unclean=%d", sum.e2fsck.lost,
		       sum.e2fsck.unclean);
	putchar('\n');
	if (r < 0)
		return 2;
	return sum.bad > 0;
}
