// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "utf8.h"

size_t utf8_len(const char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	size_t len;
	uint32_t c;

	if (u[0] == 0)
		return 0;
	if (u[0] < 0x80)
		return 1;
	if ((u[0] & 0xe0) == 0xc0)
		len = 2;
	else if ((u[0] & 0xf0) == 0xe0)
		len = 3;
	else if ((u[0] & 0xf8) == 0xf0)
		len = 4;
	else
		return 0;

	c = u[0] & (0x7fU >> len);
	for (size_t i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3f);
	}
	/* overlong, surrogates, beyond Unicode */
	if (c < least[len] || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		return 0;
	return len;
}

char *utf8_clean(const char *s)
{
	char *clean = malloc(strlen(s) * 4 + 1), *to = clean;

	if (!clean)
		return NULL;
	while (*s) {
		size_t len = utf8_len(s);

		if (len == 0) {
			to += sprintf(to, "\\x%02x", (unsigned char)*s++);
			continue;
		}
		memcpy(to, s, len);
		to += len;
		s += len;
	}
	*to = '\0';
	return clean;
}
