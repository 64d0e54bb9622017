/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libbpf's messages: to the log at debug level, and the last of them for a reason. */
#ifndef FSTUNED_OBSERVE_BPF_LOG_H
#define FSTUNED_OBSERVE_BPF_LOG_H

/* From now on libbpf speaks through log_debug(). Idempotent. */
void bpf_log_open(void);

/* Forgets what was said so far. */
void bpf_log_clear(void);

/*
 * The last line that said something since, without libbpf's and the verifier's frame; ""
 * if there was none. Valid until the next message.
 */
const char *bpf_log_last(void);

#endif
