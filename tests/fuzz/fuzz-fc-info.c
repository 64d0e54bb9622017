// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as fc_info: what comes of it is bounded, fit to be shown, and reads back the same.
 */
#include <string.h>
#include "../../daemon/base/cleanup.h"
#include "../../daemon/observe/fc-info.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reasons(const struct fc_info *info)
{
	if (info->n_reasons > FC_REASONS_MAX)
		abort();
	for (unsigned i = 0; i < info->n_reasons; i++) {
		const char *name = info->reasons[i].name;

		if (!*name || strnlen(name, FC_REASON_LEN) == FC_REASON_LEN)
			abort();
		for (const char *p = name; *p; p++)
			if (*p < 0x20 || *p > 0x7e)
				abort();
		for (unsigned k = 0; k < i; k++)
			if (strcmp(info->reasons[k].name, name) == 0)
				abort();
	}
}

/* As the kernel would print it. */
static char *print(const struct fc_info *info, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);

	if (!f)
		abort();
	fprintf(f, "fc stats:\n%llu commits\n%llu ineligible\n%llu numblks\n",
		(unsigned long long)info->commits, (unsigned long long)info->ineligible,
		(unsigned long long)info->blocks);
	fprintf(f, "%lluus avg_commit_time\nIneligible reasons:\n",
		(unsigned long long)info->average_us);
	for (unsigned i = 0; i < info->n_reasons; i++)
		fprintf(f, "\"%s\":\t%llu\n", info->reasons[i].name,
			(unsigned long long)info->reasons[i].count);
	if (fclose(f) != 0)
		abort();
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = NULL;
	struct fc_info info, again;
	size_t len;

	memset(&info, 'x', sizeof(info));
	memset(&again, 'y', sizeof(again));
	if (fc_info_parse(&info, (const char *)data, size) < 0)
		return 0;
	check_reasons(&info);
	text = print(&info, &len);
	if (fc_info_parse(&again, text, len) < 0 || memcmp(&info, &again, sizeof(info)) != 0)
		abort();
	return 0;
}
