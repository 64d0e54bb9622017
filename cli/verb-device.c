// SPDX-License-Identifier: GPL-2.0-or-later
/* status DEVICE: everything about one. */
#include <stdarg.h>
#include <string.h>
#include "../daemon/base/units.h"
#include "answer.h"
#include "client.h"
#include "table.h"
#include "verbs.h"

#define LABEL_WIDTH 10

/* "Label: text", with what does not fit on the line set under the text. */
static void field(const struct term *t, enum colour c, const char *label, const char *format,
		  ...) _printf_(4, 5);

static void field(const struct term *t, enum colour c, const char *label, const char *format,
		  ...)
{
	_cleanup_free_ char *text = NULL, *clean = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0)
		text = NULL;
	clean = text ? text_printable(text) : NULL;
	if (!clean)
		return;
	printf("%*s%s%s", LABEL_WIDTH, label, *label ? ": " : "  ",
	       c == COLOUR_NONE ? "" : term_colour(t, c));
	text_wrapped(clean, LABEL_WIDTH + 2, t->width);
	puts(c == COLOUR_NONE ? "" : term_colour(t, COLOUR_NONE));
}

static void print_identity(const struct term *t, struct json_object *d)
{
	const char *mountpoint = answer_str(d, "mountpoint");
	uint64_t mounts = answer_u64(d, "mounts");
	char bytes[BYTES_STR_MAX];

	field(t, COLOUR_BOLD, "Device", "%s (%s), %s%s", answer_str(d, "device"),
	      answer_str(d, "dev"), answer_str(d, "fstype"),
	      answer_bool(d, "read_only") ? ", read-only" : "");
	if (!*mountpoint)
		field(t, COLOUR_NONE, "Mounted", "not where PID 1 sees it");
	else if (mounts > 1)
		field(t, COLOUR_NONE, "Mounted", "%s, and %llu times elsewhere", mountpoint,
		      (unsigned long long)mounts - 1);
	else
		field(t, COLOUR_NONE, "Mounted", "%s", mountpoint);
	if (*answer_str(d, "mount_options"))
		field(t, COLOUR_NONE, "Options", "%s", answer_str(d, "mount_options"));
	field(t, COLOUR_NONE, "UUID", "%s",
	      *answer_str(d, "uuid") ? answer_str(d, "uuid") : "unknown");
	if (*answer_str(d, "label"))
		field(t, COLOUR_NONE, "Label", "%s", answer_str(d, "label"));
	if (answer_u64(d, "devices") > 1)
		field(t, COLOUR_NONE, "Devices",
		      "%llu, of which this is the first; requests are not counted",
		      (unsigned long long)answer_u64(d, "devices"));
	if (answer_is_str(d, "fstype", "f2fs"))
		return;
	if (!*answer_str(d, "journal"))
		field(t, COLOUR_NONE, "Journal", "none");
	else
		field(t, COLOUR_NONE, "Journal", "%s%s%s%s%s", answer_str(d, "journal"),
		      answer_u64(d, "journal_bytes") ? ", " : "",
		      answer_u64(d, "journal_bytes")
			      ? format_bytes(bytes, sizeof(bytes),
					     answer_u64(d, "journal_bytes"))
			      : "",
		      strcmp(answer_str(d, "journal_dev"), answer_str(d, "dev"))
			      ? ", external on "
			      : "",
		      strcmp(answer_str(d, "journal_dev"), answer_str(d, "dev"))
			      ? answer_str(d, "journal_dev")
			      : "");
}

static void print_knob(const struct term *t, struct json_object *k)
{
	const char *by = answer_str(k, "pinned_by"), *original = answer_str(k, "original");

	if (!answer_bool(k, "supported")) {
		field(t, COLOUR_NONE, "Knob", "%s is not offered: %s", answer_str(k, "knob"),
		      answer_str(k, "why"));
		return;
	}
	field(t, COLOUR_NONE, "Knob", "%s is %s, %s%s%s%s%s%s%s%s", answer_str(k, "knob"),
	      answer_str(k, "value"), answer_str(k, "mode"), *by ? ", pinned by " : "", by,
	      answer_bool(k, "ours") ? ", set by fs-tuned" : "",
	      *original ? ", originally " : "", original,
	      answer_bool(k, "busy") ? ", a change is in progress" : "",
	      answer_bool(k, "stuck") ? ", which hangs" : "");
	if (answer_get(k, "refused"))
		field(t, COLOUR_NONE, "", "it is not changed here: %s",
		      answer_str(k, "refused"));
}

