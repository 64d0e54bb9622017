// SPDX-License-Identifier: GPL-2.0-or-later
/* The client's parts that take strings and give values. */
#include <fcntl.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>
#include "../../cli/argv.h"
#include "../../cli/device-name.h"
#include "../../cli/persist.h"
#include "../../cli/since.h"
#include "../../cli/suggest.h"
#include "../../cli/term.h"
#include "../../daemon/base/file.h"
#include "../../daemon/base/time-util.h"
#include "tree.h"

static char error[256];

/* The command line in one string, cut at blanks. */
static int parse(struct args *a, const char *line)
{
	static char copy[256];
	char *argv[32] = { (char *)"fstunectl" }, *save = NULL;
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	error[0] = '\0';
	return args_parse(argc, argv, a, error, sizeof(error));
}

/* --- command line --- */

static void options_are_taken_anywhere_and_in_each_form(_unused_ void **state)
{
	struct args a;

	assert_int_equal(parse(&a, "--json status sda1 -a"), 0);
	assert_true(a.json && a.all && a.verb == VERB_STATUS);
	assert_string_equal(a.operand[0], "sda1");
	assert_int_equal(parse(&a, "status --sort fsync -aqoDEVICE"), 0);
	assert_string_equal(a.sort, "fsync");
	assert_string_equal(a.columns, "DEVICE");
	assert_true(a.all && a.quiet);
	assert_int_equal(parse(&a, "history -- --since=x"), 0);
	assert_string_equal(a.operand[0], "--since=x");
	assert_int_equal(parse(&a, "pause --for=1h30min"), 0);
	assert_true(a.pause_us == 90 * 60 * USEC_PER_SEC);
	assert_int_equal(parse(&a, "pause --for=infinity"), 0);
	assert_true(a.pause_us == 0);
	assert_int_equal(parse(&a, ""), 0);
	assert_int_equal(a.verb, VERB_STATUS);
}

static void wrong_usage_is_refused_with_the_reason(_unused_ void **state)
{
	static const struct {
		const char *line, *reason;
	} wrong[] = {
		{ "statsu", "did you mean \"status\"?" },
		{ "xyzzy", "Unknown verb" },
		{ "get", "Usage: fstunectl get DEVICE [KNOB]" },
		{ "set a b", "Usage: fstunectl set" },
		{ "set a b c d", "Too many" },
		{ "list x", "Usage: fstunectl list" },
		{ "--nonsense", "Unknown option --nonsense" },
		{ "-x", "Unknown option -x" },
		{ "status --sort", "--sort needs a value" },
		{ "status --all=yes", "--all takes no value" },
		{ "list --since=1h", "--since does not go with \"list\"" },
		{ "metrics --json", "--json does not go with \"metrics\"" },
		{ "pause --for=soon", "--for=soon is no time" },
		{ "pause --for=0", "--for=0 is no time" },
		{ "--runtime-dir=run", "no absolute path" },
	};
	struct args a;

	for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
		assert_int_equal(parse(&a, wrong[i].line), -EINVAL);
		if (!strstr(error, wrong[i].reason))
			fail_msg("\"%s\": %s", wrong[i].line, error);
	}
}

static void help_and_version_need_nothing_else(_unused_ void **state)
{
	struct args a;

	assert_int_equal(parse(&a, "nonsense --help"), 0);
	assert_true(a.help);
	assert_int_equal(parse(&a, "--version"), 0);
	assert_true(a.version);
}

static void only_near_words_are_suggested(_unused_ void **state)
{
	static const char *const names[] = { "status", "set", "get", "resume" };

	assert_string_equal(suggest("stauts", names, 4), "status");
	assert_string_equal(suggest("resum", names, 4), "resume");
	assert_string_equal(suggest("sett", names, 4), "set");
	assert_null(suggest("ox", names, 4));
	assert_null(suggest("", names, 4));
	assert_null(suggest("a word longer than any that could be meant", names, 4));
}

/* --- devices --- */

