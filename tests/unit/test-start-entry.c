// SPDX-License-Identifier: GPL-2.0-or-later
/* What a wait's end takes for its begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../bpf/start-entry.h"
#include "../../daemon/base/cleanup.h"

#define TAG_A 0x125
#define TAG_B 0x4125
#define WORD UINT64_C(0xffff888012345678)

static struct start begun(uint64_t ns, uint32_t dev, uint32_t tag, uint64_t object)
{
	struct start s = { .ns = ns, .dev = dev, .tag = tag };

	s.seal = start_seal(&s, object);
	return s;
}

static void the_end_of_a_begin_is_known(void **state _unused_)
{
	struct start s = begun(1000, 8388613, TAG_A, WORD);

	assert_true(start_is(&s, TAG_A, WORD));
	assert_false(start_is(&s, TAG_B, WORD));
	s.ns = 0;
	assert_false(start_is(&s, TAG_A, WORD));
}

static void a_foreign_word_ends_no_wait(void **state _unused_)
{
	struct start s = begun(1000, 8388613, TAG_A, WORD);

	assert_false(start_is(&s, TAG_A, WORD + sizeof(long)));
	assert_false(start_is(&s, TAG_A, 0));
}

/* Each member may be of the one or of the other, as it happens. */
static void what_two_tasks_wrote_at_once_is_nobodys(void **state _unused_)
{
	const struct start a = begun(1000, 8388613, TAG_A, 0),
			   b = begun(1700, 8388614, TAG_B, 0);

	for (unsigned mix = 1; mix < 15; mix++) {
		struct start s = {
			.ns = mix & 1 ? b.ns : a.ns,
			.dev = mix & 2 ? b.dev : a.dev,
			.tag = mix & 4 ? b.tag : a.tag,
			.seal = mix & 8 ? b.seal : a.seal,
		};

		assert_false(start_is(&s, TAG_A, 0));
		assert_false(start_is(&s, TAG_B, 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_a_begin_is_known),
		cmocka_unit_test(a_foreign_word_ends_no_wait),
		cmocka_unit_test(what_two_tasks_wrote_at_once_is_nobodys),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
