// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>
#include <string.h>
#include "promise.h"

static void choice_clear(struct choice *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->states[i]);
	free(c->states);
	*c = (struct choice){ .since = c->since };
}

void expectations_free(struct expectations *e)
{
	for (size_t i = 0; i < e->n_objects; i++) {
		choice_clear(&e->objects[i].names);
		choice_clear(&e->objects[i].listing);
		choice_clear(&e->objects[i].xattr);
	}
	free(e->objects);
	free(e);
}

/*
 * The state after `steps` operations; takes the text over. What was before the promise does not
 * count any more.
 */
static int choice_add(struct choice *c, unsigned steps, char *text)
{
	char **states;

	if (!text)
		return -ENOMEM;
	if (steps <= c->since)
		choice_clear(c);
	if (c->n > 0 && strcmp(c->states[c->n - 1], text) == 0) {
		free(text);
		return 0;
	}
	states = reallocarray(c->states, c->n + 1, sizeof(*states));
	if (!states) {
		free(text);
		return -ENOMEM;
	}
	c->states = states;
	c->states[c->n++] = text;
	return 0;
}

static bool choice_has(const struct choice *c, const char *text)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->states[i], text) == 0)
			return true;
	return false;
}

static void raise(unsigned *since, unsigned to)
{
	if (to > *since)
		*since = to;
}

static void promise_sync(struct expectation *x, const struct op *op, unsigned step)
{
	switch (op->kind) {
	case OP_FSYNC_DIR:
		raise(&x->listing.since, step);
		raise(&x->names.since, step);
		break;
	case OP_FSYNC:
		raise(&x->names.since, step);
		raise(&x->xattr.since, step);
		raise(&x->data_since, step);
		break;
	case OP_FDATASYNC:
		raise(&x->names.since, x->created);
		raise(&x->data_since, step);
		break;
	default:
		break;
	}
}

static void promise_everything(struct expectations *e, unsigned step)
{
	for (size_t i = 0; i < e->n_objects; i++) {
		struct expectation *x = &e->objects[i];

		raise(&x->names.since, step);
		raise(&x->listing.since, step);
		raise(&x->xattr.since, step);
		raise(&x->data_since, step);
	}
}

static int grow(struct expectations *e, size_t n)
{
	struct expectation *objects;

	if (n <= e->n_objects)
		return 0;
	objects = reallocarray(e->objects, n, sizeof(*objects));
	if (!objects)
		return -ENOMEM;
	memset(objects + e->n_objects, 0, (n - e->n_objects) * sizeof(*objects));
	e->objects = objects;
	e->n_objects = n;
	return 0;
}

/* First time through: since when each thing is promised. */
static int find_promises(struct expectations *e, struct world *w,
			 const struct progress *progress)
{
	struct op op;
	int r;

	r = grow(e, w->n_objects);
	if (r < 0)
		return r;
	for (unsigned step = 0;; step++) {
		if (step == progress->synced)
			promise_everything(e, step);
		if (step >= progress->done && step >= progress->synced)
			return 0;
		if (!world_next(w, &op))
			return 0;
		if (step < progress->done && op_is_sync(op.kind))
			promise_sync(&e->objects[op.object], &op, step);
		r = world_apply(w, &op);
		if (r == 0)
			r = grow(e, w->n_objects);
		if (r < 0)
			return r;
		if (op.kind == OP_CREATE || op.kind == OP_MKDIR)
			e->objects[op.object].created = w->steps;
	}
}

static int add_state(struct expectations *e, const struct world *w, unsigned object)
{
	struct expectation *x = &e->objects[object];
	const struct object *o = &w->objects[object];
	char *xattr;
	int r;

	x->is_dir = o->is_dir;
	if (w->steps <= x->data_since) {
		x->size_min = x->size_max = o->size;
	} else {
		x->size_min = o->size < x->size_min ? o->size : x->size_min;
		x->size_max = o->size > x->size_max ? o->size : x->size_max;
	}
	r = choice_add(&x->names, w->steps, world_names(w, object));
	if (r < 0)
		return r;
	if (asprintf(&xattr, "%u", o->xattr) < 0)
		return -ENOMEM;
	r = choice_add(&x->xattr, w->steps, xattr);
	if (r < 0 || !o->is_dir)
		return r;
	return choice_add(&x->listing, w->steps, world_listing(w, object));
}

/* Before it was made, an object is nowhere; and once it is, it is empty at first. */
static int add_absence(struct expectations *e, unsigned object)
{
	struct expectation *x = &e->objects[object];

	return choice_add(&x->names, 0, strdup(""));
}

/* The objects that an operation may have changed. */
static size_t changed(const struct world *before, const struct op *op, unsigned ret[4])
{
	const struct entry *there = NULL;
	size_t n = 0;

	if (op_is_sync(op->kind))
		return 0;
	ret[n++] = op->object;
	ret[n++] = op->dir;
	if (op->kind == OP_RENAME || op->kind == OP_EXCHANGE || op->kind == OP_RENAME_DIR) {
		ret[n++] = op->to_dir;
		there = world_find(before, op->to_dir, op->to);
	}
	if (there)
		ret[n++] = there->object;
	return n;
}