static void device_names_become_what_the_daemon_takes(_unused_ void **state)
{
	char name[DEVICE_NAME_SIZE], expected[64], longer[DEVICE_NAME_SIZE + 1];
	struct stat st;

	assert_int_equal(device_name("cciss/c0d0p1", name, error, sizeof(error)), 0);
	assert_string_equal(name, "cciss!c0d0p1");
	assert_int_equal(device_name("UUID=ab/cd", name, error, sizeof(error)), 0);
	assert_string_equal(name, "UUID=ab/cd");
	assert_int_equal(device_name("LABEL=a/b", name, error, sizeof(error)), 0);
	assert_string_equal(name, "LABEL=a/b");
	assert_int_equal(device_name("/proc", name, error, sizeof(error)), -ENOTBLK);
	assert_int_equal(device_name("/no/such/file", name, error, sizeof(error)), -ENOENT);
	assert_non_null(strstr(error, "/no/such/file"));
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(device_name(longer, name, error, sizeof(error)), -ENAMETOOLONG);

	assert_int_equal(stat("/proc/self/exe", &st), 0);
	if (major(st.st_dev) == 0)
		return; /* built on a file system without a device */
	snprintf(expected, sizeof(expected), "%u:%u", major(st.st_dev), minor(st.st_dev));
	assert_int_equal(device_name("/proc/self/exe", name, error, sizeof(error)), 0);
	assert_string_equal(name, expected);
}

/* --- times --- */

static void since_takes_what_people_write(_unused_ void **state)
{
	const uint64_t now = UINT64_C(1700000000) * USEC_PER_SEC; /* 2023-11-14 22:13:20 UTC */
	static const struct {
		const char *text;
		uint64_t s;
	} times[] = {
		{ "1h", 1700000000 - 3600 },
		{ "-1h", 1700000000 - 3600 },
		{ "2min ago", 1700000000 - 120 },
		{ "@1600000000", 1600000000 },
		{ "today", 1699920000 },
		{ "yesterday", 1699833600 },
		{ "2023-11-14 12:00:00", 1699963200 },
		{ "2023-11-14 12:00", 1699963200 },
		{ "2023-11-14", 1699920000 },
		{ "12:00", 1699963200 },
	};
	static const char *const wrong[] = { "",      "@", "@-1",  "soon",   "2023-13-01",
					     "25:00", "-", " ago", "999999d" };
	uint64_t t;

	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < ELEMENTSOF(times); i++) {
		assert_int_equal(since_parse(times[i].text, now, &t), 0);
		if (t != times[i].s * USEC_PER_SEC)
			fail_msg("%s: %llu", times[i].text, (unsigned long long)t);
	}
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		if (since_parse(wrong[i], now, &t) != -EINVAL)
			fail_msg("\"%s\" was taken", wrong[i]);
}

/* --- drop-ins --- */

static void persisted_value_is_a_drop_in_by_uuid(_unused_ void **state)
{
	static const char uuid[] = "0b5e1a52-0000-4000-8000-000000000001";
	char root[] = "/tmp/test-cli-XXXXXX", dir[64], path[256], text[512];

	assert_non_null(mkdtemp(root));
	snprintf(dir, sizeof(dir), "%s/a/b", root);
	snprintf(path, sizeof(path), "%s/50-fstunectl-%s.conf", dir, uuid);
	assert_int_equal(persist_write(dir, uuid, "force_copy", "1", error, sizeof(error)), 0);
	assert_true(read_small_at(AT_FDCWD, path, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "\n[Device UUID=0b5e1a52-0000-4000-8000-000000000001]\n"
				     "ForceCopy=1"));
	/* Twice removed is removed. */
	assert_int_equal(persist_remove(dir, uuid, error, sizeof(error)), 0);
	assert_int_equal(persist_remove(dir, uuid, error, sizeof(error)), 0);
	assert_int_equal(access(path, F_OK), -1);
	/* What is no UUID makes no file. */
	assert_int_equal(persist_write(dir, "../x", "force_copy", "1", error, sizeof(error)),
			 -EINVAL);
	assert_int_equal(persist_write(dir, "", "force_copy", "1", error, sizeof(error)),
			 -EINVAL);
	assert_int_equal(rmdir(dir), 0);
	snprintf(dir, sizeof(dir), "%s/a", root);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(rmdir(root), 0);
}

/* --- text --- */

