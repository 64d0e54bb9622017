// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <ftw.h>
#include <json-c/json.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <cmocka.h>
#include "../../daemon/base/file.h"
#include "../../daemon/base/log.h"
#include "../../daemon/base/time-util.h"
#include "../../daemon/config-internal.h"

/* --- helpers --- */

/* What is logged goes to memory instead of stderr, until logged() is called. */
static int real_stderr = -1, log_fd = -1;

static void capture(void)
{
	log_fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(log_fd >= 0);
	real_stderr = dup(STDERR_FILENO);
	assert_true(dup2(log_fd, STDERR_FILENO) >= 0);
}

static const char *logged(void)
{
	static char text[16384];
	ssize_t n = pread(log_fd, text, sizeof(text) - 1, 0);

	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	close(log_fd);
	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

static void parse_over(struct config *c, const char *text)
{
	assert_int_equal(config_parse(c, "t.conf", text, strlen(text)), 0);
}

/* Parses a text over the defaults; its messages are returned. */
static const char *parse(struct config *c, const char *text)
{
	assert_int_equal(config_init(c), 0);
	capture();
	parse_over(c, text);
	return logged();
}

static unsigned count(const char *in, const char *what)
{
	unsigned n = 0;

	for (; (in = strstr(in, what)); in += strlen(what))
		n++;
	return n;
}

static struct device sda5(void)
{
	return (struct device){
		.id = { .dev = makedev(8, 5), .ino = 17, .diskseq = 3 },
		.name = "sda5",
		.uuid = "01234567-89ab-cdef-0123-456789abcdef",
		.label = "my data",
		.mountpoint = (char *)"/srv/data",
	};
}

/* --- values --- */

static void every_kind_of_value_is_read(void **state _unused_)
{
	struct config c;
	const char *log = parse(&c, "[Manager]\nMode=observe\nInterval=500ms\n"
				    "IdleInterval = 1min 30s\nLogLevel=debug\nHistorySize=7\n"
				    "[Policy]\nForceCopy=1\nForceCopyStall=1.5ms\n"
				    "ForceCopyQuietRatio=25%\nMemoryPressureMax=12.5\n"
				    "ForceCopyAvoided=0.25\nChangesMax=3\n");

	assert_string_equal(log, "");
	assert_true(c.observe_only);
	assert_int_equal(c.interval_us, 500000);
	assert_int_equal(c.idle_interval_us, 90 * USEC_PER_SEC);
	assert_int_equal(c.log_level, LOG_DEBUG);
	assert_int_equal(c.history_size, 7);
	assert_int_equal(c.policy.force_copy_mode, KNOB_MANUAL);
	assert_string_equal(c.policy.force_copy_value, "1");
	assert_int_equal(c.policy.stall_us_per_s, 1500);
	assert_true(c.policy.quiet_ratio == 0.25);
	assert_true(c.policy.memory_pressure_max == 12.5);
	assert_true(c.policy.avoided_per_s == 0.25);
	assert_int_equal(c.policy.changes_max, 3);
	assert_int_equal(c.warnings, 0);
	config_done(&c);
}

static void ratio_without_percent_sign_is_a_share(void **state _unused_)
{
	struct config c;

	parse(&c, "[Policy]\nForceCopyQuietRatio=0.5\n");
	assert_true(c.policy.quiet_ratio == 0.5);
	config_done(&c);
}

static void bad_value_keeps_what_was_and_says_what_is_allowed(void **state _unused_)
{
	static const struct {
		const char *line, *says;
	} bad[] = {
		{ "[Manager]\nMode=on", "auto or observe" },
		{ "[Manager]\nInterval=1ms", "from 100ms to 1min" },
		{ "[Manager]\nInterval=infinity", "from 100ms to 1min" },
		{ "[Manager]\nInterval=soon", "such as 5ms" },
		{ "[Manager]\nLogLevel=loud", "debug, info, notice, warning or err" },
		{ "[Manager]\nHistorySize=0", "whole number from 1 to 10000" },
		{ "[Manager]\nHistorySize=-1", "whole number from 1 to 10000" },
		{ "[Manager]\nHistorySize=99999999999999999999", "from 1 to 10000" },
		{ "[Manager]\nHistorySize=4294967297", "from 1 to 10000" },
		{ "[Policy]\nForceCopy=yes", "auto, observe, 0 or 1" },
		{ "[Policy]\nForceCopyQuietRatio=200%", "from 0% to 100%" },
		{ "[Policy]\nForceCopyQuietRatio=nan", "from 0% to 100%" },
		{ "[Policy]\nMemoryPressureMax=-1%", "from 0% to 100%" },
		{ "[Policy]\nMemoryPressureMax=%", "from 0% to 100%" },
		{ "[Policy]\nMemoryPressureMax=1.2.3", "from 0% to 100%" },
		{ "[Policy]\nForceCopyAvoided=1e3", "from 0 to 1000000" },
		{ "[Policy]\nChangesMax=33", "from 1 to 32" },
	};

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		struct config c, defaults = { 0 };
		const char *log = parse(&c, bad[i].line);

		config_defaults(&defaults);
		assert_int_equal(c.warnings, 1);
		assert_non_null(strstr(log, "t.conf:2: "));
		assert_non_null(strstr(log, bad[i].says));
		assert_memory_equal(&c.policy, &defaults.policy, sizeof(c.policy));
		assert_int_equal(c.interval_us, defaults.interval_us);
		assert_int_equal(c.history_size, defaults.history_size);
		assert_int_equal(c.log_level, defaults.log_level);
		assert_false(c.observe_only);
		config_done(&c);
	}
}

