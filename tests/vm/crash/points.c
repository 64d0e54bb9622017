// SPDX-License-Identifier: GPL-2.0-or-later
#include "points.h"

static int note(struct marks *m, size_t entry, const struct mark *mark)
{
	struct noted *marks = reallocarray(m->marks, m->n + 1, sizeof(*marks));

	if (!marks)
		return -ENOMEM;
	m->marks = marks;
	m->marks[m->n++] = (struct noted){ .entry = entry, .mark = *mark };
	return 0;
}

int marks_read(struct marks **ret, const struct write_log *log, uint64_t bytes)
{
	_cleanup_(marks_freep) struct marks *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	for (size_t i = 0; i < log->n_entries; i++) {
		const struct log_entry *e = &log->entries[i];
		uint8_t sector[MARK_BYTES];
		struct mark mark;
		int r;

		if (e->flush || e->offset_bytes < bytes)
			continue;
		/* Marks that are next to each other may have been merged. */
		for (uint64_t from = 0; from < e->len_bytes; from += MARK_BYTES) {
			r = write_log_read(log, e, from, sector, sizeof(sector));
			if (r == 0)
				r = mark_decode(sector, &mark);
			if (r == 0)
				r = note(m, i, &mark);
			if (r < 0)
				return r;
		}
	}
	*ret = TAKE_PTR(m);
	return 0;
}

void marks_free(struct marks *m)
{
	free(m->marks);
	free(m);
}

void marks_progress(const struct marks *m, size_t n, struct progress progress[WORLD_WORKERS])
{
	progress_init(progress);
	for (size_t i = 0; i < m->n; i++)
		if (m->marks[i].entry < n)
			progress_before(progress, &m->marks[i].mark);
		else
			progress_after(progress, &m->marks[i].mark);
}

static size_t after_flush(const struct write_log *log, size_t from, size_t end)
{
	for (size_t i = from; i < end; i++)
		if (log->entries[i].flush)
			return i + 1;
	return from + 1;
}

static size_t after_promise(const struct marks *m, size_t from)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->marks[i].entry >= from && m->marks[i].mark.kind != MARK_BEGIN)
			return m->marks[i].entry + 1;
	return from + 1;
}

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return (x->n_entries > y->n_entries) - (x->n_entries < y->n_entries);
}

void points_choose(const struct marks *m, const struct write_log *log, uint64_t random,
		   struct point *points, unsigned n)
{
	/* What comes after the last mark is the file system's own affair, and may not be
	 * complete. */
	size_t end = m->marks[m->n - 1].entry + 1;

	for (unsigned i = 0; i < n; i++) {
		size_t at = next_random(&random) % end;
		struct point *p = &points[i];

		*p = (struct point){ .random = next_random(&random) };
		switch (i % 3) {
		case 0:
			p->n_entries = after_promise(m, at);
			p->fate = FATE_LOST;
			break;
		case 1:
			p->n_entries = at + 1;
			p->fate = FATE_ANY;
			break;
		default:
			p->n_entries = after_flush(log, at, end);
			p->fate = FATE_KEPT;
			break;
		}
	}
	qsort(points, n, sizeof(*points), compare_points);
}

void points_last(const struct marks *m, struct point *point)
{
	size_t i = m->n;

	while (i > 0 && m->marks[i - 1].mark.kind != MARK_DONE)
		i--;
	*point = (struct point){ .n_entries = i ? m->marks[i - 1].entry + 1 : 0,
				 .fate = FATE_LOST };
}
