/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations given as text. */
#ifndef TEST_CONFIG_TEXT_H
#define TEST_CONFIG_TEXT_H

#include "capture.h"
#include "../../daemon/config-internal.h"

static inline void parse_over(struct config *c, const char *text)
{
	assert_int_equal(config_parse(c, "t.conf", text, strlen(text)), 0);
}

/* Parses a text over the defaults; its messages are returned. */
static inline const char *parse(struct config *c, const char *text)
{
	assert_int_equal(config_init(c), 0);
	capture();
	parse_over(c, text);
	return logged();
}

#endif
