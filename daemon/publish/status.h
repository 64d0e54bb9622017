/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view as JSON documents. The caller frees every returned string. */
#ifndef FSTUNED_PUBLISH_STATUS_H
#define FSTUNED_PUBLISH_STATUS_H

#include "view.h"

/* All devices, or only `device` (a kernel name). -ENOMEM, -ENODEV. */
int status_describe(const struct view *v, const char *device, char **ret);

/* Knobs of one device; `knob` NULL or "" for all. -ENODEV, -ENOENT (no such knob). */
int status_get(const struct view *v, const char *device, const char *knob, char **ret);

/* Newest last; `device` NULL or "" for all. */
int status_history(const struct view *v, const char *device, uint64_t since_us, char **ret);

/*
 * What this kernel offers, what is missing, how to get it: a list of checks, each with
 * "name", "state" (ok, note, problem), "text", "hint".
 */
int status_doctor(const struct view *v, char **ret);

/*
 * Where the time of an fsync or a commit of one device goes, and what would help: the last
 * minute's parts, findings as text, and what there is to say of fast commits. -ENODEV.
 */
int status_explain(const struct view *v, const char *device, char **ret);

/* Each knob read anew against what is believed: "state": "same", "differs", "unknown". */
int status_verify(const struct view *v, char **ret);

#endif
