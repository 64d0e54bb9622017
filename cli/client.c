// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "../daemon/base/utf8.h"
#include "../daemon/publish/interface.h"
#include "client.h"
#include "device-name.h"

int complain(int code, const char *format, ...)
{
	_cleanup_free_ char *text = NULL, *clean = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	/* What was typed, or what a disk is called, may hold anything. */
	clean = text ? text_printable(text) : NULL;
	fflush(stdout);
	fprintf(stderr, "fstunectl: %s\n", clean ?: strerror(ENOMEM));
	return code;
}

/* --- deadline --- */

/* sd-bus has a timeout for a call, but not for all of a connection's beginning. */
static void on_alarm(_unused_ int sig)
{
	static const char text[] = "fstunectl: fs-tuned does not answer\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(FSTUNED_EXIT_FAILED);
	_exit(FSTUNED_EXIT_FAILED);
}

static void deadline_begin(void)
{
	const struct sigaction sa = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &sa, NULL);
	alarm(CLIENT_TIMEOUT_S);
}

/* --- connection --- */

static int open_private(const char *runtime_dir, sd_bus **ret)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int n, r;

	n = snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" FSTUNED_SOCKET, runtime_dir);
	if ((size_t)n >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		return -errno;
	r = sd_bus_new(&bus);
	if (r < 0)
		return r;
	r = sd_bus_set_fd(bus, fd, fd);
	if (r < 0)
		return r;
	TAKE_FD(fd);
	r = sd_bus_start(bus);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(bus);
	return 0;
}

static int not_running(void)
{
	return complain(FSTUNED_EXIT_NOT_RUNNING,
			"fs-tuned is not running (systemctl start fs-tuned)");
}

static int not_permitted(void)
{
	return complain(FSTUNED_EXIT_PERMISSION, "not permitted (use sudo)");
}

/* Without a bus only root can ask: whether there is anything to ask decides what to say. */
static int no_system_bus(void)
{
	if (geteuid() != 0 && access(FSTUNED_RUNTIME_DIR "/" FSTUNED_SOCKET, F_OK) == 0)
		return not_permitted();
	return not_running();
}

static int connect_daemon(const struct args *a, sd_bus **ret)
{
	int r = -ENOENT;

	if (a->runtime_dir || geteuid() == 0)
		r = open_private(a->runtime_dir ?: FSTUNED_RUNTIME_DIR, ret);
	if (r >= 0)
		return 0;
	if (r == -EACCES || r == -EPERM)
		return not_permitted();
	if (r != -ENOENT && r != -ENOTDIR && r != -ECONNREFUSED)
		return complain(FSTUNED_EXIT_FAILED, "cannot connect to fs-tuned: %s",
				strerror(-r));
	if (a->runtime_dir)
		return complain(FSTUNED_EXIT_NOT_RUNNING, "fs-tuned is not running (in %s)",
				a->runtime_dir);

	r = sd_bus_open_system(ret);
	if (r >= 0)
		return 0;
	if (r == -ENOENT || r == -ECONNREFUSED)
		return no_system_bus();
	return complain(FSTUNED_EXIT_FAILED, "cannot connect to the system bus: %s",
			strerror(-r));
}

/* --- calls --- */

static int explain_error(const struct args *a, const sd_bus_error *e, int r)
{
	static const char *const nobody[] = {
		SD_BUS_ERROR_SERVICE_UNKNOWN,
		SD_BUS_ERROR_NAME_HAS_NO_OWNER,
	};

	for (size_t i = 0; i < ELEMENTSOF(nobody); i++)
		if (sd_bus_error_has_name(e, nobody[i]))
			return not_running();
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_ACCESS_DENIED))
		return not_permitted();
	if (sd_bus_error_has_name(e, FSTUNED_ERROR_NO_DEVICE))
		return complain(FSTUNED_EXIT_FAILED,
				"no such device: \"%s\" (see fstunectl list)",
				a->operand[0] ?: "");
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_NO_REPLY) || r == -ETIMEDOUT)
		return complain(FSTUNED_EXIT_FAILED, "fs-tuned does not answer");
	if (r == -ECONNRESET || r == -EPIPE || r == -ENOTCONN)
		return complain(FSTUNED_EXIT_FAILED,
				"fs-tuned closed the connection: it stops, or has too many "
				"clients");
	return complain(FSTUNED_EXIT_FAILED, "%s",
			e->message && *e->message ? e->message : strerror(-r));
}

