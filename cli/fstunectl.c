// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include "../daemon/publish/interface.h"
#include "client.h"
#include "verbs.h"

static const verb_fn verbs[VERB_MAX] = {
	[VERB_STATUS] = verb_status,   [VERB_LIST] = verb_list,
	[VERB_GET] = verb_get,         [VERB_SET] = verb_set,
	[VERB_AUTO] = verb_auto,       [VERB_REVERT] = verb_revert,
	[VERB_PAUSE] = verb_pause,     [VERB_RESUME] = verb_resume,
	[VERB_HISTORY] = verb_history, [VERB_CONFIG] = verb_config,
	[VERB_METRICS] = verb_metrics, [VERB_DOCTOR] = verb_doctor,
	[VERB_VERIFY] = verb_verify,   [VERB_EXPLAIN] = verb_explain,
};

static int run(const struct args *a, const struct term *t)
{
	if (a->help) {
		args_help(stdout);
		return 0;
	}
	if (a->version) {
		puts("fstunectl " FSTUNED_VERSION);
		return 0;
	}
	return verbs[a->verb](a, t);
}

int main(int argc, char *argv[])
{
	char error[512];
	struct args a;
	struct term t;
	int code, r;

	setlocale(LC_ALL, "");
	/* Numbers keep their point: scripts read them. */
	setlocale(LC_NUMERIC, "C");
	signal(SIGPIPE, SIG_IGN);

	if (args_parse(argc, argv, &a, error, sizeof(error)) < 0)
		return complain(FSTUNED_EXIT_USAGE, "%s", error);
	term_init(&t);
	code = run(&a, &t);
	r = pager_close();
	/* Who reads our output may stop doing so. */
	if (r < 0 && r != -EPIPE && code == 0)
		code = complain(FSTUNED_EXIT_FAILED, "cannot write: %s", strerror(-r));
	return code;
}
