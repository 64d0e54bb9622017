/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view in Prometheus text format 0.0.4 or as OpenMetrics. */
#ifndef FSTUNED_PUBLISH_METRICS_H
#define FSTUNED_PUBLISH_METRICS_H

#include "view.h"

/* The caller frees *ret. -ENOMEM. */
int metrics_render(const struct view *v, bool openmetrics, char **ret);

#endif