static void empty_value_takes_back_what_was_set(void **state _unused_)
{
	struct config c;

	parse(&c, "[Policy]\nForceCopy=0\nForceCopyStall=1s\n");
	parse_over(&c, "[Policy]\nForceCopy=\nForceCopyStall=  \n");
	assert_int_equal(c.policy.force_copy_mode, KNOB_AUTO);
	assert_string_equal(c.policy.force_copy_value, "");
	assert_int_equal(c.policy.stall_us_per_s, policy_config_default.stall_us_per_s);
	for (size_t i = 0; i < c.n_origins; i++)
		assert_null(c.origins[i].file);
	config_done(&c);
}

/* Every value that a key can have is written so that reading it gives the same. */
static void value_survives_being_written_and_read(void **state _unused_)
{
	for (size_t i = 0; i < config_n_keys; i++) {
		const struct config_key *k = &config_keys[i];
		char a[CONFIG_VALUE_STR_MAX], b[CONFIG_VALUE_STR_MAX], why[256];
		struct config from = { 0 }, to = { 0 };

		config_defaults(&from);
		config_key_format(k, config_key_base(k, &from), a, sizeof(a));
		assert_int_equal(
			config_key_parse(k, config_key_base(k, &to), a, why, sizeof(why)), 0);
		config_key_format(k, config_key_base(k, &to), b, sizeof(b));
		assert_string_equal(a, b);
		memset(&to, 0, sizeof(to));
		config_key_copy(k, config_key_base(k, &to), config_key_base(k, &from));
		config_key_format(k, config_key_base(k, &to), b, sizeof(b));
		assert_string_equal(a, b);
	}
}

static void bounds_of_every_key_are_themselves_allowed(void **state _unused_)
{
	for (size_t i = 0; i < config_n_keys; i++) {
		const struct config_key *k = &config_keys[i];
		char text[64], why[256];
		struct config c = { 0 };

		if (k->type != CONFIG_TIME)
			continue;
		assert_true(k->min < k->max);
		format_time_exact_us(text, sizeof(text), k->min);
		assert_int_equal(
			config_key_parse(k, config_key_base(k, &c), text, why, sizeof(why)), 0);
		format_time_exact_us(text, sizeof(text), k->max);
		assert_int_equal(
			config_key_parse(k, config_key_base(k, &c), text, why, sizeof(why)), 0);
		format_time_exact_us(text, sizeof(text), k->max + 1);
		assert_int_equal(
			config_key_parse(k, config_key_base(k, &c), text, why, sizeof(why)),
			-EINVAL);
	}
}

/* --- text --- */

static void white_space_comments_and_crlf_do_not_matter(void **state _unused_)
{
	struct config c;
	const char *log = parse(&c, "\xef\xbb\xbf# one\r\n  ; two\r\n\r\n \t[Manager] \r\n"
				    "\tHistorySize \t=\t 9  \r\nMode=observe");

	assert_string_equal(log, "");
	assert_int_equal(c.history_size, 9);
	assert_true(c.observe_only);
	config_done(&c);
}

