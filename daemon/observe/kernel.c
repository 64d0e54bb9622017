// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include "../base/file.h"
#include "../base/log.h"
#include "bpf-log.h"
#include "kernel.h"
#include "tracepoint.h"

#define BTF_DIR "/sys/kernel/btf"
#define SECURITY_DIR "/sys/kernel/security"

/*
 * What trials are made on: both are in every kernel with BTF or without, are rarely
 * passed, and the function is one that is measured later, so an answer about it counts.
 */
#define TRIAL_FUNC "out_of_line_wait_on_bit"
#define TRIAL_SYSTEM "task"
#define TRIAL_TRACEPOINT "task_newtask"

DEFINE_CLEANUP(struct btf *, btf__free)

const char *way_to_string(enum way way)
{
	static const char *const names[] = {
		[WAY_NONE] = "none",
		[WAY_TP_BTF] = "tp_btf",
		[WAY_FENTRY] = "fentry",
		[WAY_KPROBE] = "kprobe",
		[WAY_TRACEPOINT] = "tracepoint",
	};

	return way < WAY_MAX ? names[way] : names[WAY_NONE];
}

/* --- trials --- */

static int refuse(struct kernel_way *w, enum way way, const char *what, int error)
{
	const char *name = strerrorname_np(error < 0 ? -error : error);

	if (error == -EPERM || error == -EACCES)
		what = "not permitted by this kernel";
	(void)snprintf(w->why, sizeof(w->why), "%s: %s (%s)", way_to_string(way), what,
		       name ? name : "?");
	return error;
}

/* "return 0" */
static const struct bpf_insn trial_nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

/* "return bpf_probe_read_kernel(fp - 8, 8, NULL)" */
static const struct bpf_insn trial_read[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = 0 },
	{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
	{ .code = BPF_JMP | BPF_EXIT },
};

/* Loads a program, returns its descriptor. */
static int trial_load(enum bpf_prog_type type, enum bpf_attach_type attach, int btf_id,
		      const struct bpf_insn *insns, size_t n)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach,
		    .attach_btf_id = (uint32_t)(btf_id > 0 ? btf_id : 0));
	int fd = bpf_prog_load(type, "fst_trial", "GPL", insns, n, &opts);

	return fd < 0 ? -errno : fd;
}

static int trial_tracing(struct kernel_way *w, enum way way, enum bpf_attach_type attach,
			 int btf_id)
{
	_cleanup_close_ int prog = -EBADF, link = -EBADF;

	if (btf_id < 0)
		return refuse(w, way, "not in this kernel's BTF", btf_id);
	prog = trial_load(BPF_PROG_TYPE_TRACING, attach, btf_id, trial_nothing,
			  ELEMENTSOF(trial_nothing));
	if (prog < 0)
		return refuse(w, way, "loading a trial program failed", prog);
	link = bpf_raw_tracepoint_open(NULL, prog);
	if (link < 0)
		return refuse(w, way, "attaching a trial program failed", -errno);
	return 0;
}

static int trial_perf(struct kernel_way *w, enum way way, enum bpf_prog_type type, int event)
{
	_cleanup_close_ int prog = -EBADF, fd = event;

	if (fd < 0)
		return refuse(w, way,
			      fd == -ENODEV || fd == -ENOENT ? "this kernel has none"
							     : "opening an event failed",
			      fd);
	/* What these ways pass has to be read from the kernel's memory. */
	prog = trial_load(type, 0, 0, trial_read, ELEMENTSOF(trial_read));
	if (prog < 0)
		return refuse(w, way, "loading a trial program failed", prog);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) < 0)
		return refuse(w, way, "attaching a trial program failed", -errno);
	return 0;
}

static bool may_read_memory(void)
{
	_cleanup_close_ int prog = trial_load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0, trial_read,
					      ELEMENTSOF(trial_read));

	return prog >= 0;
}

static int trial_tp_btf(struct kernel_way *w, const struct btf *btf)
{
	return trial_tracing(
		w, WAY_TP_BTF, BPF_TRACE_RAW_TP,
		btf__find_by_name_kind(btf, "btf_trace_" TRIAL_TRACEPOINT, BTF_KIND_TYPEDEF));
}

