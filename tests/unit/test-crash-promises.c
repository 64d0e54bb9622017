// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The promises of the crash test, on a real directory: what was done is accepted, at every
 * moment at which a crash may have come; whatever is taken away or altered of what was promised
 * is seen.
 */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../vm/crash/tree.h"
#include "tree.h"

#define SEED 7u
#define STEPS 600u

struct scene {
	struct tree tree;
	int fd;
	struct world *w;
};

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	tree_init(&s->tree);
	s->fd = open(s->tree.run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(s->fd >= 0);
	/* No attributes: what the directory is on may not have them. */
	assert_int_equal(world_new(&s->w, SEED, 1, false), 0);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	close(s->fd);
	world_free(s->w);
	tree_done(&s->tree);
	free(s);
	return 0;
}

/* The next operation, done on the disk as well; returns it. */
static struct op step(struct scene *s)
{
	struct op op;

	assert_true(world_next(s->w, &op));
	assert_int_equal(tree_do(s->fd, s->w, &op), 0);
	assert_int_equal(world_apply(s->w, &op), 0);
	return op;
}

static int complaints(struct scene *s, const struct progress *p)
{
	_cleanup_(expectations_freep) struct expectations *e = NULL;
	_cleanup_(world_freep) struct world *w = NULL;
	_cleanup_free_ struct found *found = NULL;
	size_t n;

	assert_int_equal(tree_look(s->fd, 1, &found, &n), 0);
	assert_int_equal(world_new(&w, SEED, 1, false), 0);
	assert_int_equal(promises(&e, w, SEED, p), 0);
	return promises_check(e, found, n, NULL);
}

static void everything_that_may_have_been_is_accepted(void **state)
{
	struct scene *s = *state;

	while (s->w->steps < STEPS) {
		struct progress now = { .done = s->w->steps,
					.synced = s->w->steps,
					.begun = s->w->steps };
		struct progress later = { .done = s->w->steps, .begun = s->w->steps + 20 };
		struct progress earlier = { .done = s->w->steps < 20 ? 0 : s->w->steps - 20,
					    .begun = UINT_MAX };

		assert_int_equal(complaints(s, &now), 0);
		assert_int_equal(complaints(s, &later), 0);
		/* The load would have said what it takes away. */
		earlier.begun = s->w->steps;
		assert_int_equal(complaints(s, &earlier), 0);
		step(s);
	}
}

/* A crash that goes back behind the syncs of some last operations. */
static void loss_of_what_was_synced_is_seen(void **state)
{
	struct scene *s = *state;
	unsigned seen = 0, new = 0;
	_cleanup_(world_freep) struct world *ahead = NULL;

	assert_int_equal(world_new(&ahead, SEED, 1, false), 0);
	while (ahead->steps < STEPS) {
		unsigned before = ahead->steps, objects = (unsigned)ahead->n_objects;
		struct op op;

		/* Up to a sync of something that was made since the last one. */
		do {
			assert_true(world_next(ahead, &op));
			assert_int_equal(world_apply(ahead, &op), 0);
		} while (!op_is_sync(op.kind));
		if (op.object >= objects) {
			struct progress p = { .done = ahead->steps, .begun = ahead->steps };

			new ++;
			assert_int_equal(s->w->steps, before);
			seen += complaints(s, &p) > 0;
		}
		while (s->w->steps < ahead->steps)
			step(s);
	}
	assert_true(new > 20);
	assert_int_equal(seen, new);
}

/* A file with content, all of it promised. */
static const struct entry *some_file(struct scene *s, char *path)
{
	for (size_t i = 0; i < s->w->n_entries; i++) {
		const struct entry *e = &s->w->entries[i];
		const struct object *o = &s->w->objects[e->object];

		if (!o->is_dir && o->size > 100 && o->links == 1) {
			assert_int_equal(world_path(s->w, e->dir, e->name, path, PATH_MAX), 0);
			return e;
		}
	}
	fail_msg("no such file");
	return NULL;
}

static struct progress all_synced(struct scene *s)
{
	while (s->w->steps < STEPS)
		step(s);
	return (struct progress){ .done = STEPS, .synced = STEPS, .begun = STEPS };
}

static void file_that_is_gone_is_seen(void **state)
{
	struct scene *s = *state;
	struct progress p = all_synced(s);
	char path[PATH_MAX];

	some_file(s, path);
	assert_int_equal(unlinkat(s->fd, path, 0), 0);
	/* It, and the directory's entries. */
	assert_int_equal(complaints(s, &p), 2);
}

