// SPDX-License-Identifier: GPL-2.0-or-later
/* What this kernel offers, what is missing, how to get it. */
#include <fcntl.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <string.h>
#include "../base/file.h"
#include "explain.h"
#include "status-internal.h"
#include "status.h"

enum state { OK, NOTE, PROBLEM };

static void check(struct doc *j, const char *name, enum state state, const char *hint,
		  const char *format, ...) _printf_(5, 6);

static void check(struct doc *j, const char *name, enum state state, const char *hint,
		  const char *format, ...)
{
	static const char *const states[] = { "ok", "note", "problem" };
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	doc_open_object(j, NULL);
	doc_str(j, "name", name);
	doc_str(j, "state", states[state]);
	doc_str(j, "text", text);
	doc_str(j, "hint", state == OK ? NULL : hint);
	doc_close(j);
}

/* --- the kernel --- */

static void check_btf(struct doc *j, const struct kernel_caps *caps)
{
	if (!caps->btf)
		check(j, "btf", PROBLEM,
		      "take a kernel built with CONFIG_DEBUG_INFO_BTF; distributions' kernels "
		      "since 2020 are",
		      "no type information of the kernel: %s", caps->btf_why);
	else if (!caps->module_btf)
		check(j, "btf", NOTE,
		      "take a kernel built with CONFIG_DEBUG_INFO_BTF_MODULES (5.11 or later)",
		      "type information of the kernel, but not of its modules: %s",
		      caps->btf_why);
	else
		check(j, "btf", OK, NULL, "type information of kernel and modules is there");
}

static void check_lockdown(struct doc *j, const struct kernel_caps *caps)
{
	if (strcmp(caps->lockdown, "confidentiality") == 0)
		check(j, "lockdown", PROBLEM, "boot with lockdown=integrity, or without",
		      "kernel lockdown is at \"confidentiality\", which forbids most probes");
	else
		check(j, "lockdown", OK, NULL, "kernel lockdown: %s", caps->lockdown);
}

static void check_ways(struct doc *j, const struct kernel_caps *caps)
{
	for (enum way w = WAY_NONE + 1; w < WAY_MAX; w++) {
		const char *why = caps->way[w].why;
		size_t len = strlen(way_to_string(w));
		char name[32];

		/* "fentry: not permitted", where the check already bears that name. */
		if (strncmp(why, way_to_string(w), len) == 0 &&
		    strncmp(why + len, ": ", 2) == 0)
			why += len + 2;

		snprintf(name, sizeof(name), "way %s", way_to_string(w));
		if (caps->way[w].usable)
			check(j, name, OK, NULL, "usable");
		else
			check(j, name, NOTE,
			      "lockdown or the kernel's configuration (BTF, function tracing, "
			      "kprobes) decides; measures go another way where there is one",
			      "not usable: %s", why);
	}
}

static void check_tracefs(struct doc *j, const struct view *v, const char *root)
{
	static const char *const places[] = { "/sys/kernel/tracing/events",
					      "/sys/kernel/debug/tracing/events" };
	char path[256];

	for (size_t i = 0; i < ELEMENTSOF(places); i++) {
		snprintf(path, sizeof(path), "%s%s", root, places[i]);
		if (access(path, F_OK) == 0) {
			check(j, "tracefs", OK, NULL, "%s is there", places[i]);
			return;
		}
	}
	/* Only the last of the ways needs it. */
	check(j, "tracefs", v->caps->way[WAY_TP_BTF].usable ? NOTE : PROBLEM,
	      "mount -t tracefs nodev /sys/kernel/tracing",
	      "not mounted, or not to be seen: classic tracepoints cannot be used");
}

static void check_measures(struct doc *j, const struct view *v)
{
	if (!v->probe) {
		check(j, "measures", PROBLEM, "see the ways above, and journalctl -u fs-tuned",
		      "nothing is measured: %s", view_measure(v, 0)->why);
		return;
	}
	for (enum fs_kind fs = 0; fs < FS_KIND_MAX; fs++) {
		char name[48];

		snprintf(name, sizeof(name), "measures of %s", fs_kind_to_string(fs));
		if (!view_needs_kind(v, fs))
			check(j, name, OK, NULL, "no file system that they are for is mounted");
	}
	for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++) {
		const struct probe_measure *pm = view_measure(v, m);
		char name[48];

		if (!view_needs(v, m))
			continue;
		snprintf(name, sizeof(name), "measure %s", measure_to_string(m));
		if (pm->way != WAY_NONE)
			check(j, name, OK, NULL, "taken by %s%s%s", way_to_string(pm->way),
			      *pm->why ? "; no better way: " : "", pm->why);
		else
			check(j, name, PROBLEM,
			      "the other measures are unaffected; docs/kernels.md has what "
			      "each kernel gives",
			      "unavailable: %s", pm->why);
	}
}

/* --- the process --- */