/*
 * Up to 5.11 a trampoline is freed while tasks may still sleep in the function under it, and
 * what is measured here sleeps long. Kernels that count those tasks have struct
 * bpf_tramp_image (kernel/bpf/trampoline.c).
 */
static int trial_fentry(struct kernel_way *w, const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, TRIAL_FUNC, BTF_KIND_FUNC), r;

	if (btf__find_by_name_kind(btf, "bpf_tramp_image", BTF_KIND_STRUCT) < 0)
		return refuse(w, WAY_FENTRY, "unsafe here on functions that sleep",
			      -EOPNOTSUPP);
	r = trial_tracing(w, WAY_FENTRY, BPF_TRACE_FENTRY, id);
	return r < 0 ? r : trial_tracing(w, WAY_FENTRY, BPF_TRACE_FEXIT, id);
}

static int trial_kprobe(struct kernel_way *w)
{
	int r = trial_perf(w, WAY_KPROBE, BPF_PROG_TYPE_KPROBE, kprobe_open(TRIAL_FUNC, false));

	return r < 0 ? r
		     : trial_perf(w, WAY_KPROBE, BPF_PROG_TYPE_KPROBE,
				  kprobe_open(TRIAL_FUNC, true));
}

static int trial_tracepoint(struct kernel_way *w)
{
	_cleanup_free_ char *format = NULL;
	uint32_t id;
	int r = tracepoint_format(TRIAL_SYSTEM, TRIAL_TRACEPOINT, &id, &format);

	if (r == -ENODEV)
		return refuse(w, WAY_TRACEPOINT,
			      "tracefs is mounted neither on /sys/kernel/tracing nor in "
			      "/sys/kernel/debug",
			      r);
	if (r < 0)
		return refuse(w, WAY_TRACEPOINT, "reading " TRIAL_TRACEPOINT " in tracefs", r);
	return trial_perf(w, WAY_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT, tracepoint_open(id));
}

/* --- BTF --- */

/* Is anything there but the kernel's own, or nothing needed since nothing is a module? */
static bool module_btf_there(void)
{
	_cleanup_closedir_ DIR *d = opendir(BTF_DIR);
	_cleanup_free_ char *modules = NULL;
	size_t len = 0;
	struct dirent *de;

	while (d && (de = readdir(d)))
		if (de->d_name[0] != '.' && strcmp(de->d_name, "vmlinux") != 0)
			return true;
	return read_full_file("/proc/modules", 1 << 20, false, &modules, &len) < 0 || len == 0;
}

static bool has_member(const struct btf *btf, const struct btf_type *t, const char *member)
{
	for (unsigned i = 0; btf_is_struct(t) && i < btf_vlen(t); i++)
		if (strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), member) == 0)
			return true;
	return false;
}

/* A tracepoint's typedef is of a pointer to its callback, whose first argument is void *. */
static bool is_number(const struct btf *btf, const struct btf_type *trace, unsigned arg)
{
	const struct btf_type *t = btf__type_by_id(btf, trace->type);

	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	if (!t || !btf_is_func_proto(t) || arg >= btf_vlen(t))
		return false;
	t = btf__type_by_id(btf, (uint32_t)btf__resolve_type(btf, btf_params(t)[arg].type));
	return t && (btf_is_int(t) || btf_is_any_enum(t));
}

static bool match_types(const struct btf *btf, uint32_t from, struct btf_name *names, size_t n)
{
	uint32_t cnt = btf__type_cnt(btf);
	size_t missing = 0;

	for (uint32_t id = from; id < cnt; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		bool func = btf_is_func(t);
		const char *name;

		if (!func && !btf_is_typedef(t) && !btf_is_struct(t) && !btf_is_any_enum(t))
			continue;
		name = btf__name_by_offset(btf, t->name_off);
		for (size_t i = 0; name && i < n; i++) {
			if (names[i].found || names[i].func != func ||
			    strcmp(names[i].name, name) != 0 ||
			    (names[i].member && !has_member(btf, t, names[i].member)))
				continue;
			names[i].found = true;
			names[i].number = names[i].arg && is_number(btf, t, names[i].arg);
		}
	}
	for (size_t i = 0; i < n; i++)
		missing += !names[i].found;
	return missing == 0;
}

