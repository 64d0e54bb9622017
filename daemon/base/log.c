// SPDX-License-Identifier: GPL-2.0-or-later
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include "log.h"

#define LINE_MAX_LEN 2048
#define FIELDS_MAX 24

static const char *log_program = "fs-tuned";
static int log_max_level = LOG_INFO;
static int journal_fd = -EBADF;
static uint64_t dropped;

/* JOURNAL_STREAM=DEV:INODE names our stderr if systemd connected it to the journal. */
static bool stderr_is_journal(void)
{
	const char *e = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return e && sscanf(e, "%llu:%llu", &dev, &ino) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
	       st.st_dev == dev && st.st_ino == ino;
}

void log_open(const char *program)
{
	static const struct sockaddr_un sa = {
		.sun_family = AF_UNIX,
		.sun_path = "/run/systemd/journal/socket",
	};

	log_program = program;
	if (!stderr_is_journal())
		return;
	journal_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (journal_fd >= 0 &&
	    connect(journal_fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		journal_fd = safe_close(journal_fd);
}

void log_set_level(int level)
{
	log_max_level = level;
}

int log_get_level(void)
{
	return log_max_level;
}

static const struct {
	const char *name;
	int level;
} levels[] = {
	{ "debug", LOG_DEBUG },     { "info", LOG_INFO }, { "notice", LOG_NOTICE },
	{ "warning", LOG_WARNING }, { "err", LOG_ERR },   { "error", LOG_ERR },
};

int log_level_from_string(const char *s)
{
	for (size_t i = 0; i < ELEMENTSOF(levels); i++)
		if (strcmp(levels[i].name, s) == 0)
			return levels[i].level;
	return -EINVAL;
}

const char *log_level_to_string(int level)
{
	for (size_t i = 0; i < ELEMENTSOF(levels); i++)
		if (levels[i].level == level)
			return levels[i].name;
	return NULL;
}

uint64_t log_dropped(void)
{
	return dropped;
}

static void iov_add(struct iovec *iov, size_t *n, const void *data, size_t len)
{
	iov[(*n)++] = (struct iovec){ (void *)data, len };
}

/*
 * The journal's native protocol: NAME=value lines; a value with a newline is instead NAME,
 * newline, 64-bit little-endian length, value.
 */
static void send_journal(int level, const char *const *fields, const char *line)
{
	/* five elements a field with a newline, and four for the fixed ones */
	struct iovec iov[FIELDS_MAX * 5 + 4];
	uint64_t lengths[FIELDS_MAX];
	char head[128];
	size_t n = 0;
	int len;

	len = snprintf(head, sizeof(head), "PRIORITY=%d\nSYSLOG_IDENTIFIER=%s\n", level,
		       log_program);
	iov_add(iov, &n, head, (size_t)len);
	iov_add(iov, &n, "MESSAGE=", 8);
	iov_add(iov, &n, line, strlen(line));
	iov_add(iov, &n, "\n", 1);
	for (size_t i = 0; fields && fields[i] && i < FIELDS_MAX; i++) {
		const char *eq = strchr(fields[i], '=');

		if (!eq)
			continue;
		if (strchr(eq, '\n')) {
			lengths[i] = strlen(eq + 1);
			iov_add(iov, &n, fields[i], (size_t)(eq - fields[i]));
			iov_add(iov, &n, "\n", 1);
			iov_add(iov, &n, &lengths[i], sizeof(lengths[i]));
			iov_add(iov, &n, eq + 1, lengths[i]);
		} else {
			iov_add(iov, &n, fields[i], strlen(fields[i]));
		}
		iov_add(iov, &n, "\n", 1);
	}

	const struct msghdr mh = { .msg_iov = iov, .msg_iovlen = n };

	if (sendmsg(journal_fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		dropped++;
}

/*
 * Where the journal cannot be reached stderr still is a socket to it. A pipe or a terminal
 * that is ready takes a line whole (a line is less than PIPE_BUF), unless somebody else
 * fills it in the same instant; O_NONBLOCK would be set for all who share it. A file on the
 * disk that is being watched is the choice of the one who redirected to it.
 */
static void send_stderr(const char *line)
{
	char out[LINE_MAX_LEN + 64];
	int n = snprintf(out, sizeof(out), "%s: %s\n", log_program, line);
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
	ssize_t sent;

	/* One write: lines of two processes do not mix. */
	sent = send(STDERR_FILENO, out, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0 && errno == ENOTSOCK && poll(&p, 1, 0) > 0 && p.revents & POLLOUT)
		sent = write(STDERR_FILENO, out, (size_t)n);
	if (sent < 0)
		dropped++;
}

void log_full(int level, int error, const char *const *fields, const char *format, ...)
{
	char line[LINE_MAX_LEN];
	int saved = errno;
	va_list ap;

	if (level > log_max_level)
		return;

	errno = error < 0 ? -error : error;
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	/* One message, one line, whatever a device name or a comm holds. */
	for (char *p = line; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = '?';

	if (journal_fd >= 0)
		send_journal(level, fields, line);
	else
		send_stderr(line);
	errno = saved;
}
