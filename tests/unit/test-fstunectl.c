// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fstunectl as a process, against the real bus on a private socket, which shows a view made by
 * hand. With arguments, "serve DIR N", it only serves N devices there: to look at it.
 */
#include <fcntl.h>
#include <limits.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>
#include "../../daemon/base/file.h"
#include "../../daemon/base/time-util.h"
#include "bus-fixture.h"

#define OUTPUT_MAX (1024 * 1024)

/* --- the daemon's side --- */

static struct fixture *make_view(unsigned n)
{
	struct fixture *f = fixture_new(n);

	for (unsigned i = 0; i < n; i++)
		fixture_knob(f, i, "0", KNOB_AUTO);
	if (n > 0) {
		free(f->d[0].device.mountpoint);
		f->d[0].device.mountpoint =
			strdup("/var/lib/postgresql/15/main \xc3\xa4\nwith \"all\" of it\xff");
		strcpy(f->d[0].device.label, "a\x1b[31m\u202e");
		fixture_wait(f, 0, FST_COMMIT, 40, 27000);
		fixture_wait(f, 0, FST_COMMIT, 2, 1300000);
		fixture_wait(f, 0, FST_COMMIT_LOGGING, 42, 25000);
		fixture_wait(f, 0, FST_FSYNC, 40, 31000);
		fixture_wait(f, 0, FST_SHADOW_WAIT, 300, 26000);
		fixture_fast_commits(f, 0);
		f->d[0].knobs[0].ours = true;
		strcpy(f->d[0].knobs[0].original, "0");
		strcpy(f->d[0].knobs[0].value, "1");
		f->d[0].policy.force_copy.state = FC_ON;
		f->d[0].policy.force_copy.since_us = FIXTURE_NOW_US - 20 * USEC_PER_SEC;
		f->d[0].outlier = (struct outlier){
			.time_us = FIXTURE_REALTIME_US,
			.event = { .duration_ns = NSEC_PER_SEC,
				   .measure = FST_SHADOW_WAIT,
				   .waiter = { .pid = 12,
					       .tgid = 11,
					       .comm = "fio",
					       .cgroup = 99 },
				   .committer = { .pid = 33, .tgid = 33, .comm = "mysqld" } },
		};
		f->views[0].outliers = &f->d[0].outlier;
		f->views[0].n_outliers = 1;
		fixture_decided(
			f, "sda1", "0", "1", REASON_STALL, 0, -1, 20 * USEC_PER_SEC,
			"shadow waits cost 130ms per second (limit 20ms), 75 waits/s, up "
			"to 1.2s; price 0.8MB/s copied");
	}
	if (n > 1) {
		fixture_wait(f, 1, FST_COMMIT, 5, 3100);
		fixture_wait(f, 1, FST_FSYNC, 5, 2900);
		if (n == 2)
			fixture_fast_commit_off(f, 1);
		fixture_decided(f, "sda2", "0", "1", REASON_ADMINISTRATOR, -EROFS, 0,
				10 * USEC_PER_SEC, "set with fstunectl");
	}
	if (n > 2)
		fixture_wait(f, 2, FST_COMMIT, 300, 900000);
	if (n == 5) {
		static const enum fst_measure shown[] = { FST_COMMIT, FST_FSYNC,
							  FST_SHADOW_WAIT };

		strcpy(f->d[4].device.name, "nvme10n12p15");
		for (size_t i = 0; i < ELEMENTSOF(shown); i++) {
			fixture_wait(f, 4, shown[i], 1000, 820);
			fixture_wait(f, 4, shown[i], 20, 130000);
			fixture_wait(f, 4, shown[i], 1, 9900000);
		}
	}
	if (n == 6) {
		fixture_f2fs(f, 5);
		f->d[5].device.n_devices = 2;
		f->d[5].knobs[KNOB_FORCE_COPY] = (struct knob_state){ .why = "no journal" };
		fixture_wait(f, 5, FST_F2FS_CHECKPOINT, 7, 44000);
		fixture_wait(f, 5, FST_F2FS_BLOCK_OPS, 7, 4000);
		fixture_wait(f, 5, FST_F2FS_FSYNC, 9, 55000);
	}
	fixture_judge(f);
	return f;
}

