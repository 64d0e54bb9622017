// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "world.h"

#define MAX_DIRS 8u
#define NAMES 40u
#define MAX_SIZE 40000u
#define MAX_GROWTH 9000u

uint64_t next_random(uint64_t *state)
{
	/* splitmix64: any seed does, 0 too. */
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static unsigned below(struct world *w, unsigned n)
{
	return (unsigned)(next_random(&w->random) % n);
}

static int add_object(struct world *w, bool is_dir)
{
	struct object *objects = reallocarray(w->objects, w->n_objects + 1, sizeof(*objects));

	if (!objects)
		return -ENOMEM;
	w->objects = objects;
	w->objects[w->n_objects++] = (struct object){ .is_dir = is_dir };
	return 0;
}

static int add_entry(struct world *w, unsigned dir, const char *name, unsigned object)
{
	struct entry *entries = reallocarray(w->entries, w->n_entries + 1, sizeof(*entries));
	struct entry *e;

	if (!entries)
		return -ENOMEM;
	w->entries = entries;
	e = &entries[w->n_entries++];
	*e = (struct entry){ .dir = dir, .object = object };
	snprintf(e->name, sizeof(e->name), "%s", name);
	w->objects[object].links++;
	return 0;
}

const struct entry *world_find(const struct world *w, unsigned dir, const char *name)
{
	for (size_t i = 0; i < w->n_entries; i++)
		if (w->entries[i].dir == dir && strcmp(w->entries[i].name, name) == 0)
			return &w->entries[i];
	return NULL;
}

static void drop_entry(struct world *w, unsigned dir, const char *name)
{
	const struct entry *e = world_find(w, dir, name);
	size_t i;

	if (!e)
		return;
	i = (size_t)(e - w->entries);
	w->objects[e->object].links--;
	memmove(&w->entries[i], &w->entries[i + 1],
		(w->n_entries - i - 1) * sizeof(*w->entries));
	w->n_entries--;
}

int world_new(struct world **ret, uint64_t seed, unsigned worker, bool xattrs)
{
	_cleanup_(world_freep) struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->random = seed * WORLD_WORKERS + worker;
	w->worker = worker;
	w->xattrs = xattrs;
	w->recipe = seed == 0;
	if (add_object(w, true) < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(w);
	return 0;
}

void world_free(struct world *w)
{
	free(w->entries);
	free(w->objects);
	free(w);
}

bool op_is_sync(enum op_kind kind)
{
	return kind == OP_FSYNC || kind == OP_FDATASYNC || kind == OP_FSYNC_DIR;
}

bool op_takes_away(enum op_kind kind)
{
	switch (kind) {
	case OP_UNLINK:
	case OP_RENAME:
	case OP_EXCHANGE:
	case OP_RENAME_DIR:
	case OP_RMDIR:
	case OP_TRUNCATE:
	case OP_SETXATTR:
		return true;
	default:
		return false;
	}
}

/* An entry of a file, or of a directory; NULL if there is none. */
static const struct entry *pick_entry(struct world *w, bool is_dir)
{
	unsigned n = 0, chosen;

	for (size_t i = 0; i < w->n_entries; i++)
		n += w->objects[w->entries[i].object].is_dir == is_dir;
	if (n == 0)
		return NULL;
	chosen = below(w, n);
	for (size_t i = 0; i < w->n_entries; i++)
		if (w->objects[w->entries[i].object].is_dir == is_dir && chosen-- == 0)
			return &w->entries[i];
	return NULL;
}

static unsigned pick_dir(struct world *w)
{
	const struct entry *e = below(w, 3) == 0 ? NULL : pick_entry(w, true);

	return e ? e->object : WORLD_ROOT;
}

static unsigned count_dirs(const struct world *w)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->n_objects; i++)
		n += w->objects[i].is_dir && w->objects[i].links > 0;
	return n;
}

/* Some names are too long for the kernel to keep inside a dentry: a path of its own. */
static void pick_name(struct world *w, char *name)
{
	unsigned number = below(w, NAMES);

	snprintf(name, WORLD_NAME, "f%u%s", number,
		 number % 6 == 0 ? "-and-a-tail-that-makes-it-a-long-name" : "");
}