/* " for 3min", or nothing where there is no such time. */
static const char *when(struct json_object *p, const char *key, const char *before,
			const char *after, char *buf, size_t size)
{
	char time[TIME_STR_MAX];

	buf[0] = '\0';
	if (answer_get(p, key))
		snprintf(buf, size, "%s%s%s", before, answer_time(p, key, time), after);
	return buf;
}

static void print_policy(const struct term *t, struct json_object *p)
{
	char stall[TIME_STR_MAX], limit[TIME_STR_MAX], buf[TIME_STR_MAX];
	char since[64], change[64], quiet[64], bytes[BYTES_STR_MAX];

	if (!p)
		return;
	field(t, COLOUR_NONE, "Policy", "%s%s; stalls %s per second (limit %s)%s%s",
	      answer_str(p, "state"),
	      when(p, "state_for_us", " for ", "", since, sizeof(since)),
	      answer_time(p, "stall_us_per_s", stall),
	      answer_time(p, "stall_limit_us_per_s", limit),
	      when(p, "last_change_ago_us", "; last change ", " ago", change, sizeof(change)),
	      when(p, "quiet_for_us", "; quiet for ", "", quiet, sizeof(quiet)));
	if (answer_get(p, "next_trial_in_us"))
		field(t, COLOUR_NONE, "", "next trial without it in %s",
		      answer_time(p, "next_trial_in_us", buf));
	if (answer_get(p, "frozen"))
		field(t, COLOUR_WARN, "Frozen", "%s; for another %s", answer_str(p, "frozen"),
		      answer_time(p, "frozen_for_us", buf));
	if (answer_get(p, "avoided_waits"))
		field(t, COLOUR_NONE, "Copies",
		      "%s copied, %llu waits avoided in the last minute",
		      format_bytes(bytes, sizeof(bytes), answer_u64(p, "copied_bytes")),
		      (unsigned long long)answer_u64(p, "avoided_waits"));
}

/* What its policy is at; force_copy's has figures of its own, see print_policy(). */
static void print_knob_policy(const struct term *t, struct json_object *k)
{
	struct json_object *p = answer_get(k, "policy");
	char since[64], change[64], trial[64], buf[TIME_STR_MAX];

	if (!answer_bool(k, "supported") || answer_is_str(k, "knob", "force_copy"))
		return;
	field(t, COLOUR_NONE, "", "policy: %s%s%s%s%s%s", answer_str(p, "state"),
	      when(p, "state_for_us", " for ", "", since, sizeof(since)),
	      when(p, "last_change_ago_us", "; last change ", " ago", change, sizeof(change)),
	      when(p, "next_trial_in_us", "; next trial in ", "", trial, sizeof(trial)),
	      *answer_str(p, "note") ? "; " : "", answer_str(p, "note"));
	if (answer_get(p, "frozen"))
		field(t, COLOUR_WARN, "Frozen", "%s: %s; for another %s", answer_str(k, "knob"),
		      answer_str(p, "frozen"), answer_time(p, "frozen_for_us", buf));
}

static void print_service(const struct term *t, struct json_object *s, const char *name)
{
	struct json_object *reads = answer_get(s, "reads"), *writes = answer_get(s, "writes"),
			   *flushes = answer_get(s, "flushes");
	char r[TIME_STR_MAX], w[TIME_STR_MAX], f[TIME_STR_MAX], busy[TIME_STR_MAX];
	char flushed[TIME_STR_MAX + 48] = "";

	if (!s)
		return;
	if (flushes)
		snprintf(flushed, sizeof(flushed), ", %llu flushes (mean %s)",
			 (unsigned long long)answer_u64(flushes, "count"),
			 answer_time(flushes, "mean_us", f));
	field(t, COLOUR_NONE, name,
	      "%llu reads (mean %s), %llu writes (mean %s)%s, busy %s of the last minute, "
	      "%llu in flight",
	      (unsigned long long)answer_u64(reads, "count"), answer_time(reads, "mean_us", r),
	      (unsigned long long)answer_u64(writes, "count"),
	      answer_time(writes, "mean_us", w), flushed, answer_time(s, "busy_us", busy),
	      (unsigned long long)answer_u64(s, "in_flight"));
}