static void backslash_continues_a_line(void **state _unused_)
{
	struct config c;
	const char *log = parse(&c, "[Manager]\nIdleInterval=1min\\\n# between\n  30s\n"
				    "Hist\\\\\nHistorySize=3\\");

	assert_int_equal(c.idle_interval_us, 90 * USEC_PER_SEC);
	assert_int_equal(c.history_size, 3);
	/* two backslashes continue nothing; the number is that of the line's beginning */
	assert_non_null(strstr(log, "t.conf:5: 'Hist\\\\' is no assignment"));
	assert_int_equal(c.warnings, 1);
	config_done(&c);
}

static void fault_in_a_continued_line_has_the_number_of_its_beginning(void **state _unused_)
{
	struct config c;
	const char *log = parse(&c, "[Manager]\nInterval=\\\n\\\nnever\nHistorySize=x\n");

	assert_non_null(strstr(log, "t.conf:2: Interval=never"));
	assert_non_null(strstr(log, "t.conf:5: HistorySize=x"));
	config_done(&c);
}

static void what_is_unknown_is_a_warning_with_file_and_line(void **state _unused_)
{
	struct config c;
	const char *log = parse(&c, "Mode=observe\n[Manger]\nMode=observe\n[manager]\n"
				    "[Manager\nMode=observe\n[Manager]\nmode=observe\n=1\n"
				    "Mode\nForceCopy=1\n[X-Other]\nanything\n[]\n[Device]\n"
				    "[Policy]\nMode=observe\n");

	assert_non_null(strstr(log, "t.conf:1: 'Mode' stands before any section"));
	assert_non_null(strstr(log, "t.conf:2: Unknown section [Manger]"));
	assert_non_null(strstr(log, "t.conf:4: Unknown section [manager]"));
	assert_non_null(strstr(log, "t.conf:5: Section header '[Manager' without ']'"));
	assert_non_null(strstr(log, "t.conf:8: Unknown key 'mode' in [Manager]"));
	assert_non_null(strstr(log, "t.conf:9: '=1' is no assignment"));
	assert_non_null(strstr(log, "t.conf:10: 'Mode' is no assignment"));
	assert_null(strstr(log, "t.conf:13"));
	assert_non_null(strstr(log, "1 more"));
	assert_int_equal(c.warnings, 11);
	assert_false(c.observe_only);
	assert_int_equal(c.policy.force_copy_mode, KNOB_AUTO);
	config_done(&c);
}

static void flood_of_faults_is_logged_in_part_and_counted(void **state _unused_)
{
	char text[4096] = "[Policy]\n";
	struct config c;
	const char *log;

	for (int i = 0; i < 200; i++)
		strcat(text, "Wrong=1\n");
	log = parse(&c, text);
	assert_int_equal(c.warnings, 200);
	assert_int_equal(count(log, "\n"), CONFIG_WARNINGS_MAX + 1);
	assert_non_null(strstr(log, "t.conf: 190 more"));
	config_done(&c);
}

static void binary_file_is_one_warning(void **state _unused_)
{
	static const char binary[] = "[Policy]\nForceCopy=1\n\0\x7f"
				     "ELF\n\n\n";
	struct config c;

	assert_int_equal(config_init(&c), 0);
	capture();
	assert_int_equal(config_parse(&c, "t.conf", binary, sizeof(binary)), 0);
	assert_int_equal(count(logged(), "\n"), 1);
	assert_int_equal(c.warnings, 1);
	assert_int_equal(c.policy.force_copy_mode, KNOB_AUTO);
	config_done(&c);
}

static void line_that_is_not_utf8_is_ignored(void **state _unused_)
{
	static const char *const bad[] = {
		"\xff",         "\xc0\xaf",         "\xe2\x82",
		"\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x80\x80\x80",
		"\xe0\x80\x80", "\x1b[2J",
	};

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		char text[64];
		struct config c;

		snprintf(text, sizeof(text), "[Device %s]\n[Manager]\nHistorySize=2\n", bad[i]);
		assert_non_null(strstr(parse(&c, text), "t.conf:1: Not UTF-8 text"));
		assert_int_equal(c.n_devices, 0);
		assert_int_equal(c.history_size, 2);
		config_done(&c);
	}
}

static void utf8_of_every_length_is_text(void **state _unused_)
{
	struct config c;

	assert_string_equal(parse(&c, "[Device LABEL=a\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xbe]\n"),
			    "");
	assert_int_equal(c.n_devices, 1);
	config_done(&c);
}

