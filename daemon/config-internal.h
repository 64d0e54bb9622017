/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the configuration share: one table of keys drives reading, describing
 * and the tests of the documentation.
 */
#ifndef FSTUNED_CONFIG_INTERNAL_H
#define FSTUNED_CONFIG_INTERNAL_H

#include "config.h"

#define CONFIG_LINE_MAX 2048     /* bytes of one line, its continuations included */
#define CONFIG_DEVICES_MAX 1024  /* [Device X] sections */
#define CONFIG_WARNINGS_MAX 10   /* logged per file; the rest is counted */
#define CONFIG_KEYS_MAX 64       /* bits of config_device.set */
#define CONFIG_VALUE_STR_MAX 128 /* any value as text */

enum config_scope {
	SCOPE_MANAGER, /* offset into struct config */
	SCOPE_POLICY,  /* offset into struct policy_config: [Policy] and [Device X] */
};

enum config_type {
	CONFIG_TIME,      /* uint64_t, us; min and max in us */
	CONFIG_UNSIGNED,  /* unsigned */
	CONFIG_PERCENT,   /* double, percent; "10%" or "10" */
	CONFIG_SHARE,     /* double, 1 is 100 %; min and max in percent; "10%" or "0.1" */
	CONFIG_RATE,      /* double, per second */
	CONFIG_MODE,      /* bool observe_only: "auto", "observe" */
	CONFIG_LOG_LEVEL, /* int, syslog level */
	CONFIG_SWITCH,    /* struct knob_setting of a switch: "auto", "observe", "0", "1" */
	CONFIG_IOPRIO,    /* the same of an I/O priority: "be,0" to "be,7", "rt,0" to "rt,7" */
	CONFIG_BOOL,      /* bool: "yes", "no" */
};

struct config_key {
	const char *name;
	enum config_scope scope;
	enum config_type type;
	size_t offset;
	uint64_t min, max;
};

extern const struct config_key config_keys[];
extern const size_t config_n_keys;

const char *config_scope_to_string(enum config_scope scope); /* the section's name */

/* -EINVAL and what is allowed, as a clause, in `why`; then `base` is as before. */
int config_key_parse(const struct config_key *k, void *base, const char *value, char *why,
		     size_t why_size);
/* Writes the value as it could stand in a file. Returns buf. */
char *config_key_format(const struct config_key *k, const void *base, char *buf, size_t size);
void config_key_copy(const struct config_key *k, void *to, const void *from);

/* Of the key's scope: the part of a configuration that its offset is in. */
void *config_key_base(const struct config_key *k, struct config *c);

/* One [Device X] section as it was read. */
struct config_device {
	char *pattern;
	struct policy_config policy; /* only what is in `set` counts */
	uint64_t set;                /* bit per index of config_keys */
	uint64_t reset;              /* assigned the empty string: as [Policy] has it */
};

struct config_origin {
	const struct config_key *key;
	ssize_t device; /* index of the section; -1: [Manager] or [Policy] */
	char *file;     /* NULL: default */
	unsigned line;
};

/* Sets all values, makes nothing: *c may be any. */
void config_defaults(struct config *c);

/* As config_load() without a named file, from other places; later ones mask earlier. */
int config_load_dirs(struct config *c, const char *const *dirs, size_t n_dirs);

bool config_device_matches(const char *pattern, const struct device *d);

#endif
