// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include "../../daemon/act/ledger.h"
#include "tree.h"

#define LEDGER "run/ledger.json"

#define TREE(t)                             \
	_cleanup_(tree_done) struct tree t; \
	(void)state;                        \
	tree_init(&t)

static struct ledger_entry entry(unsigned minor)
{
	struct ledger_entry e = {
		.id = { .dev = makedev(8, minor), .ino = 18503 + minor, .diskseq = 9 },
		.path = "/proc/fs/jbd2/sda5-8/force_copy",
		.knob = KNOB_FORCE_COPY,
		.state = LEDGER_APPLIED,
		.original = "0",
		.from = "0",
		.written = "1",
		.reason = REASON_STALL,
		.time_us = 1764500000000000,
	};

	snprintf(e.device, sizeof(e.device), "sda%u", minor);
	return e;
}

static void assert_same(const struct ledger_entry *a, const struct ledger_entry *b)
{
	assert_true(device_id_equal(&a->id, &b->id));
	assert_string_equal(a->device, b->device);
	assert_string_equal(a->path, b->path);
	assert_int_equal(a->knob, b->knob);
	assert_int_equal(a->state, b->state);
	assert_string_equal(a->original, b->original);
	assert_string_equal(a->from, b->from);
	assert_string_equal(a->written, b->written);
	assert_int_equal(a->reason, b->reason);
	assert_int_equal(a->pinned, b->pinned);
	assert_int_equal(a->from_pinned, b->from_pinned);
	assert_string_equal(a->by, b->by);
	assert_int_equal(a->time_us, b->time_us);
}

/* The text of a good ledger with `from` replaced by `to`. Static. */
static const char *altered(const char *from, const char *to)
{
	static char text[4096];
	_cleanup_free_ char *good = NULL;
	struct ledger_entry e = entry(5);
	char *at;
	size_t len;

	assert_int_equal(ledger_format(&e, 1, &good, &len), 0);
	at = strstr(good, from);
	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
	return text;
}

static int parse(const char *text, size_t len)
{
	_cleanup_free_ struct ledger_entry *entries = NULL;
	size_t n;

	return ledger_parse(text, len, &entries, &n);
}

static void ledger_without_a_file_is_empty(void **state)
{
	struct ledger l;

	TREE(t);
	assert_int_equal(ledger_open(&l, t.run), 0);
	assert_int_equal(l.n, 0);
	ledger_close(&l);
}

static void ledger_reads_back_what_it_wrote(void **state)
{
	struct ledger_entry e[] = { entry(5), entry(6), entry(7) };
	struct ledger l;

	TREE(t);
	e[1].state = LEDGER_INTENT;
	e[1].pinned = e[1].from_pinned = true;
	snprintf(e[1].by, sizeof(e[1].by), "fstunectl (uid 0)");
	snprintf(e[1].device, sizeof(e[1].device), "cciss!c0\"d0\\");
	e[2].state = LEDGER_PINNED;
	e[2].pinned = true;
	e[2].reason = REASON_FOREIGN;
	snprintf(e[2].by, sizeof(e[2].by), "foreign write");
	e[2].id = (struct device_id){ .dev = makedev(4095, 1048575),
				      .ino = UINT64_MAX - 1,
				      .diskseq = 0 };
	assert_int_equal(ledger_open(&l, t.run), 0);
	for (size_t i = 0; i < ELEMENTSOF(e); i++)
		assert_int_equal(ledger_put(&l, &e[i]), 0);
	ledger_close(&l);

	assert_int_equal(ledger_open(&l, t.run), 0);
	assert_int_equal(l.n, ELEMENTSOF(e));
	for (size_t i = 0; i < ELEMENTSOF(e); i++) {
		struct ledger_entry *found = ledger_find(&l, &e[i].id, KNOB_FORCE_COPY);

		assert_non_null(found);
		assert_same(found, &e[i]);
	}
	ledger_close(&l);
}