void kernel_find_btf(const struct kernel_caps *caps, struct btf_name *names, size_t n)
{
	_cleanup_(btf__freep) struct btf *base = NULL;
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *de;

	for (size_t i = 0; i < n; i++)
		names[i].found = names[i].number = false;
	base = caps->btf ? btf__load_vmlinux_btf() : NULL;
	if (!base || match_types(base, 1, names, n))
		return;
	d = opendir(BTF_DIR);
	while (d && (de = readdir(d))) {
		_cleanup_(btf__freep) struct btf *mod = NULL;

		if (de->d_name[0] == '.' || strcmp(de->d_name, "vmlinux") == 0)
			continue;
		mod = btf__load_module_btf(de->d_name, base);
		if (mod && match_types(mod, btf__type_cnt(base), names, n))
			return;
	}
}

bool kernel_has_btf_func(const struct kernel_caps *caps, const char *func)
{
	struct btf_name name = { .name = func, .func = true };

	kernel_find_btf(caps, &name, 1);
	return name.found;
}

/* --- all of it --- */

/* The file reads "none [integrity] confidentiality". */
static void read_lockdown(char *ret, size_t size)
{
	char buf[64], *open, *close;

	(void)snprintf(ret, size, "unknown");
	if (read_small_at(AT_FDCWD, SECURITY_DIR "/lockdown", buf, sizeof(buf)) < 0) {
		/* securityfs is there and lockdown is not: nothing locks anything down. */
		if (access(SECURITY_DIR "/lsm", F_OK) == 0)
			(void)snprintf(ret, size, "none");
		return;
	}
	open = strchr(buf, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		(void)snprintf(ret, size, "%.*s", (int)(close - open - 1), open + 1);
}

static int probe_btf_ways(struct kernel_caps *c)
{
	_cleanup_(btf__freep) struct btf *btf = btf__load_vmlinux_btf();

	if (!btf) {
		int r = -errno;

		(void)snprintf(c->btf_why, sizeof(c->btf_why),
			       "no BTF of the kernel, in " BTF_DIR " or elsewhere (%s)",
			       strerrorname_np(errno));
		(void)refuse(&c->way[WAY_TP_BTF], WAY_TP_BTF, "needs BTF, which is missing", r);
		return refuse(&c->way[WAY_FENTRY], WAY_FENTRY, "needs BTF, which is missing",
			      r);
	}
	c->btf = true;
	c->module_btf = module_btf_there();
	if (!c->module_btf)
		(void)snprintf(c->btf_why, sizeof(c->btf_why), "modules have no BTF");
	c->way[WAY_TP_BTF].usable = trial_tp_btf(&c->way[WAY_TP_BTF], btf) == 0;
	c->way[WAY_FENTRY].usable = trial_fentry(&c->way[WAY_FENTRY], btf) == 0;
	return 0;
}

int kernel_caps_probe(struct kernel_caps *ret)
{
	struct utsname u;
	bool any = false;
	int r;

	bpf_log_open();
	*ret = (struct kernel_caps){ 0 };
	if (uname(&u) == 0)
		(void)snprintf(ret->release, sizeof(ret->release), "%s", u.release);
	patched_modules_find(ret->release, &ret->modules);
	read_lockdown(ret->lockdown, sizeof(ret->lockdown));

	ret->read_memory = may_read_memory();

	(void)probe_btf_ways(ret);
	ret->way[WAY_KPROBE].usable = trial_kprobe(&ret->way[WAY_KPROBE]) == 0;
	r = trial_tracepoint(&ret->way[WAY_TRACEPOINT]);
	ret->way[WAY_TRACEPOINT].usable = r == 0;

	for (enum way w = WAY_NONE + 1; w < WAY_MAX; w++) {
		any = any || ret->way[w].usable;
		log_debug("%s", ret->way[w].usable ? way_to_string(w) : ret->way[w].why);
	}
	return any ? 0 : r;
}
