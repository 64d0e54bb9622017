// SPDX-License-Identifier: GPL-2.0-or-later
/* Which way a hook goes, and what is said of those that it does not go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "../../daemon/observe/bpf-log.h"
#include "../../daemon/observe/probe-load.h"

struct scene {
	struct kernel_caps caps;
	struct hook_state states[HOOK_MAX];
};

/* Each way is usable, everything has BTF. */
static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	if (!s)
		return -1;
	for (enum way w = WAY_NONE + 1; w < WAY_MAX; w++)
		s->caps.way[w].usable = true;
	s->caps.read_memory = true;
	for (enum hook_id id = 0; id < HOOK_MAX; id++)
		s->states[id].found = true;
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void refuse(struct scene *s, enum hook_id id, enum way w, const char *why)
{
	s->states[id].refused |= WAY_BIT(w);
	(void)snprintf(s->states[id].refused_why[w], sizeof(s->states[id].refused_why[w]), "%s",
		       why);
}

static void the_best_way_is_taken(void **state)
{
	struct scene *s = *state;

	hooks_choose(s->states, FS_JBD2, &s->caps);
	assert_int_equal(s->states[HOOK_COMMIT_START].way, WAY_TP_BTF);
	assert_int_equal(s->states[HOOK_CHECKPOINT].way, WAY_FENTRY);
	assert_string_equal(s->states[HOOK_CHECKPOINT].why, "");
	assert_int_equal(s->states[HOOK_FSYNC_ENTER].way, WAY_NONE);
}

static void a_refused_way_falls_to_the_next_with_the_reason(void **state)
{
	struct scene *s = *state;

	refuse(s, HOOK_CHECKPOINT, WAY_FENTRY, "not loaded");
	s->states[HOOK_SHADOW].found = false;
	hooks_choose(s->states, FS_JBD2, &s->caps);
	assert_int_equal(s->states[HOOK_CHECKPOINT].way, WAY_KPROBE);
	assert_string_equal(s->states[HOOK_CHECKPOINT].why, "fentry: not loaded");
	assert_int_equal(s->states[HOOK_SHADOW].way, WAY_NONE);
	assert_string_equal(s->states[HOOK_SHADOW].why,
			    "fentry: no BTF of out_of_line_wait_on_bit");
}

/* Whichever of the two is refused: their start times lie in one object. */
static void begin_and_end_go_one_way(void **state)
{
	static const enum hook_id pairs[][2] = { { HOOK_FSYNC_ENTER, HOOK_FSYNC_EXIT },
						 { HOOK_FC_START, HOOK_FC_STOP } };

	for (size_t i = 0; i < 4; i++) {
		const enum hook_id *pair = pairs[i / 2];
		struct scene *s;

		assert_int_equal(setup(state), 0);
		s = *state;
		refuse(s, pair[i % 2], WAY_TP_BTF, "not loaded");
		hooks_choose(s->states, FS_EXT4, &s->caps);
		for (size_t k = 0; k < 2; k++) {
			assert_int_equal(s->states[pair[k]].way, WAY_TRACEPOINT);
			assert_string_equal(s->states[pair[k]].why, "tp_btf: not loaded");
		}
		(void)teardown(state);
	}
	*state = NULL;
}

static void what_stands_in_is_taken_only_where_it_must(void **state)
{
	struct scene *s = *state;

	hooks_choose(s->states, FS_F2FS, &s->caps);
	assert_int_equal(s->states[HOOK_F2FS_ISSUE].way, WAY_FENTRY);
	assert_int_equal(s->states[HOOK_F2FS_SYNC].way, WAY_NONE);
	s->states[HOOK_F2FS_ISSUE].found = false;
	hooks_choose(s->states, FS_F2FS, &s->caps);
	assert_int_equal(s->states[HOOK_F2FS_ISSUE].way, WAY_KPROBE);
	assert_int_equal(s->states[HOOK_F2FS_SYNC].way, WAY_NONE);
	refuse(s, HOOK_F2FS_ISSUE, WAY_KPROBE, "no such function");
	hooks_choose(s->states, FS_F2FS, &s->caps);
	assert_int_equal(s->states[HOOK_F2FS_ISSUE].way, WAY_NONE);
	assert_int_equal(s->states[HOOK_F2FS_SYNC].way, WAY_FENTRY);
}