static void line_too_long_is_ignored_with_its_continuations(void **state _unused_)
{
	char text[3 * CONFIG_LINE_MAX] = "[Manager]\nHistorySize=5\\\n";
	size_t n = strlen(text);
	struct config c;
	const char *log;

	memset(text + n, ' ', CONFIG_LINE_MAX);
	strcpy(text + n + CONFIG_LINE_MAX, "7\\\n8\nInterval=2s\n");
	/* blanks before a continuation do not count; these do */
	text[n] = 'x';
	log = parse(&c, text);
	assert_non_null(strstr(log, "t.conf:2: Line of more than 2048 bytes"));
	assert_int_equal(c.warnings, 1);
	assert_int_equal(c.history_size, 1000);
	assert_int_equal(c.interval_us, 2 * USEC_PER_SEC);
	config_done(&c);
}

static void line_of_the_greatest_length_is_read(void **state _unused_)
{
	char text[CONFIG_LINE_MAX + 64] = "[Manager]\nHistorySize=5";
	size_t begin = strlen("[Manager]\n"), n = strlen(text);
	struct config c;

	memset(text + n, ' ', CONFIG_LINE_MAX - (n - begin));
	strcpy(text + begin + CONFIG_LINE_MAX, "\n");
	assert_string_equal(parse(&c, text), "");
	assert_int_equal(c.history_size, 5);
	config_done(&c);
}

/* --- files --- */

static int remove_entry(const char *path, const struct stat *st _unused_, int type _unused_,
			struct FTW *ftw _unused_)
{
	return remove(path);
}

struct tree {
	char top[64];
	char vendor[80], admin[80];
	const char *dirs[2];
};