static void serve(const char *dir, unsigned n, int ready_fd)
{
	_cleanup_(fixture_freep) struct fixture *f = make_view(n);
	struct served s = { .f = f };
	sd_event *event;
	struct bus *b;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sd_event_new(&event) < 0 || bus_new(&b, event, dir, &served_ops, &s) < 0)
		_exit(1);
	if (getenv("DBUS_SYSTEM_BUS_ADDRESS") && bus_connect_system(b) < 0)
		_exit(1);
	if (ready_fd >= 0)
		close(ready_fd);
	(void)sd_event_loop(event);
	_exit(1);
}

/* --- the client's side --- */

struct server {
	char dir[64];
	pid_t pid;
};

static void start(struct server *s, unsigned n)
{
	int fd[2];
	char c;

	strcpy(s->dir, "/tmp/fstunectl-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		close(fd[0]);
		serve(s->dir, n, fd[1]);
	}
	close(fd[1]);
	/* End of file: it listens, or is dead, which the first call finds out. */
	assert_int_equal(read(fd[0], &c, 1), 0);
	close(fd[0]);
}

static void stop(struct server *s)
{
	char path[128];

	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	snprintf(path, sizeof(path), "%s/" FSTUNED_SOCKET, s->dir);
	unlink(path);
	rmdir(s->dir);
}

/* What one run of it said. */
struct said {
	int code;
	char out[OUTPUT_MAX], err[4096];
};
static struct said said;

static void slurp(int fd, char *buf, size_t size)
{
	ssize_t n = pread(fd, buf, size - 1, 0);

	assert_true(n >= 0);
	buf[n] = '\0';
	close(fd);
}

static const char *program(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = '\0';
	/* build/tests/unit/test-fstunectl -> build/fstunectl */
	for (int i = 0; i < 3; i++)
		*strrchr(path, '/') = '\0';
	strcat(path, "/fstunectl");
	return path;
}

/*
 * Runs it with what is given, up to NULL. Without a directory it is nobody who runs it, so that
 * it takes the system bus.
 */
