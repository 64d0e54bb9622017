// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <string.h>
#include "base/log.h"
#include "base/utf8.h"
#include "config-internal.h"

#define WHITESPACE " \t\r\f\v"

/* Of what a file says, at most so much is repeated in a message. */
#define QUOTE 60

enum section {
	SECTION_NONE,    /* before the first */
	SECTION_IGNORED, /* unknown, said so already */
	SECTION_MANAGER,
	SECTION_POLICY,
	SECTION_DEVICE, /* the last of c->devices */
};

struct parser {
	struct config *c;
	const char *name; /* of the file */
	unsigned line;    /* in which the present logical line begins */
	enum section section;
	unsigned n_warnings;
};

/* One message per fault, but a file of nothing else must not flood the log. */
static void _printf_(2, 3) warn(struct parser *p, const char *format, ...)
{
	char text[512];
	va_list ap;

	p->c->warnings++;
	if (p->n_warnings++ >= CONFIG_WARNINGS_MAX)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	log_warning("%s:%u: %s", p->name, p->line, text);
}

/* --- text --- */

static char *trim(char *s)
{
	char *end;

	s += strspn(s, WHITESPACE);
	end = s + strlen(s);
	while (end > s && strchr(WHITESPACE, end[-1]))
		end--;
	*end = '\0';
	return s;
}