static void make_dir(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void make_file(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int tree_setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	strcpy(t->top, "/tmp/test-config-XXXXXX");
	assert_non_null(mkdtemp(t->top));
	snprintf(t->vendor, sizeof(t->vendor), "%s/usr", t->top);
	snprintf(t->admin, sizeof(t->admin), "%s/etc", t->top);
	make_dir(t->top, "usr");
	make_dir(t->top, "etc");
	make_dir(t->vendor, "fs-tuned.conf.d");
	make_dir(t->admin, "fs-tuned.conf.d");
	t->dirs[0] = t->vendor;
	t->dirs[1] = t->admin;
	*state = t;
	return 0;
}

static int tree_teardown(void **state)
{
	struct tree *t = *state;

	nftw(t->top, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(t);
	return 0;
}

static const char *load(struct config *c, const struct tree *t)
{
	int r;

	capture();
	r = config_load_dirs(c, t->dirs, 2);
	const char *log = logged();

	assert_int_equal(r, 0);
	return log;
}

static void nothing_there_means_defaults(void **state)
{
	struct config c, defaults = { 0 };

	assert_string_equal(load(&c, *state), "");
	config_defaults(&defaults);
	assert_memory_equal(&c.policy, &defaults.policy, sizeof(c.policy));
	assert_int_equal(c.interval_us, defaults.interval_us);
	config_done(&c);
}

static void dropins_of_both_places_apply_by_name(void **state)
{
	struct tree *t = *state;
	struct config c;

	make_file(t->vendor, "fs-tuned.conf", "[Manager]\nHistorySize=1\nInterval=9s\n");
	make_file(t->admin, "fs-tuned.conf", "[Manager]\nHistorySize=2\n");
	make_file(t->vendor, "fs-tuned.conf.d/50-a.conf", "[Policy]\nChangesMax=5\n");
	make_file(t->admin, "fs-tuned.conf.d/40-b.conf",
		  "[Policy]\nChangesMax=4\nForceCopy=0\n");
	make_file(t->vendor, "fs-tuned.conf.d/60-c.conf", "[Policy]\nForceCopyTrial=6s\n");
	make_file(t->admin, "fs-tuned.conf.d/60-c.conf", "[Policy]\nForceCopyTrial=7s\n");
	make_file(t->admin, "fs-tuned.conf.d/70-d.conf.bak", "[Policy]\nChangesMax=7\n");
	make_file(t->admin, "fs-tuned.conf.d/.80-e.conf", "[Policy]\nChangesMax=8\n");
	assert_string_equal(load(&c, t), "");
	assert_int_equal(c.history_size, 2);
	assert_int_equal(c.interval_us, USEC_PER_SEC); /* the vendor's file is masked */
	assert_int_equal(c.policy.changes_max, 5);
	assert_int_equal(c.policy.force_copy_mode, KNOB_MANUAL);
	assert_int_equal(c.policy.trial_us, 7 * USEC_PER_SEC);
	config_done(&c);
}

static void link_to_dev_null_masks(void **state)
{
	struct tree *t = *state;
	char path[PATH_MAX];
	struct config c;

	make_file(t->vendor, "fs-tuned.conf.d/50-a.conf", "[Policy]\nChangesMax=5\n");
	make_file(t->vendor, "fs-tuned.conf", "[Manager]\nHistorySize=1\n");
	snprintf(path, sizeof(path), "%s/fs-tuned.conf.d/50-a.conf", t->admin);
	assert_int_equal(symlink("/dev/null", path), 0);
	snprintf(path, sizeof(path), "%s/fs-tuned.conf", t->admin);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_string_equal(load(&c, t), "");
	assert_int_equal(c.policy.changes_max, policy_config_default.changes_max);
	assert_int_equal(c.history_size, 1000);
	config_done(&c);
}

static void what_cannot_be_read_is_one_warning_each(void **state)
{
	struct tree *t = *state;
	char path[PATH_MAX];
	struct config c;
	const char *log;

	make_dir(t->admin, "fs-tuned.conf.d/10-dir.conf");
	snprintf(path, sizeof(path), "%s/fs-tuned.conf.d/20-loop.conf", t->admin);
	assert_int_equal(symlink("20-loop.conf", path), 0);
	snprintf(path, sizeof(path), "%s/fs-tuned.conf.d/30-huge.conf", t->admin);
	make_file(t->admin, "fs-tuned.conf.d/30-huge.conf", "[Manager]\nHistorySize=3\n");
	assert_int_equal(truncate(path, CONFIG_FILE_MAX + 1), 0);
	snprintf(path, sizeof(path), "%s/fs-tuned.conf.d/40-fifo.conf", t->admin);
	assert_int_equal(mkfifo(path, 0600), 0);
	make_file(t->admin, "fs-tuned.conf.d/90-good.conf", "[Manager]\nHistorySize=9\n");
	log = load(&c, t);
	assert_non_null(strstr(log, "10-dir.conf: cannot be read, ignored: Is a directory"));
	assert_non_null(strstr(log, "20-loop.conf: cannot be read"));
	assert_non_null(strstr(log, "30-huge.conf: more than 262144 bytes"));
	assert_non_null(strstr(log, "40-fifo.conf: cannot be read"));
	assert_int_equal(count(log, "\n"), 4);
	assert_int_equal(c.warnings, 4);
	assert_int_equal(c.history_size, 9);
	config_done(&c);
}

static void dropin_directory_that_is_none_is_a_warning(void **state)
{
	struct tree *t = *state;
	char path[PATH_MAX];
	struct config c;

	snprintf(path, sizeof(path), "%s/fs-tuned.conf.d", t->vendor);
	assert_int_equal(rmdir(path), 0);
	make_file(t->vendor, "fs-tuned.conf.d", "");
	make_file(t->admin, "fs-tuned.conf.d/90-good.conf", "[Manager]\nHistorySize=9\n");
	assert_non_null(strstr(load(&c, t), "cannot be listed"));
	assert_int_equal(c.history_size, 9);
	config_done(&c);
}

static void named_file_is_read_alone_or_is_an_error(void **state)
{
	struct tree *t = *state;
	char path[PATH_MAX];
	struct config c;

	make_file(t->admin, "mine", "[Manager]\nHistorySize=4\n");
	snprintf(path, sizeof(path), "%s/mine", t->admin);
	assert_int_equal(config_load(&c, path), 0);
	assert_int_equal(c.history_size, 4);
	config_done(&c);
	assert_int_equal(config_load(&c, "/dev/null"), 0);
	config_done(&c);

	capture();
	int missing = config_load(&c, "/nonexistent/fs-tuned.conf");
	int directory = config_load(&c, t->admin);
	const char *log = logged();

	assert_int_equal(missing, -ENOENT);
	assert_int_equal(directory, -EISDIR);
	assert_non_null(strstr(log, "/nonexistent/fs-tuned.conf: No such file"));
	assert_int_equal(count(log, "\n"), 2);
}

static void idle_interval_is_never_below_the_interval(void **state)
{
	struct tree *t = *state;
	struct config c;

	make_file(t->admin, "fs-tuned.conf",
		  "[Manager]\nInterval=20s\n[Policy]\nForceCopyTrialIntervalMax=1min\n");
	assert_int_equal(count(load(&c, t), "using that"), 2);
	assert_int_equal(c.idle_interval_us, 20 * USEC_PER_SEC);
	assert_int_equal(c.policy.trial_interval_max_us, c.policy.trial_interval_us);
	config_done(&c);
}

/* --- devices --- */

static void device_is_matched_by_every_form_of_name(void **state _unused_)
{
	static const char *const yes[] = {
		"sda5",
		"sd*",
		"sda?",
		"8:5",
		"UUID=01234567-89AB-cdef-0123-456789abcdef",
		"UUID=0123*",
		"LABEL=my data",
		"LABEL=my*",
		"/srv/data",
		"/srv/*",
		"/dev/sda5",
		"/dev/sd*",
	};
	static const char *const no[] = { "sda",         "sda50",    "8:50",       "8:*",
					  "UUID=",       "LABEL=",   "/srv",       "/*",
					  "/srv/data/x", "/dev/sda", "/dev/*/sda5" };
	struct device d = sda5();

	for (size_t i = 0; i < ELEMENTSOF(yes); i++)
		if (!config_device_matches(yes[i], &d))
			fail_msg("%s should match", yes[i]);
	for (size_t i = 0; i < ELEMENTSOF(no); i++)
		if (config_device_matches(no[i], &d))
			fail_msg("%s should not match", no[i]);
}

static void what_is_unknown_of_a_device_matches_nothing(void **state _unused_)
{
	struct device d = { .name = "sdb" };

	assert_false(config_device_matches("UUID=*", &d));
	assert_false(config_device_matches("LABEL=*", &d));
	assert_false(config_device_matches("/*", &d));
	assert_true(config_device_matches("*", &d));
}

static void label_is_also_matched_as_it_is_written(void **state _unused_)
{
	struct device d = { .name = "sdb", .label = "a[b" };

	assert_true(config_device_matches("LABEL=a[b", &d));
}

static void slash_in_a_device_name_is_written_as_in_dev(void **state _unused_)
{
	struct device d = { .name = "cciss!c0d0p1" };

	assert_true(config_device_matches("cciss!c0d0p1", &d));
	assert_true(config_device_matches("/dev/cciss/c0d0p1", &d));
	assert_true(config_device_matches("/dev/cciss/*", &d));
}

static void device_sections_apply_in_order_over_the_policy(void **state _unused_)
{
	struct device d = sda5(), other = { .name = "sdb1" };
	struct policy_config p;
	struct config c;

	parse(&c, "[Device sda*]\nForceCopy=1\nForceCopyTrial=5s\n"
		  "[Device UUID=01234567*]\nForceCopy=observe\n"
		  "[Device sdb1]\nForceCopy=0\n"
		  "[Policy]\nForceCopyTrial=9s\nChangesMax=2\n");
	config_for_device(&c, &d, &p);
	assert_int_equal(p.force_copy_mode, KNOB_OBSERVE);
	assert_string_equal(p.force_copy_value, "");
	assert_int_equal(p.trial_us, 5 * USEC_PER_SEC);
	assert_int_equal(p.changes_max, 2);
	config_for_device(&c, &other, &p);
	assert_int_equal(p.force_copy_mode, KNOB_MANUAL);
	assert_string_equal(p.force_copy_value, "0");
	assert_int_equal(p.trial_us, 9 * USEC_PER_SEC);
	config_done(&c);
}

static void emptied_key_of_a_device_is_that_of_the_policy(void **state _unused_)
{
	struct device d = sda5();
	struct policy_config p;
	struct config c;

	parse(&c, "[Device sda5]\nForceCopy=1\n[Device sda5]\nForceCopy=\n"
		  "[Policy]\nForceCopy=observe\n");
	config_for_device(&c, &d, &p);
	assert_int_equal(p.force_copy_mode, KNOB_OBSERVE);
	config_done(&c);
}

static void sections_beyond_the_limit_are_ignored(void **state _unused_)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct config c;

	for (int i = 0; i < CONFIG_DEVICES_MAX + 3; i++)
		fprintf(f, "[Device d%d]\nForceCopy=0\n", i);
	fclose(f);
	parse(&c, text);
	assert_int_equal(c.n_devices, CONFIG_DEVICES_MAX);
	assert_int_equal(c.warnings, 3);
	config_done(&c);
}

/* --- describing --- */

static const char *field(struct json_object *o, const char *name)
{
	return json_object_get_string(json_object_object_get(o, name));
}

/* The last setting of a key in a section. */
static struct json_object *setting(struct json_object *root, const char *section,
				   const char *key)
{
	struct json_object *settings = json_object_object_get(root, "settings"), *found = NULL;

	for (size_t i = 0; i < json_object_array_length(settings); i++) {
		struct json_object *o = json_object_array_get_idx(settings, i);

		if (strcmp(field(o, "section"), section) == 0 &&
		    strcmp(field(o, "key"), key) == 0)
			found = o;
	}
	assert_non_null(found);
	return found;
}

static void description_says_where_each_value_comes_from(void **state _unused_)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *root, *o;
	struct config c;

	parse(&c, "[Policy]\nChangesMax=x\nForceCopyTrial=5\n[Device LABEL=\"a\"]\n"
		  "ForceCopy=0\nForceCopy=1\nForceCopyQuiet=\n");
	assert_int_equal(config_describe(&c, &text), 0);
	root = json_tokener_parse(text);
	assert_non_null(root);
	assert_int_equal(json_object_get_int(json_object_object_get(root, "warnings")), 1);
	assert_int_equal(json_object_array_length(json_object_object_get(root, "settings")),
			 config_n_keys + 2);

	o = setting(root, "Policy", "ForceCopyTrial");
	assert_string_equal(field(o, "value"), "5s");
	assert_string_equal(field(o, "default"), "10s");
	assert_string_equal(field(o, "file"), "t.conf");
	assert_string_equal(field(o, "line"), "3");
	o = setting(root, "Policy", "ChangesMax");
	assert_string_equal(field(o, "value"), field(o, "default"));
	assert_null(field(o, "file"));
	assert_null(field(o, "line"));
	o = setting(root, "Device LABEL=\"a\"", "ForceCopy");
	assert_string_equal(field(o, "value"), "1");
	assert_string_equal(field(o, "line"), "6");
	assert_string_equal(
		field(setting(root, "Device LABEL=\"a\"", "ForceCopyQuiet"), "value"), "");
	json_object_put(root);
	config_done(&c);
}

