// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <endian.h>
#include <string.h>
#include "../../daemon/observe/tracepoint.h"

/* jbd2_run_stats as kernels print it: tid_t since 6.2, unsigned long before. */
#define COMMON                                                                 \
	"name: jbd2_run_stats\nID: 1274\nformat:\n"                            \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"           \
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"

static const char tid_int[] = COMMON
	"\tfield:tid_t tid;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long wait;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:__u32 blocks;\toffset:68;\tsize:4;\tsigned:0;\n"
	"\tfield:__u32 blocks_logged;\toffset:72;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"dev %d,%d tid %u\", ((unsigned int) ((REC->dev) >> 20)), REC->tid\n";

static const char tid_long[] =
	COMMON "\tfield:unsigned long tid;\toffset:16;\tsize:8;\tsigned:0;\n"
	       "\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:1;\n";

static uint16_t offset_of(const char *format, const char *field)
{
	uint16_t offset = UINT16_MAX;

	assert_int_equal(tracepoint_field(format, field, &offset), 0);
	return offset;
}

static void field_is_found_by_its_whole_name(void **state)
{
	(void)state;
	assert_int_equal(offset_of(tid_int, "dev"), 8);
	assert_int_equal(offset_of(tid_int, "tid"), 12);
	assert_int_equal(offset_of(tid_int, "blocks"), 68);
	assert_int_equal(offset_of(tid_int, "blocks_logged"), 72);
}

static void wide_field_gives_its_low_half(void **state)
{
	(void)state;
	assert_int_equal(offset_of(tid_long, "tid"), BYTE_ORDER == BIG_ENDIAN ? 20 : 16);
}

static void narrow_field_is_the_low_half(void **state)
{
	(void)state;
	assert_int_equal(
		offset_of("\tfield:u16 phase;\toffset:16;\tsize:2;\tsigned:0;\n", "phase"),
		BYTE_ORDER == BIG_ENDIAN ? 14 : 16);
}

static void missing_field_is_missing(void **state)
{
	uint16_t offset;

	(void)state;
	assert_int_equal(tracepoint_field(tid_int, "logged", &offset), -ENOENT);
	assert_int_equal(tracepoint_field(tid_int, "REC->tid", &offset), -ENOENT);
	assert_int_equal(tracepoint_field("", "tid", &offset), -ENOENT);
	assert_int_equal(tracepoint_field("field:", "tid", &offset), -ENOENT);
	assert_int_equal(tracepoint_field("field: tid;", "tid", &offset), -ENOENT);
}

static void narrow_or_far_field_is_refused(void **state)
{
	uint16_t offset;

	(void)state;
	assert_int_equal(tracepoint_field(tid_int, "common_type", &offset), -ERANGE);
	assert_int_equal(tracepoint_field("field:char c;\toffset:16;\tsize:1;", "c", &offset),
			 -ERANGE);
	assert_int_equal(
		tracepoint_field("field:int far;\toffset:65533;\tsize:4;", "far", &offset),
		-ERANGE);
	assert_int_equal(
		tracepoint_field("field:int far;\toffset:4294967295;\tsize:4;", "far", &offset),
		-ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(field_is_found_by_its_whole_name),
		cmocka_unit_test(wide_field_gives_its_low_half),
		cmocka_unit_test(narrow_field_is_the_low_half),
		cmocka_unit_test(missing_field_is_missing),
		cmocka_unit_test(narrow_or_far_field_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