static void check_capabilities(struct doc *j)
{
	static const struct {
		unsigned bit;
		const char *name;
	} needed[] = {
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
	};
	_cleanup_free_ char *status = NULL;
	unsigned long long effective = 0;
	char missing[64] = "";
	const char *line;

	if (read_full_file("/proc/self/status", 65536, false, &status, NULL) < 0)
		return;
	line = strstr(status, "\nCapEff:");
	if (!line || sscanf(line, "\nCapEff: %llx", &effective) != 1)
		return;
	for (size_t i = 0; i < ELEMENTSOF(needed); i++)
		if (!(effective >> needed[i].bit & 1)) {
			strcat(missing, " ");
			strcat(missing, needed[i].name);
		}
	if (*missing)
		check(j, "capabilities", PROBLEM,
		      "start it as root by its unit; in a container, give it these",
		      "the daemon runs without%s", missing);
	else
		check(j, "capabilities", OK, NULL, "the daemon has what probes need");
}

static void check_losses(struct doc *j, const struct view *v)
{
	uint64_t lost = v->probe ? probe_events_lost(v->probe) : 0;

	if (lost)
		check(j, "events", NOTE,
		      "the counts and histograms are whole; some long waits have no name",
		      "%llu events of long waits were lost", (unsigned long long)lost);
	else
		check(j, "events", OK, NULL, "no events lost");
	if (v->log_dropped)
		check(j, "log", NOTE, "see journalctl -u systemd-journald",
		      "%llu log messages were dropped, the journal did not take them in time",
		      (unsigned long long)v->log_dropped);
	else
		check(j, "log", OK, NULL, "no log messages dropped");
}

static bool is_present(const struct view *v, const struct device_id *id)
{
	for (size_t i = 0; i < v->n_devices; i++)
		if (device_id_equal(&v->devices[i].device->id, id))
			return true;
	return false;
}

static void check_ledger(struct doc *j, const struct view *v)
{
	const struct ledger *l = v->ledger;
	_cleanup_free_ char *bad = NULL;
	size_t stale = 0;

	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		if (!is_present(v, &l->entries[i].id))
			stale++;
	if (l->path && asprintf(&bad, "%s.bad", l->path) < 0)
		bad = NULL;
	if (bad && access(bad, F_OK) == 0)
		check(j, "ledger", PROBLEM,
		      "look at the knobs with fstunectl status; then remove the file",
		      "%s could not be read at start: what was changed before is not known",
		      bad);
	else if (stale)
		check(j, "ledger", NOTE, "none: the next look at the mounts drops them",
		      "%zu of %zu entries are of file systems that are gone", stale, l->n);
	else
		check(j, "ledger", OK, NULL, "%zu entries, all of mounted file systems", l->n);
}

/* --- knobs --- */

/* "sda1, sda2, ..." */
static void name_add(char *buf, size_t size, const char *name)
{
	size_t len = strlen(buf);

	if (len + DEVICE_NAME_MAX + 8 < size)
		snprintf(buf + len, size - len, "%s%s", len ? ", " : "", name);
	else if (strcmp(buf + len - 3, "...") != 0)
		snprintf(buf + len, size - len, ", ...");
}

/* Names of the devices whose knob is in the same state as that of devices[first]. */
static size_t name_peers(const struct view *v, size_t first, enum knob_id id, char *buf,
			 size_t size)
{
	const struct knob_state *like = &v->devices[first].knobs[id];
	size_t n = 0;

	*buf = '\0';
	for (size_t i = first; i < v->n_devices; i++) {
		const struct knob_state *k = &v->devices[i].knobs[id];

		if (k->supported != like->supported ||
		    (!k->supported && strcmp(k->why, like->why) != 0))
			continue;
		n++;
		name_add(buf, size, v->devices[i].device->name);
	}
	return n;
}

static bool seen_before(const struct view *v, size_t i, enum knob_id id)
{
	const struct knob_state *k = &v->devices[i].knobs[id];

	for (size_t e = 0; e < i; e++) {
		const struct knob_state *other = &v->devices[e].knobs[id];

		if (other->supported == k->supported &&
		    (k->supported || strcmp(other->why, k->why) == 0))
			return true;
	}
	return false;
}

/* How it could be had, for a file system on which it would do something. */
static const char *can_be_had(const struct device *d, enum knob_id id)
{
	return d->has_journal || d->type == DEVICE_F2FS ? knob_ops(id)->missing : NULL;
}

/* One line for all devices of which the same is to be said. */
static void check_knob(struct doc *j, const struct view *v, enum knob_id id)
{
	char name[48], devices[256];

	snprintf(name, sizeof(name), "knob %s", knob_ops(id)->name);
	for (size_t i = 0; i < v->n_devices; i++) {
		const struct knob_state *k = &v->devices[i].knobs[id];

		if (k->stuck)
			check(j, name, PROBLEM, "the device may be hung: see dmesg",
			      "%s: a write has not come back", v->devices[i].device->name);
		if (!knob_concerns(id, v->devices[i].device) || seen_before(v, i, id))
			continue;
		name_peers(v, i, id, devices, sizeof(devices));
		if (k->supported)
			check(j, name, OK, NULL, "offered on %s", devices);
		else
			check(j, name, NOTE, can_be_had(v->devices[i].device, id),
			      "not offered on %s: %s", devices, k->why);
	}
}