/* --- documentation --- */

static char *read_doc(const char *path)
{
	char *text = NULL;
	int r = read_full_file(path, 1024 * 1024, true, &text, NULL);

	if (r < 0)
		fail_msg("%s: %s (run at the top of the tree)", path, strerror(-r));
	return text;
}

/* The default file: each key once, commented out, in the table's order, with its default. */
static void default_file_shows_every_key_with_its_default(void **state _unused_)
{
	_cleanup_free_ char *text = read_doc("systemd/fs-tuned.conf");
	struct config defaults = { 0 }, c;
	char *line, *rest = text;
	const char *section = "";
	size_t i = 0;

	config_defaults(&defaults);
	assert_string_equal(parse(&c, text), "");
	for (size_t k = 0; k < c.n_origins; k++)
		assert_null(c.origins[k].file); /* nothing in it is in force */
	config_done(&c);

	while ((line = strsep(&rest, "\n"))) {
		char value[CONFIG_VALUE_STR_MAX], expected[256];
		const struct config_key *k;

		if (*line == '[')
			section = line;
		if (strncmp(line, "#[Device", 8) == 0)
			break;
		if (*line != '#' || line[1] == ' ' || !line[1])
			continue;
		assert_true(i < config_n_keys);
		k = &config_keys[i++];
		config_key_format(k, config_key_base(k, &defaults), value, sizeof(value));
		snprintf(expected, sizeof(expected), "#%s=%s", k->name, value);
		assert_string_equal(line, expected);
		assert_memory_equal(section + 1, config_scope_to_string(k->scope),
				    strlen(config_scope_to_string(k->scope)));
	}
	assert_int_equal(i, config_n_keys);
}