/* Second time: the states since then. */
static int find_states(struct expectations *e, struct world *w, const struct progress *progress)
{
	struct op op;
	int r = grow(e, w->n_objects);

	if (r == 0)
		r = add_state(e, w, WORLD_ROOT);
	while (r == 0 && w->steps < progress->begun && world_next(w, &op)) {
		unsigned objects[4];
		size_t n = changed(w, &op, objects);

		/*
		 * The load says of itself when it goes on to one of these; of the last, that it
		 * has begun it, is not known if there is no word after it.
		 */
		if (progress->begun == UINT_MAX && w->steps >= progress->done &&
		    (op_takes_away(op.kind) || op_is_sync(op.kind)))
			break;
		if (op.kind == OP_CREATE || op.kind == OP_MKDIR) {
			r = grow(e, op.object + 1);
			if (r == 0)
				r = add_absence(e, op.object);
		}
		if (r == 0)
			r = world_apply(w, &op);
		for (size_t i = 0; i < n && r == 0; i++)
			r = add_state(e, w, objects[i]);
	}
	return r;
}

int promises(struct expectations **ret, struct world *w, uint64_t seed,
	     const struct progress *progress)
{
	_cleanup_(expectations_freep) struct expectations *e = calloc(1, sizeof(*e));
	_cleanup_(world_freep) struct world *again = NULL;
	int r;

	if (!e)
		return -ENOMEM;
	e->worker = w->worker;
	r = world_new(&again, seed, w->worker, w->xattrs);
	if (r == 0)
		r = find_promises(e, again, progress);
	if (r == 0)
		r = find_states(e, w, progress);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(e);
	return 0;
}

static void print_choice(FILE *out, const struct choice *c)
{
	for (size_t i = 0; i < c->n; i++)
		fprintf(out, "%s '%s'", i ? " or" : "", c->states[i]);
	if (c->since > 0)
		fprintf(out, ", promised since operation %u", c->since);
	fputc('\n', out);
}

static const char *what(const struct expectation *x)
{
	return x->is_dir ? "directory" : "file";
}

/* The names of an object, or of a directory's entries, as they were found. */
static char *names_found(const struct found *found, size_t n, const struct expectation *x,
			 unsigned object, bool listing)
{
	_cleanup_free_ char(*text)[WORLD_NAME + 16] = calloc(n + 1, sizeof(*text));
	_cleanup_free_ char **words = calloc(n + 1, sizeof(*words));
	size_t n_words = 0;

	if (!text || !words)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const struct found *f = &found[i];

		if (listing ? f->dir != object
			    : !f->known || f->object != object || f->is_dir != x->is_dir)
			continue;
		if (listing)
			snprintf(text[n_words], sizeof(*text), "%s", f->name);
		else
			snprintf(text[n_words], sizeof(*text), "%u/%s", f->dir, f->name);
		words[n_words] = text[n_words];
		n_words++;
	}
	return join_sorted(words, n_words);
}

static int check_choice(const struct expectations *e, unsigned object, const struct choice *c,
			const char *of, const char *is, FILE *out)
{
	if (choice_has(c, is))
		return 0;
	if (out) {
		fprintf(out, "worker %u, %s %u: its %s '%s', may be", e->worker,
			what(&e->objects[object]), object, of, is);
		print_choice(out, c);
	}
	return 1;
}

static int check_object(const struct expectations *e, unsigned object,
			const struct found *found, size_t n, FILE *out)
{
	const struct expectation *x = &e->objects[object];
	_cleanup_free_ char *names = names_found(found, n, x, object, false);
	_cleanup_free_ char *listing = names_found(found, n, x, object, true);
	int wrong;

	if (!names || !listing)
		return -ENOMEM;
	wrong = check_choice(e, object, &x->names, "names are", names, out);
	if (x->is_dir && (object == WORLD_ROOT || *names))
		wrong += check_choice(e, object, &x->listing, "entries are", listing, out);
	return wrong;
}

static int check_content(const struct expectations *e, const struct found *f, FILE *out)
{
	const struct expectation *x = &e->objects[f->object];
	char xattr[16];
	int wrong = 0;

	if (f->size < x->size_min || f->size > x->size_max) {
		wrong++;
		if (out)
			fprintf(out,
				"worker %u, file %u (%s): %llu bytes, may be %u to %u, "
				"promised "
				"since operation %u\n",
				e->worker, f->object, f->name, (unsigned long long)f->size,
				x->size_min, x->size_max, x->data_since);
	} else if (f->good < x->size_min) {
		wrong++;
		if (out)
			fprintf(out,
				"worker %u, file %u (%s): byte %llu is wrong, %u are "
				"promised\n",
				e->worker, f->object, f->name, (unsigned long long)f->good,
				x->size_min);
	}
	snprintf(xattr, sizeof(xattr), "%u", f->xattr);
	return wrong + check_choice(e, f->object, &x->xattr, "attribute is", xattr, out);
}

static int check_found(const struct expectations *e, const struct found *f, FILE *out)
{
	if (f->strange != UINT64_MAX) {
		if (out)
			fprintf(out, "worker %u, %s: byte %llu was never written there\n",
				e->worker, f->name, (unsigned long long)f->strange);
		return 1;
	}
	if (!f->known)
		return 0;
	if (f->object >= e->n_objects || e->objects[f->object].is_dir != f->is_dir) {
		if (out)
			fprintf(out, "worker %u, %s: there is no object %u\n", e->worker,
				f->name, f->object);
		return 1;
	}
	return f->is_dir ? 0 : check_content(e, f, out);
}

int promises_check(const struct expectations *e, const struct found *found, size_t n, FILE *out)
{
	int wrong = 0;

	for (unsigned i = 0; i < e->n_objects; i++) {
		int r = check_object(e, i, found, n, out);

		if (r < 0)
			return r;
		wrong += r;
	}
	for (size_t i = 0; i < n; i++)
		wrong += check_found(e, &found[i], out);
	return wrong;
}