static void ledger_replaces_and_removes(void **state)
{
	struct ledger_entry a = entry(5), b = entry(6);
	struct ledger l;

	TREE(t);
	assert_int_equal(ledger_open(&l, t.run), 0);
	assert_int_equal(ledger_put(&l, &a), 0);
	assert_int_equal(ledger_put(&l, &b), 0);
	a.reason = REASON_TRIAL;
	assert_int_equal(ledger_put(&l, &a), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(ledger_remove(&l, &b.id, b.knob), 0);
	assert_int_equal(ledger_remove(&l, &b.id, b.knob), 0);
	ledger_close(&l);
	assert_int_equal(ledger_open(&l, t.run), 0);
	assert_int_equal(l.n, 1);
	assert_same(&l.entries[0], &a);
	ledger_close(&l);
}

static bool keep_even(const struct ledger_entry *e, void *userdata)
{
	(*(unsigned *)userdata)++;
	return minor(e->id.dev) % 2 == 0;
}

static void ledger_prunes(void **state)
{
	unsigned asked = 0;
	struct ledger l;

	TREE(t);
	assert_int_equal(ledger_open(&l, t.run), 0);
	for (unsigned i = 0; i < 10; i++) {
		struct ledger_entry e = entry(i);

		assert_int_equal(ledger_put(&l, &e), 0);
	}
	assert_int_equal(ledger_prune(&l, keep_even, &asked), 0);
	assert_int_equal(asked, 10);
	assert_int_equal(l.n, 5);
	/* nothing to do, nothing stored */
	assert_int_equal(unlink(tree_path(&t, LEDGER)), 0);
	assert_int_equal(ledger_prune(&l, keep_even, &asked), 0);
	assert_null(tree_read(&t, LEDGER));
	ledger_close(&l);
}

/* What would be refused when it is read must not be written: it would be lost. */
static void ledger_refuses_to_grow_beyond_what_it_reads(void **state)
{
	TREE(t);
	size_t many = LEDGER_SIZE_MAX / 256;
	struct ledger_entry e = entry(1);
	struct ledger l;

	assert_int_equal(ledger_open(&l, tree_path(&t, "run")), 0);
	assert_int_equal(ledger_put(&l, &e), 0);
	l.entries = reallocarray(l.entries, many, sizeof(e));
	assert_non_null(l.entries);
	for (l.n = 1; l.n < many; l.n++)
		l.entries[l.n] = entry((unsigned)l.n + 1);
	e = entry(0);
	assert_int_equal(ledger_put(&l, &e), -EFBIG);
	ledger_close(&l);
	assert_int_equal(ledger_open(&l, tree_path(&t, "run")), 0);
	assert_int_equal(l.n, 1);
	ledger_close(&l);
}

static void ledger_is_unchanged_when_it_cannot_be_stored(void **state)
{
	struct ledger_entry a = entry(5), b = entry(6);
	char away[80];
	struct ledger l;

	TREE(t);
	assert_int_equal(ledger_open(&l, t.run), 0);
	assert_int_equal(ledger_put(&l, &a), 0);
	snprintf(away, sizeof(away), "%s/away", t.root);
	assert_int_equal(rename(t.run, away), 0); /* the directory has vanished */
	assert_int_equal(ledger_put(&l, &b), -ENOENT);
	assert_int_equal(ledger_remove(&l, &a.id, a.knob), -ENOENT);
	assert_int_equal(l.n, 1);
	assert_same(&l.entries[0], &a);
	assert_int_equal(rename(away, t.run), 0);
	assert_int_equal(ledger_put(&l, &b), 0);
	assert_int_equal(l.n, 2);
	ledger_close(&l);
}

/* A limit on file sizes ends a write in the middle, as a full tmpfs does. */
static void ledger_survives_a_full_directory(void **state)
{
	struct ledger_entry a = entry(5), b = entry(6);
	struct rlimit before, small;
	struct ledger l;
	int r;

	TREE(t);
	assert_int_equal(ledger_open(&l, t.run), 0);
	assert_int_equal(ledger_put(&l, &a), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ .rlim_cur = 100, .rlim_max = before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	r = ledger_put(&l, &b);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(r, -EFBIG);
	assert_int_equal(l.n, 1);
	ledger_close(&l);
	/* The file is the old one, and no rest of the new one lies about. */
	assert_int_equal(access(tree_path(&t, LEDGER ".tmp"), F_OK), -1);
	assert_int_equal(ledger_open(&l, t.run), 0);
	assert_int_equal(l.n, 1);
	assert_same(&l.entries[0], &a);
	ledger_close(&l);
}

static void ledger_puts_aside_what_is_none(void **state)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"null",
		"0",
		"{}",
		"\xff\xfe\x00",
		"{\"version\": 1}",
		"{\"version\": 1, \"entries\": {}}",
		"{\"version\": 1, \"entries\": [1]}",
		"{\"version\": 1, \"entries\": [], \"more\": 1}",
		"{\"version\": 2, \"entries\": []}",
		"{\"version\": \"1\", \"entries\": []}",
		"{\"version\": 1.0, \"entries\": []}",
		"{\"version\": 1, \"entries\": []} x",
		"{\"version\": 1, \"entries\": [],}",

	};

	TREE(t);
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		struct ledger_entry e = entry(5);
		struct ledger l;

		tree_write(&t, LEDGER, bad[i]);
		if (ledger_open(&l, t.run) != -EBADMSG)
			fail_msg("accepted: %s", bad[i]);
		assert_string_equal(tree_read(&t, LEDGER ".bad"), bad[i]);
		assert_null(tree_read(&t, LEDGER));
		/* and goes on with an empty one */
		assert_int_equal(l.n, 0);
		assert_int_equal(ledger_put(&l, &e), 0);
		ledger_close(&l);
		assert_int_equal(ledger_open(&l, t.run), 0);
		assert_int_equal(l.n, 1);
		ledger_close(&l);
	}
}

