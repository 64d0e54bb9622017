// SPDX-License-Identifier: GPL-2.0-or-later
/* The private socket: peer to peer, root only, whatever a client does or does not do. */
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "../base/log.h"
#include "bus-internal.h"
#include "interface.h"

static int on_retry(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	struct bus *b = userdata;

	sd_event_source_set_enabled(b->listen_source, SD_EVENT_ON);
	return 0;
}

/*
 * The waiting connection stays readable, so that going on listening would be a busy loop.
 */
static void listen_later(struct bus *b, int error)
{
	if (!b->exhausted)
		log_warning_errno(error, "Cannot take connections on %s for a while: %m",
				  b->path);
	b->exhausted = true;
	if (sd_event_source_set_time_relative(b->retry_source, b->accept_retry_us) >= 0 &&
	    sd_event_source_set_enabled(b->retry_source, SD_EVENT_ONESHOT) >= 0)
		sd_event_source_set_enabled(b->listen_source, SD_EVENT_OFF);
}

static int on_connection(_unused_ sd_event_source *s, int listen_fd, _unused_ uint32_t events,
			 void *userdata)
{
	_cleanup_close_ int fd = -EBADF;
	struct bus *b = userdata;
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int r;

	fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			listen_later(b, errno);
		else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			log_warning_errno(errno, "Cannot accept on %s: %m", b->path);
		return 0;
	}
	b->exhausted = false;
	if (b->n_clients >= BUS_CLIENTS_MAX && !client_make_place(b)) {
		log_debug("More than %u clients: one turned away", BUS_CLIENTS_MAX);
		return 0;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
	    (peer.uid != 0 && peer.uid != geteuid()))
		return 0;
	r = client_new(b, &fd, peer.uid);
	/* -EIO: it did not speak D-Bus. */
	if (r < 0)
		log_full_errno(r == -EIO ? LOG_DEBUG : LOG_WARNING, r,
			       "Cannot serve a client: %m");
	return 0;
}

/* True if somebody listens there; a socket file without is a leftover of a crash. */
static int somebody_answers(const struct sockaddr_un *sa)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0)
		return true;
	if (errno == ECONNREFUSED || errno == ENOENT)
		return false;
	/* EAGAIN: its queue is full. */
	return errno == EAGAIN ? true : -errno;
}

/* What a crash left is in the way, and taken away; what is no socket somebody has use for. */
static int clear_path(const struct sockaddr_un *sa)
{
	struct stat st;
	int r;

	if (lstat(sa->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	r = somebody_answers(sa);
	if (r != 0)
		return r < 0 ? r : -EADDRINUSE;
	return unlink(sa->sun_path) < 0 && errno != ENOENT ? -errno : 0;
}

static int bind_socket(int fd, const char *path, struct stat *ret)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int r;

	if (strlen(path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	strcpy(sa.sun_path, path);
	r = clear_path(&sa);
	if (r < 0)
		return r;
	/* Before bind(2): the file is made with this mode, less the umask. */
	if (fchmod(fd, 0600) < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0 || lstat(path, ret) < 0)
		return -errno;
	return listen(fd, BUS_CLIENTS_MAX) < 0 ? -errno : 0;
}

/* In the place of a former socket, if there is one: that stays when this fails. */
static int start_listening(struct bus *b)
{
	_cleanup_(sd_event_source_disable_unrefp) sd_event_source *source = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = bind_socket(fd, b->path, &st);
	if (r < 0)
		return r;
	r = sd_event_add_io(b->event, &source, fd, EPOLLIN, on_connection, b);
	if (r < 0) {
		(void)unlink(b->path);
		return r;
	}
	sd_event_source_disable_unref(b->listen_source);
	safe_close(b->listen_fd);
	b->listen_source = TAKE_PTR(source);
	b->listen_fd = TAKE_FD(fd);
	b->socket_dev = st.st_dev;
	b->socket_ino = st.st_ino;
	return 0;
}

int bus_listen(struct bus *b, const char *runtime_dir)
{
	int r;

	if (asprintf(&b->path, "%s/" FSTUNED_SOCKET, runtime_dir) < 0) {
		b->path = NULL;
		return log_oom();
	}
	r = start_listening(b);
	if (r == -EADDRINUSE)
		return log_error_errno(r, "Another fs-tuned answers on %s", b->path);
	if (r == -ENOTSOCK)
		return log_error_errno(r, "Cannot listen: %s is no socket", b->path);
	if (r < 0)
		return log_error_errno(r, "Cannot listen on %s: %m", b->path);

	if ((r = sd_event_add_time_relative(b->event, &b->retry_source, CLOCK_MONOTONIC, 0, 0,
					    on_retry, b)) < 0 ||
	    (r = sd_event_source_set_enabled(b->retry_source, SD_EVENT_OFF)) < 0)
		return log_error_errno(r, "Cannot watch %s: %m", b->path);
	return 0;
}

/* The file that clients find there is the one that is listened on. */
static bool is_ours(const struct bus *b)
{
	struct stat st;

	return b->listen_fd >= 0 && lstat(b->path, &st) == 0 && st.st_dev == b->socket_dev &&
	       st.st_ino == b->socket_ino;
}

int bus_check(struct bus *b)
{
	int r;

	if (!is_ours(b)) {
		if (!b->lost)
			log_warning("%s is gone or another's: no client reaches this daemon",
				    b->path);
		b->lost = true;
		r = start_listening(b);
		if (r < 0)
			return r;
	}
	if (b->lost)
		log_notice("Listening on %s again", b->path);
	b->lost = false;
	return 0;
}

void bus_unlisten(struct bus *b)
{
	for (unsigned i = 0; i < BUS_CLIENTS_MAX; i++)
		if (b->clients[i])
			client_free(b->clients[i]);
	if (b->path && is_ours(b))
		(void)unlink(b->path);
	b->listen_source = sd_event_source_disable_unref(b->listen_source);
	b->retry_source = sd_event_source_disable_unref(b->retry_source);
	b->listen_fd = safe_close(b->listen_fd);
}
