// SPDX-License-Identifier: GPL-2.0-or-later
/* Whatever a ledger's text is accepted means the same when written and read again. */
#include <string.h>
#include "../../daemon/act/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_entry(const struct ledger_entry *e)
{
	if (strlen(e->device) == 0 || *e->path != '/' || strstr(e->path, "/../"))
		abort();
	if (e->pinned != (*e->by != '\0'))
		abort();
	(void)ledger_claim(e, e->original);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ struct ledger_entry *entries = NULL, *again = NULL;
	_cleanup_free_ char *input = malloc(size + 1), *text = NULL;
	size_t n, n_again, len;

	if (!input)
		return 0;
	memcpy(input, data, size);
	input[size] = '\0';
	if (ledger_parse(input, size, &entries, &n) < 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		check_entry(&entries[i]);
	if (ledger_format(entries, n, &text, &len) < 0 ||
	    ledger_parse(text, len, &again, &n_again) < 0 || n_again != n)
		abort();
	if (n > 0 && memcmp(entries, again, n * sizeof(*entries)) != 0)
		abort();
	return 0;
}
