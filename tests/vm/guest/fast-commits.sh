# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
#
# Fast commits counted by the daemon against the kernel's own account. Wants lib.sh, jq and the
# daemon.

# fc_kernels WORD: a number of the kernel's account of $fc_dev
fc_kernels() {
	sed -nE "s/^([0-9]+) $1\$/\1/p" "/proc/fs/ext4/$fc_dev/fc_info"
}
fc_reasons() {
	sed -nE 's/^"(.*)":\t([0-9]+)$/\1 \2/p' "/proc/fs/ext4/$fc_dev/fc_info"
}
# fc_timed FAMILY LABEL VALUE: how many the probes have seen; 0 if none
fc_timed() {
	fstunectl metrics | sed -nE "s/^fstuned_$1_duration_seconds_count\{device=\"$fc_dev\",$2=\"$3\"\} //p" |
		grep . || echo 0
}
fc_seen() {
	fc_ok=$(fc_timed fast_commit status ok)
	# 5.10 counts as a commit what found it done, and has a reason that later kernels have not
	[ -z "$(fc_reasons | sed -n 's/^FC Commit Failed //p')" ] ||
		fc_ok=$((fc_ok + $(fc_timed fast_commit status skipped)))
	echo "$fc_ok $(($(fc_timed fast_commit status ineligible) + $(fc_timed fast_commit status failed)))" \
		"$(fstunectl --json status "$fc_dev" | jq '.devices[0].counters.fast_commit_blocks // 0')"
}
fc_account() {
	echo "$(fc_kernels commits) $(fc_kernels ineligible) $(fc_kernels numblks)"
}
fc_all_seen() {
	[ "$(fc_seen)" = "$(fc_account)" ]
}
# fc_told: the account is in the metrics, each reason by its name
fc_told() {
	[ "$(fstunectl metrics | sed -nE "s/^fstuned_fast_commit_fallbacks_total\{device=\"$fc_dev\",reason=\"(.*)\"\} /\1 /p")" = "$(fc_reasons)" ] &&
		[ "$(fstunectl metrics | sed -nE "s/^fstuned_fast_commit_blocks_total\{device=\"$fc_dev\"\} //p")" = "$(fc_kernels numblks)" ]
}
fc_known() {
	[ "$(fstunectl --json status "$fc_dev" | jq '.devices[0].fast_commit')" != null ]
}
fc_gone() {
	! fstunectl list | grep -qx "$fc_dev"
}

# fast_commits_agree DEVICE DIRECTORY: makes a file system with fast commits there, and counts while
# the daemon runs
fast_commits_agree() {
	fc_dev=${1#/dev/}
	mount_ext4 "$1" "$2" -O fast_commit -E lazy_itable_init=0,lazy_journal_init=0 ||
		bail_out 'no file system with fast commits'
	check 'fast commits: the file system is known to have them' wait_for 20 fc_known
	fc_i=0
	while [ $fc_i -lt 20 ]; do
		dd if=/dev/zero of="$2/a$fc_i" bs=4k count=1 conv=fsync 2>/dev/null
		fc_i=$((fc_i + 1))
	done
	while [ $fc_i -lt 26 ]; do
		mkdir "$2/d$fc_i" && mv "$2/d$fc_i" "$2/e$fc_i"
		dd if=/dev/zero of="$2/a$fc_i" bs=4k count=1 conv=fsync 2>/dev/null
		fc_i=$((fc_i + 1))
	done
	[ "$(fc_kernels commits)" -gt 0 ] && [ "$(fc_kernels ineligible)" -gt 0 ]
	ok $? "fast commits: the kernel made $(fc_kernels commits), $(fc_kernels ineligible) fell back"
	wait_for 20 fc_all_seen
	is "$(fc_seen)" "$(fc_account)" 'fast commits: made, fallen back and blocks are the same numbers'
	check 'fast commits: the account and each reason are told' wait_for 40 fc_told
	is "$(fc_timed fsync_commit commit fast) $(fc_timed fsync_commit commit full)" \
		"$(fc_timed fast_commit status ok) $(fc_kernels ineligible)" 'fast commits: and so many fsyncs each'
	like "$(fstunectl status)" 'may lose files' 'fast commits: status warns of this kernel'
	is "$(fstunectl --json doctor | jq -r '.checks[] | select(.name == "fast commit safety") | .state')" problem \
		'fast commits: and so does doctor'
	umount "$2"
	check 'fast commits: unmounted, it is gone' wait_for 20 fc_gone
}