static int run(const char *dir, ...)
{
	int out = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int err = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char option[128];
	const char *argv[16] = { program(), dir ? option : "--no-pager" };
	size_t n = 2;
	va_list ap;
	int status;
	pid_t pid;

	assert_true(out >= 0 && err >= 0);
	snprintf(option, sizeof(option), "--runtime-dir=%s", dir ?: "");
	va_start(ap, dir);
	while (n < ELEMENTSOF(argv) - 1 && (argv[n] = va_arg(ap, const char *)))
		n++;
	va_end(ap);

	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setenv("LC_ALL", "C.UTF-8", 1);
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		if (!dir && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(126);
		execv(argv[0], (char **)argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	slurp(out, said.out, sizeof(said.out));
	slurp(err, said.err, sizeof(said.err));
	return said.code = WEXITSTATUS(status);
}

/* Columns of the widest line: all characters of these tests are one wide. */
static size_t widest(const char *text)
{
	size_t most = 0, n = 0;

	for (; *text; text++) {
		if (*text == '\n')
			n = 0;
		else if ((*text & 0xc0) != 0x80)
			n++;
		most = n > most ? n : most;
	}
	return most;
}

static void assert_one_line(const char *text)
{
	const char *end = strchr(text, '\n');

	assert_non_null(end);
	assert_int_equal(end[1], '\0');
}

/* --- tests --- */

static void status_fits_80_columns_and_says_what_matters(_unused_ void **state)
{
	struct server s;

	start(&s, 3);
	assert_int_equal(run(s.dir, "status", NULL), 0);
	assert_true(widest(said.out) <= 80);
	assert_non_null(strstr(said.out, "fs-tuned: auto, kernel 6.1.0-42-amd64"));
	assert_non_null(strstr(said.out, "29ms/1.3/1.3s"));
	assert_non_null(strstr(said.out, "1 auto"));
	/* n/a, not "-": there are no probes in this view. */
	assert_non_null(strstr(said.out, "n/a"));
	stop(&s);
}

static void status_leaves_p50_out_where_it_is_tight(_unused_ void **state)
{
	struct server s;

	start(&s, 5);
	assert_int_equal(run(s.dir, "status", NULL), 0);
	assert_true(widest(said.out) <= 80);
	assert_non_null(strstr(said.out, "nvme10n12p15 /srv/5"));
	assert_non_null(strstr(said.out, " 136ms/9.9s "));
	assert_non_null(strstr(said.out, "SHADOW: p99/max"));
	stop(&s);
}

static void status_hides_what_is_well_beyond_20_devices(_unused_ void **state)
{
	struct server s;

	start(&s, 30);
	assert_int_equal(run(s.dir, "status", NULL), 0);
	assert_non_null(strstr(said.out, "\nsda1 "));
	assert_null(strstr(said.out, "\nsda2 "));
	assert_non_null(strstr(said.out, "more devices, neither tuned nor in trouble"));
	assert_int_equal(run(s.dir, "status", "-a", NULL), 0);
	assert_non_null(strstr(said.out, "\nsda30 "));
	assert_null(strstr(said.out, "more devices"));
	stop(&s);
}

static void status_sorts_greatest_wait_first(_unused_ void **state)
{
	struct server s;

	start(&s, 4);
	assert_int_equal(
		run(s.dir, "status", "--sort=commit-p50", "--no-legend", "-o", "device", NULL),
		0);
	assert_string_equal(said.out, "sda3\nsda1\nsda2\nsda4\n");
	stop(&s);
}

static void status_of_a_device_shows_who_waited(_unused_ void **state)
{
	struct server s;

	start(&s, 1);
	assert_int_equal(run(s.dir, "status", "sda1", NULL), 0);
	assert_non_null(strstr(said.out, "fio[11] cgroup 99"));
	assert_non_null(strstr(said.out, "asked for by mysqld[33]"));
	assert_non_null(strstr(said.out, "set by fs-tuned, originally 0"));
	assert_non_null(strstr(said.out, "shadow waits cost 130ms per second"));
	/* A newline in a mount point does not break a line. */
	assert_non_null(strstr(said.out, "\\x0awith"));
	stop(&s);
}

static void status_of_a_device_tells_fast_commits_where_there_are_any(_unused_ void **state)
{
	struct server s;

	start(&s, 2);
	assert_int_equal(run(s.dir, "status", "sda1", NULL), 0);
	assert_non_null(strstr(said.out, "Fast: 1412 fast commits"));
	assert_non_null(strstr(said.out, "Dir renamed 33, odd"));
	assert_null(strstr(said.out, "Resize"));
	assert_int_equal(run(s.dir, "status", "sda2", NULL), 0);
	assert_null(strstr(said.out, "Fast:"));
	stop(&s);
}

static void status_tells_of_a_knob_without_a_column(_unused_ void **state)
{
	struct server s;

	start(&s, 2);
	assert_int_equal(run(s.dir, "status", "--no-legend", NULL), 0);
	assert_non_null(strstr(said.out, "\n  fast_commit is 0, auto; with 1 500 fsync/s"));
	assert_int_equal(run(s.dir, "status", "-o", "DEVICE,FAST-COMMIT", "--no-legend", NULL),
			 0);
	assert_non_null(strstr(said.out, "sda1   -\n"));
	assert_non_null(strstr(said.out, "sda2   0 auto\n"));
	assert_int_equal(run(s.dir, "status", "sda2", NULL), 0);
	assert_non_null(strstr(said.out, "policy: watch for 20s; next trial in 40s; "));
	stop(&s);
}

static void explain_prints_parts_findings_and_no_needless_command(_unused_ void **state)
{
	struct server s;

	start(&s, 2);
	assert_int_equal(run(s.dir, "explain", "sda1", NULL), 0);
	assert_non_null(strstr(said.out, "LAST MINUTE"));
	assert_non_null(strstr(said.out, "\n  commit_logging"));
	assert_non_null(strstr(said.out, "\n- fsync takes 31ms"));
	assert_true(widest(said.out) <= 80);
	assert_int_equal(run(s.dir, "explain", "sda2", NULL), 0);
	assert_non_null(strstr(said.out, "\n- last trial of fast_commit: with 1 500 fsync/s"));
	assert_null(strstr(said.out, "tune2fs"));
	assert_int_equal(run(s.dir, "explain", "--json", "sda1", NULL), 0);
	assert_true(*said.out == '{');
	assert_int_equal(run(s.dir, "explain", NULL), FSTUNED_EXIT_USAGE);
	stop(&s);
}

static void f2fs_has_its_checkpoints_in_place_of_commits(_unused_ void **state)
{
	struct server s;
	const char *row;

	start(&s, 6);
	assert_int_equal(run(s.dir, "status", NULL), 0);
	assert_true(widest(said.out) <= 80);
	row = strstr(said.out, "\nsda6 ");
	assert_non_null(row);
	assert_non_null(strstr(row, "44ms"));
	assert_non_null(strstr(row, "55ms"));
	assert_non_null(strstr(row, "checkpoints p99 4"));
	assert_non_null(strstr(said.out, "COMMIT (of f2fs: checkpoints)"));

	assert_int_equal(
		run(s.dir, "status", "-o", "device,commit-count,shadow,reader-wait", NULL), 0);
	row = strstr(said.out, "\nsda6 ");
	assert_non_null(row);
	assert_int_equal(strcspn(row + 6 + strspn(row + 6, " "), " \n"), 1);
	assert_non_null(strstr(row, " 7 "));
	assert_non_null(strstr(row, " - "));

	assert_int_equal(run(s.dir, "status", "sda6", NULL), 0);
	assert_non_null(strstr(said.out, "Devices: 2"));
	assert_non_null(strstr(said.out, "Merging: 60 requests"));
	assert_non_null(strstr(said.out, "f2fs_checkpoint "));
	assert_non_null(strstr(said.out, "\n  block_ops "));
	assert_null(strstr(said.out, "Journal"));
	assert_null(strstr(said.out, "Policy"));
	stop(&s);
}

static void verbs_print_what_scripts_expect(_unused_ void **state)
{
	struct server s;

	start(&s, 2);
	assert_int_equal(run(s.dir, "list", NULL), 0);
	assert_string_equal(said.out, "sda1\nsda2\n");
	assert_int_equal(run(s.dir, "list", "--json", NULL), 0);
	assert_string_equal(said.out, "[\"sda1\",\"sda2\"]\n");
	assert_int_equal(run(s.dir, "get", "8:1", "force_copy", NULL), 0);
	assert_string_equal(said.out, "1\n");
	assert_int_equal(run(s.dir, "history", "--no-legend", NULL), 0);
	assert_non_null(strstr(said.out, "force_copy 0->1"));
	assert_non_null(strstr(said.out, "Read-only file system"));
	assert_int_equal(run(s.dir, "history", "--since=@1700000000", "--no-legend", NULL), 0);
	assert_string_equal(said.out, "");
	assert_int_equal(run(s.dir, "config", "--no-legend", NULL), 0);
	assert_non_null(strstr(said.out, "/etc/x?.conf:3"));
	assert_int_equal(run(s.dir, "set", "sda1", "force_copy", "1", NULL), 0);
	assert_string_equal(said.out, "");
	stop(&s);
}

static void pause_is_seen_and_resumed(_unused_ void **state)
{
	struct server s;

	start(&s, 1);
	assert_int_equal(run(s.dir, "pause", "--for=1h", NULL), 0);
	assert_int_equal(run(s.dir, NULL), 0);
	assert_non_null(strstr(said.out, "fs-tuned: paused for another 1.0h"));
	assert_int_equal(run(s.dir, "pause", NULL), 0);
	assert_int_equal(run(s.dir, NULL), 0);
	assert_non_null(strstr(said.out, "paused until fstunectl resume"));
	assert_int_equal(run(s.dir, "resume", NULL), 0);
	assert_int_equal(run(s.dir, NULL), 0);
	assert_non_null(strstr(said.out, "fs-tuned: auto"));
	stop(&s);
}

static void errors_are_one_line_with_the_agreed_code(_unused_ void **state)
{
	struct server s;

	start(&s, 1);
	assert_int_equal(run(s.dir, "statsu", NULL), FSTUNED_EXIT_USAGE);
	assert_non_null(strstr(said.err, "did you mean \"status\"?"));
	assert_one_line(said.err);
	assert_int_equal(run(s.dir, "status", "sdz9", NULL), FSTUNED_EXIT_FAILED);
	assert_string_equal(said.err,
			    "fstunectl: no such device: \"sdz9\" (see fstunectl list)\n");
	assert_int_equal(run(s.dir, "status", "/nonexistent", NULL), FSTUNED_EXIT_FAILED);
	assert_one_line(said.err);
	assert_int_equal(run(s.dir, "status", "/proc", NULL), FSTUNED_EXIT_FAILED);
	assert_non_null(strstr(said.err, "without a block device of its own"));
	assert_int_equal(run(s.dir, "get", "sda1", "nonsense", NULL), FSTUNED_EXIT_FAILED);
	assert_one_line(said.err);
	assert_int_equal(run(s.dir, "set", "sda1", "force_copy", "bad", NULL),
			 FSTUNED_EXIT_FAILED);
	assert_string_equal(said.err, "fstunectl: \"bad\" is no value of force_copy\n");
	assert_int_equal(run(s.dir, "status", "-o", "nonsense", NULL), FSTUNED_EXIT_USAGE);
	/* The knob's file is not there: it could not be checked. */
	assert_int_equal(run(s.dir, "verify", "-q", NULL), FSTUNED_EXIT_FAILED);
	assert_string_equal(said.out, "");
	stop(&s);
	assert_int_equal(run(s.dir, "status", NULL), FSTUNED_EXIT_NOT_RUNNING);
	assert_one_line(said.err);
}

static void what_was_typed_does_not_disturb_the_terminal(_unused_ void **state)
{
	struct server s;

	start(&s, 1);
	assert_int_equal(run(s.dir, "status", "sda1\n\x1b[31m", NULL), FSTUNED_EXIT_FAILED);
	assert_string_equal(said.err, "fstunectl: no such device: \"sda1\\x0a\\x1b[31m\" "
				      "(see fstunectl list)\n");
	assert_int_equal(run(s.dir, "get\nset", NULL), FSTUNED_EXIT_USAGE);
	assert_one_line(said.err);
	stop(&s);
}

static void arguments_that_are_not_utf8_are_named(_unused_ void **state)
{
	struct server s;

	start(&s, 1);
	assert_int_equal(run(s.dir, "status", "LABEL=\xff", NULL), FSTUNED_EXIT_FAILED);
	assert_string_equal(said.err, "fstunectl: not UTF-8: \"LABEL=\\xff\"\n");
	assert_int_equal(run(s.dir, "set", "sda1", "force_copy", "\xc3", NULL),
			 FSTUNED_EXIT_FAILED);
	assert_string_equal(said.err, "fstunectl: not UTF-8: \"\\xc3\"\n");
	stop(&s);
}

/* What `verb` prints to a terminal. */
static const char *on_terminal(const struct server *s, const char *verb, const char *option)
{
	char runtime_dir[128];
	size_t len = 0;
	int fd, status;
	ssize_t n;
	pid_t pid;

	snprintf(runtime_dir, sizeof(runtime_dir), "--runtime-dir=%s", s->dir);
	pid = forkpty(&fd, NULL, NULL, NULL);
	assert_true(pid >= 0);
	if (pid == 0) {
		setenv("LC_ALL", "C.UTF-8", 1);
		setenv("PAGER", "cat", 1);
		unsetenv("SYSTEMD_PAGER");
		execl(program(), "fstunectl", runtime_dir, verb, option, NULL);
		_exit(127);
	}
	/* EIO: nobody has the other side open any more. */
	while ((n = read(fd, said.out + len, sizeof(said.out) - 1 - len)) > 0)
		len += (size_t)n;
	said.out[len] = '\0';
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return said.out;
}

static void text_for_programs_does_not_disturb_the_terminal(_unused_ void **state)
{
	struct server s;
	const char *text;

	start(&s, 1);
	text = on_terminal(&s, "metrics", NULL);
	assert_non_null(strstr(text, "label=\"a\\x1b[31m\\xe2"));
	assert_null(strchr(text, '\x1b'));
	text = on_terminal(&s, "status", "--json");
	assert_non_null(strstr(text, "\\xe2\\x80\\xae"));
	assert_null(strchr(text, '\x1b'));
	/* A program gets it as it is. */
	assert_int_equal(run(s.dir, "metrics", NULL), 0);
	assert_non_null(strstr(said.out, "a\x1b[31m\u202e"));
	stop(&s);
}

static void output_that_nobody_reads_is_no_error(_unused_ void **state)
{
	struct server s;
	char option[128];
	int fd[2], status;
	pid_t pid;

	start(&s, 30);
	snprintf(option, sizeof(option), "--runtime-dir=%s", s.dir);
	assert_int_equal(pipe(fd), 0);
	close(fd[0]);
	pid = fork();
	if (pid == 0) {
		dup2(fd[1], STDOUT_FILENO);
		execl(program(), "fstunectl", option, "status", "-a", NULL);
		_exit(127);
	}
	close(fd[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	stop(&s);
}

/* --- the system bus --- */

/* A broker of our own; `policy` is what its configuration says. */
static pid_t start_broker(const char *dir, const char *policy)
{
	char config[4096], path[128], option[160], address[160];
	int fd[2], n;
	pid_t pid;
	char c;

	snprintf(address, sizeof(address), "unix:path=%s/system", dir);
	snprintf(path, sizeof(path), "%s/dbus.conf", dir);
	n = snprintf(
		config, sizeof(config),
		"<busconfig><type>system</type><listen>%s</listen>"
		"<policy context=\"default\"><allow user=\"*\"/><allow own=\"*\"/>"
		"<allow send_type=\"method_return\"/><allow send_type=\"error\"/>"
		"<allow receive_type=\"method_call\"/><allow receive_type=\"error\"/>"
		"<allow receive_type=\"method_return\"/><allow receive_type=\"signal\"/>"
		"<allow send_destination=\"org.freedesktop.DBus\"/></policy>%s</busconfig>",
		address, policy);
	assert_int_equal(write_file_atomic(path, config, (size_t)n, 0644), 0);
	snprintf(option, sizeof(option), "--config-file=%s", path);
	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		execlp("dbus-daemon", "dbus-daemon", option, "--nofork", "--nopidfile",
		       "--nosyslog", "--print-address", NULL);
		_exit(127);
	}
	close(fd[1]);
	/* Its address: it listens. */
	assert_int_equal(read(fd[0], &c, 1), 1);
	close(fd[0]);
	setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1);
	return pid;
}

static void check_system_bus(const char *policy)
{
	char dir[] = "/tmp/broker-XXXXXX", path[128];
	uint64_t deadline = now_monotonic_us() + 20 * USEC_PER_SEC;
	struct server s;
	pid_t broker;

	/* Only root can be another, who must be let into the build directory. */
	if (geteuid() != 0 || access("/usr/bin/dbus-daemon", X_OK) < 0 ||
	    run(NULL, "--version", NULL) != 0)
		skip();
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	broker = start_broker(dir, policy);
	start(&s, 1);
	/* The name comes in its own time. */
	while (run(NULL, "list", NULL) == FSTUNED_EXIT_NOT_RUNNING)
		assert_true(now_monotonic_us() < deadline);
	assert_int_equal(said.code, 0);
	assert_string_equal(said.out, "sda1\n");
	assert_int_equal(run(NULL, "pause", NULL), FSTUNED_EXIT_PERMISSION);
	assert_string_equal(said.err, "fstunectl: not permitted (use sudo)\n");
	assert_int_equal(run(NULL, "status", NULL), 0);
	assert_non_null(strstr(said.out, "fs-tuned: auto"));
	stop(&s);
	kill(broker, SIGKILL);
	waitpid(broker, NULL, 0);
	unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
	snprintf(path, sizeof(path), "%s/dbus.conf", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/system", dir);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

static void system_bus_s_policy_keeps_changes_for_root(_unused_ void **state)
{
	char policy[PATH_MAX + 64], root[PATH_MAX];

	/* build/fstunectl -> the tree */
	strcpy(root, program());
	for (int i = 0; i < 2; i++)
		*strrchr(root, '/') = '\0';
	snprintf(policy, sizeof(policy), "<include>%s/systemd/org.fstuned1.conf</include>",
		 root);
	check_system_bus(policy);
}

static void daemon_keeps_changes_for_root_without_that_policy(_unused_ void **state)
{
	check_system_bus("<policy context=\"default\">"
			 "<allow send_destination=\"org.fstuned1\"/></policy>");
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_fits_80_columns_and_says_what_matters),
		cmocka_unit_test(status_leaves_p50_out_where_it_is_tight),
		cmocka_unit_test(status_hides_what_is_well_beyond_20_devices),
		cmocka_unit_test(status_sorts_greatest_wait_first),
		cmocka_unit_test(status_of_a_device_shows_who_waited),
		cmocka_unit_test(status_of_a_device_tells_fast_commits_where_there_are_any),
		cmocka_unit_test(status_tells_of_a_knob_without_a_column),
		cmocka_unit_test(explain_prints_parts_findings_and_no_needless_command),
		cmocka_unit_test(f2fs_has_its_checkpoints_in_place_of_commits),
		cmocka_unit_test(verbs_print_what_scripts_expect),
		cmocka_unit_test(pause_is_seen_and_resumed),
		cmocka_unit_test(errors_are_one_line_with_the_agreed_code),
		cmocka_unit_test(system_bus_s_policy_keeps_changes_for_root),
		cmocka_unit_test(daemon_keeps_changes_for_root_without_that_policy),
		cmocka_unit_test(what_was_typed_does_not_disturb_the_terminal),
		cmocka_unit_test(arguments_that_are_not_utf8_are_named),
		cmocka_unit_test(text_for_programs_does_not_disturb_the_terminal),
		cmocka_unit_test(output_that_nobody_reads_is_no_error),
	};

	if (argc == 4 && strcmp(argv[1], "serve") == 0)
		serve(argv[2], (unsigned)atoi(argv[3]), -1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
