/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one worker of the crash load does, and what its files are then: an endless sequence of
 * operations that follows from a seed alone. The load carries it out; the checker generates it
 * once more and so knows every state that each object was in. Nothing else has to be recorded
 * but how far the worker had come.
 */
#ifndef FSTUNED_CRASH_WORLD_H
#define FSTUNED_CRASH_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../../daemon/base/cleanup.h"

#define WORLD_WORKERS 8 /* at most; a worker is 0 to 7 */
#define WORLD_NAME 64
#define WORLD_ENTRIES 48u /* at most: kept small, so that names and inodes are used again */
#define WORLD_ROOT 0u     /* the object that is the worker's own directory */

/* Every file is given this much when it is made, so that it can be told by its content. */
#define WORLD_HEADER_BYTES 16u

enum op_kind {
	OP_CREATE, /* object at dir/name, with `size` bytes */
	OP_MKDIR,
	OP_LINK,       /* object gets dir/name */
	OP_UNLINK,     /* dir/name goes */
	OP_RENAME,     /* dir/name becomes to_dir/to, over what is there */
	OP_EXCHANGE,   /* the files dir/name and to_dir/to change places */
	OP_RENAME_DIR, /* dir/name becomes to_dir/to, which is free */
	OP_RMDIR,      /* dir/name goes; it is empty */
	OP_APPEND,     /* object grows to `size`; dir/name is one of its names, also below */
	OP_TRUNCATE,   /* object shrinks to `size` */
	OP_SETXATTR,   /* user.v becomes `size` */
	OP_FSYNC,
	OP_FDATASYNC,
	OP_FSYNC_DIR, /* object is a directory */
};

struct op {
	enum op_kind kind;
	unsigned object;
	unsigned dir, to_dir;
	char name[WORLD_NAME], to[WORLD_NAME];
	uint32_t size;
};

struct entry {
	unsigned dir, object;
	char name[WORLD_NAME];
};

struct object {
	bool is_dir;
	unsigned links;
	uint32_t size;
	uint32_t xattr; /* 0: none */
};

struct world {
	uint64_t random;
	unsigned worker;
	unsigned steps; /* operations so far */
	unsigned last;  /* object that was changed last */
	bool xattrs;
	bool recipe;
	struct entry *entries; /* in the order in which they came to be */
	size_t n_entries;
	struct object *objects; /* by number; those that are gone have no links */
	size_t n_objects;
};

/*
 * Begins. Seed 0 is no load but the shortest that shows the loss: one file, made and fsynced.
 * `xattrs`: among the operations are extended attributes. -ENOMEM.
 */
int world_new(struct world **ret, uint64_t seed, unsigned worker, bool xattrs);
void world_free(struct world *w);
DEFINE_CLEANUP(struct world *, world_free)

/* The next operation, valid as things are. Returns false when there is none: seed 0 alone. */
bool world_next(struct world *w, struct op *ret);

/* Makes the world what it is after `op`. -ENOMEM. */
int world_apply(struct world *w, const struct op *op);

/* A sync makes a promise about `object`; it changes nothing. */
bool op_is_sync(enum op_kind kind);

/* It can take something away that was there before: a name, content, an attribute. */
bool op_takes_away(enum op_kind kind);

/* The entry, NULL if there is none. */
const struct entry *world_find(const struct world *w, unsigned dir, const char *name);

/* The path of dir/name from the worker's directory. -ENAMETOOLONG. */
int world_path(const struct world *w, unsigned dir, const char *name, char *buf, size_t size);

/* The number of a directory, from its name; -EINVAL for others. */
int world_directory_number(const char *name, unsigned *ret);

/*
 * An object's names, sorted, as "DIRECTORY/NAME ..."; "" if it has none. A directory's entries
 * as "NAME ...". The caller frees; NULL when out of memory.
 */
char *world_names(const struct world *w, unsigned object);
char *world_listing(const struct world *w, unsigned dir);

/* Sorts and joins by blanks. The caller frees; NULL when out of memory. */
char *join_sorted(char **words, size_t n);

/*
 * The content of a file depends on nothing but who it is and where in it one looks: fills buf
 * with what belongs at `offset`.
 */
void world_content(unsigned worker, unsigned object, uint32_t offset, void *buf, size_t len);

/* Whose content begins with these WORLD_HEADER_BYTES; -ENOENT if nobody's. */
int world_whose(const void *header, unsigned *ret_worker, unsigned *ret_object);

/* A small generator of random numbers; `*state` is its seed. */
uint64_t next_random(uint64_t *state);

#endif
