/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows over samples: quantiles and rates of the last minute, per measure. Pure: no I/O,
 * no clock; time is the samples'.
 */
#ifndef FSTUNED_DECIDE_MODEL_H
#define FSTUNED_DECIDE_MODEL_H

#include "../observe/sample.h"

#define MODEL_WINDOW_US (60 * UINT64_C(1000000)) /* what status shows */
#define MODEL_PARTS 6                            /* the window moves by a sixth */

struct model;

int model_new(struct model **ret);
void model_free(struct model *m);
DEFINE_CLEANUP(struct model *, model_free)

/* Takes a sample in. -ENOMEM; the sample is then lost, the model stays valid. */
int model_update(struct model *m, const struct sample *s);

/*
 * The last minute of a measure as of `now_us` (between 50 and 60 s once there is that
 * much). An empty histogram when nothing happened. *ret_span_us is the time it covers.
 */
void model_window(const struct model *m, enum fst_measure measure, uint64_t now_us,
		  struct hist *ret, uint64_t *ret_span_us);

/*
 * Service times over the same window, of the file system's device and of an external
 * journal's; `known` false if there were none.
 */
void model_service(const struct model *m, uint64_t now_us, struct service *ret);
void model_journal_service(const struct model *m, uint64_t now_us, struct service *ret);

/*
 * What force_copy copied and avoided over the same window. False if the kernel does not tell.
 */
bool model_copy(const struct model *m, uint64_t now_us, uint64_t *ret_copied_blocks,
		uint64_t *ret_avoided_waits);

/* Memory pressure as of the last sample, as in struct sample. */
double model_memory_pressure(const struct model *m);

/* True if there is nothing in the window: the device is idle. */
bool model_idle(const struct model *m, uint64_t now_us);

#endif
