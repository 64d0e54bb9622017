// SPDX-License-Identifier: GPL-2.0-or-later
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <cmocka.h>
#include "config-text.h"
#include "../../daemon/base/log.h"
#include "../../daemon/base/time-util.h"

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
	assert_int_equal(p.knob[KNOB_FORCE_COPY].mode, KNOB_OBSERVE);
	assert_string_equal(p.knob[KNOB_FORCE_COPY].value, "");
	assert_int_equal(p.trial_us, 5 * USEC_PER_SEC);
	assert_int_equal(p.changes_max, 2);
	config_for_device(&c, &other, &p);
	assert_int_equal(p.knob[KNOB_FORCE_COPY].mode, KNOB_MANUAL);
	assert_string_equal(p.knob[KNOB_FORCE_COPY].value, "0");
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
	assert_int_equal(p.knob[KNOB_FORCE_COPY].mode, KNOB_OBSERVE);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_is_matched_by_every_form_of_name),
		cmocka_unit_test(what_is_unknown_of_a_device_matches_nothing),
		cmocka_unit_test(label_is_also_matched_as_it_is_written),
		cmocka_unit_test(slash_in_a_device_name_is_written_as_in_dev),
		cmocka_unit_test(device_sections_apply_in_order_over_the_policy),
		cmocka_unit_test(emptied_key_of_a_device_is_that_of_the_policy),
		cmocka_unit_test(sections_beyond_the_limit_are_ignored),
		cmocka_unit_test(description_says_where_each_value_comes_from),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	log_open("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
