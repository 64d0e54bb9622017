// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jbd2 by classic tracepoints: commits and their phases where there is no BTF. An object of
 * its own, since one with CO-RE relocations cannot be opened without BTF at all. What the
 * hooks mean stands in jbd2.bpf.c.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "classic.h"
#include "commit.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("tracepoint/jbd2/jbd2_start_commit")
int commit_start(void *ctx)
{
	struct fst_dev_stats *st =
		stats_of(shared_get(), classic_field(ctx, CLASSIC_COMMIT_DEV));

	if (st)
		commit_begin(st, classic_field(ctx, CLASSIC_COMMIT_TID));
	return 0;
}

SEC("tracepoint/jbd2/jbd2_commit_flushing")
int commit_flush(void *ctx)
{
	commit_step(classic_field(ctx, CLASSIC_COMMIT_DEV),
		    classic_field(ctx, CLASSIC_COMMIT_TID), FST_COMMIT_LOCKING,
		    FST_COMMIT_FLUSHING);
	return 0;
}

SEC("tracepoint/jbd2/jbd2_commit_logging")
int commit_log(void *ctx)
{
	commit_step(classic_field(ctx, CLASSIC_COMMIT_DEV),
		    classic_field(ctx, CLASSIC_COMMIT_TID), FST_COMMIT_FLUSHING,
		    FST_COMMIT_LOGGING);
	return 0;
}

SEC("tracepoint/jbd2/jbd2_run_stats")
int commit_stats(void *ctx)
{
	commit_durable(classic_field(ctx, CLASSIC_RUN_DEV), classic_field(ctx, CLASSIC_RUN_TID),
		       classic_field(ctx, CLASSIC_RUN_HANDLES),
		       classic_field(ctx, CLASSIC_RUN_BLOCKS));
	return 0;
}

SEC("tracepoint/jbd2/jbd2_end_commit")
int commit_end(void *ctx)
{
	commit_finish(classic_field(ctx, CLASSIC_END_DEV), classic_field(ctx, CLASSIC_END_TID));
	return 0;
}

SEC("tracepoint/jbd2/jbd2_checkpoint_stats")
int ckpt_stats(void *ctx)
{
	checkpoint_count(classic_field(ctx, CLASSIC_CHECKPOINT_DEV),
			 classic_field(ctx, CLASSIC_CHECKPOINT_FORCED),
			 classic_field(ctx, CLASSIC_CHECKPOINT_WRITTEN),
			 classic_field(ctx, CLASSIC_CHECKPOINT_DROPPED));
	return 0;
}