static void uncommented_default_file_changes_nothing(void **state _unused_)
{
	_cleanup_free_ char *text = read_doc("systemd/fs-tuned.conf");
	char *end = strstr(text, "#[Device");
	struct config c, defaults = { 0 };

	assert_non_null(end);
	*end = '\0';
	for (char *p = text; (p = strchr(p, '#')); p++)
		if (p[1] != ' ' && p[1] != '\n')
			*p = ' ';
	assert_string_equal(parse(&c, text), "");
	config_defaults(&defaults);
	for (size_t i = 0; i < config_n_keys; i++) {
		const struct config_key *k = &config_keys[i];
		char a[CONFIG_VALUE_STR_MAX], b[CONFIG_VALUE_STR_MAX];

		config_key_format(k, config_key_base(k, &defaults), a, sizeof(a));
		config_key_format(k, config_key_base(k, &c), b, sizeof(b));
		assert_string_equal(a, b);
		assert_non_null(c.origins[i].file);
	}
	config_done(&c);
}

/* Text about a key in the manual page, up to the next key. */
static char *manual_entry(const char *manual, const char *key)
{
	char begin[128];
	const char *p, *end;

	snprintf(begin, sizeof(begin), "\n.It Va %s=\n", key);
	p = strstr(manual, begin);
	if (!p)
		fail_msg("%s= is not in the manual page", key);
	assert_null(strstr(p + 1, begin));
	p += strlen(begin);
	end = strstr(p, "\n.It ");
	if (!end || (strstr(p, "\n.El") && strstr(p, "\n.El") < end))
		end = strstr(p, "\n.El");
	assert_non_null(end);
	return strndup(p, (size_t)(end - p));
}

