// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/sysmacros.h>
#include <cmocka.h>
#include "fake-machine.h"
#include "../../daemon/observe/identify.h"
#include "../../daemon/observe/modules.h"

/* --- names --- */

static void partition_has_the_diskseq_of_its_disk(void **state)
{
	struct fake_root *f = *state;
	struct device_id id;

	fake_file(f, "/sys/devices/sdc/diskseq", "12\n");
	fake_file(f, "/sys/devices/sdc/sdc1/dev", "8:33\n");
	fake_link(f, "/sys/class/block/sdc1", "../../devices/sdc/sdc1");
	assert_int_equal(device_id_read("sdc1", &id), 0);
	assert_int_equal(id.diskseq, 12);
	assert_int_equal(id.dev, makedev(8, 33));
	assert_int_equal(id.ino, 0); /* nothing is mounted there */
}

static void name_that_leads_elsewhere_is_none(void **state _unused_)
{
	struct device_id id;

	assert_int_equal(device_id_read("", &id), -EINVAL);
	assert_int_equal(device_id_read("../block", &id), -EINVAL);
	assert_int_equal(device_id_read("..", &id), -EINVAL);
	assert_int_equal(device_id_read("nosuch", &id), -ENODEV);
}

/* --- modules --- */

static void patched_modules_are_found_for_this_kernel_or_another(void **state)
{
	struct fake_root *f = *state;
	struct patched_modules m;

	patched_modules_find("6.1.0-42-amd64", &m);
	assert_true(!m.error && !m.installed && !*m.other);
	fake_dirs(f, "/lib/modules/6.1.0-42-amd64/");
	fake_dirs(f, "/lib/modules/6.1.0-41-amd64/updates/fs-tuned/");
	patched_modules_find("6.1.0-42-amd64", &m);
	assert_false(m.installed);
	assert_string_equal(m.other, "6.1.0-41-amd64");
	fake_dirs(f, "/lib/modules/6.1.0-42-amd64/updates/fs-tuned/");
	patched_modules_find("6.1.0-42-amd64", &m);
	assert_true(m.installed);
	fake_remove(f, "/lib/modules");
	fake_file(f, "/lib/modules", "");
	patched_modules_find("6.1.0-42-amd64", &m);
	assert_int_equal(m.error, ENOTDIR);
}

/* --- journals --- */

/* What is found for the device "sda5" given its journal_task. */
static struct device journal_of_sda5(const struct fake_root *f, const char *task,
				     const char *comm)
{
	struct names jbd2;
	struct device d = { .name = "sda5", .id.dev = makedev(8, 5) };

	add_ext4(f, "sda5", task, comm);
	assert_int_equal(names_read(&jbd2, "/proc/fs/jbd2"), 0);
	assert_int_equal(discover_journal(&d, &jbd2), 0);
	discover_journal_dev(&d);
	names_done(&jbd2);
	return d;
}

static void file_system_without_a_journal_has_none(void **state)
{
	struct device d;

	add_journal(*state, "sda5-8"); /* somebody else's, whatever it is called */
	d = journal_of_sda5(*state, "<none>", NULL);
	assert_false(d.has_journal);
	assert_string_equal(d.journal, "");
}

static void external_journal_has_a_device_of_its_own(void **state)
{
	struct device d;

	add_block(*state, "nvme0n1p3", 259, 3, 9);
	add_journal(*state, "nvme0n1p3");
	d = journal_of_sda5(*state, "300", "jbd2/nvme0n1p3");
	assert_string_equal(d.journal, "nvme0n1p3");
	assert_int_equal(d.journal_dev, makedev(259, 3));
}

static void thread_name_that_was_cut_off_is_completed(void **state)
{
	struct device d;

	add_block(*state, "nvme10n1p1", 259, 4, 9);
	add_journal(*state, "nvme10n1p1");
	d = journal_of_sda5(*state, "300", "jbd2/nvme10n1p1");
	assert_string_equal(d.journal, "nvme10n1p1");
	add_journal(*state, "nvme10n1p15");
	fake_remove(*state, "/proc/fs/jbd2/nvme10n1p1");
	d = journal_of_sda5(*state, "300", "jbd2/nvme10n1p1");
	assert_string_equal(d.journal, "nvme10n1p15");
}

