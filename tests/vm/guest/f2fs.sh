# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
#
# An f2fs on /dev/vda, its counters, and tasks that ask for checkpoints. Wants lib.sh, the f2fs tools
# and a sync that takes a directory.

# mount_f2fs [OPTIONS]: makes a file system there and mounts it on /mnt.
mount_f2fs() {
	modprobe f2fs &&
		mkfs.f2fs -q -f /dev/vda >/dev/null &&
		mount -t f2fs ${1:+-o "$1"} /dev/vda /mnt
}

f2fs_is_clean() {
	fsck.f2fs --dry-run -f /dev/vda >/tmp/fsck 2>&1 &&
		! grep -E '\[Fail\]|ASSERT' /tmp/fsck
}

# f2fs_has OPTION: it is among the options that the kernel shows.
f2fs_has() {
	grep ' /mnt f2fs ' /proc/mounts | cut -d' ' -f4 | tr ',' '\n' | grep -qx "$1"
}

# merged Queued|Issued|Total: checkpoint requests for the checkpoint thread.
merged() {
	sed -n "s/^CP merge (.*$1: *\([0-9]*\),.*/\1/p" /sys/kernel/debug/f2fs/status
}

checkpoints() {
	sed -n 's/^CP calls: \([0-9]*\) .*/\1/p' /sys/kernel/debug/f2fs/status
}

# ckpt_thread: its process ID, nothing if there is none.
ckpt_thread() {
	grep -l '^f2fs_ckpt-' /proc/[0-9]*/comm 2>/dev/null | cut -d/ -f3
}

# syncer DIRECTORY ROUNDS: asks for a checkpoint so often, or until /tmp/enough is there, each time
# with something new to write. Each fsync that fails is a line in /tmp/sync-failed.
syncer() {
	mkdir -p "$1"
	syncer_round=0
	while [ $syncer_round -lt "$2" ] && [ ! -e /tmp/enough ]; do
		: >"$1/file.$syncer_round"
		sync "$1" 2>>/tmp/sync-failed
		syncer_round=$((syncer_round + 1))
	done
}

# syncers NUMBER ROUNDS: so many of them, in directories of their own below the present one; their
# process IDs are in $syncers.
syncers() {
	rm -f /tmp/enough /tmp/sync-failed
	syncers=
	for syncer_number in $(seq "$1"); do
		syncer "dir.$syncer_number" "$2" 2>/dev/null &
		syncers="$syncers $!"
	done
}

# gone PID...: of none of these a thread runs any more; that nobody has waited for it yet does not
# matter.
gone() {
	for gone_pid; do
		! grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$gone_pid"/task/*/status 2>/dev/null ||
			return 1
	done
}

# nobody_waits: no thread is in uninterruptible sleep.
nobody_waits() {
	! grep -lE '^State:[[:space:]]+D' /proc/[0-9]*/task/*/status 2>/dev/null
}
