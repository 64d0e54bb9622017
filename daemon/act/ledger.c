// SPDX-License-Identifier: GPL-2.0-or-later
#include <json-c/json.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "../base/file.h"
#include "ledger.h"

/* Deep enough for an object in a list in an object, and for nothing that recurses. */
#define DEPTH_MAX 4

static void json_free(json_object *o)
{
	json_object_put(o);
}
DEFINE_CLEANUP(json_object *, json_free)
DEFINE_CLEANUP(json_tokener *, json_tokener_free)

static const char *const state_names[] = {
	[LEDGER_INTENT] = "intent",
	[LEDGER_APPLIED] = "applied",
	[LEDGER_PINNED] = "pinned",
};

/* --- reading: strict, since what it says gets written to kernel files --- */

static int get(json_object *o, const char *key, enum json_type type, json_object **ret)
{
	if (!json_object_object_get_ex(o, key, ret) || !json_object_is_type(*ret, type))
		return -EBADMSG;
	return 0;
}

/* Text without control characters (a NUL among them) that fits. */
static int get_string(json_object *o, const char *key, bool may_be_empty, char *ret,
		      size_t size)
{
	json_object *v;
	const char *s;
	size_t len;

	if (get(o, key, json_type_string, &v) < 0)
		return -EBADMSG;
	s = json_object_get_string(v);
	len = (size_t)json_object_get_string_len(v);
	if (len >= size || (len == 0 && !may_be_empty))
		return -EBADMSG;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ')
			return -EBADMSG;
	memcpy(ret, s, len);
	ret[len] = '\0';
	return 0;
}

static int get_u64(json_object *o, const char *key, uint64_t *ret)
{
	json_object *v;

	if (get(o, key, json_type_int, &v) < 0)
		return -EBADMSG;
	*ret = json_object_get_uint64(v);
	/* json-c makes a negative number 0 and a too large one the maximum. */
	if (*ret == UINT64_MAX || (*ret == 0 && json_object_get_int64(v) != 0))
		return -EBADMSG;
	return 0;
}

static int get_bool(json_object *o, const char *key, bool *ret)
{
	json_object *v;

	if (get(o, key, json_type_boolean, &v) < 0)
		return -EBADMSG;
	*ret = json_object_get_boolean(v);
	return 0;
}

static int get_dev(json_object *o, dev_t *ret)
{
	char text[32];

	if (get_string(o, "dev", false, text, sizeof(text)) < 0 || parse_dev(text, ret) < 0)
		return -EBADMSG;
	return 0;
}

static int get_knob(json_object *o, enum knob_id *ret)
{
	char name[32];

	if (get_string(o, "knob", false, name, sizeof(name)) < 0 ||
	    knob_from_string(name, ret) < 0)
		return -EBADMSG;
	return 0;
}

static int get_state(json_object *o, enum ledger_state *ret)
{
	char name[32];

	if (get_string(o, "state", false, name, sizeof(name)) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < ELEMENTSOF(state_names); i++)
		if (strcmp(state_names[i], name) == 0) {
			*ret = (enum ledger_state)i;
			return 0;
		}
	return -EBADMSG;
}

static int get_reason(json_object *o, enum reason *ret)
{
	char name[32];

	if (get_string(o, "reason", false, name, sizeof(name)) < 0)
		return -EBADMSG;
	for (unsigned i = 0; i < REASON_MAX; i++)
		if (strcmp(reason_to_string((enum reason)i), name) == 0) {
			*ret = (enum reason)i;
			return 0;
		}
	return -EBADMSG;
}

/* Absolute, and no way back up. */
static bool path_is_sane(const char *path)
{
	size_t len = strlen(path);

	return *path == '/' && !strstr(path, "/../") &&
	       !(len >= 3 && strcmp(path + len - 3, "/..") == 0);
}

#define ENTRY_KEYS 14

static int parse_entry(json_object *o, struct ledger_entry *e)
{
	if (!json_object_is_type(o, json_type_object) ||
	    json_object_object_length(o) != ENTRY_KEYS)
		return -EBADMSG;
	if (get_string(o, "device", false, e->device, sizeof(e->device)) < 0 ||
	    get_dev(o, &e->id.dev) < 0 || get_u64(o, "ino", &e->id.ino) < 0 ||
	    get_u64(o, "diskseq", &e->id.diskseq) < 0 ||
	    get_string(o, "path", false, e->path, sizeof(e->path)) < 0 ||
	    get_knob(o, &e->knob) < 0 || get_state(o, &e->state) < 0 ||
	    get_string(o, "original", false, e->original, sizeof(e->original)) < 0 ||
	    get_string(o, "from", false, e->from, sizeof(e->from)) < 0 ||
	    get_string(o, "written", false, e->written, sizeof(e->written)) < 0 ||
	    get_reason(o, &e->reason) < 0 || get_bool(o, "from_pinned", &e->from_pinned) < 0 ||
	    get_string(o, "pinned_by", true, e->by, sizeof(e->by)) < 0 ||
	    get_u64(o, "time_us", &e->time_us) < 0)
		return -EBADMSG;
	e->pinned = *e->by != '\0';
	if (!path_is_sane(e->path) || strchr(e->device, '/'))
		return -EBADMSG;
	if (e->state != LEDGER_INTENT && e->pinned != (e->state == LEDGER_PINNED))
		return -EBADMSG;
	return 0;
}

