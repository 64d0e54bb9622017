// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "samples.h"

/* Half a minute of one and the same second. */
struct scene {
	struct model *model;
	struct knob_view k;
	struct policy_force_copy p;
	struct policy_config c;
	uint64_t now;
	char text[VERDICT_TEXT_LEN + 1];
};

static void scene_done(struct scene *s)
{
	model_free(s->model);
}

static void scene_init(struct scene *s)
{
	*s = (struct scene){
		.k = { .supported = true, .mode = KNOB_AUTO, .value = "0" },
		.c = policy_config_default,
		.now = 1000 * SEC,
	};
	assert_int_equal(model_new(&s->model), 0);
}

#define SCENE(s)                              \
	_cleanup_(scene_done) struct scene s; \
	(void)state;                          \
	scene_init(&s)

/* `second` is a sample of one second, without its time. */
static void play(struct scene *s, const struct sample *second)
{
	for (unsigned i = 0; i < 30; i++) {
		struct sample sample = *second;

		s->now += SEC;
		sample.now_us = s->now;
		assert_int_equal(model_update(s->model, &sample), 0);
	}
}

static enum verdict verdict(struct scene *s)
{
	enum verdict v =
		verdict_of(s->model, &s->k, &s->p, &s->c, s->now, s->text, sizeof(s->text));

	assert_true(*s->text);
	assert_true(strlen(s->text) <= VERDICT_TEXT_LEN);
	return v;
}

static struct sample with_shadow(void)
{
	struct sample s = sample_at(0, SEC);

	sample_add(&s, FST_SHADOW_WAIT, 75, 600);
	sample_add(&s, FST_SHADOW_WAIT, 1, 30 * MS);
	return s;
}

static void verdict_is_idle_when_nothing_happened(void **state)
{
	SCENE(s);
	play(&s, &(struct sample){ .interval_us = SEC });
	assert_int_equal(verdict(&s), VERDICT_IDLE);
}

static void verdict_is_good_with_the_figures(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	sample_add(&sample, FST_COMMIT, 10, 3 * MS);
	sample_add(&sample, FST_FSYNC, 10, 4 * MS);
	sample_add(&sample, FST_SHADOW_WAIT, 1, MS);
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_GOOD);
	assert_non_null(strstr(s.text, "commits p99 3.0ms"));
	assert_non_null(strstr(s.text, "fsync p99"));
}

static void verdict_names_shadow_waits_and_why_nothing_is_done(void **state)
{
	static const struct {
		struct knob_view k;
		enum fc_state state;
		double pressure;
		const char *text;
	} cases[] = {
		{ { .supported = false }, FC_OFF, -1, "kernel has no force_copy" },
		{ { .supported = true, .mode = KNOB_MANUAL, .value = "0" },
		  FC_OFF,
		  -1,
		  "pinned off" },
		{ { .supported = true, .mode = KNOB_OBSERVE, .value = "0" },
		  FC_OFF,
		  -1,
		  "advice" },
		{ { .supported = true, .mode = KNOB_AUTO, .value = "0" },
		  FC_FROZEN,
		  -1,
		  "frozen" },
		{ { .supported = true, .mode = KNOB_AUTO, .value = "0" },
		  FC_OFF,
		  55,
		  "no memory" },
		{ { .supported = true, .mode = KNOB_AUTO, .value = "0" },
		  FC_TRIAL,
		  -1,
		  "trial" },
		{ { .supported = true, .mode = KNOB_AUTO, .value = "0" },
		  FC_OFF,
		  -1,
		  "not on yet" },
	};
	struct sample sample = with_shadow();

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		SCENE(s);
		sample.memory_pressure = cases[i].pressure;
		s.k = cases[i].k;
		s.p.state = cases[i].state;
		play(&s, &sample);
		assert_int_equal(verdict(&s), VERDICT_SHADOW);
		assert_non_null(strstr(s.text, "shadow waits 75ms/s"));
		assert_non_null(strstr(s.text, "longest 30ms"));
		assert_non_null(strstr(s.text, cases[i].text));
	}
}

static void verdict_counts_one_long_wait(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	s.k.supported = false;
	sample_add(&sample, FST_COMMIT, 1, MS);
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_GOOD);
	sample_add(&sample, FST_SHADOW_WAIT, 1, 290 * MS);
	s.now += SEC;
	sample.now_us = s.now;
	assert_int_equal(model_update(s.model, &sample), 0);
	assert_int_equal(verdict(&s), VERDICT_SHADOW);
}

