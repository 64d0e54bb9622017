// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "../../bpf/device-table.h"

static struct fst_shared table;

static int clear(void **state)
{
	(void)state;
	memset(&table, 0, sizeof(table));
	return 0;
}

static int put(uint32_t dev, uint32_t slot)
{
	for (uint32_t i = 0; i < FST_DEVICE_PLACES; i++) {
		uint32_t at = fst_device_place(dev, i);

		assert_in_range(at, 0, FST_DEVICE_TABLE - 1);
		if (table.device[at] == 0) {
			table.device[at] = (uint64_t)slot << 32 | dev;
			return 0;
		}
	}
	return -1;
}

static void remove_device(uint32_t dev)
{
	for (uint32_t i = 0; i < FST_DEVICE_PLACES; i++)
		if ((uint32_t)table.device[fst_device_place(dev, i)] == dev)
			table.device[fst_device_place(dev, i)] = 0;
}

/* The n-th device of a big host: SCSI disks, device mapper, NVMe, loop. */
static uint32_t device(uint32_t n)
{
	static const uint32_t majors[] = { 8, 253, 259, 7 };

	return majors[n % 4] << 20 | n / 4;
}

static void every_device_of_a_full_table_is_found(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < FST_MAX_DEVICES; n++)
		assert_int_equal(put(device(n), n), 0);
	for (uint32_t n = 0; n < FST_MAX_DEVICES; n++)
		assert_int_equal(fst_device_slot(&table, device(n)), n);
	for (uint32_t n = FST_MAX_DEVICES; n < 100000; n++)
		assert_int_equal(fst_device_slot(&table, device(n)), FST_NO_SLOT);
}

static void a_device_that_goes_hides_no_other(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < FST_MAX_DEVICES; n++)
		assert_int_equal(put(device(n), n), 0);
	for (uint32_t n = 0; n < FST_MAX_DEVICES; n += 2)
		remove_device(device(n));
	for (uint32_t n = 0; n < FST_MAX_DEVICES; n++)
		assert_int_equal(fst_device_slot(&table, device(n)), n % 2 ? n : FST_NO_SLOT);
}

/* A read that fails in a program gives device 0, which is what a free place looks like. */
static void no_device_is_no_slot(void **state)
{
	(void)state;
	assert_int_equal(fst_device_slot(&table, 0), FST_NO_SLOT);
	assert_int_equal(put(device(5), 0), 0);
	assert_int_equal(fst_device_slot(&table, 0), FST_NO_SLOT);
	assert_int_equal(fst_device_slot(&table, device(5)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_device_of_a_full_table_is_found, clear),
		cmocka_unit_test_setup(a_device_that_goes_hides_no_other, clear),
		cmocka_unit_test_setup(no_device_is_no_slot, clear),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
