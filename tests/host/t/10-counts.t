#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Counts are the kernel's: commits and fsyncs of each device, exactly, however many tasks there
# are, through an overlay, with an external journal, and by each way to get at them.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

# fsyncs N FILE: writes and fsyncs N times, in one task.
fsyncs() {
	perl -MIO::Handle -e '
		open(my $f, ">>", $ARGV[1]) or die "$ARGV[1]: $!";
		for (1 .. $ARGV[0]) { syswrite($f, "x" x 100) and $f->sync or die "$ARGV[1]: $!"; }
	' "$1" "$2"
}

# transactions JOURNAL: as /proc/fs/jbd2 counts them
transactions() {
	awk '/transactions \(/ { print $1 }' "/proc/fs/jbd2/$1/info"
}

# equal COMMAND COMMAND: both print the same
equal() {
	[ "$($1)" = "$($2)" ]
}

# exactly DEVICE JOURNAL FSYNCS WHAT COMMAND...: while COMMAND runs, the device has FSYNCS fsyncs, and
# we count as many of them, and as many commits as the kernel counts in the journal.
exactly() {
	local dev=$1 jnl=$2 n=$3 what=$4 fsyncs0 commits0 kernel0
	shift 4
	fsyncs0=$(metric fstuned_fsync_duration_seconds_count "$dev")
	commits0=$(metric fstuned_commit_duration_seconds_count "$dev")
	kernel0=$(transactions "$jnl")
	"$@" || bail_out "$what: $* failed"
	ours() {
		echo $(($(metric fstuned_commit_duration_seconds_count "$dev") - commits0))
	}
	kernels() {
		echo $(($(transactions "$jnl") - kernel0))
	}
	check "$what: as many commits as the kernel counts" wait_for 15 equal ours kernels
	[ "$(kernels)" -gt 0 ]
	ok $? "$what: $(kernels) of them"
	is $(($(metric fstuned_fsync_duration_seconds_count "$dev") - fsyncs0)) "$n" \
		"$what: $n fsyncs"
}

# crowd DIRECTORY...: 8 tasks, 200 fsyncs each, in each directory, all at once
crowd() {
	local dir i pids=()
	for dir; do
		for i in 1 2 3 4 5 6 7 8; do
			fsyncs 200 "$dir/crowd$i" &
			pids+=($!)
		done
	done
	for i in "${pids[@]}"; do
		wait "$i" || return 1
	done
}

make_ext4 "$tmp/one"
one=$(name "$loop")
make_ext4 "$tmp/two"
two=$(name "$loop")

make_loop 16M
journal=$loop
mke2fs -q -F -O journal_dev -b 4096 "$journal"
make_ext4 "$tmp/external" -b 4096 -J "device=$journal"
external=$(name "$loop")

mkdir -p "$tmp/lower" "$tmp/one/upper" "$tmp/one/work"
mount_at "$tmp/overlay" -t overlay overlay \
	-o "lowerdir=$tmp/lower,upperdir=$tmp/one/upper,workdir=$tmp/one/work"
sync -f "$tmp/one" "$tmp/two" "$tmp/external"

start_daemon || bail_out "the daemon does not start: $(cat "$tmp/log")"
exactly "$one" "$one-8" 300 'one task' fsyncs 300 "$tmp/one/file"
exactly "$external" "$(name "$journal")" 50 'external journal' fsyncs 50 "$tmp/external/file"
exactly "$one" "$one-8" 50 'overlay, as containers have it' fsyncs 50 "$tmp/overlay/file"
exactly "$two" "$two-8" 1600 'two crowds on two devices' crowd "$tmp/one" "$tmp/two"

# Every commit went through every phase; they are parts of it.
commits=$(metric fstuned_commit_duration_seconds_count "$one")
for phase in locking flushing logging callback; do
	is "$(ctl metrics | sed -nE "s/^fstuned_commit_phase_duration_seconds_count\{device=\"$one\",phase=\"$phase\"\} //p")" \
		"$commits" "$phase: once in each commit"
done
ctl metrics | awk -v device="device=\"$one\"" '
	index($1, device) && /^fstuned_commit_duration_seconds_sum/ { whole = $2 }
	index($1, device) && /^fstuned_commit_phase_duration_seconds_sum/ { parts += $2 }
	END { exit !(parts > 0.9 * whole && parts < 1.000001 * whole) }'
ok $? 'phases together are the commit'
stop_daemon

if ! start_classic_daemon; then
	skip 7 'no tracefs on this kernel'
	done_testing
fi
like "$(ctl metrics)" '^fstuned_probe_attached\{measure="commit",way="tracepoint"\} 1$' \
	'without BTF, the classic tracepoint'
exactly "$one" "$one-8" 300 'classic, one task' fsyncs 300 "$tmp/one/file"
exactly "$two" "$two-8" 1600 'classic, two crowds on two devices' crowd "$tmp/one" "$tmp/two"
stop_daemon
done_testing
