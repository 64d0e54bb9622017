// SPDX-License-Identifier: GPL-2.0-or-later
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <fcntl.h>
#include <cmocka.h>
#include "capture.h"
#include "fake-machine.h"
#include "../../daemon/base/log.h"
#include "../../daemon/base/time-util.h"
#include "../../daemon/observe/identify.h"

#define ANSWER_DEADLINE_US (10 * USEC_PER_SEC)

/* --- what is reported --- */

struct record {
	char text[4096]; /* "+sda5 ~sda5 -sda5 " */
	const struct device_list *list;
};

static void note(struct record *r, char what, const struct device *d)
{
	size_t n = strlen(r->text);

	snprintf(r->text + n, sizeof(r->text) - n, "%c%s ", what, d->name);
	/* whatever is called back may ask the list */
	for (size_t i = 0; i < r->list->n; i++)
		assert_ptr_equal(device_list_find(r->list, r->list->devices[i]->name),
				 r->list->devices[i]);
}

static void on_added(struct device *d, void *userdata)
{
	note(userdata, '+', d);
}

static void on_changed(struct device *d, void *userdata)
{
	note(userdata, '~', d);
}

static void on_removed(struct device *d, void *userdata)
{
	note(userdata, '-', d);
}

static const struct device_events events = { on_added, on_changed, on_removed };

/* Reports of one refresh. */
static const char *refresh(struct device_list *l)
{
	static struct record r;

	r = (struct record){ .list = l };
	assert_int_equal(device_list_refresh(l, &events, &r), 0);
	return r.text;
}

static void list_init(struct device_list *l)
{
	assert_int_equal(device_list_init(l, ""), 0);
}

/* --- the list --- */

static void file_system_is_found_named_and_identified(void **state)
{
	struct device_list l;
	struct device *d;

	add_sda5(*state);
	list_init(&l);
	assert_string_equal(refresh(&l), "+sda5 ");
	assert_int_equal(l.n, 1);
	d = l.devices[0];
	assert_int_equal(d->id.dev, makedev(8, 5));
	assert_int_equal(d->id.diskseq, 3);
	assert_true(d->id.ino > 0);
	assert_string_equal(d->journal, "sda5-8");
	assert_true(d->has_journal);
	assert_int_equal(d->journal_dev, makedev(8, 5));
	assert_string_equal(d->mountpoint, "/data");
	assert_string_equal(d->mount_options, "rw,noquota");
	assert_string_equal(d->fstype, "ext4");
	assert_int_equal(d->n_mounts, 1);
	assert_int_equal(d->block_size, 0);
	assert_false(d->read_only);
	device_list_done(&l);
}

static void nothing_new_means_no_report(void **state)
{
	struct device_list l;
	struct device *before;

	add_sda5(*state);
	list_init(&l);
	refresh(&l);
	before = l.devices[0];
	assert_string_equal(refresh(&l), "");
	assert_ptr_equal(l.devices[0], before);
	device_list_done(&l);
}

static void only_what_changed_is_reported(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;

	add_sda5(f);
	add_block(f, "sdb", 8, 16, 4);
	add_ext4(f, "sdb", "<none>", NULL);
	list_init(&l);
	assert_string_equal(refresh(&l), "+sda5 +sdb ");
	fake_file(f, "/proc/1/mountinfo",
		  "30 1 8:5 / /data rw - ext4 /dev/sda5 rw,noquota\n"
		  "31 1 8:16 / /b rw - ext3 /dev/sdb ro\n");
	assert_string_equal(refresh(&l), "~sdb ");
	assert_string_equal(device_list_find(&l, "sdb")->fstype, "ext3");
	assert_true(device_list_find(&l, "sdb")->read_only);
	fake_file(f, "/proc/1/mountinfo", "31 1 8:16 / /b rw - ext3 /dev/sdb ro\n");
	assert_string_equal(refresh(&l), "~sda5 ");
	assert_null(device_list_find(&l, "sda5")->mountpoint);
	assert_null(device_list_find(&l, "sda5")->mount_options);
	assert_int_equal(device_list_find(&l, "sda5")->n_mounts, 0);
	device_list_done(&l);
}

