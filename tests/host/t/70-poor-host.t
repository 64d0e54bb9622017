#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kernel that offers little: the same binaries run, measure what can be measured, and say
# exactly what cannot be, and why.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

make_ext4 "$tmp/fs"
dev=$(name "$loop")

# exact NAME: 50 fsyncs make as many transactions in our count as in the kernel's
exact() {
	local before ours after
	before=$(awk '/transactions \(/ { print $1 }' "/proc/fs/jbd2/$dev-8/info")
	ours=$(metric fstuned_commit_duration_seconds_count "$dev")
	for i in $(seq 50); do
		dd if=/dev/zero of="$tmp/fs/file$i" bs=4k count=1 conv=fsync status=none
	done
	after=$(awk '/transactions \(/ { print $1 }' "/proc/fs/jbd2/$dev-8/info")
	same() {
		[ $(($(metric fstuned_commit_duration_seconds_count "$dev") - ours)) -eq $((after - before)) ]
	}
	check "$1: $((after - before)) transactions, counted exactly" wait_for 15 same
	[ $((after - before)) -ge 50 ]
	ok $? "$1: and there were some"
	fsyncs() {
		[ "$(metric fstuned_fsync_duration_seconds_count "$dev")" -ge 50 ]
	}
	check "$1: fsyncs are counted" wait_for 15 fsyncs
}

# way MEASURE: how it is got
way() {
	ctl --json status | jq -r --arg m "$1" '.measures[] | select(.measure == $m) | .way'
}

start_daemon || bail_out "the daemon does not start: $(cat "$tmp/log")"
exact "as it is"
for m in commit fsync; do
	[ "$(way $m)" != none ]
	ok $? "$m is measured, by $(way $m)"
done
is "$(ctl --json status | jq '[.measures[] | select(.way == "none" and (.why // "") == "")] | length')" 0 \
	"no measure is unavailable without a reason"
for m in shadow_wait checkpoint log_space_wait commit_record; do
	diag "$m: $(way $m) $(ctl --json status | jq -r --arg m "$m" '.measures[] | select(.measure == $m) | .why')"
done
stop_daemon

# Without BTF.
start_classic_daemon
ok $? "without BTF it starts"
is "$(way commit)" tracepoint "without BTF commits come by the classic tracepoint"
exact "without BTF"
like "$(ctl --json status | jq -r '.measures[] | select(.measure == "shadow_wait") | .why')" \
	'BTF' "without BTF shadow waits are unavailable for want of it"
stop_daemon

# Without any privilege for BPF.
setpriv --bounding-set=-sys_admin,-bpf,-perfmon --inh-caps=-all -- "$bin/fs-tuned" --runtime-dir="$run" \
	--sysroot="$sysroot" --config="$tmp/no-config" >>"$tmp/log" 2>&1 &
daemon=$!
check "without BPF it starts all the same" wait_for 15 ctl status
is "$(way commit)" none "and measures nothing"
like "$(ctl --json status | jq -r '.measures[] | select(.measure == "commit") | .why')" \
	'EPERM|[Pp]ermi' "and says that it may not"
make_knob "$dev"
stop_daemon
done_testing
