// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/libbpf.h>
#include <malloc.h>
#include <string.h>
#include "../base/log.h"
#include "bpf-log.h"
#include "probe-load.h"
#include "tracepoint.h"

DEFINE_CLEANUP(struct bpf_object *, bpf_object__close)

/* What one pass over the hooks of a file system needs. */
struct pass {
	struct hook_state *states;
	enum fs_kind fs;
	const struct kernel_caps *caps;
	const struct probe_maps *maps;
	uint16_t at[CLASSIC_FIELD_MAX]; /* fields of classic records */
};

#define for_each_hook(id, p)                           \
	for (enum hook_id id = 0; id < HOOK_MAX; id++) \
		if (hooks[id].fs == (p)->fs)

static bool is_tracepoint(enum hook_id id)
{
	return !(hooks[id].ways & (WAY_BIT(WAY_FENTRY) | WAY_BIT(WAY_KPROBE)));
}

/* --- choosing --- */

_printf_(2, 3) static void why_append(struct hook_state *s, const char *format, ...)
{
	size_t len = strlen(s->why);
	va_list ap;

	if (len && len + 2 < sizeof(s->why))
		len += (size_t)snprintf(s->why + len, sizeof(s->why) - len, "; ");
	va_start(ap, format);
	(void)vsnprintf(s->why + len, sizeof(s->why) - len, format, ap);
	va_end(ap);
}

_printf_(3, 4) static void refuse(struct hook_state *s, enum way way, const char *format, ...)
{
	va_list ap;

	s->refused |= WAY_BIT(way);
	va_start(ap, format);
	(void)vsnprintf(s->refused_why[way], sizeof(s->refused_why[way]), format, ap);
	va_end(ap);
}

/* Is anything known against this way? Then `why` says what. */
static bool against(const struct pass *p, enum hook_id id, enum way w, char *why, size_t size)
{
	const struct hook_state *s = &p->states[id];
	int n = 0;

	if (!p->caps->way[w].usable)
		n = snprintf(why, size, "%s", p->caps->way[w].why);
	else if ((w == WAY_TP_BTF || w == WAY_FENTRY) && !s->found)
		n = snprintf(why, size, "%s: no BTF of %s", way_to_string(w), hooks[id].target);
	else if (s->hidden)
		n = snprintf(why, size, "%s: %s", way_to_string(w), hooks[id].hidden_why);
	else if ((hooks[id].reads || (hooks[id].text_arg && !s->number)) &&
		 !p->caps->read_memory)
		n = snprintf(why, size,
			     "%s: reading kernel memory is not permitted (lockdown %s)",
			     way_to_string(w), p->caps->lockdown);
	else if (s->refused & WAY_BIT(w))
		n = snprintf(why, size, "%s: %s", way_to_string(w), s->refused_why[w]);
	return n > 0;
}

/* The reasons against the ways before the chosen one stay. */
static void choose(const struct pass *p, enum hook_id id)
{
	struct hook_state *s = &p->states[id];
	char why[sizeof(s->why)];

	s->way = WAY_NONE;
	s->why[0] = '\0';
	for (enum way w = WAY_NONE + 1; w < WAY_MAX; w++) {
		if (!(hooks[id].ways & WAY_BIT(w)))
			continue;
		if (!against(p, id, w, why, sizeof(why)) &&
		    !(hooks[id].paired && against(p, hooks[id].partner, w, why, sizeof(why)))) {
			s->way = w;
			return;
		}
		why_append(s, "%s", why);
	}
}

void hooks_choose(struct hook_state states[static HOOK_MAX], enum fs_kind fs,
		  const struct kernel_caps *caps)
{
	struct pass pass = { .states = states, .fs = fs, .caps = caps };

	for_each_hook(id, &pass) choose(&pass, id);
	for_each_hook(id, &pass) if (hooks[id].has_instead && states[id].way != WAY_NONE)
		states[hooks[id].instead]
			.way = WAY_NONE;
}

static void find_btf(const struct pass *p)
{
	struct btf_name names[2 * HOOK_MAX] = { 0 };
	char typedefs[HOOK_MAX][64];
	size_t n = 0;

	for_each_hook(id, p)
	{
		names[n].func = hooks[id].ways & WAY_BIT(WAY_FENTRY);
		names[n].name = hooks[id].target;
		names[n].arg = hooks[id].text_arg;
		if (!names[n].func) {
			(void)snprintf(typedefs[id], sizeof(typedefs[id]), "btf_trace_%s",
				       hooks[id].target);
			names[n].name = typedefs[id];
		}
		n++;
	}
	for_each_hook(id, p) if (hooks[id].hidden_by_struct) names[n++] =
		(struct btf_name){ .name = hooks[id].hidden_by_struct,
				   .member = hooks[id].hidden_by_member };

	kernel_find_btf(p->caps, names, n);
	n = 0;
	for_each_hook(id, p)
	{
		p->states[id].number = names[n].number;
		p->states[id].found = names[n++].found;
	}
	for_each_hook(id, p) if (hooks[id].hidden_by_struct) p->states[id].hidden =
		names[n++].found;
}