static void replaced_superblock_is_removed_then_added(void **state)
{
	struct fake_root *f = *state;
	char from[PATH_MAX], to[PATH_MAX];
	struct device_list l;
	struct device_id before;

	add_sda5(f);
	list_init(&l);
	refresh(&l);
	before = l.devices[0]->id;
	/* the old directory lives on elsewhere, so the new one cannot get its inode number */
	fake_path(f, from, "/sys/fs/ext4/sda5");
	fake_path(f, to, "/sys/fs/old");
	assert_int_equal(rename(from, to), 0);
	add_ext4(f, "sda5", "201", "jbd2/sda5-8");
	assert_string_equal(refresh(&l), "-sda5 +sda5 ");
	assert_int_equal(l.n, 1);
	assert_false(device_id_equal(&l.devices[0]->id, &before));
	device_list_done(&l);
}

static void unmounted_file_system_is_removed(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;

	add_sda5(f);
	list_init(&l);
	refresh(&l);
	fake_remove(f, "/sys/fs/ext4/sda5");
	fake_remove(f, "/proc/fs/jbd2/sda5-8");
	assert_string_equal(refresh(&l), "-sda5 ");
	assert_int_equal(l.n, 0);
	assert_null(device_list_find(&l, "sda5"));
	device_list_done(&l);
}

static void machine_without_ext4_has_an_empty_list(void **state)
{
	struct device_list l;

	fake_remove(*state, "/sys/fs/ext4");
	list_init(&l);
	assert_string_equal(refresh(&l), "");
	assert_int_equal(l.n, 0);
	assert_null(device_list_find(&l, "sda5"));
	assert_null(device_list_find_dev(&l, makedev(8, 5)));
	device_list_done(&l);
}

static void device_is_found_by_every_form_of_name(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;
	struct device *d;

	add_sda5(f);
	fake_file(f, "/run/udev/data/b8:5",
		  "E:ID_FS_TYPE=ext4\nE:ID_FS_UUID_ENC=01234567-89ab-cdef-0123-456789abcdef\n"
		  "E:ID_FS_LABEL=my_data\nE:ID_FS_LABEL_ENC=my\\x20data\n");
	list_init(&l);
	refresh(&l);
	d = l.devices[0];
	assert_ptr_equal(device_list_find(&l, "sda5"), d);
	assert_ptr_equal(device_list_find(&l, "8:5"), d);
	assert_null(device_list_find(&l, "4294967304:5")); /* 2^32 + 8 */
	assert_ptr_equal(device_list_find(&l, "UUID=01234567-89AB-CDEF-0123-456789abcdef"), d);
	assert_ptr_equal(device_list_find(&l, "LABEL=my data"), d);
	assert_ptr_equal(device_list_find(&l, "sda5-8"), d);
	assert_ptr_equal(device_list_find_dev(&l, makedev(8, 5)), d);
	assert_null(device_list_find(&l, ""));
	assert_null(device_list_find(&l, "sda"));
	assert_null(device_list_find(&l, "8:50"));
	assert_null(device_list_find(&l, "8:5x"));
	assert_null(device_list_find(&l, "LABEL=my_data"));
	assert_null(device_list_find(&l, "UUID="));
	device_list_done(&l);
}

static void hundreds_of_devices_are_sorted_and_found(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;
	char name[32];

	for (unsigned i = 0; i < 256; i++) {
		snprintf(name, sizeof(name), "dm-%u", i);
		add_block(f, name, 253, i, i + 1);
		add_ext4(f, name, "<none>", NULL);
	}
	list_init(&l);
	refresh(&l);
	assert_int_equal(l.n, 256);
	for (size_t i = 1; i < l.n; i++)
		assert_true(strcmp(l.devices[i - 1]->name, l.devices[i]->name) < 0);
	assert_int_equal(device_list_find(&l, "dm-200")->id.dev, makedev(253, 200));
	assert_string_equal(refresh(&l), "");
	device_list_done(&l);
}

/* --- faults --- */

static void fault_of_one_device_does_not_lose_the_others(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;

	add_sda5(f);
	add_ext4(f, "gone", "<none>", NULL); /* no block device, no mount */
	add_ext4(f, "broken", "<none>", NULL);
	fake_file(f, "/sys/class/block/broken/dev", "x:y\n");
	list_init(&l);
	assert_string_equal(refresh(&l), "+sda5 ");
	/* ... and it is taken in as soon as it makes sense */
	fake_file(f, "/sys/class/block/broken/dev", "8:99\n");
	assert_string_equal(refresh(&l), "+broken ");
	device_list_done(&l);
}