/* Text that may stand in a message or a document. */
static bool is_text(const char *s)
{
	for (size_t n; *s; s += n) {
		unsigned char c = (unsigned char)*s;

		n = utf8_len(s);
		if (n == 0 || (c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* --- values --- */

static int origin_set(struct parser *p, const struct config_key *k)
{
	struct config *c = p->c;
	ssize_t device = p->section == SECTION_DEVICE ? (ssize_t)c->n_devices - 1 : -1;
	struct config_origin *o = NULL;
	char *file = strdup(p->name);

	if (!file)
		return -ENOMEM;
	if (device < 0) {
		o = &c->origins[k - config_keys]; /* config_init() made one per key */
	} else {
		/* those of the present section are the last ones */
		for (size_t i = c->n_origins; i > 0 && c->origins[i - 1].device == device; i--)
			if (c->origins[i - 1].key == k)
				o = &c->origins[i - 1];
	}
	if (!o) {
		o = reallocarray(c->origins, c->n_origins + 1, sizeof(*o));
		if (!o) {
			free(file);
			return -ENOMEM;
		}
		c->origins = o;
		o = &c->origins[c->n_origins++];
		*o = (struct config_origin){ .key = k, .device = device };
	}
	free(o->file);
	o->file = file;
	o->line = p->line;
	return 0;
}

/* The empty string takes back what was set before. */
static void reset(struct parser *p, const struct config_key *k)
{
	struct config_origin *o = &p->c->origins[k - config_keys];
	struct config defaults = { 0 };

	config_defaults(&defaults);
	config_key_copy(k, config_key_base(k, p->c), config_key_base(k, &defaults));
	free(o->file);
	o->file = NULL;
	o->line = 0;
}

static int assign(struct parser *p, const struct config_key *k, const char *value)
{
	struct config *c = p->c;
	bool in_device = p->section == SECTION_DEVICE;
	struct config_device *d = in_device ? &c->devices[c->n_devices - 1] : NULL;
	uint64_t bit = UINT64_C(1) << (k - config_keys);
	char why[256];

	if (!*value && !in_device) {
		reset(p, k);
		return 0;
	}
	if (!*value) {
		d->reset |= bit;
		d->set &= ~bit;
		return origin_set(p, k);
	}
	if (config_key_parse(k, in_device ? &d->policy : config_key_base(k, c), value, why,
			     sizeof(why)) < 0) {
		warn(p, "%s=%.*s is not %s; ignored", k->name, QUOTE, value, why);
		return 0;
	}
	if (in_device) {
		d->set |= bit;
		d->reset &= ~bit;
	}
	return origin_set(p, k);
}

/* --- lines --- */

static int section_device(struct parser *p, const char *pattern)
{
	struct config *c = p->c;
	struct config_device *d;

	p->section = SECTION_IGNORED;
	if (!*pattern) {
		warn(p, "[Device] does not say which; section ignored");
		return 0;
	}
	if (c->n_devices >= CONFIG_DEVICES_MAX) {
		warn(p, "More than %d [Device] sections; section ignored", CONFIG_DEVICES_MAX);
		return 0;
	}
	d = reallocarray(c->devices, c->n_devices + 1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	c->devices = d;
	d += c->n_devices;
	*d = (struct config_device){ .pattern = strdup(pattern) };
	if (!d->pattern)
		return -ENOMEM;
	c->n_devices++;
	p->section = SECTION_DEVICE;
	return 0;
}

static int parse_section(struct parser *p, char *line)
{
	size_t len = strlen(line);

	p->section = SECTION_IGNORED;
	if (line[len - 1] != ']') {
		warn(p, "Section header '%.*s' without ']'; section ignored", QUOTE, line);
		return 0;
	}
	line[len - 1] = '\0';
	line++;
	if (strcmp(line, "Manager") == 0)
		p->section = SECTION_MANAGER;
	else if (strcmp(line, "Policy") == 0)
		p->section = SECTION_POLICY;
	else if (strncmp(line, "Device", 6) == 0 && (!line[6] || strchr(WHITESPACE, line[6])))
		return section_device(p, trim(line + 6));
	else if (strncmp(line, "X-", 2) != 0)
		warn(p, "Unknown section [%.*s]; ignored", QUOTE, line);
	return 0;
}

static const struct config_key *find_key(enum config_scope scope, const char *name)
{
	for (size_t i = 0; i < config_n_keys; i++)
		if (config_keys[i].scope == scope && strcmp(config_keys[i].name, name) == 0)
			return &config_keys[i];
	return NULL;
}

static int parse_assignment(struct parser *p, char *line)
{
	char *eq = strchr(line, '='), *name;
	const struct config_key *k;

	if (p->section == SECTION_IGNORED)
		return 0;
	if (!eq || eq == line) {
		warn(p, "'%.*s' is no assignment (Key=value); ignored", QUOTE, line);
		return 0;
	}
	*eq = '\0';
	name = trim(line);
	if (p->section == SECTION_NONE) {
		warn(p, "'%.*s' stands before any section; ignored", QUOTE, name);
		return 0;
	}
	k = find_key(p->section == SECTION_MANAGER ? SCOPE_MANAGER : SCOPE_POLICY, name);
	if (!k) {
		warn(p, "Unknown key '%.*s' in [%s]; ignored", QUOTE, name,
		     p->section == SECTION_MANAGER  ? "Manager"
		     : p->section == SECTION_POLICY ? "Policy"
						    : "Device");
		return 0;
	}
	return assign(p, k, trim(eq + 1));
}

static int parse_line(struct parser *p, char *line)
{
	line = trim(line);
	if (!*line)
		return 0;
	if (!is_text(line)) {
		warn(p, "Not UTF-8 text; line ignored");
		return 0;
	}
	return *line == '[' ? parse_section(p, line) : parse_assignment(p, line);
}

/* A logical line while it is put together from continuations. */
struct joined {
	char text[CONFIG_LINE_MAX + 1];
	size_t len;
	bool open;     /* more follows */
	bool too_long; /* the rest is dropped, and in the end all */
};

static void join(struct joined *j, const char *text, size_t len)
{
	size_t backslashes = 0;

	while (backslashes < len && text[len - 1 - backslashes] == '\\')
		backslashes++;
	j->open = backslashes % 2 == 1;
	if (len > CONFIG_LINE_MAX - j->len) {
		j->too_long = true;
		return;
	}
	memcpy(j->text + j->len, text, len);
	j->len += len;
	if (j->open)
		j->text[j->len - 1] = ' ';
}

static int joined_parse(struct parser *p, struct joined *j)
{
	int r = 0;

	j->text[j->len] = '\0';
	if (j->too_long)
		warn(p, "Line of more than %d bytes; ignored", CONFIG_LINE_MAX);
	else
		r = parse_line(p, j->text);
	j->len = 0;
	j->open = j->too_long = false;
	return r;
}

static int parse_lines(struct parser *p, const char *text, size_t len)
{
	struct joined j = { .len = 0 };
	const char *end = text + len;
	int r = 0;

	for (unsigned n = 1; text < end && r == 0; n++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text)) ?: end;
		size_t length = (size_t)(newline - text), blank = 0;

		if (length && text[length - 1] == '\r')
			length--;
		while (blank < length && strchr(WHITESPACE, text[blank]))
			blank++;
		/* a comment may stand between a line and its continuation */
		if (blank == length || !strchr("#;", text[blank])) {
			if (!j.open)
				p->line = n;
			join(&j, text + blank, length - blank);
			if (!j.open)
				r = joined_parse(p, &j);
		}
		text = newline < end ? newline + 1 : end;
	}
	if (r == 0 && j.open)
		r = joined_parse(p, &j);
	return r;
}

int config_parse(struct config *c, const char *name, const char *text, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct parser p = { .c = c, .name = name, .line = 1 };
	int r;

	if (len > CONFIG_FILE_MAX) {
		warn(&p, "File of more than %d bytes; ignored", CONFIG_FILE_MAX);
		return 0;
	}
	if (memchr(text, '\0', len)) {
		warn(&p, "Not a text file; ignored");
		return 0;
	}
	if (len >= 3 && memcmp(text, mark, 3) == 0) {
		text += 3;
		len -= 3;
	}
	r = parse_lines(&p, text, len);
	if (p.n_warnings > CONFIG_WARNINGS_MAX)
		log_warning("%s: %u more", name, p.n_warnings - CONFIG_WARNINGS_MAX);
	return r;
}
