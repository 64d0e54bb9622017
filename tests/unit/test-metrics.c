// SPDX-License-Identifier: GPL-2.0-or-later
/* The metrics, read back by a strict parser of the text format 0.0.4. */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "../../daemon/publish/metrics.h"
#include "view-fixture.h"

/* --- a parser that takes nothing but the format --- */

#define LABELS_MAX 8

struct series {
	char name[128];
	struct {
		char name[32], value[512];
	} label[LABELS_MAX];
	size_t n_labels;
	double value;
};

struct family {
	char name[128], type[16];
	bool help;
};

struct parsed {
	struct series *series;
	size_t n;
	struct family family[64];
	size_t n_families;
};

static void parsed_done(struct parsed *p)
{
	free(p->series);
}

static const char *take_name(const char *s, char *to, size_t size)
{
	size_t n = 0;

	assert_true(isalpha((unsigned char)*s) || *s == '_');
	while (isalnum((unsigned char)*s) || *s == '_') {
		assert_true(n + 1 < size);
		to[n++] = *s++;
	}
	to[n] = '\0';
	return s;
}

static const char *take_label_value(const char *s, char *to, size_t size)
{
	size_t n = 0;

	assert_int_equal(*s++, '"');
	while (*s != '"') {
		assert_true(n + 1 < size && *s && *s != '\n');
		if (*s == '\\') {
			s++;
			assert_true(*s == '\\' || *s == '"' || *s == 'n');
			to[n++] = *s == 'n' ? '\n' : *s;
			s++;
		} else {
			to[n++] = *s++;
		}
	}
	to[n] = '\0';
	return s + 1;
}

static struct family *family_of(struct parsed *p, const char *name)
{
	for (size_t i = 0; i < p->n_families; i++)
		if (strcmp(p->family[i].name, name) == 0)
			return &p->family[i];
	return NULL;
}

/* "# TYPE name type" and "# HELP name text": each once per family, before its samples. */
static const char *take_comment(struct parsed *p, const char *s)
{
	bool type = strncmp(s, "# TYPE ", 7) == 0;
	struct family *f;
	char name[128];

	assert_true(type || strncmp(s, "# HELP ", 7) == 0);
	s = take_name(s + 7, name, sizeof(name));
	assert_int_equal(*s++, ' ');
	f = family_of(p, name);
	if (!f) {
		assert_true(p->n_families < ELEMENTSOF(p->family));
		f = &p->family[p->n_families++];
		strcpy(f->name, name);
	} else {
		/* Its other half, directly before. */
		assert_ptr_equal(f, &p->family[p->n_families - 1]);
	}
	if (type) {
		assert_string_equal(f->type, "");
		take_name(s, f->type, sizeof(f->type));
		assert_true(strcmp(f->type, "counter") == 0 || strcmp(f->type, "gauge") == 0 ||
			    strcmp(f->type, "histogram") == 0);
	} else {
		assert_false(f->help);
		f->help = true;
		assert_true(*s && *s != '\n');
	}
	s = strchr(s, '\n');
	assert_non_null(s);
	return s + 1;
}

/* A sample belongs to the family that was announced last, and to no other. */
static void check_family(const struct parsed *p, const struct series *s)
{
	static const char *const suffixes[] = { "_bucket", "_sum", "_count" };
	const struct family *f = &p->family[p->n_families - 1];
	size_t len = strlen(f->name);

	assert_true(p->n_families > 0 && f->help && *f->type);
	if (strcmp(f->type, "histogram") != 0) {
		assert_string_equal(s->name, f->name);
		return;
	}
	assert_int_equal(strncmp(s->name, f->name, len), 0);
	for (size_t i = 0; i < ELEMENTSOF(suffixes); i++)
		if (strcmp(s->name + len, suffixes[i]) == 0)
			return;
	fail_msg("%s in a histogram", s->name);
}