static void unplugged_device_is_known_from_its_mount(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;

	add_ext4(f, "sdx1", "<none>", NULL);
	fake_file(f, "/proc/1/mountinfo", "30 1 8:177 / /usb rw - ext4 /dev/sdx1 rw\n");
	list_init(&l);
	assert_string_equal(refresh(&l), "+sdx1 ");
	assert_int_equal(l.devices[0]->id.dev, makedev(8, 177));
	assert_string_equal(l.devices[0]->mountpoint, "/usb");
	device_list_done(&l);
}

/* Waits until the list says that there is an answer. */
static void await_answer(const struct device_list *l)
{
	struct pollfd p = { .fd = device_list_identify_fd(l), .events = POLLIN };

	assert_true(p.fd >= 0);
	assert_int_equal(poll(&p, 1, (int)(ANSWER_DEADLINE_US / USEC_PER_MSEC)), 1);
}

/* Lets the process have no further descriptor; returns what there was. */
static struct rlimit exhaust_descriptors(void)
{
	struct rlimit was, none;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = (rlim_t)fd; /* the lowest that is free */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	return was;
}

static void exhausted_descriptors_do_not_look_like_an_unmount(void **state)
{
	struct record r = { 0 };
	struct device_list l;
	struct rlimit was;
	int res;

	add_sda5(*state);
	list_init(&l);
	refresh(&l);
	await_answer(&l); /* the thread gives back descriptors */
	r.list = &l;
	capture();
	was = exhaust_descriptors();
	res = device_list_refresh(&l, &events, &r);
	setrlimit(RLIMIT_NOFILE, &was);
	assert_non_null(strstr(logged(), "Cannot list"));
	assert_int_equal(res, -EMFILE);
	assert_string_equal(r.text, "");
	assert_int_equal(l.n, 1);
	assert_string_equal(refresh(&l), "");
	device_list_done(&l);
}

static void unreadable_mountinfo_leaves_names_as_they_were(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;
	char path[PATH_MAX];
	int fd;

	add_sda5(f);
	list_init(&l);
	refresh(&l);
	fake_path(f, path, "/proc");
	fd = open(path, O_RDONLY | O_CLOEXEC); /* reading a directory fails */
	assert_true(dup2(fd, l.mountinfo_fd) >= 0);
	close(fd);
	capture();
	const char *reports = refresh(&l);

	assert_non_null(strstr(logged(), "Cannot read mountinfo"));
	assert_string_equal(reports, "");
	assert_string_equal(l.devices[0]->mountpoint, "/data");
	device_list_done(&l);
}

static void own_mountinfo_serves_where_pid_1_has_none(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;

	add_sda5(f);
	fake_remove(f, "/proc/1");
	fake_file(f, "/proc/self/mountinfo", "30 1 8:5 / /mine rw - ext4 /dev/sda5 rw\n");
	list_init(&l);
	refresh(&l);
	assert_string_equal(l.devices[0]->mountpoint, "/mine");
	device_list_done(&l);
}

static void without_any_mountinfo_devices_are_still_found(void **state)
{
	struct device_list l;

	add_sda5(*state);
	fake_remove(*state, "/proc/1");
	capture();
	list_init(&l);
	assert_non_null(strstr(logged(), "Cannot open mountinfo"));
	assert_int_equal(l.mountinfo_fd, -1);
	assert_string_equal(refresh(&l), "+sda5 ");
	assert_null(l.devices[0]->mountpoint);
	device_list_done(&l);
}

static void superblock_that_no_mountinfo_shows_tells_itself_if_it_is_read_only(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;

	add_sda5(f);
	fake_file(f, "/proc/1/mountinfo", "");
	fake_file(f, "/proc/fs/ext4/sda5/options", "ro\nbsddf\n");
	list_init(&l);
	refresh(&l);
	assert_true(l.devices[0]->read_only);
	fake_file(f, "/proc/fs/ext4/sda5/options", "rw\nbsddf\n");
	assert_string_equal(refresh(&l), "~sda5 ");
	assert_false(l.devices[0]->read_only);
	/* what cannot be read says nothing new */
	fake_file(f, "/proc/fs/ext4/sda5/options", "");
	assert_string_equal(refresh(&l), "");
	device_list_done(&l);
}

