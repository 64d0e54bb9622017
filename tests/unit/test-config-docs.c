// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "config-text.h"
#include "../../daemon/base/file.h"
#include "../../daemon/base/log.h"
#include "../../daemon/base/time-util.h"

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
		cmocka_unit_test(default_file_shows_every_key_with_its_default),
		cmocka_unit_test(uncommented_default_file_changes_nothing),
		cmocka_unit_test(manual_gives_default_and_bounds_of_every_key),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	log_open("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