static bool is_below(const struct world *w, unsigned dir, unsigned above)
{
	while (dir != WORLD_ROOT) {
		unsigned parent = WORLD_ROOT;

		if (dir == above)
			return true;
		for (size_t i = 0; i < w->n_entries; i++)
			if (w->entries[i].object == dir)
				parent = w->entries[i].dir;
		dir = parent;
	}
	return false;
}

static bool is_empty(const struct world *w, unsigned dir)
{
	for (size_t i = 0; i < w->n_entries; i++)
		if (w->entries[i].dir == dir)
			return false;
	return true;
}

static void take(struct op *op, const struct entry *e)
{
	op->object = e->object;
	op->dir = e->dir;
	snprintf(op->name, sizeof(op->name), "%s", e->name);
}

/* The file that was changed last more often than another. */
static bool take_file(struct world *w, struct op *op)
{
	const struct entry *e = NULL;

	if (below(w, 3) > 0)
		for (size_t i = 0; i < w->n_entries && !e; i++)
			if (w->entries[i].object == w->last && !w->objects[w->last].is_dir)
				e = &w->entries[i];
	if (!e)
		e = pick_entry(w, false);
	if (e)
		take(op, e);
	return e;
}

static bool pick_target(struct world *w, struct op *op)
{
	const struct entry *there;

	op->to_dir = pick_dir(w);
	pick_name(w, op->to);
	there = world_find(w, op->to_dir, op->to);
	/* Between two names of one file, rename() does nothing. */
	return !there || there->object != op->object;
}

static bool pick_new(struct world *w, struct op *op)
{
	op->dir = pick_dir(w);
	if (op->kind == OP_MKDIR)
		snprintf(op->name, sizeof(op->name), "d%zu.0", w->n_objects);
	else
		pick_name(w, op->name);
	return w->n_entries < WORLD_ENTRIES && !world_find(w, op->dir, op->name);
}

static bool pick_dir_move(struct world *w, struct op *op)
{
	const struct entry *e = pick_entry(w, true);

	if (!e)
		return false;
	take(op, e);
	op->to_dir = pick_dir(w);
	snprintf(op->to, sizeof(op->to), "d%u.%u", op->object, w->steps);
	return !is_below(w, op->to_dir, op->object);
}

static bool pick_exchange(struct world *w, struct op *op)
{
	const struct entry *e;

	if (!take_file(w, op))
		return false;
	e = pick_entry(w, false);
	op->to_dir = e->dir;
	snprintf(op->to, sizeof(op->to), "%s", e->name);
	return e->object != op->object;
}

static bool pick_size(struct world *w, struct op *op)
{
	uint32_t size;

	if (op->kind == OP_CREATE) {
		op->object = (unsigned)w->n_objects;
		op->size = WORLD_HEADER_BYTES + below(w, MAX_GROWTH);
		return true;
	}
	if (!take_file(w, op))
		return false;
	size = w->objects[op->object].size;
	if (op->kind == OP_APPEND)
		op->size = size + 1 + below(w, MAX_GROWTH);
	else
		op->size = WORLD_HEADER_BYTES + below(w, size - WORLD_HEADER_BYTES + 1);
	return op->size <= MAX_SIZE && op->size != size;
}

/* The rest of an operation of the kind that was chosen; false if there can be none now. */
static bool pick_operands(struct world *w, struct op *op)
{
	const struct entry *e;

	switch (op->kind) {
	case OP_CREATE:
		return pick_new(w, op) && pick_size(w, op);
	case OP_MKDIR:
		op->object = (unsigned)w->n_objects;
		return count_dirs(w) < MAX_DIRS && pick_new(w, op);
	case OP_LINK:
		return take_file(w, op) && pick_new(w, op);
	case OP_UNLINK:
		e = pick_entry(w, false);
		if (e)
			take(op, e);
		return e;
	case OP_RENAME:
		return take_file(w, op) && pick_target(w, op);
	case OP_EXCHANGE:
		return pick_exchange(w, op);
	case OP_RENAME_DIR:
		return pick_dir_move(w, op);
	case OP_RMDIR:
		e = pick_entry(w, true);
		if (e)
			take(op, e);
		return e && is_empty(w, e->object);
	case OP_APPEND:
	case OP_TRUNCATE:
		return pick_size(w, op);
	case OP_SETXATTR:
		op->size = w->steps + 1;
		return w->xattrs && take_file(w, op);
	case OP_FSYNC:
	case OP_FDATASYNC:
		return take_file(w, op);
	case OP_FSYNC_DIR:
		op->object = pick_dir(w);
		return true;
	}
	return false;
}

