// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include "../daemon/base/cleanup.h"
#include "../daemon/base/time-util.h"
#include "argv.h"
#include "suggest.h"

#define ALL_VERBS UINT32_MAX
#define ONLY(v) (UINT32_C(1) << VERB_##v)

static const struct verb_def {
	const char *name;
	unsigned min, max; /* operands */
	const char *operands;
	const char *help;
} verbs[VERB_MAX] = {
	[VERB_STATUS] = { "status", 0, 1, "[DEVICE]", "who waits for what, knobs, verdict" },
	[VERB_LIST] = { "list", 0, 0, "", "device names, one a line" },
	[VERB_GET] = { "get", 1, 2, "DEVICE [KNOB]", "value of a knob" },
	[VERB_SET] = { "set", 3, 3, "DEVICE KNOB VALUE", "set a knob and pin it until `auto`" },
	[VERB_AUTO] = { "auto", 1, 2, "DEVICE [KNOB]", "hand knobs back to the policy" },
	[VERB_REVERT] = { "revert", 0, 1, "[DEVICE]", "original value, pinned until `auto`" },
	[VERB_EXPLAIN] = { "explain", 1, 1, "DEVICE", "where the time goes, what would help" },
	[VERB_PAUSE] = { "pause", 0, 0, "[--for=TIME]", "decide nothing, everywhere" },
	[VERB_RESUME] = { "resume", 0, 0, "", "decide again" },
	[VERB_HISTORY] = { "history", 0, 1, "[DEVICE]", "decisions, with why and by whom" },
	[VERB_CONFIG] = { "config", 0, 0, "", "settings and where each comes from" },
	[VERB_METRICS] = { "metrics", 0, 0, "", "Prometheus text format" },
	[VERB_DOCTOR] = { "doctor", 0, 0, "", "what this kernel offers, what is missing" },
	[VERB_VERIFY] = { "verify", 0, 0, "", "are the knobs as believed?" },
};

enum option {
	OPTION_RUNTIME_DIR,
	OPTION_JSON,
	OPTION_NO_PAGER,
	OPTION_NO_LEGEND,
	OPTION_QUIET,
	OPTION_VERSION,
	OPTION_HELP,
	OPTION_ALL,
	OPTION_SORT,
	OPTION_COLUMNS,
	OPTION_SINCE,
	OPTION_FOR,
	OPTION_PERSIST,
	OPTION_OPENMETRICS,
};

static const struct option_def {
	const char *name;  /* "" if there is no long form */
	char short_name;   /* 0 if there is no short form */
	const char *value; /* NULL: takes none */
	uint32_t verbs;
	const char *help;
} options[] = {
	[OPTION_RUNTIME_DIR] = { "runtime-dir", 0, "DIR", ALL_VERBS,
				 "talk to the daemon that runs there" },
	[OPTION_JSON] = { "json", 0, NULL, ALL_VERBS & ~ONLY(METRICS),
			  "print the daemon's answer as JSON" },
	[OPTION_NO_PAGER] = { "no-pager", 0, NULL, ALL_VERBS, "do not start a pager" },
	[OPTION_NO_LEGEND] = { "no-legend", 0, NULL, ALL_VERBS,
			       "no headings, nothing but the rows" },
	[OPTION_QUIET] = { "quiet", 'q', NULL, ALL_VERBS, "print nothing but errors" },
	[OPTION_VERSION] = { "version", 0, NULL, ALL_VERBS, "print the version" },
	[OPTION_HELP] = { "help", 'h', NULL, ALL_VERBS, "print this" },
	[OPTION_ALL] = { "all", 'a', NULL, ONLY(STATUS), "status: all devices, however many" },
	[OPTION_SORT] = { "sort", 0, "COLUMN", ONLY(STATUS), "status: in this order" },
	[OPTION_COLUMNS] = { "output", 'o', "COLUMNS", ONLY(STATUS),
			     "status: these columns; `-o help` names them" },
	[OPTION_SINCE] = { "since", 0, "TIME", ONLY(HISTORY), "history: no older ones" },
	[OPTION_FOR] = { "for", 0, "TIME", ONLY(PAUSE), "pause: and resume after this time" },
	[OPTION_PERSIST] = { "persist", 0, NULL, ONLY(SET) | ONLY(AUTO),
			     "set: in the configuration too; auto: undo that" },
	[OPTION_OPENMETRICS] = { "openmetrics", 0, NULL, ONLY(METRICS),
				 "metrics: as OpenMetrics" },
};