/* D-Bus takes no other. A path was looked up by then, and may be called as it likes. */
static int check_operands(const struct args *a)
{
	for (unsigned i = 0; i < a->n_operands; i++) {
		const char *p = a->operand[i];
		size_t n;

		if (i == 0 && *p == '/')
			continue;
		while ((n = utf8_len(p)) > 0)
			p += n;
		if (*p)
			return complain(FSTUNED_EXIT_FAILED, "not UTF-8: \"%s\"",
					a->operand[i]);
	}
	return 0;
}

static int call(const struct args *a, sd_bus_message **ret, const char *member,
		const char *types, va_list ap)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	int r;

	r = check_operands(a);
	if (r != 0)
		return r;
	deadline_begin();
	r = connect_daemon(a, &bus);
	if (r != 0)
		return r;
	r = sd_bus_message_new_method_call(bus, &m, FSTUNED_BUS_NAME, FSTUNED_BUS_PATH,
					   FSTUNED_BUS_INTERFACE, member);
	if (r >= 0 && types)
		r = sd_bus_message_appendv(m, types, ap);
	if (r >= 0)
		r = sd_bus_call(bus, m, 0, &error, ret);
	alarm(0);
	return r < 0 ? explain_error(a, &error, r) : 0;
}

int client_call(const struct args *a, sd_bus_message **ret, const char *member,
		const char *types, ...)
{
	va_list ap;
	int r;

	va_start(ap, types);
	r = call(a, ret, member, types, ap);
	va_end(ap);
	return r;
}

static int call_text(const struct args *a, char **ret, const char *member, const char *types,
		     va_list ap)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *text;
	int r;

	r = call(a, &reply, member, types, ap);
	if (r != 0)
		return r;
	r = sd_bus_message_read(reply, "s", &text);
	if (r >= 0) {
		*ret = strdup(text);
		if (*ret)
			return 0;
		r = -ENOMEM;
	}
	return complain(FSTUNED_EXIT_FAILED, "cannot read the answer: %s", strerror(-r));
}

static int call_json(const struct args *a, struct json_object **ret, char **ret_text,
		     const char *member, const char *types, va_list ap)
{
	int r = call_text(a, ret_text, member, types, ap);

	if (r != 0)
		return r;
	*ret = json_tokener_parse(*ret_text);
	return *ret ? 0 : complain(FSTUNED_EXIT_FAILED, "the answer is no JSON");
}

int client_text(const struct args *a, char **ret, const char *member, const char *types, ...)
{
	va_list ap;
	int r;

	va_start(ap, types);
	r = call_text(a, ret, member, types, ap);
	va_end(ap);
	return r;
}

int client_json(const struct args *a, struct json_object **ret, char **ret_text,
		const char *member, const char *types, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int r;

	va_start(ap, types);
	r = call_json(a, ret, &text, member, types, ap);
	va_end(ap);
	if (r == 0 && ret_text)
		*ret_text = TAKE_PTR(text);
	return r;
}

int client_show(const struct args *a, const struct term *t, struct json_object **ret,
		const char *member, const char *types, ...)
{
	_cleanup_json_ struct json_object *o = NULL;
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int r;

	va_start(ap, types);
	r = call_json(a, &o, &text, member, types, ap);
	va_end(ap);
	if (r != 0 || a->quiet)
		return r;
	if (a->json) {
		text_show(t, text);
		putchar('\n');
		return 0;
	}
	pager_open(t, !a->no_pager);
	*ret = TAKE_PTR(o);
	return 0;
}

int client_device(const struct args *a, char *ret)
{
	char error[DEVICE_NAME_SIZE + 256];
	int r;

	ret[0] = '\0';
	if (!a->operand[0])
		return 0;
	r = device_name(a->operand[0], ret, error, sizeof(error));
	if (r < 0)
		return complain(r == -EACCES ? FSTUNED_EXIT_PERMISSION : FSTUNED_EXIT_FAILED,
				"%s%s", error, r == -EACCES ? " (use sudo)" : "");
	return 0;
}
