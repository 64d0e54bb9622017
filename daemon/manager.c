// SPDX-License-Identifier: GPL-2.0-or-later
/* Life of the daemon: start, the loop's sources, reload, stop. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include "act/runtime-dir.h"
#include "base/file.h"
#include "going-down.h"
#include "manager-internal.h"

static int on_tick(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct manager *m = userdata;

	manager_tick(m);
	return manager_schedule(m);
}

/*
 * A file system leaves /sys a while after its last mount has left mountinfo, and says nothing
 * then: so the list is read again this long after a mount or unmount.
 */
static const uint64_t refresh_steps_us[] = { 0, 100 * USEC_PER_MSEC, 500 * USEC_PER_MSEC,
					     2 * USEC_PER_SEC };

/* However many mounts come and go, the list is not read more often than this. */
#define REFRESH_MIN_US (250 * USEC_PER_MSEC)

static int schedule_refresh(struct manager *m)
{
	uint64_t at = m->mounts_us + refresh_steps_us[m->refresh_step];
	int r;

	if (at < m->last_refresh_us + REFRESH_MIN_US)
		at = m->last_refresh_us + REFRESH_MIN_US;
	r = sd_event_source_set_time(m->refresh_source, at);
	return r < 0 ? r : sd_event_source_set_enabled(m->refresh_source, SD_EVENT_ONESHOT);
}

static int on_refresh(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	struct manager *m = userdata;

	manager_refresh(m);
	m->refresh_step++;
	return m->refresh_step < ELEMENTSOF(refresh_steps_us) ? schedule_refresh(m) : 0;
}

int manager_mounts_changed(struct manager *m)
{
	m->mounts_us = now_monotonic_us();
	m->refresh_step = 0;
	return schedule_refresh(m);
}

static int on_mountinfo(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
			void *userdata)
{
	return manager_mounts_changed(userdata);
}

static int on_identify(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
		       void *userdata)
{
	manager_refresh(userdata);
	return 0;
}

static int on_probe(sd_event_source *s _unused_, int fd _unused_, uint32_t revents _unused_,
		    void *userdata)
{
	struct manager *m = userdata;

	(void)probe_consume(m->probe, manager_on_event, m);
	return 0;
}

static int on_stop(sd_event_source *s, const struct signalfd_siginfo *si,
		   void *userdata _unused_)
{
	log_info("Stopping on signal %u", si->ssi_signo);
	return sd_event_exit(sd_event_source_get_event(s), 0);
}

static void set_log_level(struct manager *m)
{
	log_set_level(m->options.log_level ? log_level_from_string(m->options.log_level)
					   : m->config.log_level);
}

int manager_reload(struct manager *m)
{
	struct config fresh = { 0 };
	int r;

	(void)sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%llu",
			 (unsigned long long)now_monotonic_us());
	r = config_load(&fresh, m->options.config_file);
	if (r < 0) {
		log_error("Configuration not reloaded, the former one holds");
		config_done(&fresh);
	} else {
		config_done(&m->config);
		m->config = fresh;
		set_log_level(m);
		manager_configure_devices(m);
		(void)manager_schedule_now(m);
		log_info("Configuration reloaded");
	}
	(void)sd_notify(false, "READY=1");
	return r;
}

static int on_reload(sd_event_source *s _unused_, const struct signalfd_siginfo *si _unused_,
		     void *userdata)
{
	(void)manager_reload(userdata);
	return 0;
}

/* RUNTIME_DIR/paused: the end of a pause, in us of CLOCK_MONOTONIC; both end with the boot. */
static bool pause_path(const struct manager *m, char *path, size_t size)
{
	return (size_t)snprintf(path, size, "%s/paused", m->options.runtime_dir) < size;
}

void manager_store_pause(struct manager *m)
{
	char path[4096], text[32];
	int n, r = 0;

	if (!pause_path(m, path, sizeof(path)))
		return;
	n = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)m->paused_until_us);
	if (m->paused_until_us > 0)
		r = write_file_atomic(path, text, (size_t)n, 0644);
	else if (unlink(path) < 0 && errno != ENOENT)
		r = -errno;
	if (r < 0)
		log_warning_errno(r, "%s: a restart will not know of it: %m", path);
}

static void load_pause(struct manager *m)
{
	unsigned long long until;
	char path[4096];

	if (!pause_path(m, path, sizeof(path)) || read_u64_at(AT_FDCWD, path, &until) < 0 ||
	    until <= now_monotonic_us())
		return;
	m->paused_until_us = until;
	log_notice("Decisions are paused, as they were before");
}

/* One daemon per runtime directory. */
static int take_runtime_dir(struct manager *m)
{
	const char *dir = m->options.runtime_dir;

	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return log_error_errno(errno, "Cannot make %s: %m", dir);
	m->lock_fd = runtime_dir_lock(dir);
	return m->lock_fd < 0 ? m->lock_fd : 0;
}

static int add_signal(struct manager *m, int sig, sd_event_signal_handler_t handler)
{
	int r = sd_event_add_signal(m->event, NULL, sig, handler, m);

	return r < 0 ? log_error_errno(r, "Cannot handle signal %d: %m", sig) : 0;
}

