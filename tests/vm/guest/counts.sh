#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Counts are the kernel's: commits against /proc/fs/jbd2/*/info on a quiet device, shadow waits
# against bpftrace in the same run, without and with btrfs busy beside. Wants a slow /dev/vda, a
# /dev/vdb, fio, bpftrace, jq, mkfs.btrfs, kernels.md, and the daemon.
. ./lib.sh
. ./workload-shadow.sh
. ./shadow-trace.sh
. ./ways.sh
. ./fast-commits.sh

dir=/mnt/ext4
modprobe -a ext4 btrfs
mount_ext4 /dev/vda "$dir" || bail_out "no file system"
mkdir -p /mnt/btrfs
fs-tuned --mode=observe 2>/out/fs-tuned.log &
daemon=$!
wait_for 20 fstunectl status || bail_out "fs-tuned does not answer"
fstunectl doctor >/out/doctor.txt
ways_are_documented

metric() {
	fstunectl metrics | awk -v name="$1{" 'index($1, name) == 1 && /device="vda"/ { n = $2 } END { print n + 0 }'
}
transactions() {
	awk '/transactions \(/ { print $1 }' /proc/fs/jbd2/vda-8/info
}

# Exactly: 40 fsyncs of 40 new files.
sync
ours=$(metric fstuned_commit_duration_seconds_count)
theirs=$(transactions)
fsyncs=$(metric fstuned_fsync_duration_seconds_count)
i=0
while [ $i -lt 40 ]; do
	dd if=/dev/zero of="$dir/q$i" bs=4k count=1 conv=fsync 2>/dev/null
	i=$((i + 1))
done
now=$(transactions)
caught_up() {
	[ "$(metric fstuned_commit_duration_seconds_count)" -ge $((ours + now - theirs)) ]
}
wait_for 15 caught_up
is "$(($(metric fstuned_commit_duration_seconds_count) - ours))" "$((now - theirs))" \
	"transactions of the kernel's own count"
is "$(($(metric fstuned_fsync_duration_seconds_count) - fsyncs))" 40 "one fsync for each fsync(2)"
for phase in locking flushing logging record callback; do
	is "$(fstunectl metrics | awk -v p="phase=\"$phase\"" '
		/^fstuned_commit_phase_duration_seconds_count/ && index($1, p) { print $2 }')" \
		"$(metric fstuned_commit_duration_seconds_count)" "each commit has its phase $phase"
done

# agree NAME: shadow waits seen by both during 8 s of the workload
agree() {
	before=$(metric fstuned_shadow_wait_seconds_count)
	shadow_begin
	workload_shadow "$dir" 8 /tmp/victim.json
	shadow_end
	wait_for 12 settled
	ours=$(($(metric fstuned_shadow_wait_seconds_count) - before))
	diag "$1: fs-tuned $ours, bpftrace $waits (of $all waits on that bit)"
	[ "$waits" -ge 100 ]
	ok $? "$1: there were shadow waits"
	slack=$((waits / 100 + 2))
	[ "$ours" -ge $((waits - slack)) ] && [ "$ours" -le $((waits + slack)) ]
	ok $? "$1: the counts agree within 1 % and 2"
}
# the daemon's numbers are as of its last tick
settled() {
	settled_now=$(metric fstuned_shadow_wait_seconds_count)
	[ "$settled_now" = "${settled_last:-}" ] && return 0
	settled_last=$settled_now
	sleep 1.5
	return 1
}

fast_commits_agree /dev/vdb /mnt/fast
agree "alone"
check "btrfs" mkfs.btrfs -q -f /dev/vdb
mount -t btrfs /dev/vdb /mnt/btrfs
fio --name=beside --directory=/mnt/btrfs --numjobs=2 --rw=randrw --bs=8k --size=64m --fsync=4 \
	--time_based --runtime=60 --output=/dev/null &
beside=$!
settled_last=
agree "btrfs busy beside"
kill "$beside"
wait "$beside"
is "$(fstunectl --json status | jq '.events_lost')" 0 "no event was lost"
kill "$daemon"
wait "$daemon"
check "the kernel has no complaint" kernel_is_quiet
done_testing
