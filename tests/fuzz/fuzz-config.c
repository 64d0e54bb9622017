// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as a configuration file, then what is done with the result. */
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "../../daemon/base/log.h"
#include "../../daemon/config-internal.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc _unused_, char ***argv _unused_)
{
	log_set_level(-1); /* each input would fill the terminal */
	return 0;
}

/* Whatever was read, every value is one that the policy may be given. */
static void check_values(struct config *c, struct policy_config *p)
{
	for (size_t i = 0; i < config_n_keys; i++) {
		const struct config_key *k = &config_keys[i];
		void *base = k->scope == SCOPE_POLICY ? (void *)p : (void *)c;
		char value[CONFIG_VALUE_STR_MAX], why[256];

		config_key_format(k, base, value, sizeof(value));
		if (config_key_parse(k, base, value, why, sizeof(why)) < 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct device d = {
		.id.dev = makedev(8, 5),
		.name = "sda5",
		.uuid = "01234567-89ab-cdef-0123-456789abcdef",
		.label = "my data",
		.mountpoint = (char *)"/srv/data",
	};
	char *text = malloc(size ?: 1), *json = NULL;
	struct policy_config p;
	struct config c;

	memcpy(text, data, size);
	if (config_init(&c) < 0 || config_parse(&c, "fuzz", text, size) < 0)
		abort();
	free(text);
	config_for_device(&c, &d, &p);
	check_values(&c, &p);
	check_values(&c, &c.policy);
	if (config_describe(&c, &json) < 0)
		abort();
	free(json);
	config_done(&c);
	return 0;
}
