// SPDX-License-Identifier: GPL-2.0-or-later
/* fstunectl's command line: one argument per line of the input. */
#include <stdlib.h>
#include <string.h>
#include "../../daemon/base/cleanup.h"
#include "../../cli/argv.h"

#define ARGS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1);
	char *argv[ARGS_MAX + 1] = { (char *)"fstunectl" }, *rest = text, *arg;
	char error[128] = "";
	struct args a;
	int argc = 1, r;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	while (argc < ARGS_MAX && (arg = strsep(&rest, "\n")))
		argv[argc++] = arg;
	/* Exactly as large as it is: a look beyond the end is seen. */
	char **exact = calloc((size_t)argc + 1, sizeof(*exact));

	if (!exact)
		return 0;
	memcpy(exact, argv, (size_t)argc * sizeof(*exact));
	r = args_parse(argc, exact, &a, error, sizeof(error));
	free(exact);

	/* What is refused says why; what is taken is whole. */
	if (r < 0 && !*error)
		abort();
	if (r == 0 && (a.verb >= VERB_MAX || a.n_operands > OPERANDS_MAX))
		abort();
	for (unsigned i = 0; r == 0 && !a.help && !a.version && i < a.n_operands; i++)
		if (!a.operand[i] || !*a.operand[i])
			abort();
	return 0;
}