/*
 * How often each kind is tried. What makes a transaction ineligible for a fast commit is rare:
 * it ends the time in which changes may go untracked.
 */
static const struct {
	enum op_kind kind;
	unsigned weight;
} weights[] = {
	{ OP_CREATE, 20 },   { OP_MKDIR, 4 },     { OP_LINK, 6 },       { OP_UNLINK, 10 },
	{ OP_RENAME, 10 },   { OP_EXCHANGE, 1 },  { OP_RENAME_DIR, 1 }, { OP_RMDIR, 2 },
	{ OP_APPEND, 16 },   { OP_TRUNCATE, 6 },  { OP_SETXATTR, 1 },   { OP_FSYNC, 18 },
	{ OP_FDATASYNC, 4 }, { OP_FSYNC_DIR, 6 },
};

static enum op_kind pick_kind(struct world *w)
{
	unsigned total = 0, chosen;

	for (size_t i = 0; i < ELEMENTSOF(weights); i++)
		total += weights[i].weight;
	chosen = below(w, total);
	for (size_t i = 0;; i++) {
		if (chosen < weights[i].weight)
			return weights[i].kind;
		chosen -= weights[i].weight;
	}
}

static bool next_of_recipe(const struct world *w, struct op *op)
{
	*op = (struct op){ .kind = w->steps == 0 ? OP_CREATE : OP_FSYNC, .object = 1 };
	snprintf(op->name, sizeof(op->name), "f1");
	op->size = 100;
	return w->steps < 2;
}

bool world_next(struct world *w, struct op *ret)
{
	if (w->recipe)
		return next_of_recipe(w, ret);
	do
		*ret = (struct op){ .kind = pick_kind(w) };
	while (!pick_operands(w, ret));
	return true;
}

static int apply_exchange(struct world *w, const struct op *op)
{
	unsigned other = world_find(w, op->to_dir, op->to)->object;

	drop_entry(w, op->dir, op->name);
	drop_entry(w, op->to_dir, op->to);
	if (add_entry(w, op->dir, op->name, other) < 0)
		return -ENOMEM;
	return add_entry(w, op->to_dir, op->to, op->object);
}

int world_apply(struct world *w, const struct op *op)
{
	w->steps++;
	if (!op_is_sync(op->kind))
		w->last = op->object;
	switch (op->kind) {
	case OP_CREATE:
	case OP_MKDIR:
		if (add_object(w, op->kind == OP_MKDIR) < 0)
			return -ENOMEM;
		w->objects[op->object].size = op->size;
		return add_entry(w, op->dir, op->name, op->object);
	case OP_LINK:
		return add_entry(w, op->dir, op->name, op->object);
	case OP_UNLINK:
	case OP_RMDIR:
		drop_entry(w, op->dir, op->name);
		return 0;
	case OP_RENAME:
	case OP_RENAME_DIR:
		drop_entry(w, op->to_dir, op->to);
		drop_entry(w, op->dir, op->name);
		return add_entry(w, op->to_dir, op->to, op->object);
	case OP_EXCHANGE:
		return apply_exchange(w, op);
	case OP_APPEND:
	case OP_TRUNCATE:
		w->objects[op->object].size = op->size;
		return 0;
	case OP_SETXATTR:
		w->objects[op->object].xattr = op->size;
		return 0;
	default:
		return 0;
	}
}

int world_path(const struct world *w, unsigned dir, const char *name, char *buf, size_t size)
{
	char rest[1024];

	if (snprintf(buf, size, "%s", name) >= (int)size)
		return -ENAMETOOLONG;
	while (dir != WORLD_ROOT) {
		const struct entry *e = NULL;

		for (size_t i = 0; i < w->n_entries && !e; i++)
			if (w->entries[i].object == dir)
				e = &w->entries[i];
		if (!e)
			return -ENOENT;
		if (snprintf(rest, sizeof(rest), "%s/%s", e->name, buf) >= (int)sizeof(rest) ||
		    snprintf(buf, size, "%s", rest) >= (int)size)
			return -ENAMETOOLONG;
		dir = e->dir;
	}
	return 0;
}

int world_directory_number(const char *name, unsigned *ret)
{
	unsigned turn;
	char end;

	return sscanf(name, "d%u.%u%c", ret, &turn, &end) == 2 ? 0 : -EINVAL;
}