/* What is being taken apart, and where complaints go. */
struct parser {
	struct args *args;
	uint32_t given; /* bit per enum option */
	char *error;
	size_t error_size;
};

static int complain(struct parser *p, const char *format, ...) _printf_(2, 3);

static int complain(struct parser *p, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(p->error, p->error_size, format, ap);
	va_end(ap);
	return -EINVAL;
}

static int take_option(struct parser *p, enum option id, const char *value)
{
	struct args *a = p->args;

	p->given |= UINT32_C(1) << id;
	switch (id) {
	case OPTION_RUNTIME_DIR:
		a->runtime_dir = value;
		if (*value != '/')
			return complain(p, "--runtime-dir=%s is no absolute path", value);
		break;
	case OPTION_JSON:
		a->json = true;
		break;
	case OPTION_NO_PAGER:
		a->no_pager = true;
		break;
	case OPTION_NO_LEGEND:
		a->no_legend = true;
		break;
	case OPTION_QUIET:
		a->quiet = true;
		break;
	case OPTION_VERSION:
		a->version = true;
		break;
	case OPTION_HELP:
		a->help = true;
		break;
	case OPTION_ALL:
		a->all = true;
		break;
	case OPTION_SORT:
		a->sort = value;
		break;
	case OPTION_COLUMNS:
		a->columns = value;
		break;
	case OPTION_SINCE:
		a->since = value;
		break;
	case OPTION_FOR:
		if (parse_time_us(value, &a->pause_us) < 0 || a->pause_us == 0)
			return complain(p, "--for=%s is no time, such as 1h or 30min", value);
		if (a->pause_us == USEC_INFINITY)
			a->pause_us = 0;
		break;
	case OPTION_PERSIST:
		a->persist = true;
		break;
	case OPTION_OPENMETRICS:
		a->openmetrics = true;
		break;
	}
	return 0;
}

/* "--name", "--name=value", "--name value". Returns how many of argv it took. */
static int parse_long(struct parser *p, const char *arg, const char *next)
{
	const char *eq = strchr(arg, '=');
	size_t len = eq ? (size_t)(eq - arg) : strlen(arg);
	int r;

	for (enum option id = 0; id < ELEMENTSOF(options); id++) {
		const struct option_def *o = &options[id];

		if (strlen(o->name) != len || strncmp(o->name, arg, len) != 0)
			continue;
		if (!o->value && eq)
			return complain(p, "--%s takes no value", o->name);
		if (o->value && !eq && !next)
			return complain(p, "--%s needs a value (--%s=%s)", o->name, o->name,
					o->value);
		r = take_option(p, id, eq ? eq + 1 : next);
		return r < 0 ? r : o->value && !eq ? 2 : 1;
	}
	return complain(p, "Unknown option --%.*s", (int)len, arg);
}

/* "-aq", "-oCOLUMNS", "-o COLUMNS". Returns how many of argv it took. */
static int parse_short(struct parser *p, const char *arg, const char *next)
{
	for (; *arg; arg++) {
		enum option id = 0;
		int r;

		while (id < ELEMENTSOF(options) && options[id].short_name != *arg)
			id++;
		if (id == ELEMENTSOF(options))
			return complain(p, "Unknown option -%c", *arg);
		if (!options[id].value) {
			r = take_option(p, id, NULL);
			if (r < 0)
				return r;
			continue;
		}
		if (!arg[1] && !next)
			return complain(p, "-%c needs a value", *arg);
		r = take_option(p, id, arg[1] ? arg + 1 : next);
		return r < 0 ? r : arg[1] ? 1 : 2;
	}
	return 1;
}