static const char *take_sample(struct parsed *p, const char *at)
{
	struct series *s;
	char *end;

	p->series = reallocarray(p->series, p->n + 1, sizeof(*p->series));
	assert_non_null(p->series);
	s = &p->series[p->n++];
	*s = (struct series){ 0 };
	at = take_name(at, s->name, sizeof(s->name));
	if (*at == '{') {
		do {
			assert_true(s->n_labels < LABELS_MAX);
			at = take_name(at + 1, s->label[s->n_labels].name,
				       sizeof(s->label->name));
			assert_int_equal(*at++, '=');
			at = take_label_value(at, s->label[s->n_labels].value,
					      sizeof(s->label->value));
			s->n_labels++;
		} while (*at == ',');
		assert_int_equal(*at++, '}');
	}
	assert_int_equal(*at++, ' ');
	assert_true(isdigit((unsigned char)*at));
	s->value = strtod(at, &end);
	assert_int_equal(*end, '\n');
	check_family(p, s);
	return end + 1;
}

static bool same_series(const struct series *a, const struct series *b)
{
	if (strcmp(a->name, b->name) != 0 || a->n_labels != b->n_labels)
		return false;
	for (size_t i = 0; i < a->n_labels; i++)
		if (strcmp(a->label[i].name, b->label[i].name) != 0 ||
		    strcmp(a->label[i].value, b->label[i].value) != 0)
			return false;
	return true;
}

static void parse(const char *text, struct parsed *p)
{
	*p = (struct parsed){ 0 };
	while (*text)
		text = *text == '#' ? take_comment(p, text) : take_sample(p, text);
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = i + 1; k < p->n; k++)
			if (same_series(&p->series[i], &p->series[k]))
				fail_msg("%s twice", p->series[i].name);
}

static const char *label(const struct series *s, const char *name)
{
	for (size_t i = 0; i < s->n_labels; i++)
		if (strcmp(s->label[i].name, name) == 0)
			return s->label[i].value;
	return "";
}

/* The only series of that name with these labels (NULL: any). */
static const struct series *get(const struct parsed *p, const char *name, const char *device,
				const char *key, const char *value)
{
	const struct series *found = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct series *s = &p->series[i];

		if (strcmp(s->name, name) != 0 ||
		    (device && strcmp(label(s, "device"), device)) ||
		    (key && strcmp(label(s, key), value) != 0))
			continue;
		assert_null(found);
		found = s;
	}
	return found;
}

static size_t count(const struct parsed *p, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += strcmp(p->series[i].name, name) == 0;
	return n;
}

static void render(const struct fixture *f, struct parsed *p)
{
	_cleanup_free_ char *text = NULL;

	assert_int_equal(metrics_render(&f->view, false, &text), 0);
	parse(text, p);
}

/* --- tests --- */

static void buckets_are_cumulative_at_powers_of_four(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(2);
	_cleanup_(parsed_done) struct parsed p;
	double before = 0, le = 0;
	size_t buckets = 0;

	fixture_wait(f, 0, FST_COMMIT, 7, 1);      /* at the least bound, and above it */
	fixture_wait(f, 0, FST_COMMIT, 5, 249999); /* on both sides of a bound */
	fixture_wait(f, 0, FST_COMMIT, 3, 250001);
	fixture_wait(f, 0, FST_COMMIT, 2, 100000000); /* above the last */
	render(f, &p);

	for (size_t i = 0; i < p.n; i++) {
		const struct series *s = &p.series[i];
		double bound;

		if (strcmp(s->name, "fstuned_commit_duration_seconds_bucket") != 0)
			continue;
		assert_string_equal(label(s, "device"), "sda1");
		bound = strcmp(label(s, "le"), "+Inf") == 0 ? INFINITY
							    : strtod(label(s, "le"), NULL);
		if (buckets == 0)
			assert_true(bound == exp2(-20));
		else if (isfinite(bound))
			assert_true(bound == le * 4);
		assert_true(s->value >= before);
		if (bound == 0.25)
			assert_true(s->value == 12);
		if (bound == 1)
			assert_true(s->value == 15);
		before = s->value;
		le = bound;
		buckets++;
	}
	assert_int_equal(buckets, 15);
	assert_true(isinf(le));
	assert_true(before == 17);
	assert_true(get(&p, "fstuned_commit_duration_seconds_count", NULL, NULL, NULL)->value ==
		    before);
	assert_true(
		fabs(get(&p, "fstuned_commit_duration_seconds_sum", NULL, NULL, NULL)->value -
		     (7e-6 + 5 * 0.249999 + 3 * 0.250001 + 200)) < 1e-9);
}