/* "; what they cannot do: Dir renamed 3, Resize 1"; "" if there was nothing. */
static char *fast_commit_reasons(struct json_object *f)
{
	size_t n = answer_length(f, "reasons"), size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	bool any = false;

	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		struct json_object *r = answer_element(f, "reasons", i);
		uint64_t count = answer_u64(r, "count");

		if (!count)
			continue;
		fprintf(out, "%s%s %llu",
			any ? ", " : "; what they cannot do: ", answer_str(r, "reason"),
			(unsigned long long)count);
		any = true;
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static void print_fast_commits(const struct term *t, struct json_object *d)
{
	struct json_object *f = answer_get(d, "fast_commit");
	_cleanup_free_ char *reasons = f ? fast_commit_reasons(f) : NULL;
	char average[TIME_STR_MAX];

	if (!f)
		return;
	field(t, COLOUR_NONE, "Fast",
	      "%llu fast commits since the mount (%llu blocks, average %s), %llu fell back to "
	      "full ones%s",
	      (unsigned long long)answer_u64(f, "commits"),
	      (unsigned long long)answer_u64(f, "blocks"),
	      answer_time(f, "average_us", average),
	      (unsigned long long)answer_u64(f, "ineligible"), reasons ?: "");
}

static void print_f2fs(const struct term *t, struct json_object *d)
{
	struct json_object *f = answer_get(d, "f2fs");

	if (!f)
		return;
	field(t, COLOUR_NONE, "Merging",
	      "%llu requests served by the merging thread; %llu came while others waited, at "
	      "most "
	      "%llu waited at once, %llu do now",
	      (unsigned long long)answer_u64(f, "merged_requests"),
	      (unsigned long long)answer_u64(f, "overlapping_requests"),
	      (unsigned long long)answer_u64(f, "waiting_max"),
	      (unsigned long long)answer_u64(f, "waiting"));
}

/* Parts are set in under what they are of. NULL: it is none. */
static const char *part_of(const char *measure)
{
	static const char *const wholes[] = { "commit_", "fsync_", "f2fs_checkpoint_" };

	for (size_t i = 0; i < ELEMENTSOF(wholes); i++)
		if (strncmp(measure, wholes[i], strlen(wholes[i])) == 0 &&
		    strcmp(measure, "commit_wait") != 0)
			return measure + strlen(wholes[i]);
	return NULL;
}

/* A measure's row: the last minute, and the total since the device is watched. */
static void measure_row(struct table *t, const char *name, struct json_object *m)
{
	static const char *const times[] = { "p50_us", "p99_us", "p999_us", "max_us" };
	char buf[TIME_STR_MAX];
	bool any = answer_u64(m, "count") > 0;

	table_row(t);
	table_cell(t, name, COLOUR_NONE);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)answer_u64(m, "count"));
	table_cell(t, buf, COLOUR_NONE);
	snprintf(buf, sizeof(buf), "%.1f", answer_double(m, "per_s"));
	table_cell(t, any ? buf : "-", COLOUR_NONE);
	for (size_t i = 0; i < ELEMENTSOF(times); i++)
		table_cell(t, any ? answer_time(m, times[i], buf) : "-", COLOUR_NONE);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)answer_u64(m, "total_count"));
	table_cell(t, buf, COLOUR_NONE);
	table_cell(t, answer_time(m, "total_max_us", buf), COLOUR_NONE);
}

static int print_measures(const struct args *a, const struct term *term,
			  struct json_object *status, struct json_object *device)
{
	static const char *const right[] = { "COUNT", "PER S", "P50",   "P99",
					     "P99.9", "MAX",   "TOTAL", "EVER" };
	_cleanup_(table_done) struct table t;
	bool any = false;