static int find_verb(struct parser *p, const char *name)
{
	const char *names[VERB_MAX], *close;

	for (enum verb v = 0; v < VERB_MAX; v++) {
		if (strcmp(verbs[v].name, name) == 0) {
			p->args->verb = v;
			return 0;
		}
		names[v] = verbs[v].name;
	}
	close = suggest(name, names, VERB_MAX);
	if (close)
		return complain(p, "Unknown verb \"%s\": did you mean \"%s\"?", name, close);
	return complain(p, "Unknown verb \"%s\" (see fstunectl --help)", name);
}

static int check_options(struct parser *p)
{
	for (enum option id = 0; id < ELEMENTSOF(options); id++)
		if ((p->given >> id & 1) && !(options[id].verbs >> p->args->verb & 1))
			return complain(p, "--%s does not go with \"%s\"", options[id].name,
					verbs[p->args->verb].name);
	return 0;
}

int args_parse(int argc, char *const *argv, struct args *ret, char *error, size_t error_size)
{
	struct parser p = { .args = ret, .error = error, .error_size = error_size };
	const char *words[OPERANDS_MAX + 1];
	unsigned n_words = 0;
	bool only_words = false;
	int r;

	*ret = (struct args){ .verb = VERB_STATUS };
	for (int i = 1; i < argc; i += r) {
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;

		r = 1;
		if (!only_words && strcmp(argv[i], "--") == 0)
			only_words = true;
		else if (!only_words && strncmp(argv[i], "--", 2) == 0)
			r = parse_long(&p, argv[i] + 2, next);
		else if (!only_words && argv[i][0] == '-' && argv[i][1])
			r = parse_short(&p, argv[i] + 1, next);
		else if (n_words == ELEMENTSOF(words))
			return complain(&p, "Too many arguments: \"%s\"", argv[i]);
		else
			words[n_words++] = argv[i];
		if (r < 0)
			return r;
	}
	if (ret->help || ret->version)
		return 0;

	/* Without a verb: what is seen most. */
	r = n_words ? find_verb(&p, words[0]) : 0;
	if (r < 0)
		return r;
	for (unsigned i = 1; i < n_words; i++)
		ret->operand[ret->n_operands++] = words[i];
	if (ret->n_operands < verbs[ret->verb].min || ret->n_operands > verbs[ret->verb].max)
		return complain(&p, "Usage: fstunectl %s %s", verbs[ret->verb].name,
				verbs[ret->verb].operands);
	for (unsigned i = 0; i < ret->n_operands; i++)
		if (!*ret->operand[i])
			return complain(&p, "Empty argument: fstunectl %s %s",
					verbs[ret->verb].name, verbs[ret->verb].operands);
	return check_options(&p);
}

void args_help(FILE *f)
{
	fputs("Usage: fstunectl [OPTION...] [VERB] ...\n\n"
	      "Shows and steers fs-tuned, which watches how long file systems make tasks "
	      "wait.\n\n"
	      "Verbs:\n",
	      f);
	for (enum verb v = 0; v < VERB_MAX; v++)
		fprintf(f, "  %-8s%-19s%s\n", verbs[v].name, verbs[v].operands, verbs[v].help);
	fputs("\nOptions:\n", f);
	for (size_t i = 0; i < ELEMENTSOF(options); i++) {
		const struct option_def *o = &options[i];
		char text[40];

		snprintf(text, sizeof(text), "--%s%s%s", o->name, o->value ? "=" : "",
			 o->value ? o->value : "");
		fprintf(f, "  %c%c %-20s %s\n", o->short_name ? '-' : ' ',
			o->short_name ? o->short_name : ' ', text, o->help);
	}
	fputs("\nDEVICE is a kernel name (sda5), a path to it or to a mount point, M:N,\n"
	      "UUID=... or LABEL=... . See fstunectl(1).\n",
	      f);
}