static void bounds_are_written_exactly(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_(parsed_done) struct parsed p;
	static const char *const bounds[] = { "9.5367431640625e-07", "0.000244140625", "0.25",
					      "1", "64" };

	fixture_wait(f, 0, FST_FSYNC, 1, 1);
	render(f, &p);
	for (size_t i = 0; i < ELEMENTSOF(bounds); i++)
		assert_non_null(get(&p, "fstuned_fsync_duration_seconds_bucket", "sda1", "le",
				    bounds[i]));
}

static void devices_without_events_have_no_histograms(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(256);
	_cleanup_(parsed_done) struct parsed p;

	fixture_wait(f, 200, FST_SHADOW_WAIT, 3, 1000);
	fixture_wait(f, 200, FST_COMMIT_RECORD, 3, 1000);
	render(f, &p);
	assert_int_equal(count(&p, "fstuned_shadow_wait_seconds_count"), 1);
	assert_int_equal(count(&p, "fstuned_commit_duration_seconds_count"), 0);
	assert_true(get(&p, "fstuned_commit_phase_duration_seconds_count", "sda201", "phase",
			"record")
			    ->value == 3);
	assert_int_equal(count(&p, "fstuned_transactions_total"), 1);
	assert_int_equal(count(&p, "fstuned_filesystem_info"), 256);
}

static void label_values_are_escaped(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_(parsed_done) struct parsed p;
	const struct series *s;

	free(f->d[0].device.mountpoint);
	f->d[0].device.mountpoint = strdup("/mnt/a\"b\\c\nd\xc3\xa4");
	/* a byte that is no UTF-8, and an overlong slash */
	strcpy(f->d[0].device.label, "x\xff\xc0\xafy");
	render(f, &p);
	s = get(&p, "fstuned_filesystem_info", "sda1", NULL, NULL);
	assert_non_null(s);
	assert_string_equal(label(s, "mountpoint"), "/mnt/a\"b\\c\nd\xc3\xa4");
	assert_string_equal(label(s, "label"), "x\\xff\\xc0\\xafy");
	assert_string_equal(label(s, "fstype"), "ext4");
	assert_string_equal(label(s, "uuid"), f->d[0].device.uuid);
}

static double decisions_of_force_copy(const struct parsed *p, const char *result)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct series *s = &p->series[i];

		if (strcmp(s->name, "fstuned_decisions_total") == 0 &&
		    strcmp(label(s, "knob"), "force_copy") == 0 &&
		    strcmp(label(s, "result"), result) == 0)
			return s->value;
	}
	return -1;
}

static void knobs_and_decisions_are_told(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(3);
	_cleanup_(parsed_done) struct parsed p;
	const struct series *s;

	fixture_knob(f, 0, "1", KNOB_AUTO);
	fixture_knob(f, 1, "0", KNOB_MANUAL);
	f->decisions[KNOB_FORCE_COPY][0] = 4;
	f->decisions[KNOB_FORCE_COPY][1] = 5;
	f->decisions[KNOB_FORCE_COPY][2] = 6;
	f->view.log_dropped = 9;
	render(f, &p);
	assert_true(get(&p, "fstuned_knob_enabled", "sda1", "knob", "force_copy")->value == 1);
	assert_true(get(&p, "fstuned_knob_enabled", "sda2", "knob", "force_copy")->value == 0);
	assert_null(get(&p, "fstuned_knob_enabled", "sda3", NULL, NULL));
	s = get(&p, "fstuned_knob_info", "sda2", NULL, NULL);
	assert_string_equal(label(s, "value"), "0");
	assert_string_equal(label(s, "mode"), "manual");
	assert_true(decisions_of_force_copy(&p, "advised") == 4);
	assert_true(decisions_of_force_copy(&p, "applied") == 5);
	assert_true(decisions_of_force_copy(&p, "refused") == 6);
	assert_int_equal(count(&p, "fstuned_decisions_total"), 3 * KNOB_MAX);
	assert_true(get(&p, "fstuned_log_dropped_total", NULL, NULL, NULL)->value == 9);
	assert_string_equal(label(get(&p, "fstuned_build_info", NULL, NULL, NULL), "version"),
			    FSTUNED_VERSION);
	assert_true(get(&p, "fstuned_probe_attached", NULL, "measure", "fsync")->value == 0);
	/* Of those alone that a file system is there for. */
	assert_null(get(&p, "fstuned_probe_attached", NULL, "measure", "f2fs_fsync"));
}

