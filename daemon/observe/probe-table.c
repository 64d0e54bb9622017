// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf/ext4.skel.h"
#include "bpf/ext4_tp.skel.h"
#include "bpf/f2fs.skel.h"
#include "bpf/f2fs_tp.skel.h"
#include "bpf/jbd2.skel.h"
#include "bpf/jbd2_tp.skel.h"
#include "device.h"
#include "probe-table.h"

#define TRACEPOINT (WAY_BIT(WAY_TP_BTF) | WAY_BIT(WAY_TRACEPOINT))
#define FENTRY WAY_BIT(WAY_FENTRY)
#define KPROBE WAY_BIT(WAY_KPROBE)

/*
 * Static functions may have been inlined or split by the compiler; then there is no BTF of
 * them and their measure is not to be had. A kretprobe is no way for waits that very many
 * tasks are in at once: its instances run out.
 */
#define TRACEPOINT_HOOK(name, program, kind, ...)                                      \
	{                                                                              \
		.target = (name), .prog = (program), .fs = (kind), .ways = TRACEPOINT, \
		__VA_ARGS__                                                            \
	}
#define FUNCTION_HOOK(name, program, kind, way_bits, ...)                              \
	{                                                                              \
		.target = (name), .prog = (program), .fs = (kind), .ways = (way_bits), \
		__VA_ARGS__                                                            \
	}

#define INSTEAD(id) .has_instead = true, .instead = (id)

const struct hook hooks[HOOK_MAX] = {
	[HOOK_COMMIT_START] = TRACEPOINT_HOOK("jbd2_start_commit", "commit_start", FS_JBD2),
	[HOOK_COMMIT_FLUSH] = TRACEPOINT_HOOK("jbd2_commit_flushing", "commit_flush", FS_JBD2),
	[HOOK_COMMIT_LOG] = TRACEPOINT_HOOK("jbd2_commit_logging", "commit_log", FS_JBD2),
	[HOOK_COMMIT_RECORD] = FUNCTION_HOOK("journal_submit_commit_record", "commit_rec",
					     FS_JBD2, FENTRY, .enter_only = true),
	[HOOK_COMMIT_STATS] = TRACEPOINT_HOOK("jbd2_run_stats", "commit_stats", FS_JBD2),
	[HOOK_COMMIT_END] = TRACEPOINT_HOOK("jbd2_end_commit", "commit_end", FS_JBD2),
	[HOOK_CHECKPOINT_STATS] =
		TRACEPOINT_HOOK("jbd2_checkpoint_stats", "ckpt_stats", FS_JBD2),
	[HOOK_CHECKPOINT] =
		FUNCTION_HOOK("jbd2_log_do_checkpoint", "ckpt", FS_JBD2, FENTRY | KPROBE),
	[HOOK_LOG_SPACE] =
		FUNCTION_HOOK("__jbd2_log_wait_for_space", "space", FS_JBD2, FENTRY | KPROBE),
	[HOOK_LOCKED] = FUNCTION_HOOK("wait_transaction_locked", "locked", FS_JBD2, FENTRY),
	[HOOK_WAIT_COMMIT] = FUNCTION_HOOK("jbd2_log_wait_commit", "waitc", FS_JBD2, FENTRY),
	[HOOK_SHADOW] = FUNCTION_HOOK("out_of_line_wait_on_bit", "shadow", FS_JBD2, FENTRY,
				      .reads = true),
	[HOOK_FSYNC_ENTER] = TRACEPOINT_HOOK("ext4_sync_file_enter", "fsync_enter", FS_EXT4,
					     .paired = true, .partner = HOOK_FSYNC_EXIT),
	[HOOK_FSYNC_EXIT] = TRACEPOINT_HOOK("ext4_sync_file_exit", "fsync_exit", FS_EXT4,
					    .paired = true, .partner = HOOK_FSYNC_ENTER),
	[HOOK_FC_START] =
		TRACEPOINT_HOOK("ext4_fc_commit_start", "fc_start", FS_EXT4, .paired = true,
				.partner = HOOK_FC_STOP, .may_lack = true),
	[HOOK_FC_STOP] =
		TRACEPOINT_HOOK("ext4_fc_commit_stop", "fc_stop", FS_EXT4, .paired = true,
				.partner = HOOK_FC_START, .may_lack = true),
	/* Kernels that have it and no BTF are not known. */
	[HOOK_FC_LOCK] = { .target = "ext4_fc_lock_updates",
			   .prog = "fc_lock",
			   .fs = FS_EXT4,
			   .ways = WAY_BIT(WAY_TP_BTF),
			   .may_lack = true },
	[HOOK_F2FS_CHECKPOINT] =
		TRACEPOINT_HOOK("f2fs_write_checkpoint", "ckpt", FS_F2FS, .text_arg = 3),
	[HOOK_F2FS_ISSUE] = FUNCTION_HOOK("f2fs_issue_checkpoint", "issue", FS_F2FS,
					  FENTRY | KPROBE, INSTEAD(HOOK_F2FS_SYNC)),
	[HOOK_F2FS_SYNC] = FUNCTION_HOOK("f2fs_sync_fs", "sync", FS_F2FS, FENTRY | KPROBE),
	[HOOK_F2FS_MERGE] = FUNCTION_HOOK("__checkpoint_and_complete_reqs", "merge", FS_F2FS,
					  FENTRY | KPROBE),
	[HOOK_F2FS_SB_READER] = FUNCTION_HOOK("f2fs_sb_read_slowpath", "sb_reader", FS_F2FS,
					      FENTRY, INSTEAD(HOOK_F2FS_READER)),
	[HOOK_F2FS_READER] = FUNCTION_HOOK(
		"rwsem_down_read_slowpath", "reader", FS_F2FS, FENTRY,
		.hidden_by_struct = "f2fs_rwsem", .hidden_by_member = "read_waiters",
		.hidden_why = "readers wait elsewhere (CONFIG_F2FS_UNFAIR_RWSEM)"),
	[HOOK_F2FS_WRITER] =
		FUNCTION_HOOK("rwsem_down_write_slowpath", "writer", FS_F2FS, FENTRY),
	[HOOK_F2FS_FSYNC_ENTER] =
		TRACEPOINT_HOOK("f2fs_sync_file_enter", "fsync_enter", FS_F2FS, .paired = true,
				.partner = HOOK_F2FS_FSYNC_EXIT),
	[HOOK_F2FS_FSYNC_EXIT] =
		TRACEPOINT_HOOK("f2fs_sync_file_exit", "fsync_exit", FS_F2FS, .paired = true,
				.partner = HOOK_F2FS_FSYNC_ENTER),
};