static int setup_loop(struct manager *m)
{
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGPIPE);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return -errno;

	r = sd_event_default(&m->event);
	if (r < 0)
		return log_error_errno(r, "Cannot make the event loop: %m");
	r = sd_event_add_time(m->event, &m->tick_source, CLOCK_MONOTONIC, 0, USEC_PER_SEC / 20,
			      on_tick, m);
	if (r >= 0)
		r = sd_event_add_time(m->event, &m->refresh_source, CLOCK_MONOTONIC, 0,
				      USEC_PER_SEC / 50, on_refresh, m);
	if (r >= 0)
		r = sd_event_source_set_enabled(m->refresh_source, SD_EVENT_OFF);
	if (r < 0)
		return log_error_errno(r, "Cannot make the timers: %m");
	if (add_signal(m, SIGTERM, on_stop) < 0 || add_signal(m, SIGINT, on_stop) < 0 ||
	    add_signal(m, SIGHUP, on_reload) < 0)
		return -EIO;
	/* Does nothing unless systemd asked for it. */
	r = sd_event_set_watchdog(m->event, true);
	return r < 0 ? log_error_errno(r, "Cannot feed the watchdog: %m") : 0;
}

static void watch(struct manager *m, sd_event_source **source, int fd, uint32_t events,
		  sd_event_io_handler_t handler, const char *what)
{
	int r = fd < 0 ? 0 : sd_event_add_io(m->event, source, fd, events, handler, m);

	if (r < 0)
		log_warning_errno(r, "Cannot watch %s, looking every so often instead: %m",
				  what);
}

static int setup_stages(struct manager *m)
{
	int r;

	r = kernel_caps_probe(&m->caps);
	if (r < 0)
		log_warning_errno(
			r, "This kernel lets nothing be measured (fstunectl doctor): %m");
	r = probe_new(&m->probe, &m->caps);
	if (r < 0)
		return log_error_errno(r, "Cannot make the BPF maps: %m");
	r = actuator_new(&m->actuator, m->event, m->options.runtime_dir, m->options.sysroot,
			 manager_on_done, m);
	if (r < 0)
		return log_error_errno(r, "Cannot use %s: %m", m->options.runtime_dir);
	r = bus_new(&m->bus, m->event, m->options.runtime_dir, &manager_bus_ops, m);
	if (r < 0)
		return log_error_errno(r, "Cannot listen in %s: %m", m->options.runtime_dir);
	r = device_list_init(&m->list, m->options.sysroot);
	if (r < 0)
		return log_error_errno(r, "Cannot list file systems: %m");
	return 0;
}

int manager_new(struct manager **ret, const struct manager_options *options)
{
	_cleanup_(manager_freep) struct manager *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return log_oom();
	m->options = *options;
	m->lock_fd = -EBADF;
	m->start_us = now_monotonic_us();

	r = config_load(&m->config, options->config_file);
	if (r < 0)
		return r;
	set_log_level(m);
	r = take_runtime_dir(m);
	if (r < 0)
		return r;
	load_pause(m);
	r = setup_loop(m);
	if (r < 0)
		return r;
	r = setup_stages(m);
	if (r < 0)
		return r;

	watch(m, &m->mountinfo_source, m->list.mountinfo_fd, EPOLLPRI, on_mountinfo, "mounts");
	watch(m, &m->identify_source, device_list_identify_fd(&m->list), EPOLLIN, on_identify,
	      "UUIDs");
	watch(m, &m->probe_source, probe_event_fd(m->probe), EPOLLIN, on_probe, "events");

	*ret = TAKE_PTR(m);
	return 0;
}

int manager_run(struct manager *m)
{
	int r, q = 0;

	manager_refresh(m);
	manager_configure_devices(m);
	manager_tick(m);
	/* What calibration and loading took is not needed again. */
	malloc_trim(0);
	r = manager_schedule(m);
	if (r < 0)
		return log_error_errno(r, "Cannot start the timer: %m");

	(void)sd_notifyf(false, "READY=1\nSTATUS=Watching %zu file systems", m->n_devices);
	log_info("Watching %zu file systems%s", m->n_devices,
		 manager_observe_only(m) ? ", advice only" : "");
	r = sd_event_loop(m->event);
	(void)sd_notify(false, "STOPPING=1");
	if (r < 0)
		log_error_errno(r, "Event loop failed: %m");

	if (!m->options.keep_on_exit) {
		manager_forget_devices(m);
		actuator_free(TAKE_PTR(m->actuator));
		q = actuator_restore_all(m->options.runtime_dir, m->options.sysroot,
					 system_is_going_down);
	}
	return r < 0 ? r : q < 0 ? q : 0;
}

void manager_free(struct manager *m)
{
	manager_drop_waiters(m);
	if (m->bus)
		bus_free(m->bus);
	if (m->probe)
		manager_forget_devices(m);
	if (m->list.devices || m->list.identifier)
		device_list_done(&m->list);
	if (m->actuator)
		actuator_free(m->actuator);
	if (m->probe)
		probe_free(m->probe);
	sd_event_source_disable_unref(m->tick_source);
	sd_event_source_disable_unref(m->refresh_source);
	sd_event_source_disable_unref(m->mountinfo_source);
	sd_event_source_disable_unref(m->identify_source);
	sd_event_source_disable_unref(m->probe_source);
	sd_event_unref(m->event);
	config_done(&m->config);
	free(m->history.entries);
	free(m->view_devices);
	free(m->view_outliers);
	safe_close(m->lock_fd);
	free(m);
}