static void name_that_should_be_gone_is_seen(void **state)
{
	struct scene *s = *state;
	struct progress p = all_synced(s);
	char path[PATH_MAX];

	some_file(s, path);
	assert_int_equal(linkat(s->fd, path, s->fd, "f1000", 0), 0);
	assert_int_equal(complaints(s, &p), 2);
}

static void file_that_is_too_short_is_seen(void **state)
{
	struct scene *s = *state;
	struct progress p = all_synced(s);
	char path[PATH_MAX];
	_cleanup_close_ int fd = -EBADF;
	const struct entry *e = some_file(s, path);

	fd = openat(s->fd, path, O_RDWR | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, s->w->objects[e->object].size - 1), 0);
	assert_int_equal(complaints(s, &p), 1);
}

static void hole_in_promised_content_is_seen(void **state)
{
	struct scene *s = *state;
	struct progress p = all_synced(s);
	char path[PATH_MAX];
	_cleanup_close_ int fd = -EBADF;

	some_file(s, path);
	fd = openat(s->fd, path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "", 1, 40), 1);
	assert_int_equal(complaints(s, &p), 1);
}

/* Also where nothing is promised. */
static void content_of_another_file_is_seen(void **state)
{
	struct scene *s = *state;
	struct progress nothing;
	char path[PATH_MAX];
	_cleanup_close_ int fd = -EBADF;
	uint8_t other[64];

	all_synced(s);
	nothing = (struct progress){ .begun = STEPS };
	some_file(s, path);
	fd = openat(s->fd, path, O_RDWR | O_CLOEXEC);
	world_content(1, 9999, 32, other, sizeof(other));
	assert_int_equal(pwrite(fd, other, sizeof(other), 32), sizeof(other));
	assert_int_equal(complaints(s, &nothing), 1);
}

static void content_of_another_worker_is_seen(void **state)
{
	struct scene *s = *state;
	struct progress nothing;
	char path[PATH_MAX];
	_cleanup_close_ int fd = -EBADF;
	uint8_t other[64];
	const struct entry *e;

	all_synced(s);
	nothing = (struct progress){ .begun = STEPS };
	e = some_file(s, path);
	fd = openat(s->fd, path, O_RDWR | O_CLOEXEC);
	world_content(2, e->object, 0, other, sizeof(other));
	assert_int_equal(pwrite(fd, other, sizeof(other), 0), sizeof(other));
	assert_int_equal(complaints(s, &nothing), 1);
}

static void directory_that_is_where_it_was_is_seen(void **state)
{
	struct scene *s = *state;
	struct progress p;
	char from[PATH_MAX], to[PATH_MAX];
	struct op op;

	do {
		struct op next;

		assert_true(world_next(s->w, &next));
		if (next.kind == OP_RENAME_DIR) {
			assert_int_equal(world_path(s->w, next.dir, next.name, from, PATH_MAX),
					 0);
			assert_int_equal(world_path(s->w, next.to_dir, next.to, to, PATH_MAX),
					 0);
		}
		assert_int_equal(tree_do(s->fd, s->w, &next), 0);
		assert_int_equal(world_apply(s->w, &next), 0);
		op = next;
	} while (op.kind != OP_RENAME_DIR);
	p = (struct progress){ .synced = s->w->steps, .begun = s->w->steps };
	assert_int_equal(complaints(s, &p), 0);
	assert_int_equal(renameat(s->fd, to, s->fd, from), 0);
	assert_true(complaints(s, &p) > 0);
}

static void fdatasync_promises_content_and_some_name(void **state)
{
	_cleanup_(expectations_freep) struct expectations *e = NULL;
	struct progress p = { 0 };
	struct scene *s = *state;
	struct op op;

	do
		op = step(s);
	while (op.kind != OP_FDATASYNC);
	p.done = p.begun = s->w->steps;
	world_free(s->w);
	assert_int_equal(world_new(&s->w, SEED, 1, false), 0);
	assert_int_equal(promises(&e, s->w, SEED, &p), 0);
	assert_true(e->objects[op.object].size_min > 0);
	assert_true(e->objects[op.object].names.since > 0);
	for (size_t i = 0; i < e->objects[op.object].names.n; i++)
		assert_string_not_equal(e->objects[op.object].names.states[i], "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(everything_that_may_have_been_is_accepted),
		TEST(loss_of_what_was_synced_is_seen),
		TEST(file_that_is_gone_is_seen),
		TEST(name_that_should_be_gone_is_seen),
		TEST(file_that_is_too_short_is_seen),
		TEST(hole_in_promised_content_is_seen),
		TEST(content_of_another_file_is_seen),
		TEST(content_of_another_worker_is_seen),
		TEST(directory_that_is_where_it_was_is_seen),
		TEST(fdatasync_promises_content_and_some_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