/* Most commits are fsync's, and it takes time: worth a look at what fast commits would give. */
static bool could_use_fast_commit(const struct view *v, const struct device_view *dv)
{
	struct explain_fast_commit f;

	if (dv->device->fast_commit != FEATURE_NO)
		return false;
	explain_fast_commit(v, dv, &f);
	return f.fsync_us_per_s >= (double)dv->config->fsync_us_per_s &&
	       explain_forced_share(&f) > 0.5;
}

static void check_forced_commits(struct doc *j, const struct view *v)
{
	char devices[256] = "";

	for (size_t i = 0; i < v->n_devices; i++)
		if (could_use_fast_commit(v, &v->devices[i]))
			name_add(devices, sizeof(devices), v->devices[i].device->name);
	if (*devices)
		check(j, "fast commits", NOTE,
		      "fstunectl explain DEVICE has the figures, the command, and whether this "
		      "kernel keeps what fast commits promise",
		      "fsync forces most commits of %s: fast commits would act on them, the "
		      "feature is off",
		      devices);
}

static bool offered_anywhere(const struct view *v, enum knob_id id)
{
	for (size_t i = 0; i < v->n_devices; i++)
		if (v->devices[i].knobs[id].supported)
			return true;
	return false;
}

/*
 * Built for the running kernel and not loaded, or for another one and dropped by an upgrade.
 */
static void check_modules(struct doc *j, const struct view *v)
{
	const struct patched_modules *m = &v->caps->modules;

	if (!view_needs_kind(v, FS_JBD2) || offered_anywhere(v, KNOB_FORCE_COPY))
		return;
	if (m->error)
		check(j, "modules", NOTE, "without ProtectKernelModules= in its unit it could",
		      "the daemon could not look into /lib/modules for patched modules: %s",
		      strerror(m->error));
	else if (m->installed)
		check(j, "modules", PROBLEM,
		      "update-initramfs -u and reboot: jbd2 is loaded from the initrd where "
		      "the root file system is ext4",
		      "patched modules are installed for this kernel, but others are loaded");
	else if (*m->other)
		check(j, "modules", PROBLEM,
		      "build and install them for this kernel too: see patches/README.md",
		      "patched modules are installed for kernel %s, but not for the running %s",
		      m->other, v->caps->release);
	else
		check(j, "modules", OK, NULL,
		      "no patched modules were installed when the daemon started");
}

/* --- file systems --- */

static void check_fast_commits(struct doc *j, const struct view *v)
{
	char lose[256] = "", keep[256] = "";

	for (size_t i = 0; i < v->n_devices; i++) {
		const struct device *d = v->devices[i].device;

		if (d->fast_commit == FEATURE_YES)
			name_add(d->fast_commits_lose ? lose : keep, sizeof(lose), d->name);
	}
	if (*lose)
		check(j, "fast commit safety", PROBLEM,
		      "patched kernel modules mend it: see patches/README.md; or, unmounted: "
		      "tune2fs -O ^fast_commit DEVICE",
		      "known to lose files on this kernel: %s. While a commit that could not "
		      "be a fast one is being written, fsync may write nothing and report "
		      "success",
		      lose);
	else if (*keep)
		check(j, "fast commit safety", OK, NULL, "on %s, where it loses nothing", keep);
	else
		check(j, "fast commit safety", OK, NULL, "no file system has the feature");
}

int status_doctor(const struct view *v, char **ret)
{
	_cleanup_(doc_done) struct doc j = { 0 };
	const char *root = v->sysroot ? v->sysroot : "";

	doc_open_object(&j, NULL);
	doc_open_array(&j, "checks");
	check(&j, "kernel", OK, NULL, "%s, fs-tuned %s", v->caps->release, FSTUNED_VERSION);
	check_capabilities(&j);
	check_btf(&j, v->caps);
	check_lockdown(&j, v->caps);
	check_ways(&j, v->caps);
	check_tracefs(&j, v, root);
	check_measures(&j, v);
	if (v->n_devices == 0)
		check(&j, "devices", NOTE, NULL, "no ext4 or f2fs is mounted");
	for (enum knob_id id = 0; id < KNOB_MAX; id++)
		check_knob(&j, v, id);
	check_forced_commits(&j, v);
	check_modules(&j, v);
	check_fast_commits(&j, v);
	check_ledger(&j, v);
	check_losses(&j, v);
	doc_close(&j);
	return doc_finish(&j, ret);
}