static struct ledger_entry *find(struct ledger_entry *entries, size_t n,
				 const struct device_id *id, enum knob_id knob)
{
	for (size_t i = 0; i < n; i++)
		if (entries[i].knob == knob && device_id_equal(&entries[i].id, id))
			return &entries[i];
	return NULL;
}

static int parse_entries(json_object *list, struct ledger_entry **ret, size_t *ret_n)
{
	size_t n = json_object_array_length(list);
	_cleanup_free_ struct ledger_entry *entries = calloc(n + 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (parse_entry(json_object_array_get_idx(list, i), &entries[i]) < 0 ||
		    find(entries, i, &entries[i].id, entries[i].knob))
			return -EBADMSG;
	}
	*ret = TAKE_PTR(entries);
	*ret_n = n;
	return 0;
}

int ledger_parse(const char *text, size_t len, struct ledger_entry **ret, size_t *ret_n)
{
	_cleanup_(json_tokener_freep) json_tokener *tok = json_tokener_new_ex(DEPTH_MAX);
	_cleanup_(json_freep) json_object *root = NULL;
	json_object *list;
	uint64_t version;

	if (!tok)
		return -ENOMEM;
	if (len > LEDGER_SIZE_MAX)
		return -EBADMSG;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	root = json_tokener_parse_ex(tok, text, (int)len);
	if (json_tokener_get_error(tok) != json_tokener_success)
		return -EBADMSG;
	/* Strict does not say whether something follows but white space. */
	for (size_t i = json_tokener_get_parse_end(tok); i < len; i++)
		if (!strchr(" \t\r\n", text[i]) || text[i] == '\0')
			return -EBADMSG;
	if (!json_object_is_type(root, json_type_object) ||
	    json_object_object_length(root) != 2 || get_u64(root, "version", &version) < 0 ||
	    version != LEDGER_VERSION || get(root, "entries", json_type_array, &list) < 0)
		return -EBADMSG;
	return parse_entries(list, ret, ret_n);
}

/* What it was stays there to be looked at, and out of the way of the next one. */
static int put_aside(const char *path)
{
	char bad[PATH_MAX];

	if ((size_t)snprintf(bad, sizeof(bad), "%s.bad", path) >= sizeof(bad))
		return -ENAMETOOLONG;
	return rename(path, bad) < 0 ? -errno : 0;
}

int ledger_open(struct ledger *l, const char *runtime_dir)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	*l = (struct ledger){ 0 };
	if (asprintf(&l->path, "%s/ledger.json", runtime_dir) < 0) {
		l->path = NULL;
		return -ENOMEM;
	}
	r = read_full_file(l->path, LEDGER_SIZE_MAX, true, &text, &len);
	if (r == -ENOENT)
		return 0;
	if (r == -EFBIG || r == -EISDIR || r == -EINVAL)
		r = -EBADMSG;
	if (r == 0)
		r = ledger_parse(text, len, &l->entries, &l->n);
	if (r == -EBADMSG) {
		int k = put_aside(l->path);

		return k < 0 ? k : -EBADMSG;
	}
	return r;
}

void ledger_close(struct ledger *l)
{
	free(l->path);
	free(l->entries);
	*l = (struct ledger){ 0 };
}

/* --- writing --- */

static int add(json_object *o, const char *key, json_object *v)
{
	if (!v)
		return -ENOMEM;
	if (json_object_object_add(o, key, v) < 0) {
		json_object_put(v);
		return -ENOMEM;
	}
	return 0;
}

static int add_string(json_object *o, const char *key, const char *s)
{
	return add(o, key, json_object_new_string(s));
}