#define NEEDS(...)                \
	.needs = { __VA_ARGS__ }, \
	.n_needs = sizeof((enum hook_id[]){ __VA_ARGS__ }) / sizeof(enum hook_id)

#define NEEDS_FAST_COMMIT NEEDS(HOOK_FC_START, HOOK_FC_STOP)
#define NEEDS_FSYNC_SERVED NEEDS(HOOK_FSYNC_ENTER, HOOK_FSYNC_EXIT, HOOK_FC_STOP)

const struct measure measures[FST_MEASURE_MAX] = {
	[FST_COMMIT] = { "commit", FS_JBD2, NEEDS(HOOK_COMMIT_START, HOOK_COMMIT_END) },
	[FST_COMMIT_LOCKING] = { "commit_locking", FS_JBD2,
				 NEEDS(HOOK_COMMIT_START, HOOK_COMMIT_FLUSH) },
	[FST_COMMIT_FLUSHING] = { "commit_flushing", FS_JBD2,
				  NEEDS(HOOK_COMMIT_START, HOOK_COMMIT_FLUSH,
					HOOK_COMMIT_LOG) },
	[FST_COMMIT_LOGGING] = { "commit_logging", FS_JBD2,
				 NEEDS(HOOK_COMMIT_START, HOOK_COMMIT_LOG, HOOK_COMMIT_STATS) },
	[FST_COMMIT_RECORD] = { "commit_record", FS_JBD2,
				NEEDS(HOOK_COMMIT_START, HOOK_COMMIT_RECORD,
				      HOOK_COMMIT_STATS) },
	[FST_COMMIT_CALLBACK] = { "commit_callback", FS_JBD2,
				  NEEDS(HOOK_COMMIT_START, HOOK_COMMIT_STATS,
					HOOK_COMMIT_END) },
	[FST_CHECKPOINT] = { "checkpoint", FS_JBD2, NEEDS(HOOK_CHECKPOINT) },
	[FST_LOG_SPACE_WAIT] = { "log_space_wait", FS_JBD2, NEEDS(HOOK_LOG_SPACE) },
	[FST_TRANSACTION_WAIT] = { "transaction_wait", FS_JBD2, NEEDS(HOOK_LOCKED) },
	[FST_COMMIT_WAIT] = { "commit_wait", FS_JBD2, NEEDS(HOOK_WAIT_COMMIT) },
	[FST_SHADOW_WAIT] = { "shadow_wait", FS_JBD2, NEEDS(HOOK_SHADOW) },
	[FST_FSYNC] = { "fsync", FS_EXT4, NEEDS(HOOK_FSYNC_ENTER, HOOK_FSYNC_EXIT) },
	[FST_FSYNC_FAST] = { "fsync_fast", FS_EXT4, NEEDS_FSYNC_SERVED, .one_way = true },
	[FST_FSYNC_FULL] = { "fsync_full", FS_EXT4, NEEDS_FSYNC_SERVED, .one_way = true },
	[FST_FAST_COMMIT_OK] = { "fast_commit_ok", FS_EXT4, NEEDS_FAST_COMMIT },
	[FST_FAST_COMMIT_INELIGIBLE] = { "fast_commit_ineligible", FS_EXT4, NEEDS_FAST_COMMIT },
	[FST_FAST_COMMIT_SKIPPED] = { "fast_commit_skipped", FS_EXT4, NEEDS_FAST_COMMIT },
	[FST_FAST_COMMIT_FAILED] = { "fast_commit_failed", FS_EXT4, NEEDS_FAST_COMMIT },
	[FST_FAST_COMMIT_LOCKED] = { "fast_commit_locked", FS_EXT4, NEEDS(HOOK_FC_LOCK) },

	[FST_F2FS_CHECKPOINT] = { "f2fs_checkpoint", FS_F2FS, NEEDS(HOOK_F2FS_CHECKPOINT) },
	[FST_F2FS_BLOCK_OPS] = { "f2fs_checkpoint_block_ops", FS_F2FS,
				 NEEDS(HOOK_F2FS_CHECKPOINT) },
	[FST_F2FS_WRITE] = { "f2fs_checkpoint_write", FS_F2FS, NEEDS(HOOK_F2FS_CHECKPOINT) },
	[FST_F2FS_REQUEST] = { "f2fs_request", FS_F2FS, NEEDS(HOOK_F2FS_ISSUE) },
	[FST_F2FS_MERGE] = { "f2fs_merge", FS_F2FS, NEEDS(HOOK_F2FS_MERGE) },
	/* A checkpoint shows where the semaphores are. */
	[FST_F2FS_READER_WAIT] = { "f2fs_reader_wait", FS_F2FS,
				   NEEDS(HOOK_F2FS_SB_READER, HOOK_F2FS_CHECKPOINT) },
	[FST_F2FS_WRITER_READERS] = { "f2fs_writer_readers", FS_F2FS,
				      NEEDS(HOOK_F2FS_WRITER, HOOK_F2FS_CHECKPOINT) },
	[FST_F2FS_WRITER_WRITER] = { "f2fs_writer_writer", FS_F2FS,
				     NEEDS(HOOK_F2FS_WRITER, HOOK_F2FS_CHECKPOINT) },
	[FST_F2FS_FSYNC] = { "f2fs_fsync", FS_F2FS,
			     NEEDS(HOOK_F2FS_FSYNC_ENTER, HOOK_F2FS_FSYNC_EXIT) },
};