static void semaphores_whose_readers_wait_elsewhere_tell_nothing_of_them(void **state)
{
	struct scene *s = *state;

	s->states[HOOK_F2FS_SB_READER].found = false;
	s->states[HOOK_F2FS_READER].hidden = true;
	hooks_choose(s->states, FS_F2FS, &s->caps);
	assert_int_equal(s->states[HOOK_F2FS_READER].way, WAY_NONE);
	assert_non_null(strstr(s->states[HOOK_F2FS_READER].why, "CONFIG_F2FS_UNFAIR_RWSEM"));
	assert_int_equal(s->states[HOOK_F2FS_WRITER].way, WAY_FENTRY);
}

static void words_cannot_be_read_under_lockdown_but_numbers_can(void **state)
{
	struct scene *s = *state;

	s->caps.read_memory = false;
	s->caps.way[WAY_TRACEPOINT] = (struct kernel_way){ .why = "tracepoint: not permitted" };
	strcpy(s->caps.lockdown, "confidentiality");
	hooks_choose(s->states, FS_F2FS, &s->caps);
	assert_int_equal(s->states[HOOK_F2FS_CHECKPOINT].way, WAY_NONE);
	assert_non_null(strstr(s->states[HOOK_F2FS_CHECKPOINT].why, "confidentiality"));
	s->states[HOOK_F2FS_CHECKPOINT].number = true;
	hooks_choose(s->states, FS_F2FS, &s->caps);
	assert_int_equal(s->states[HOOK_F2FS_CHECKPOINT].way, WAY_TP_BTF);
}

/* fsync does not depend on fast commits, which older kernels have not. */
static void kernels_without_fast_commits_have_fsync(void **state)
{
	static const enum hook_id of_them[] = { HOOK_FC_START, HOOK_FC_STOP, HOOK_FC_LOCK };
	struct scene *s = *state;

	for (size_t i = 0; i < 3; i++) {
		s->states[of_them[i]].found = false;
		refuse(s, of_them[i], WAY_TRACEPOINT, "no such tracepoint");
	}
	hooks_choose(s->states, FS_EXT4, &s->caps);
	assert_int_equal(s->states[HOOK_FSYNC_ENTER].way, WAY_TP_BTF);
	assert_int_equal(s->states[HOOK_FSYNC_EXIT].way, WAY_TP_BTF);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(s->states[of_them[i]].way, WAY_NONE);
}

_printf_(1, 2) static void libbpf_says(const char *format, ...)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	va_list ap;

	va_start(ap, format);
	(void)print(LIBBPF_WARN, format, ap);
	va_end(ap);
	bpf_log_open();
}

static void a_missing_type_is_named(void **state)
{
	(void)state;
	bpf_log_open();
	bpf_log_clear();
	libbpf_says("libbpf: prog 'ckpt_kenter': BPF program load failed: EINVAL\n");
	libbpf_says("%s", "prog 'ckpt_kenter': -- BEGIN PROG LOAD LOG --\n"
			  "failed to resolve CO-RE relocation <byte_off> [55] struct "
			  "journal_s.j_fs_dev (0:0 @ offset 0)\n"
			  "processed 8 insns (limit 1000000)\n"
			  "-- END PROG LOAD LOG --\n");
	assert_string_equal(bpf_log_last(), "no BTF of struct journal_s.j_fs_dev");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_best_way_is_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refused_way_falls_to_the_next_with_the_reason,
						setup, teardown),
		cmocka_unit_test(begin_and_end_go_one_way),
		cmocka_unit_test_setup_teardown(what_stands_in_is_taken_only_where_it_must,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			semaphores_whose_readers_wait_elsewhere_tell_nothing_of_them, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			words_cannot_be_read_under_lockdown_but_numbers_can, setup, teardown),
		cmocka_unit_test_setup_teardown(kernels_without_fast_commits_have_fsync, setup,
						teardown),
		cmocka_unit_test(a_missing_type_is_named),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