static int build_entry(const struct ledger_entry *e, json_object **ret)
{
	_cleanup_(json_freep) json_object *o = json_object_new_object();
	char dev[32];

	snprintf(dev, sizeof(dev), "%u:%u", major(e->id.dev), minor(e->id.dev));
	if (!o || add_string(o, "device", e->device) < 0 || add_string(o, "dev", dev) < 0 ||
	    add(o, "ino", json_object_new_uint64(e->id.ino)) < 0 ||
	    add(o, "diskseq", json_object_new_uint64(e->id.diskseq)) < 0 ||
	    add_string(o, "path", e->path) < 0 ||
	    add_string(o, "knob", knob_ops(e->knob)->name) < 0 ||
	    add_string(o, "state", state_names[e->state]) < 0 ||
	    add_string(o, "original", e->original) < 0 || add_string(o, "from", e->from) < 0 ||
	    add_string(o, "written", e->written) < 0 ||
	    add_string(o, "reason", reason_to_string(e->reason)) < 0 ||
	    add(o, "from_pinned", json_object_new_boolean(e->from_pinned)) < 0 ||
	    add_string(o, "pinned_by", e->by) < 0 ||
	    add(o, "time_us", json_object_new_uint64(e->time_us)) < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(o);
	return 0;
}

static int build(const struct ledger_entry *entries, size_t n, json_object **ret)
{
	_cleanup_(json_freep) json_object *root = json_object_new_object();
	json_object *list = json_object_new_array();

	if (!root || add(root, "version", json_object_new_int(LEDGER_VERSION)) < 0 ||
	    add(root, "entries", list) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		json_object *o;

		if (build_entry(&entries[i], &o) < 0)
			return -ENOMEM;
		if (json_object_array_add(list, o) < 0) {
			json_object_put(o);
			return -ENOMEM;
		}
	}
	*ret = TAKE_PTR(root);
	return 0;
}

int ledger_format(const struct ledger_entry *entries, size_t n, char **ret, size_t *ret_len)
{
	_cleanup_(json_freep) json_object *root = NULL;
	const char *text;
	int r = build(entries, n, &root);

	if (r < 0)
		return r;
	text = json_object_to_json_string_length(
		root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE, ret_len);
	*ret = text ? strdup(text) : NULL;
	return *ret ? 0 : -ENOMEM;
}

/* Stores `entries`; only then they become the ledger's. Takes them over in any case. */
static int store(struct ledger *l, struct ledger_entry *entries, size_t n)
{
	_cleanup_free_ struct ledger_entry *mine = entries;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = ledger_format(mine, n, &text, &len);
	if (r < 0)
		return r;
	/* What could not be read back must not be written: it would be as good as lost. */
	if (len > LEDGER_SIZE_MAX)
		return -EFBIG;
	r = write_file_atomic(l->path, text, len, 0600);
	if (r < 0)
		return r;
	free(l->entries);
	l->entries = TAKE_PTR(mine);
	l->n = n;
	return 0;
}

static struct ledger_entry *copy(const struct ledger *l, size_t more)
{
	struct ledger_entry *entries = calloc(l->n + more + 1, sizeof(*entries));

	if (entries && l->n > 0)
		memcpy(entries, l->entries, l->n * sizeof(*entries));
	return entries;
}

struct ledger_entry *ledger_find(struct ledger *l, const struct device_id *id,
				 enum knob_id knob)
{
	return find(l->entries, l->n, id, knob);
}

enum ledger_claim ledger_claim(const struct ledger_entry *e, const char *value)
{
	bool pinned;

	if (!e)
		return CLAIM_NONE;
	if (strcmp(value, e->written) == 0)
		pinned = e->pinned;
	else if (e->state == LEDGER_INTENT && strcmp(value, e->from) == 0)
		pinned = e->from_pinned;
	else
		return CLAIM_FOREIGN;
	return pinned ? CLAIM_PINNED : CLAIM_OURS;
}

int ledger_put(struct ledger *l, const struct ledger_entry *e)
{
	struct ledger_entry *entries = copy(l, 1), *old;
	size_t n = l->n;

	if (!entries)
		return -ENOMEM;
	old = find(entries, n, &e->id, e->knob);
	if (old)
		*old = *e;
	else
		entries[n++] = *e;
	return store(l, entries, n);
}

int ledger_prune(struct ledger *l, bool (*keep)(const struct ledger_entry *e, void *userdata),
		 void *userdata)
{
	struct ledger_entry *entries = copy(l, 0);
	size_t n = 0;

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++)
		if (keep(&l->entries[i], userdata))
			entries[n++] = l->entries[i];
	if (n == l->n) {
		free(entries);
		return 0;
	}
	return store(l, entries, n);
}

struct key {
	const struct device_id *id;
	enum knob_id knob;
};

static bool is_another(const struct ledger_entry *e, void *userdata)
{
	const struct key *key = userdata;

	return e->knob != key->knob || !device_id_equal(&e->id, key->id);
}

int ledger_remove(struct ledger *l, const struct device_id *id, enum knob_id knob)
{
	struct key key = { id, knob };

	return ledger_prune(l, is_another, &key);
}