static void ledger_puts_aside_what_is_no_file(void **state)
{
	struct ledger l;

	TREE(t);
	assert_int_equal(mkdir(tree_path(&t, LEDGER), 0700), 0);
	assert_int_equal(ledger_open(&l, t.run), -EBADMSG);
	ledger_close(&l);
	assert_int_equal(rmdir(tree_path(&t, LEDGER ".bad")), 0);
	assert_int_equal(mkfifo(tree_path(&t, LEDGER), 0600), 0);
	assert_int_equal(ledger_open(&l, t.run), -EBADMSG);
	ledger_close(&l);
	assert_int_equal(unlink(tree_path(&t, LEDGER ".bad")), 0);
}

static void ledger_puts_aside_what_is_huge(void **state)
{
	struct ledger l;

	TREE(t);
	tree_write(&t, LEDGER, altered("{", "{"));
	assert_int_equal(truncate(tree_path(&t, LEDGER), 1024L * 1024 * 1024), 0);
	assert_int_equal(ledger_open(&l, t.run), -EBADMSG);
	ledger_close(&l);
}

static void ledger_entries_are_checked(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "\"sda5\"", "\"\"" },
		{ "\"sda5\"", "5" },
		{ "\"sda5\"", "\"sda/5\"" },
		{ "\"sda5\"", "\"a\\u0000b\"" },
		{ "\"sda5\"", "\"a\\nb\"" },
		{ "\"sda5\"",
		  "\"0123456789012345678901234567890123456789012345678901234567890123\"" },
		{ "\"8:5\"", "\"8\"" },
		{ "\"8:5\"", "\"8:5:1\"" },
		{ "\"8:5\"", "\"-8:5\"" },
		{ "\"8:5\"", "\" 8:5\"" },
		{ "\"8:5\"", "8" },
		{ "\"ino\":18508", "\"ino\":-1" },
		{ "\"ino\":18508", "\"ino\":1.5" },
		{ "\"ino\":18508", "\"ino\":\"18508\"" },
		{ "\"ino\":18508", "\"ino\":99999999999999999999" },
		{ "\"ino\":18508", "\"inode\":18508" },
		{ "\"diskseq\":9", "\"diskseq\":null" },
		{ "\"/proc", "\"proc" },
		{ "/fs/jbd2", "/fs/../jbd2" },
		{ "/force_copy", "/.." },
		{ "\"knob\":\"force_copy\"", "\"knob\":\"other\"" },
		{ "\"applied\"", "\"done\"" },
		{ "\"applied\"", "\"pinned\"" }, /* by nobody */
		{ "\"original\":\"0\"", "\"original\":\"\"" },
		{ "\"original\":\"0\"", "\"original\":\"0123456789012345\"" },
		{ "\"written\":\"1\"", "\"written\":1" },
		{ "\"stall\"", "\"unknown\"" },
		{ "\"from_pinned\":false", "\"from_pinned\":0" },
		{ "\"pinned_by\":\"\"", "\"pinned_by\":\"root\"" }, /* but not pinned */
		{ "\"pinned_by\":\"\"", "\"pinned_by\":null" },
		{ "\"time_us\":", "\"time_us\":-" },
		{ "\"device\"", "\"more\":1,\"device\"" },
		{ "\"entries\":[", "\"entries\":[null," },
		{ "\"entries\":[", "\"entries\":[[[[[]]]]," },
	};
	const char *good = altered("{", "{");

	(void)state;
	assert_int_equal(parse(good, strlen(good)), 0);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const char *text = altered(cases[i].from, cases[i].to);

		if (parse(text, strlen(text)) != -EBADMSG)
			fail_msg("accepted: %s", text);
	}
}

