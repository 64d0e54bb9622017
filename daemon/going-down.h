/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FSTUNED_GOING_DOWN_H
#define FSTUNED_GOING_DOWN_H

#include <stdbool.h>

/*
 * Asks systemd, over its own socket since the bus may be down already, whether it is shutting
 * the system down. True as well if it does not answer; false where there is no systemd.
 */
bool system_is_going_down(void);

#endif
