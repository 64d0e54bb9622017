// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>
#include <string.h>
#include "discover.h"
#include "fc-info.h"
#include "../base/file.h"

/* The sections of the file; what stands in one means nothing in another. */
enum section {
	SECTION_OTHER, /* 7.2 has two more, about snapshots of inodes */
	SECTION_STATS,
	SECTION_REASONS,
};

static const struct {
	const char *words; /* what follows the number */
	size_t offset;     /* of a uint64_t in struct fc_info */
	bool optional;
} stats[] = {
	{ " commits", offsetof(struct fc_info, commits), false },
	{ " ineligible", offsetof(struct fc_info, ineligible), false },
	{ " numblks", offsetof(struct fc_info, blocks), false },
	{ "us avg_commit_time", offsetof(struct fc_info, average_us), true },
};

static bool is(const char *text, const char *end, const char *words)
{
	size_t len = strlen(words);

	return (size_t)(end - text) == len && memcmp(text, words, len) == 0;
}

/* Takes decimal digits off *text. False if there are none, or more than fit. */
static bool take_number(const char **text, const char *end, uint64_t *ret)
{
	const char *p = *text;
	uint64_t v = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	if (p == *text)
		return false;
	*text = p;
	*ret = v;
	return true;
}

/* "12 commits"; of two with the same words the first holds. */
static void take_stat(struct fc_info *info, unsigned *have, const char *line, const char *end)
{
	uint64_t v;

	if (!take_number(&line, end, &v))
		return;
	for (size_t i = 0; i < ELEMENTSOF(stats); i++) {
		if (!is(line, end, stats[i].words) || (*have & 1u << i))
			continue;
		memcpy((char *)info + stats[i].offset, &v, sizeof(v));
		*have |= 1u << i;
	}
}

static bool have_all(unsigned have)
{
	for (size_t i = 0; i < ELEMENTSOF(stats); i++)
		if (!stats[i].optional && !(have & 1u << i))
			return false;
	return true;
}

/* The kernel counts in an unsigned int and prints it as an int: -1 is 2^32 - 1. */
static bool take_count(const char **text, const char *end, uint64_t *ret)
{
	bool negative = *text < end && **text == '-';

	*text += negative;
	if (!take_number(text, end, ret))
		return false;
	if (!negative)
		return true;
	if (*ret == 0 || *ret > UINT64_C(1) << 31)
		return false;
	*ret = (UINT64_C(1) << 32) - *ret;
	return true;
}

static bool is_printable(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			return false;
	return len > 0;
}

/* Names that are the same, if only because they were cut, are one reason. */
static void add_reason(struct fc_info *info, const char *name, size_t len, uint64_t count)
{
	struct fc_reason new = { .count = count };

	memcpy(new.name, name, len < sizeof(new.name) ? len : sizeof(new.name) - 1);
	for (unsigned i = 0; i < info->n_reasons; i++) {
		struct fc_reason *r = &info->reasons[i];

		if (strcmp(r->name, new.name) != 0)
			continue;
		if (__builtin_add_overflow(r->count, count, &r->count))
			r->count = UINT64_MAX;
		return;
	}
	if (info->n_reasons < FC_REASONS_MAX)
		info->reasons[info->n_reasons++] = new;
}

/* "Dir renamed":	3, with the quotation marks. */
static void take_reason(struct fc_info *info, const char *line, const char *end)
{
	const char *name = line + 1, *quote, *p;
	uint64_t count;

	if (end - line < 2 || *line != '"')
		return;
	quote = memrchr(name, '"', (size_t)(end - name));
	if (!quote || !is_printable(name, (size_t)(quote - name)))
		return;
	p = quote + 1;
	if (p == end || *p++ != ':')
		return;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (take_count(&p, end, &count) && p == end)
		add_reason(info, name, (size_t)(quote - name), count);
}

int fc_info_parse(struct fc_info *ret, const char *text, size_t len)
{
	const char *end = len ? text + len : text, *newline;
	enum section section = SECTION_OTHER;
	struct fc_info info = { 0 };
	unsigned have = 0;

	for (; text < end && (newline = memchr(text, '\n', (size_t)(end - text)));
	     text = newline + 1) {
		if (is(text, newline, "fc stats:"))
			section = SECTION_STATS;
		else if (is(text, newline, "Ineligible reasons:"))
			section = SECTION_REASONS;
		else if (newline > text && newline[-1] == ':' && *text != '"')
			section = SECTION_OTHER;
		else if (section == SECTION_STATS)
			take_stat(&info, &have, text, newline);
		else if (section == SECTION_REASONS)
			take_reason(&info, text, newline);
	}
	if (!have_all(have))
		return -ENODATA;
	*ret = info;
	return 0;
}

int fc_info_read(const char *name, struct fc_info *ret)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len;
	int r = discover_path(path, sizeof(path), "/proc/fs/ext4/%s/fc_info", name);

	if (r < 0)
		return r;
	r = read_full_file(path, FC_INFO_MAX, true, &text, &len);
	if (r < 0)
		return r;
	return fc_info_parse(ret, text, len);
}