/* include/trace/events/: jbd2.h, ext4.h, f2fs.h */
const struct classic_source classic_sources[CLASSIC_FIELD_MAX] = {
	[CLASSIC_COMMIT_DEV] = { HOOK_COMMIT_START, "dev" },
	[CLASSIC_COMMIT_TID] = { HOOK_COMMIT_START, "transaction" },
	[CLASSIC_RUN_DEV] = { HOOK_COMMIT_STATS, "dev" },
	[CLASSIC_RUN_TID] = { HOOK_COMMIT_STATS, "tid" },
	[CLASSIC_RUN_HANDLES] = { HOOK_COMMIT_STATS, "handle_count" },
	[CLASSIC_RUN_BLOCKS] = { HOOK_COMMIT_STATS, "blocks_logged" },
	[CLASSIC_END_DEV] = { HOOK_COMMIT_END, "dev" },
	[CLASSIC_END_TID] = { HOOK_COMMIT_END, "transaction" },
	[CLASSIC_CHECKPOINT_DEV] = { HOOK_CHECKPOINT_STATS, "dev" },
	[CLASSIC_CHECKPOINT_FORCED] = { HOOK_CHECKPOINT_STATS, "forced_to_close" },
	[CLASSIC_CHECKPOINT_WRITTEN] = { HOOK_CHECKPOINT_STATS, "written" },
	[CLASSIC_CHECKPOINT_DROPPED] = { HOOK_CHECKPOINT_STATS, "dropped" },
	[CLASSIC_FSYNC_DEV] = { HOOK_FSYNC_EXIT, "dev" },
	[CLASSIC_FC_START_DEV] = { HOOK_FC_START, "dev" },
	[CLASSIC_FC_STOP_DEV] = { HOOK_FC_STOP, "dev" },
	[CLASSIC_FC_STOP_BLOCKS] = { HOOK_FC_STOP, "nblks" },
	[CLASSIC_FC_STOP_STATUS] = { HOOK_FC_STOP, "reason" },
	[CLASSIC_F2FS_CKPT_DEV] = { HOOK_F2FS_CHECKPOINT, "dev" },
	[CLASSIC_F2FS_CKPT_MSG] = { HOOK_F2FS_CHECKPOINT, "msg", .or_next = true },
	[CLASSIC_F2FS_CKPT_WORDS] = { HOOK_F2FS_CHECKPOINT, "dest_msg", .or_next = true },
	[CLASSIC_F2FS_CKPT_PHASE] = { HOOK_F2FS_CHECKPOINT, "phase" },
	[CLASSIC_F2FS_FSYNC_DEV] = { HOOK_F2FS_FSYNC_EXIT, "dev" },
};