static int find_field(struct pass *p, enum classic_field f)
{
	const struct classic_source *src = &classic_sources[f];
	_cleanup_free_ char *format = NULL;
	uint32_t id;
	int r;

	p->at[f] = 0;
	r = tracepoint_format(fs_kind_to_string(p->fs), hooks[src->hook].target, &id, &format);
	return r < 0 ? r : tracepoint_field(format, src->field, &p->at[f]);
}

/*
 * Where the kernel has BTF of any of the file system's tracepoints it has of all; else tracefs
 * would know.
 */
static void find_absent(const struct pass *p)
{
	bool any = false;

	for_each_hook(id, p) any = any || (p->states[id].found && is_tracepoint(id));
	for_each_hook(id, p)
	{
		_cleanup_free_ char *format = NULL;
		struct hook_state *s = &p->states[id];
		uint32_t number;

		if (!is_tracepoint(id) || s->found)
			continue;
		s->absent = any || tracepoint_format(fs_kind_to_string(p->fs), hooks[id].target,
						     &number, &format) == -ENOENT;
	}
}

/*
 * Looks up the fields of the classic tracepoints that are to be used. One that lacks a field
 * is refused.
 */
static int find_fields(struct pass *p)
{
	bool had = false; /* the one before, which may stand for this one */
	int r = 0;

	for (enum classic_field f = 0; f < CLASSIC_FIELD_MAX; f++) {
		const struct classic_source *src = &classic_sources[f];
		struct hook_state *s = &p->states[src->hook];
		int q;

		if (hooks[src->hook].fs != p->fs || s->way != WAY_TRACEPOINT)
			continue;
		q = find_field(p, f);
		had = had || q == 0;
		if (src->or_next)
			continue;
		if (!had) {
			refuse(s, WAY_TRACEPOINT, "no field %s of %s in tracefs (%s)",
			       src->field, hooks[src->hook].target, strerrorname_np(-q));
			r = -EAGAIN;
		}
		had = false;
	}
	return r;
}

/* --- loading --- */

static int set_rodata(struct bpf_object *obj, const char *section, const void *data,
		      size_t size)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, section);

	/* Not each object has each section. */
	return map ? bpf_map__set_initial_value(map, data, size) : 0;
}

static int share_maps(struct bpf_object *obj, const struct probe_maps *maps)
{
	const struct {
		const char *name;
		int fd;
	} shared[] = { { "stats", maps->stats },
		       { "shared", maps->shared },
		       { "events", maps->events } };

	for (size_t i = 0; i < ELEMENTSOF(shared); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj, shared[i].name);
		int r = map ? bpf_map__reuse_fd(map, shared[i].fd) : -ENOENT;

		if (r < 0)
			return r;
	}
	return 0;
}

/* Does the tracepoint whose argument may be text pass a number? At most one in an object does.
 */
static bool passes_number(const struct pass *p)
{
	for_each_hook(id, p) if (hooks[id].text_arg) return p->states[id].number;
	return false;
}

static bool in_object(const struct hook_state *s, bool classic)
{
	return s->way != WAY_NONE && (s->way == WAY_TRACEPOINT) == classic;
}

/* Loads the programs of the hooks in `only` (HOOK_MAX: of all that are in the object). */
static int object_load(const struct pass *p, bool classic, enum hook_id only,
		       struct bpf_object **ret)
{
	static const char *const names_of[FS_KIND_MAX] = {
		[FS_JBD2] = "fst_jbd2",
		[FS_EXT4] = "fst_ext4",
		[FS_F2FS] = "fst_f2fs",
	};
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = names_of[p->fs]);
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
	bool number = passes_number(p);
	struct bpf_program *prog;
	size_t size;
	const void *elf = hook_object(p->fs, classic, &size);
	int r;

	bpf_log_clear();
	obj = bpf_object__open_mem(elf, size, &opts);
	if (!obj)
		return -errno;
	bpf_object__for_each_program(prog, obj)(void) bpf_program__set_autoload(prog, false);
	for_each_hook(id, p)
	{
		char names[2][PROG_NAME_MAX];
		size_t n = hook_programs(&hooks[id], p->states[id].way, names);

		if (!in_object(&p->states[id], classic) || (only != HOOK_MAX && only != id))
			continue;
		for (size_t i = 0; i < n; i++) {
			prog = bpf_object__find_program_by_name(obj, names[i]);
			if (!prog)
				return -ENOENT;
			(void)bpf_program__set_autoload(prog, true);
		}
	}
	r = share_maps(obj, p->maps);
	if (r == 0)
		r = set_rodata(obj, ".rodata.at", p->at, sizeof(p->at));
	if (r == 0)
		r = set_rodata(obj, ".rodata.may_read", &p->caps->read_memory,
			       sizeof(p->caps->read_memory));
	if (r == 0)
		r = set_rodata(obj, ".rodata.number", &number, sizeof(number));
	if (r == 0)
		r = bpf_object__load(obj);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(obj);
	return 0;
}