static void ledger_refuses_two_entries_for_one_knob(void **state)
{
	struct ledger_entry e[] = { entry(5), entry(5) };
	_cleanup_free_ char *text = NULL;
	size_t len;

	(void)state;
	assert_int_equal(ledger_format(e, 2, &text, &len), 0);
	assert_int_equal(parse(text, len), -EBADMSG);
}

static void ledger_refuses_every_truncation(void **state)
{
	const char *good = altered("{", "{");

	(void)state;
	for (size_t i = 0; i < strlen(good); i++)
		assert_int_equal(parse(good, i), -EBADMSG);
}

static void claim_is_decided_by_the_value(void **state)
{
	struct ledger_entry e = entry(5);

	(void)state;
	assert_int_equal(ledger_claim(NULL, "1"), CLAIM_NONE);
	assert_int_equal(ledger_claim(&e, "1"), CLAIM_OURS);
	assert_int_equal(ledger_claim(&e, "0"), CLAIM_FOREIGN);
	e.state = LEDGER_INTENT;
	assert_int_equal(ledger_claim(&e, "1"), CLAIM_OURS); /* it was written */
	assert_int_equal(ledger_claim(&e, "0"), CLAIM_OURS); /* it was not */
	assert_int_equal(ledger_claim(&e, "2"), CLAIM_FOREIGN);
	e.pinned = true;
	assert_int_equal(ledger_claim(&e, "1"), CLAIM_PINNED);
	assert_int_equal(ledger_claim(&e, "0"), CLAIM_OURS); /* the pin did not come about */
	e.from_pinned = true;
	e.pinned = false;
	assert_int_equal(ledger_claim(&e, "1"), CLAIM_OURS);
	assert_int_equal(ledger_claim(&e, "0"), CLAIM_PINNED);
	e.state = LEDGER_PINNED;
	e.pinned = true;
	assert_int_equal(ledger_claim(&e, "1"), CLAIM_PINNED);
	assert_int_equal(ledger_claim(&e, "0"), CLAIM_FOREIGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ledger_without_a_file_is_empty),
		cmocka_unit_test(ledger_reads_back_what_it_wrote),
		cmocka_unit_test(ledger_replaces_and_removes),
		cmocka_unit_test(ledger_prunes),
		cmocka_unit_test(ledger_refuses_to_grow_beyond_what_it_reads),
		cmocka_unit_test(ledger_is_unchanged_when_it_cannot_be_stored),
		cmocka_unit_test(ledger_survives_a_full_directory),
		cmocka_unit_test(ledger_puts_aside_what_is_none),
		cmocka_unit_test(ledger_puts_aside_what_is_no_file),
		cmocka_unit_test(ledger_puts_aside_what_is_huge),
		cmocka_unit_test(ledger_entries_are_checked),
		cmocka_unit_test(ledger_refuses_two_entries_for_one_knob),
		cmocka_unit_test(ledger_refuses_every_truncation),
		cmocka_unit_test(claim_is_decided_by_the_value),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