static void manual_gives_default_and_bounds_of_every_key(void **state _unused_)
{
	_cleanup_free_ char *manual = read_doc("docs/man/fs-tuned.conf.5");
	struct config defaults = { 0 };

	config_defaults(&defaults);
	for (size_t i = 0; i < config_n_keys; i++) {
		const struct config_key *k = &config_keys[i];
		_cleanup_free_ char *entry = manual_entry(manual, k->name);
		char value[CONFIG_VALUE_STR_MAX], min[64], max[64], expected[256] = "";

		config_key_format(k, config_key_base(k, &defaults), value, sizeof(value));
		snprintf(expected, sizeof(expected), "Default: %s.", value);
		if (!strstr(entry, expected))
			fail_msg("%s: the manual page does not say '%s'", k->name, expected);
		if (k->type == CONFIG_TIME)
			snprintf(expected, sizeof(expected), "%s to %s",
				 format_time_exact_us(min, sizeof(min), k->min),
				 format_time_exact_us(max, sizeof(max), k->max));
		else if (k->max)
			snprintf(expected, sizeof(expected),
				 k->type == CONFIG_UNSIGNED || k->type == CONFIG_RATE
					 ? "%llu to %llu"
					 : "%llu%% to %llu%%",
				 (unsigned long long)k->min, (unsigned long long)k->max);
		if (!strstr(entry, expected))
			fail_msg("%s: the manual page does not say '%s'", k->name, expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value_is_read),
		cmocka_unit_test(ratio_without_percent_sign_is_a_share),
		cmocka_unit_test(bad_value_keeps_what_was_and_says_what_is_allowed),
		cmocka_unit_test(empty_value_takes_back_what_was_set),
		cmocka_unit_test(value_survives_being_written_and_read),
		cmocka_unit_test(bounds_of_every_key_are_themselves_allowed),
		cmocka_unit_test(white_space_comments_and_crlf_do_not_matter),
		cmocka_unit_test(backslash_continues_a_line),
		cmocka_unit_test(fault_in_a_continued_line_has_the_number_of_its_beginning),
		cmocka_unit_test(what_is_unknown_is_a_warning_with_file_and_line),
		cmocka_unit_test(flood_of_faults_is_logged_in_part_and_counted),
		cmocka_unit_test(binary_file_is_one_warning),
		cmocka_unit_test(line_that_is_not_utf8_is_ignored),
		cmocka_unit_test(utf8_of_every_length_is_text),
		cmocka_unit_test(line_too_long_is_ignored_with_its_continuations),
		cmocka_unit_test(line_of_the_greatest_length_is_read),
		cmocka_unit_test_setup_teardown(nothing_there_means_defaults, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(dropins_of_both_places_apply_by_name,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(link_to_dev_null_masks, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_one_warning_each,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(dropin_directory_that_is_none_is_a_warning,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(named_file_is_read_alone_or_is_an_error,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(idle_interval_is_never_below_the_interval,
						tree_setup, tree_teardown),
		cmocka_unit_test(device_is_matched_by_every_form_of_name),
		cmocka_unit_test(what_is_unknown_of_a_device_matches_nothing),
		cmocka_unit_test(label_is_also_matched_as_it_is_written),
		cmocka_unit_test(slash_in_a_device_name_is_written_as_in_dev),
		cmocka_unit_test(device_sections_apply_in_order_over_the_policy),
		cmocka_unit_test(emptied_key_of_a_device_is_that_of_the_policy),
		cmocka_unit_test(sections_beyond_the_limit_are_ignored),
		cmocka_unit_test(description_says_where_each_value_comes_from),
		cmocka_unit_test(default_file_shows_every_key_with_its_default),
		cmocka_unit_test(uncommented_default_file_changes_nothing),
		cmocka_unit_test(manual_gives_default_and_bounds_of_every_key),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	log_open("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