static void text_is_shortened_from_its_beginning(_unused_ void **state)
{
	_cleanup_free_ char *same = NULL, *shorter = NULL, *control = NULL;

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	same = text_shorten("/srv/\xc3\xa4", 6);
	assert_string_equal(same, "/srv/\xc3\xa4");
	shorter = text_shorten("/var/lib/postgresql", 8);
	assert_string_equal(shorter, "\xe2\x80\xa6tgresql");
	assert_int_equal(text_width(shorter), 8);
	control = text_printable("a\x1b[31m\n\xff\xc3\xa4");
	assert_string_equal(control, "a\\x1b[31m\\x0a\\xff\xc3\xa4");
}

static void characters_that_turn_text_around_are_shown(_unused_ void **state)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{ "a\u202eb", "a\\xe2\\x80\\xaeb" }, /* right to left from here */
		{ "a\u2066b", "a\\xe2\\x81\\xa6b" }, /* isolate */
		{ "a\u200bb", "a\\xe2\\x80\\x8bb" }, /* no space at all */
		{ "a\u2028b", "a\\xe2\\x80\\xa8b" }, /* next line */
		{ "a\u00adb", "a\\xc2\\xadb" },      /* hyphen, perhaps */
		{ "a\ufeffb", "a\\xef\\xbb\\xbfb" },
		{ "a\U000e0041b", "a\\xf3\\xa0\\x81\\x81b" }, /* tag */
		{ "a\xc2\x9b"
		  "b",
		  "a\\xc2\\x9bb" },                               /* CSI in one character */
		{ "e\u0301\u05d0\u4e2d", "e\u0301\u05d0\u4e2d" }, /* what people write */
	};

	assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_free_ char *shown = text_printable(cases[i].text);

		assert_string_equal(shown, cases[i].shown);
	}
}

/* --- pager --- */

/* What the program that was started as the pager tells of itself. */
static const char *paged_by(const struct tree *t)
{
	const struct term term = { .tty = true };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		unsetenv("SYSTEMD_PAGER");
		setenv("PATH", t->root, 1);
		setenv("PAGER", "mine -x", 1);
		setenv("SYSTEMD_LESS", "own", 1);
		pager_open(&term, true);
		_exit(pager_close() < 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return tree_read(t, "paged");
}

static void pager_program(const struct tree *t, const char *name)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "#!/bin/sh\necho \"%s:$*:$LESS:$LESSSECURE:\" > %s/paged\n"
		 "while read -r line; do :; done\n",
		 name, t->root);
	tree_write(t, name, text);
	assert_int_equal(chmod(tree_path(t, name), 0700), 0);
}

static void pager_under_sudo_is_less_in_its_secure_mode(_unused_ void **state)
{
	struct tree t;

	tree_init(&t);
	pager_program(&t, "less");
	pager_program(&t, "mine");
	unsetenv("SYSTEMD_PAGERSECURE");
	setenv("SUDO_UID", "1000", 1);
	assert_string_equal(paged_by(&t), "less::FRSX:1:");
	/* Who is root for good chooses. */
	unsetenv("SUDO_UID");
	setenv("SYSTEMD_PAGERSECURE", "0", 1);
	assert_string_equal(paged_by(&t), "mine:-x:own::");
	setenv("SYSTEMD_PAGERSECURE", "1", 1);
	assert_string_equal(paged_by(&t), "less::FRSX:1:");
	unsetenv("SYSTEMD_PAGERSECURE");
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_taken_anywhere_and_in_each_form),
		cmocka_unit_test(wrong_usage_is_refused_with_the_reason),
		cmocka_unit_test(help_and_version_need_nothing_else),
		cmocka_unit_test(only_near_words_are_suggested),
		cmocka_unit_test(device_names_become_what_the_daemon_takes),
		cmocka_unit_test(since_takes_what_people_write),
		cmocka_unit_test(persisted_value_is_a_drop_in_by_uuid),
		cmocka_unit_test(text_is_shortened_from_its_beginning),
		cmocka_unit_test(characters_that_turn_text_around_are_shown),
		cmocka_unit_test(pager_under_sudo_is_less_in_its_secure_mode),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