	table_init(&t, a, term);
	table_column(&t, "LAST MINUTE", false);
	for (size_t i = 0; i < ELEMENTSOF(right); i++)
		table_column(&t, right[i], true);
	/* In the daemon's order: the phases follow the commit. */
	for (size_t i = 0; i < answer_length(status, "measures"); i++) {
		struct json_object *def = answer_element(status, "measures", i);
		const char *name = answer_str(def, "measure");
		struct json_object *m = answer_get(answer_get(device, "measures"), name);
		char indented[64];

		if (!m)
			continue;
		any = true;
		snprintf(indented, sizeof(indented), "%s%s", part_of(name) ? "  " : "",
			 part_of(name) ?: name);
		measure_row(&t, indented, m);
	}
	if (!any)
		return 0;
	putchar('\n');
	return table_print(&t);
}

static void print_decisions(const struct term *t, struct json_object *d)
{
	size_t n = answer_length(d, "decisions");

	if (n)
		puts("\nLast decisions:");
	for (size_t i = 0; i < n; i++) {
		struct json_object *e = answer_element(d, "decisions", i);
		const char *result = answer_str(e, "result"), *error = answer_str(e, "error");
		_cleanup_free_ char *why = text_printable(answer_str(e, "why"));
		char time[32], by[32];

		printf("  %s  %s %s -> %s, %s%s%s%s%s, by %s\n",
		       local_time(answer_u64(e, "time_us"), time), answer_str(e, "knob"),
		       *answer_str(e, "from") ? answer_str(e, "from") : "?",
		       answer_str(e, "to"), term_colour(t, result_colour(result)), result,
		       term_colour(t, COLOUR_NONE), *error ? ": " : "", error,
		       decided_by(e, by, sizeof(by)));
		if (why && *why) {
			fputs("      ", stdout);
			text_wrapped(why, 6, t->width);
			putchar('\n');
		}
	}
}

/* "fio[123], cgroup 42" */
static char *actor(struct json_object *o)
{
	_cleanup_free_ char *comm = text_printable(answer_str(o, "comm"));
	char *s = NULL;
	int n;

	if (answer_get(o, "cgroup_id"))
		n = asprintf(&s, "%s[%llu] cgroup %llu", comm ?: "?",
			     (unsigned long long)answer_u64(o, "pid"),
			     (unsigned long long)answer_u64(o, "cgroup_id"));
	else
		n = asprintf(&s, "%s[%llu]", comm ?: "?",
			     (unsigned long long)answer_u64(o, "pid"));
	return n < 0 ? NULL : s;
}

static void print_outliers(struct json_object *d)
{
	const char *what = answer_is_str(d, "fstype", "f2fs") ? "the checkpoint was done by"
							      : "the commit was asked for by";
	size_t n = answer_length(d, "outliers");

	if (n)
		puts("\nLast long waits:");
	for (size_t i = 0; i < n; i++) {
		struct json_object *o = answer_element(d, "outliers", i);
		struct json_object *committer = answer_get(o, "committer");
		_cleanup_free_ char *who = actor(answer_get(o, "waiter"));
		_cleanup_free_ char *asked = committer ? actor(committer) : NULL;
		char time[32], buf[TIME_STR_MAX];

		printf("  %s  %s in %s: %s\n", local_time(answer_u64(o, "time_us"), time),
		       answer_time(o, "duration_us", buf), answer_str(o, "measure"),
		       answer_get(o, "waiter") && who ? who : "nobody known");
		if (asked)
			printf("      %s %s\n", what, asked);
	}
}

void print_device(const struct args *a, const struct term *t, struct json_object *status)
{
	struct json_object *d = answer_element(status, "devices", 0);
	const char *verdict = answer_str(d, "verdict");

	if (!a->no_legend)
		print_daemon(a, t, status);
	print_identity(t, d);
	if (answer_get(d, "warning"))
		field(t, COLOUR_BAD, "Warning", "%s", answer_str(d, "warning"));
	field(t, verdict_colour(verdict), "Verdict", "%s: %s", verdict,
	      answer_str(d, "verdict_text"));
	for (size_t i = 0; i < answer_length(d, "knobs"); i++) {
		print_knob(t, answer_element(d, "knobs", i));
		print_knob_policy(t, answer_element(d, "knobs", i));
	}
	print_policy(t, answer_get(d, "policy"));
	print_service(t, answer_get(d, "service"), "Requests");
	print_service(t, answer_get(d, "journal_service"), "In journal");
	print_fast_commits(t, d);
	print_f2fs(t, d);
	print_measures(a, t, status, d);
	print_decisions(t, d);
	print_outliers(d);
}
