// SPDX-License-Identifier: GPL-2.0-or-later
#include "../base/log.h"
#include "bus-internal.h"
#include "interface.h"

int bus_new(struct bus **ret, sd_event *event, const char *runtime_dir,
	    const struct bus_ops *ops, void *userdata)
{
	_cleanup_(bus_freep) struct bus *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return log_oom();
	*b = (struct bus){
		.event = sd_event_ref(event),
		.ops = ops,
		.userdata = userdata,
		.listen_fd = -EBADF,
		.auth_us = BUS_AUTH_US,
		.idle_us = BUS_IDLE_US,
		.begun_us = BUS_BEGUN_US,
		.spare_us = BUS_SPARE_US,
		.accept_retry_us = BUS_ACCEPT_RETRY_US,
	};
	r = bus_listen(b, runtime_dir);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(b);
	return 0;
}

void bus_free(struct bus *b)
{
	bus_disconnect_system(b);
	bus_unlisten(b);
	sd_event_unref(b->event);
	free(b->path);
	free(b);
}

static const char *error_name(int r)
{
	switch (r) {
	case -EBUSY:
		return FSTUNED_ERROR_BUSY;
	case -EINVAL:
	case -ERANGE:
		return FSTUNED_ERROR_BAD_VALUE;
	case -EOPNOTSUPP:
		return FSTUNED_ERROR_UNSUPPORTED;
	default:
		return FSTUNED_ERROR_FAILED;
	}
}

void bus_reply(struct bus *b, sd_bus_message *m, int r, const char *text)
{
	int sent;

	client_is_answered(b, m);
	if (r >= 0)
		sent = sd_bus_reply_method_return(m, NULL);
	else
		sent = sd_bus_reply_method_errorf(m, error_name(r), "%s", text);
	/* Who has gone away meanwhile gets no answer. */
	if (sent < 0)
		log_debug_errno(sent, "Cannot answer a client: %m");
}