/*
 * The object was refused: finds out whose fault it was, by loading each hook alone. Where
 * each goes alone but not all together, the blame is everybody's.
 */
static void blame(const struct pass *p, bool classic, int error)
{
	bool found = false;

	for (int everybody = 0; everybody < 2 && !found; everybody++) {
		for_each_hook(id, p)
		{
			_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
			struct hook_state *s = &p->states[id];
			int r = error;

			if (!in_object(s, classic))
				continue;
			if (!everybody)
				r = object_load(p, classic, id, &obj);
			if (r == 0)
				continue;
			refuse(s, s->way, "not loaded (%s): %s", strerrorname_np(-r),
			       bpf_log_last());
			found = true;
		}
	}
}

/* --- attaching --- */

static struct bpf_link *attach_classic(const struct pass *p, enum hook_id id,
				       const struct bpf_program *prog)
{
	_cleanup_free_ char *format = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct bpf_link *link;
	uint32_t number;
	int r = tracepoint_format(fs_kind_to_string(p->fs), hooks[id].target, &number, &format);

	if (r == 0)
		r = fd = tracepoint_open(number);
	if (r < 0) {
		errno = -r;
		return NULL;
	}
	link = bpf_program__attach_perf_event(prog, fd);
	if (link)
		(void)TAKE_FD(fd);
	return link;
}

static void hook_detach(struct hook_state *s)
{
	for (size_t i = 0; i < ELEMENTSOF(s->links); i++) {
		(void)bpf_link__destroy(s->links[i]);
		s->links[i] = NULL;
	}
	s->way = WAY_NONE;
}

static int hook_attach(const struct pass *p, enum hook_id id, struct bpf_object *obj)
{
	struct hook_state *s = &p->states[id];
	char names[2][PROG_NAME_MAX];
	size_t n = hook_programs(&hooks[id], s->way, names);

	for (size_t i = 0; i < n; i++) {
		const struct bpf_program *prog =
			bpf_object__find_program_by_name(obj, names[i]);
		enum way way = s->way;

		bpf_log_clear();
		s->links[i] = way == WAY_TRACEPOINT ? attach_classic(p, id, prog)
						    : bpf_program__attach(prog);
		if (!s->links[i]) {
			int r = -errno;

			refuse(s, way, "not attached to %s (%s)", hooks[id].target,
			       strerrorname_np(-r));
			hook_detach(s);
			return r;
		}
	}
	return 0;
}

/*
 * Loads and attaches one object's hooks. The object is closed again: the links keep the
 * programs, the programs keep the maps. -EAGAIN: something was refused, choose anew.
 */
static int object_attach(const struct pass *p, bool classic)
{
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
	bool any = false;
	int r;

	for_each_hook(id, p) any = any || in_object(&p->states[id], classic);
	if (!any)
		return 0;
	r = object_load(p, classic, HOOK_MAX, &obj);
	if (r < 0) {
		log_debug("%s: not loaded in one piece: %s", fs_kind_to_string(p->fs),
			  bpf_log_last());
		blame(p, classic, r);
		return -EAGAIN;
	}
	for_each_hook(id, p)
	{
		if (in_object(&p->states[id], classic) && hook_attach(p, id, obj) < 0)
			r = -EAGAIN;
	}
	return r;
}

static void detach_all(struct hook_state *states, enum fs_kind fs)
{
	for (enum hook_id id = 0; id < HOOK_MAX; id++)
		if (hooks[id].fs == fs)
			hook_detach(&states[id]);
}

int hooks_attach(struct hook_state states[static HOOK_MAX], enum fs_kind fs,
		 const struct kernel_caps *caps, const struct probe_maps *maps)
{
	struct pass pass = { .states = states, .fs = fs, .caps = caps, .maps = maps };
	bool any = false;
	int r;

	find_btf(&pass);
	find_absent(&pass);
	/* Ends: each round but the last refuses at least one way of one hook for good. */
	do {
		detach_all(states, fs);
		hooks_choose(states, fs, caps);
		r = find_fields(&pass);
		if (r == 0)
			r = object_attach(&pass, false);
		if (r == 0)
			r = object_attach(&pass, true);
	} while (r == -EAGAIN);

	/* Reading BTF took megabytes for a moment; they would stay with us for ever. */
	(void)malloc_trim(0);
	for_each_hook(id, &pass) any = any || states[id].way != WAY_NONE;
	return any ? 0 : -EOPNOTSUPP;
}

void hooks_detach(struct hook_state states[static HOOK_MAX], enum fs_kind fs)
{
	detach_all(states, fs);
	for (enum hook_id id = 0; id < HOOK_MAX; id++)
		if (hooks[id].fs == fs)
			states[id] = (struct hook_state){ 0 };
}