static void verdict_says_how_much_was_helped(void **state)
{
	struct sample sample = with_shadow();

	SCENE(s);
	play(&s, &sample); /* waits of before it was turned on are still in the minute */
	memcpy(s.k.value, "1", 2);
	s.p.state = FC_ON;
	s.p.stall_before_us_per_s = 75 * MS;
	assert_int_equal(verdict(&s), VERDICT_HELPED);
	assert_string_equal(s.text, "force_copy is on: shadow waits now 0/s, before 75ms/s");

	sample = sample_at(0, SEC);
	sample.active = sample.copy_known = true;
	sample.avoided_waits = 2;
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_HELPED);
	assert_non_null(strstr(s.text, "60 waits avoided"));
}

static void verdict_says_when_it_does_not_help(void **state)
{
	struct sample sample = with_shadow();

	SCENE(s);
	memcpy(s.k.value, "1", 2);
	play(&s, &sample);
	s.p.part[0].end_us = s.now;
	s.p.part[0].span_us = SEC;
	s.p.part[0].wait_us = 75 * MS;
	assert_int_equal(verdict(&s), VERDICT_SHADOW);
	assert_non_null(strstr(s.text, "although force_copy is on"));
}

static void verdict_finds_the_journal_too_small(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	sample_add(&sample, FST_LOG_SPACE_WAIT, 1, 120 * MS);
	sample_add(&sample, FST_COMMIT, 1, 200 * MS);
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_LOG_SPACE);
	assert_non_null(strstr(s.text, "journal too small"));
	assert_non_null(strstr(s.text, "120ms/s"));
}

static void verdict_says_when_it_is_the_device(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	sample_add(&sample, FST_COMMIT, 3, 310 * MS);
	sample.service = (struct service){
		.known = true,
		.flushes_known = true,
		.writes = 10,
		.write_us = 950 * MS,
		.flushes = 3,
		.flush_us = 540 * MS,
	};
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_DEVICE);
	assert_non_null(strstr(s.text, "flush 180ms"));
	assert_non_null(strstr(s.text, "writes 95ms mean"));
	assert_non_null(strstr(s.text, "not the journal"));
}

static void verdict_takes_a_slow_fsync_for_the_device_too(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	sample_add(&sample, FST_FSYNC, 20, 15 * MS);
	sample.service = (struct service){ .known = true, .writes = 20, .write_us = 200 * MS };
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_DEVICE);
	assert_non_null(strstr(s.text, "fsync p99"));
	assert_null(strstr(s.text, "flush")); /* a partition's are not known */
}

static void verdict_knows_an_external_journals_device(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	sample_add(&sample, FST_COMMIT, 3, 310 * MS);
	sample.service = (struct service){ .known = true, .writes = 10, .write_us = 10 * MS };
	sample.journal_service = (struct service){
		.known = true,
		.flushes_known = true,
		.writes = 10,
		.write_us = 200 * MS,
		.flushes = 3,
		.flush_us = 540 * MS,
	};
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_DEVICE);
	assert_non_null(strstr(s.text, "the journal's device: flush 180ms, writes 20ms mean"));
	assert_null(strstr(s.text, "not the journal"));

	/* Both are fast: the figures of both. */
	scene_done(&s);
	scene_init(&s);
	sample.journal_service.flush_us = 6 * MS;
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_COMMIT);
	assert_non_null(strstr(s.text, "device writes 1.0ms mean; journal's flush 2.0ms"));
}

static void verdict_blames_commits_where_the_device_is_fast(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	sample_add(&sample, FST_COMMIT, 3, 310 * MS);
	sample.service = (struct service){ .known = true, .writes = 10, .write_us = 10 * MS };
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_COMMIT);
	assert_non_null(strstr(s.text, "device writes 1.0ms"));
	assert_null(strstr(s.text, "flush"));

	/* and without the device's figures nobody is accused of it */
	scene_done(&s);
	scene_init(&s);
	sample.service.known = false;
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_COMMIT);
	assert_null(strstr(s.text, "device"));
}