static void f2fs_has_its_own_and_fsync_in_common(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(2);
	_cleanup_(parsed_done) struct parsed p;

	fixture_f2fs(f, 1);
	fixture_wait(f, 0, FST_FSYNC, 2, 1000);
	fixture_wait(f, 1, FST_F2FS_FSYNC, 3, 1000);
	fixture_wait(f, 1, FST_F2FS_WRITER_READERS, 4, 1000);
	fixture_wait(f, 1, FST_F2FS_BLOCK_OPS, 5, 1000);
	render(f, &p);
	assert_true(
		get(&p, "fstuned_fsync_duration_seconds_count", "sda1", NULL, NULL)->value ==
		2);
	assert_true(
		get(&p, "fstuned_fsync_duration_seconds_count", "sda2", NULL, NULL)->value ==
		3);
	assert_true(get(&p, "fstuned_f2fs_rwsem_wait_seconds_count", "sda2", "waiter",
			"writer_behind_readers")
			    ->value == 4);
	assert_true(get(&p, "fstuned_f2fs_checkpoint_phase_duration_seconds_count", "sda2",
			"phase", "block_ops")
			    ->value == 5);
	assert_true(get(&p, "fstuned_f2fs_merged_requests_total", "sda2", NULL, NULL)->value ==
		    60);
	assert_true(
		get(&p, "fstuned_f2fs_overlapping_requests_total", "sda2", NULL, NULL)->value ==
		41);
	assert_true(get(&p, "fstuned_f2fs_waiting_requests", "sda2", NULL, NULL)->value == 2);
	assert_true(get(&p, "fstuned_f2fs_waiting_requests_max", "sda2", NULL, NULL)->value ==
		    6);
	/* Neither has what is the other's. */
	assert_null(get(&p, "fstuned_transactions_total", "sda2", NULL, NULL));
	assert_null(get(&p, "fstuned_f2fs_merged_requests_total", "sda1", NULL, NULL));
	assert_non_null(get(&p, "fstuned_probe_attached", NULL, "measure", "f2fs_fsync"));
}

static void fast_commits_are_told_where_there_are_any(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(3);
	_cleanup_(parsed_done) struct parsed p;

	fixture_fast_commits(f, 1);
	render(f, &p);
	assert_int_equal(count(&p, "fstuned_fast_commits_total"), 1);
	assert_true(get(&p, "fstuned_fast_commits_total", "sda2", NULL, NULL)->value == 1412);
	assert_true(
		get(&p, "fstuned_fast_commit_ineligible_total", "sda2", NULL, NULL)->value ==
		37);
	assert_true(get(&p, "fstuned_fast_commit_blocks_total", "sda2", NULL, NULL)->value ==
		    2961);
	assert_int_equal(count(&p, "fstuned_fast_commit_fallbacks_total"), 3);
	assert_true(
		get(&p, "fstuned_fast_commit_fallbacks_total", "sda2", "reason", "Dir renamed")
			->value == 33);
	assert_true(get(&p, "fstuned_fast_commit_fallbacks_total", "sda2", "reason", "odd \"\\")
			    ->value == 2);
}

static double count_of(const struct parsed *p, const char *family, const char *label_name,
		       const char *value)
{
	char name[128];

	snprintf(name, sizeof(name), "%s_count", family);
	return get(p, name, "sda1", label_name, value)->value;
}