static void thread_name_that_fits_several_journals_is_not_guessed(void **state)
{
	struct device d;

	add_journal(*state, "nvme10n1p15");
	add_journal(*state, "nvme10n1p16");
	d = journal_of_sda5(*state, "300", "jbd2/nvme10n1p1");
	assert_true(d.has_journal);
	assert_string_equal(d.journal, "");
	assert_int_equal(d.journal_dev, makedev(8, 5));
}

static void pid_of_another_namespace_leaves_the_devices_own_name(void **state)
{
	struct device d;

	add_journal(*state, "sda5-8");
	add_journal(*state, "sda50-8");
	add_journal(*state, "sda");
	d = journal_of_sda5(*state, "0", NULL);
	assert_true(d.has_journal);
	assert_string_equal(d.journal, "sda5-8");
}

static void external_journal_of_another_namespace_comes_from_the_kernel(void **state)
{
	struct device d;

	add_block(*state, "sdz", 65, 144, 9);
	add_journal(*state, "sdz");
	d = journal_of_sda5(*state, "0", NULL);
	assert_true(d.has_journal);
	assert_string_equal(d.journal, "");
	assert_true(device_set_journal(&d, "sdz"));
	assert_string_equal(d.journal, "sdz");
	assert_int_equal(d.journal_dev, makedev(65, 144));
	assert_false(device_set_journal(&d, "sdz"));
	assert_false(device_set_journal(&d, ""));
	assert_string_equal(d.journal, "sdz");
}

static void other_tasks_name_is_not_taken_for_a_journal(void **state)
{
	struct device d;

	add_journal(*state, "sda5-8");
	d = journal_of_sda5(*state, "300", "bash");
	assert_string_equal(d.journal, "sda5-8");
	d = journal_of_sda5(*state, "300", "jbd2/");
	assert_string_equal(d.journal, "sda5-8");
}

static void journal_name_tells_its_device(void **state _unused_)
{
	char name[DEVICE_NAME_MAX];

	assert_int_equal(journal_device("dm-0-8", name), 0);
	assert_string_equal(name, "dm-0");
	assert_int_equal(journal_device("sda5", name), -EINVAL);
	assert_int_equal(journal_device("-8", name), -EINVAL);
	assert_int_equal(journal_device("sda5-", name), -EINVAL);
	assert_int_equal(journal_device("sda5-8x", name), -EINVAL);
}

/* --- UUID and label --- */

static void udev_knows_uuid_and_label(void **state)
{
	struct identity i = { 0 };

	fake_file(*state, "/run/udev/data/b8:5",
		  "S:disk/by-uuid/x\nE:ID_FS_LABEL_ENC=\\x22\\xc3\\xa4\\x5c\nE:ID_FS_UUID_ENC="
		  "0-1\n");
	assert_int_equal(identity_from_udev(makedev(8, 5), &i), 0);
	assert_string_equal(i.uuid, "0-1");
	assert_string_equal(i.label, "\"\xc3\xa4\\");
}

static void malformed_udev_entry_is_unknown(void **state)
{
	static const char *const bad[] = { "a\\x0", "a\\xzz", "a\\", "a\\x00b",
					   "0123456789012345678901234567890123456789" };

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		struct identity id = { 0 };
		char text[128];

		snprintf(text, sizeof(text), "E:ID_FS_UUID_ENC=%s\n", bad[i]);
		fake_file(*state, "/run/udev/data/b8:5", text);
		assert_int_equal(identity_from_udev(makedev(8, 5), &id), -ENOENT);
		assert_string_equal(id.uuid, "");
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, machine_setup, fake_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(partition_has_the_diskseq_of_its_disk),
		TEST(patched_modules_are_found_for_this_kernel_or_another),
		TEST(name_that_leads_elsewhere_is_none),
		TEST(file_system_without_a_journal_has_none),
		TEST(external_journal_has_a_device_of_its_own),
		TEST(thread_name_that_was_cut_off_is_completed),
		TEST(thread_name_that_fits_several_journals_is_not_guessed),
		TEST(pid_of_another_namespace_leaves_the_devices_own_name),
		TEST(external_journal_of_another_namespace_comes_from_the_kernel),
		TEST(other_tasks_name_is_not_taken_for_a_journal),
		TEST(journal_name_tells_its_device),
		TEST(udev_knows_uuid_and_label),
		TEST(malformed_udev_entry_is_unknown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