/* What the patch that brings the switch mends is told by the switch alone. */
static void fast_commits_lose_files_where_they_cannot_be_switched(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;
	struct device *d;

	add_sda5(f);
	list_init(&l);
	refresh(&l);
	await_answer(&l);
	refresh(&l);
	d = l.devices[0];
	assert_int_equal(d->fast_commit, FEATURE_UNKNOWN);
	assert_false(d->fast_commits_lose);
	d->fast_commit = FEATURE_YES; /* as if there were a disk that says so */
	refresh(&l);
	assert_false(d->fast_commits_lose); /* this kernel makes none */
	fake_file(f, "/proc/fs/ext4/sda5/fc_info", "");
	refresh(&l);
	assert_true(d->fast_commits_lose);
	fake_file(f, "/proc/1/mountinfo", "30 1 8:5 / /data ro - ext4 /dev/sda5 ro\n");
	refresh(&l);
	assert_false(d->fast_commits_lose);
	fake_file(f, "/proc/1/mountinfo", "30 1 8:5 / /data rw - ext4 /dev/sda5 rw\n");
	fake_file(f, "/sys/fs/ext4/sda5/fast_commit", "0\n");
	refresh(&l);
	assert_false(d->fast_commits_lose);
	device_list_done(&l);
}

static void device_name_with_a_slash_is_written_with_an_exclamation_mark(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;

	add_block(f, "cciss!c0d0p1", 104, 1, 1);
	add_journal(f, "cciss!c0d0p1-8");
	add_ext4(f, "cciss!c0d0p1", "77", "jbd2/cciss!c0d0");
	list_init(&l);
	assert_string_equal(refresh(&l), "+cciss!c0d0p1 ");
	assert_string_equal(l.devices[0]->journal, "cciss!c0d0p1-8");
	device_list_done(&l);
}

static void journal_of_another_file_system_is_a_device_too(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;

	add_block(f, "sdo", 8, 224, 5);
	add_journal(f, "sdo-27"); /* ocfs2's journal is a system file */
	add_journal(f, "dm-7");   /* an external journal that no ext4 is known to have */
	fake_file(f, "/proc/1/mountinfo", "30 1 8:224 / /o rw - ocfs2 /dev/sdo rw\n");
	list_init(&l);
	assert_string_equal(refresh(&l), "+sdo ");
	assert_string_equal(l.devices[0]->fstype, "ocfs2");
	assert_string_equal(l.devices[0]->journal, "sdo-27");
	assert_true(l.devices[0]->has_journal);
	assert_string_equal(refresh(&l), "");
	/* unmounted, then made an ext4 */
	fake_remove(f, "/proc/fs/jbd2/sdo-27");
	add_ext4(f, "sdo", "<none>", NULL);
	assert_string_equal(refresh(&l), "-sdo +sdo ");
	device_list_done(&l);
}

static void f2fs_is_found_beside_others_and_has_no_journal(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;
	struct device *d;

	add_sda5(f);
	add_block(f, "sdf1", 8, 81, 9);
	add_f2fs(f, "sdf1");
	fake_file(f, "/sys/fs/f2fs/features/encryption", "supported\n");
	fake_file(f, "/sys/fs/f2fs/tuning/reclaim_caches_kb", "0\n");
	fake_file(f, "/proc/1/mountinfo",
		  "30 1 8:5 / /data rw - ext4 /dev/sda5 rw\n"
		  "31 1 8:81 / /f rw - f2fs /dev/sdf1 ro,checkpoint_merge\n");
	list_init(&l);
	assert_string_equal(refresh(&l), "+sda5 +sdf1 ");
	d = device_list_find(&l, "sdf1");
	assert_int_equal(d->type, DEVICE_F2FS);
	assert_int_equal(device_list_find(&l, "sda5")->type, DEVICE_EXT4);
	assert_string_equal(d->fstype, "f2fs");
	assert_string_equal(d->mountpoint, "/f");
	assert_int_equal(d->id.dev, makedev(8, 81));
	assert_int_equal(d->id.diskseq, 9);
	assert_true(d->id.ino > 0);
	assert_true(d->read_only);
	assert_false(d->has_journal);
	assert_string_equal(refresh(&l), "");
	/* made anew, as another kind */
	fake_remove(f, "/sys/fs/f2fs/sdf1");
	add_ext4(f, "sdf1", "<none>", NULL);
	assert_string_equal(refresh(&l), "-sdf1 +sdf1 ");
	assert_int_equal(device_list_find(&l, "sdf1")->type, DEVICE_EXT4);
	device_list_done(&l);
}

