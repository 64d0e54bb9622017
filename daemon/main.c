// SPDX-License-Identifier: GPL-2.0-or-later
#include <getopt.h>
#include <string.h>
#include "act/actuator.h"
#include "act/runtime-dir.h"
#include "base/log.h"
#include "going-down.h"
#include "manager.h"
#include "publish/interface.h"

static const char usage[] =
	"Usage: fs-tuned [OPTION...]\n"
	"Watch how long file systems make tasks wait, turn kernel knobs where it pays.\n\n"
	"  --config=FILE       read this file alone, not the usual places\n"
	"  --runtime-dir=DIR   state and socket (default " FSTUNED_RUNTIME_DIR ")\n"
	"  --mode=MODE         auto, or observe: advice only\n"
	"  --keep-on-exit      leave the knobs as they are at SIGTERM\n"
	"  --log-level=LEVEL   debug, info, notice, warning or err\n"
	"  --restore           give back what a former run changed, then exit\n"
	"  --version           show the version\n"
	"  --help              show this\n\n"
	"See fs-tuned(8), fs-tuned.conf(5), fstunectl(1).\n";

struct arguments {
	struct manager_options manager;
	bool restore;
};

static int parse_argv(int argc, char **argv, struct arguments *a)
{
	enum {
		OPT_CONFIG = 256,
		OPT_RUNTIME_DIR,
		OPT_MODE,
		OPT_KEEP,
		OPT_LOG_LEVEL,
		OPT_RESTORE,
		OPT_SYSROOT,
		OPT_VERSION,
		OPT_HELP,
	};
	static const struct option options[] = {
		{ "config", required_argument, NULL, OPT_CONFIG },
		{ "runtime-dir", required_argument, NULL, OPT_RUNTIME_DIR },
		{ "mode", required_argument, NULL, OPT_MODE },
		{ "keep-on-exit", no_argument, NULL, OPT_KEEP },
		{ "log-level", required_argument, NULL, OPT_LOG_LEVEL },
		{ "restore", no_argument, NULL, OPT_RESTORE },
		{ "sysroot", required_argument, NULL, OPT_SYSROOT },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ "help", no_argument, NULL, OPT_HELP },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0)
		switch (c) {
		case OPT_CONFIG:
			a->manager.config_file = optarg;
			break;
		case OPT_RUNTIME_DIR:
			a->manager.runtime_dir = optarg;
			break;
		case OPT_MODE:
			a->manager.observe_only = strcmp(optarg, "observe") == 0;
			a->manager.automatic = strcmp(optarg, "auto") == 0;
			if (!a->manager.observe_only && !a->manager.automatic) {
				log_error("--mode=%s: must be auto or observe", optarg);
				return -EINVAL;
			}
			break;
		case OPT_KEEP:
			a->manager.keep_on_exit = true;
			break;
		case OPT_LOG_LEVEL:
			if (log_level_from_string(optarg) < 0) {
				log_error("--log-level=%s: must be debug, info, notice, "
					  "warning or err",
					  optarg);
				return -EINVAL;
			}
			a->manager.log_level = optarg;
			log_set_level(log_level_from_string(optarg));
			break;
		case OPT_RESTORE:
			a->restore = true;
			break;
		case OPT_SYSROOT: /* for tests: where the knob files are */
			a->manager.sysroot = optarg;
			break;
		case OPT_VERSION:
			puts("fs-tuned " FSTUNED_VERSION);
			return 0;
		case OPT_HELP:
			fputs(usage, stdout);
			return 0;
		default:
			return -EINVAL;
		}
	if (optind < argc) {
		log_error("Unexpected argument \"%s\" (see fs-tuned --help)", argv[optind]);
		return -EINVAL;
	}
	return 1;
}

/*
 * A daemon that runs owns the ledger: rewritten under it, what it believes would be wrong.
 * Where the lock cannot be made there is no daemon either (no directory, no space), and giving
 * back matters more.
 */
static int restore(const struct manager_options *o)
{
	_cleanup_close_ int lock = -EBADF;

	if (access(o->runtime_dir, F_OK) < 0 && errno == ENOENT)
		return 0;
	lock = runtime_dir_lock(o->runtime_dir);
	if (lock == -EBUSY)
		return lock;
	return actuator_restore_all(o->runtime_dir, o->sysroot, system_is_going_down);
}

int main(int argc, char **argv)
{
	struct arguments a = {
		.manager = { .runtime_dir = FSTUNED_RUNTIME_DIR, .sysroot = "" },
	};
	_cleanup_(manager_freep) struct manager *m = NULL;
	int r;

	log_open("fs-tuned");
	r = parse_argv(argc, argv, &a);
	if (r <= 0)
		return r < 0 ? FSTUNED_EXIT_USAGE : FSTUNED_EXIT_OK;

	if (a.restore) {
		r = restore(&a.manager);
		return r < 0 ? FSTUNED_EXIT_FAILED : FSTUNED_EXIT_OK;
	}

	if (geteuid() != 0) {
		log_error("Needs root: it loads BPF programs and writes knobs in /proc");
		return FSTUNED_EXIT_FAILED;
	}
	r = manager_new(&m, &a.manager);
	if (r >= 0)
		r = manager_run(m);
	return r < 0 ? FSTUNED_EXIT_FAILED : FSTUNED_EXIT_OK;
}