static void verdict_sees_handles_that_are_held_long(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	sample_add(&sample, FST_COMMIT, 3, 60 * MS);
	sample_add(&sample, FST_COMMIT_LOCKING, 3, 55 * MS);
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_COMMIT);
	assert_non_null(strstr(s.text, "open handles"));
}

static void verdict_forgives_one_slow_commit(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	sample_add(&sample, FST_COMMIT, 1, 90 * MS);
	sample.now_us = s.now += SEC;
	assert_int_equal(model_update(s.model, &sample), 0);
	assert_int_equal(verdict(&s), VERDICT_GOOD);
}

static void verdict_of_an_f2fs_speaks_of_checkpoints(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	sample_add(&sample, FST_F2FS_CHECKPOINT, 10, 3 * MS);
	sample_add(&sample, FST_F2FS_FSYNC, 10, 4 * MS);
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_GOOD);
	assert_non_null(strstr(s.text, "checkpoints p99 3.0ms"));
	assert_non_null(strstr(s.text, "fsync p99"));

	sample_add(&sample, FST_F2FS_CHECKPOINT, 10, 300 * MS);
	sample_add(&sample, FST_F2FS_REQUEST, 10, 600 * MS);
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_CHECKPOINT);
	assert_non_null(strstr(s.text, "who asks waits p99 6"));

	sample_add(&sample, FST_F2FS_WRITER_READERS, 1, 280 * MS);
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_CHECKPOINT);
	assert_non_null(strstr(s.text, "wait for tasks in the file system, longest 280ms"));

	sample.service = (struct service){ .known = true, .writes = 10, .write_us = 2000 * MS };
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_DEVICE);
	assert_non_null(strstr(s.text, "not the file system"));
}

static void verdict_text_fits_whatever_the_figures(void **state)
{
	struct sample sample = sample_at(0, SEC);

	SCENE(s);
	for (unsigned i = 0; i < FST_MEASURE_MAX; i++)
		sample_add(&sample, (enum fst_measure)i, 1000000, 3600 * SEC);
	sample.service = (struct service){
		.known = true,
		.flushes_known = true,
		.writes = 1,
		.write_us = 86400 * SEC * 90,
		.flushes = 1,
		.flush_us = 86400 * SEC * 90,
	};
	sample.memory_pressure = 99.99;
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_SHADOW);
	memset(&sample.hist[FST_SHADOW_WAIT], 0, sizeof(sample.hist[0]));
	scene_done(&s);
	scene_init(&s);
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_LOG_SPACE);
	memset(&sample.hist[FST_LOG_SPACE_WAIT], 0, sizeof(sample.hist[0]));
	scene_done(&s);
	scene_init(&s);
	play(&s, &sample);
	assert_int_equal(verdict(&s), VERDICT_DEVICE);
}

static void verdict_names_are_distinct(void **state)
{
	(void)state;
	for (unsigned i = VERDICT_IDLE; i <= VERDICT_CHECKPOINT; i++)
		for (unsigned k = VERDICT_IDLE; k < i; k++)
			assert_string_not_equal(verdict_to_string((enum verdict)i),
						verdict_to_string((enum verdict)k));
	assert_string_equal(verdict_to_string(VERDICT_LOG_SPACE), "log-space");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdict_is_idle_when_nothing_happened),
		cmocka_unit_test(verdict_is_good_with_the_figures),
		cmocka_unit_test(verdict_names_shadow_waits_and_why_nothing_is_done),
		cmocka_unit_test(verdict_counts_one_long_wait),
		cmocka_unit_test(verdict_says_how_much_was_helped),
		cmocka_unit_test(verdict_says_when_it_does_not_help),
		cmocka_unit_test(verdict_finds_the_journal_too_small),
		cmocka_unit_test(verdict_says_when_it_is_the_device),
		cmocka_unit_test(verdict_takes_a_slow_fsync_for_the_device_too),
		cmocka_unit_test(verdict_knows_an_external_journals_device),
		cmocka_unit_test(verdict_blames_commits_where_the_device_is_fast),
		cmocka_unit_test(verdict_sees_handles_that_are_held_long),
		cmocka_unit_test(verdict_forgives_one_slow_commit),
		cmocka_unit_test(verdict_of_an_f2fs_speaks_of_checkpoints),
		cmocka_unit_test(verdict_text_fits_whatever_the_figures),
		cmocka_unit_test(verdict_names_are_distinct),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