static void fsyncs_are_told_by_the_commit_that_served_them(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_(parsed_done) struct parsed p;

	fixture_wait(f, 0, FST_FSYNC, 9, 1000);
	fixture_wait(f, 0, FST_FSYNC_FAST, 5, 1000);
	fixture_wait(f, 0, FST_FSYNC_FULL, 3, 1000);
	fixture_wait(f, 0, FST_FAST_COMMIT_OK, 5, 1000);
	fixture_wait(f, 0, FST_FAST_COMMIT_INELIGIBLE, 2, 1000);
	fixture_wait(f, 0, FST_FAST_COMMIT_FAILED, 1, 1000);
	render(f, &p);
	assert_true(count_of(&p, "fstuned_fsync_duration_seconds", NULL, NULL) == 9);
	assert_true(count_of(&p, "fstuned_fsync_commit_duration_seconds", "commit", "fast") ==
		    5);
	assert_true(count_of(&p, "fstuned_fsync_commit_duration_seconds", "commit", "full") ==
		    3);
	assert_true(count_of(&p, "fstuned_fast_commit_duration_seconds", "status", "ok") == 5);
	assert_true(count_of(&p, "fstuned_fast_commit_duration_seconds", "status",
			     "ineligible") == 2);
	assert_true(count_of(&p, "fstuned_fast_commit_duration_seconds", "status", "failed") ==
		    1);
	assert_int_equal(count(&p, "fstuned_fast_commit_duration_seconds_count"), 3);
}

static void openmetrics_has_its_own_suffixes_and_end(_unused_ void **state)
{
	_cleanup_(fixture_freep) struct fixture *f = fixture_new(1);
	_cleanup_free_ char *text = NULL;
	size_t len;

	fixture_wait(f, 0, FST_COMMIT, 1, 1000);
	assert_int_equal(metrics_render(&f->view, true, &text), 0);
	len = strlen(text);
	assert_string_equal(text + len - 6, "# EOF\n");
	assert_non_null(strstr(text, "# TYPE fstuned_transactions counter\n"));
	assert_non_null(strstr(text, "\nfstuned_transactions_total{device=\"sda1\"} 1\n"));
	assert_non_null(strstr(text, "# TYPE fstuned_filesystem info\n"));
	assert_non_null(strstr(text, "\nfstuned_filesystem_info{"));
	assert_non_null(strstr(text, "# UNIT fstuned_commit_duration_seconds seconds\n"));
	assert_non_null(strstr(text, "le=\"1.0\""));
	assert_non_null(strstr(text, "le=\"0.25\""));
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_cumulative_at_powers_of_four),
		cmocka_unit_test(bounds_are_written_exactly),
		cmocka_unit_test(devices_without_events_have_no_histograms),
		cmocka_unit_test(label_values_are_escaped),
		cmocka_unit_test(knobs_and_decisions_are_told),
		cmocka_unit_test(f2fs_has_its_own_and_fsync_in_common),
		cmocka_unit_test(fast_commits_are_told_where_there_are_any),
		cmocka_unit_test(fsyncs_are_told_by_the_commit_that_served_them),
		cmocka_unit_test(openmetrics_has_its_own_suffixes_and_end),
	};

	/* With an argument: a sample of the output, for other checkers. */
	if (argc > 1) {
		_cleanup_(fixture_freep) struct fixture *f = fixture_new(2);
		_cleanup_free_ char *text = NULL;

		fixture_knob(f, 0, "1", KNOB_AUTO);
		fixture_fast_commits(f, 0);
		fixture_f2fs(f, 1);
		fixture_wait(f, 1, FST_F2FS_CHECKPOINT, 10, 3000);
		for (enum fst_measure m = 0; m < FST_MEASURE_MAX; m++)
			if (fs_kind_concerns(measure_fs_kind(m), &f->d[0].device))
				fixture_wait(f, 0, m, 10, 3000);
		if (metrics_render(&f->view, strcmp(argv[1], "openmetrics") == 0, &text) < 0)
			return 1;
		fputs(text, stdout);
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