static void f2fs_that_no_mountinfo_shows_is_found(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;

	add_block(f, "sdf1", 8, 81, 9);
	add_f2fs(f, "sdf1");
	list_init(&l);
	assert_string_equal(refresh(&l), "+sdf1 ");
	assert_string_equal(l.devices[0]->fstype, "f2fs");
	assert_null(l.devices[0]->mountpoint);
	fake_remove(f, "/sys/fs/f2fs");
	assert_string_equal(refresh(&l), "-sdf1 ");
	device_list_done(&l);
}

/* --- UUID and label --- */

/* Any block device of this machine; a link to it needs no privilege. */
static bool any_block_device(char path[static PATH_MAX], dev_t *dev)
{
	static const char *const names[] = { "/dev/loop0", "/dev/vda", "/dev/sda",
					     "/dev/nvme0n1" };
	struct stat st;

	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		if (stat(names[i], &st) < 0 || !S_ISBLK(st.st_mode))
			continue;
		strcpy(path, names[i]);
		*dev = st.st_rdev;
		return true;
	}
	return false;
}

static void links_name_a_device_that_cannot_be_opened(void **state)
{
	struct fake_root *f = *state;
	char path[PATH_MAX];
	struct device_list l;
	dev_t dev;

	if (!any_block_device(path, &dev)) {
		skip();
		return;
	}
	add_block(f, "sdl", major(dev), minor(dev), 2);
	add_ext4(f, "sdl", "<none>", NULL);
	fake_link(f, "/dev/disk/by-uuid/feed-beef", path);
	fake_link(f, "/dev/disk/by-label/my\\x20label", path);
	list_init(&l);
	assert_string_equal(refresh(&l), "+sdl ");
	await_answer(&l);
	assert_string_equal(refresh(&l), "~sdl ");
	assert_string_equal(l.devices[0]->uuid, "feed-beef");
	assert_string_equal(l.devices[0]->label, "my label");
	assert_string_equal(refresh(&l), "");
	device_list_done(&l);
}

static void answer_for_a_device_that_has_gone_is_dropped(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;

	add_sda5(f);
	list_init(&l);
	refresh(&l);
	fake_remove(f, "/sys/fs/ext4/sda5");
	fake_remove(f, "/proc/fs/jbd2/sda5-8");
	await_answer(&l);
	assert_string_equal(refresh(&l), "-sda5 ");
	device_list_done(&l);
}

static void list_can_go_while_answers_are_due(void **state)
{
	struct fake_root *f = *state;
	struct device_list l;
	char name[32];

	for (unsigned i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "dm-%u", i);
		add_block(f, name, 253, i, i + 1);
		add_ext4(f, name, "<none>", NULL);
	}
	list_init(&l);
	refresh(&l);
	device_list_done(&l);
	assert_int_equal(device_list_identify_fd(&l), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, machine_setup, fake_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(file_system_is_found_named_and_identified),
		TEST(nothing_new_means_no_report),
		TEST(only_what_changed_is_reported),
		TEST(replaced_superblock_is_removed_then_added),
		TEST(unmounted_file_system_is_removed),
		TEST(machine_without_ext4_has_an_empty_list),
		TEST(device_is_found_by_every_form_of_name),
		TEST(f2fs_is_found_beside_others_and_has_no_journal),
		TEST(f2fs_that_no_mountinfo_shows_is_found),
		TEST(hundreds_of_devices_are_sorted_and_found),
		TEST(fault_of_one_device_does_not_lose_the_others),
		TEST(unplugged_device_is_known_from_its_mount),
		TEST(exhausted_descriptors_do_not_look_like_an_unmount),
		TEST(unreadable_mountinfo_leaves_names_as_they_were),
		TEST(own_mountinfo_serves_where_pid_1_has_none),
		TEST(without_any_mountinfo_devices_are_still_found),
		TEST(superblock_that_no_mountinfo_shows_tells_itself_if_it_is_read_only),
		TEST(fast_commits_lose_files_where_they_cannot_be_switched),
		TEST(device_name_with_a_slash_is_written_with_an_exclamation_mark),
		TEST(journal_of_another_file_system_is_a_device_too),
		TEST(links_name_a_device_that_cannot_be_opened),
		TEST(answer_for_a_device_that_has_gone_is_dropped),
		TEST(list_can_go_while_answers_are_due),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