size_t hook_programs(const struct hook *h, enum way way, char names[static 2][PROG_NAME_MAX])
{
	static const char *const suffix[WAY_MAX][2] = {
		[WAY_TP_BTF] = { "" },
		[WAY_FENTRY] = { "_enter", "_exit" },
		[WAY_KPROBE] = { "_kenter", "_kexit" },
		[WAY_TRACEPOINT] = { "" },
	};
	size_t n = 0;

	for (size_t i = 0; i < 2 && suffix[way][i] && !(i && h->enter_only); i++)
		(void)snprintf(names[n++], PROG_NAME_MAX, "%s%s", h->prog, suffix[way][i]);
	return n;
}

const void *hook_object(enum fs_kind fs, bool classic, size_t *ret_size)
{
	static const void *(*const objects[FS_KIND_MAX][2])(size_t * size) = {
		[FS_JBD2] = { jbd2_bpf__elf_bytes, jbd2_tp_bpf__elf_bytes },
		[FS_EXT4] = { ext4_bpf__elf_bytes, ext4_tp_bpf__elf_bytes },
		[FS_F2FS] = { f2fs_bpf__elf_bytes, f2fs_tp_bpf__elf_bytes },
	};

	return objects[fs][classic](ret_size);
}

/* The tracepoints' systems have these names, too. */
const char *fs_kind_to_string(enum fs_kind fs)
{
	static const char *const names[FS_KIND_MAX] = {
		[FS_JBD2] = "jbd2",
		[FS_EXT4] = "ext4",
		[FS_F2FS] = "f2fs",
	};

	return names[fs];
}

bool fs_kind_concerns(enum fs_kind fs, const struct device *d)
{
	switch (fs) {
	case FS_JBD2:
		return d->has_journal;
	case FS_EXT4:
		return d->has_journal && d->type == DEVICE_EXT4;
	case FS_F2FS:
		return d->type == DEVICE_F2FS;
	case FS_KIND_MAX:
		break;
	}
	return false;
}

enum fs_kind measure_fs_kind(enum fst_measure m)
{
	return measures[m].fs;
}

const char *measure_to_string(enum fst_measure m)
{
	return m < FST_MEASURE_MAX ? measures[m].name : "none";
}
