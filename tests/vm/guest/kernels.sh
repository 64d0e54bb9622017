#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a kernel line gives: the way to each measure, counts that are the kernel's own, shadow waits
# as many as bpftrace sees. Wants a slow /dev/vda, a /dev/vdb, fio, bpftrace, jq, kernels.md and the
# daemon.
. ./lib.sh
. ./workload-shadow.sh
. ./shadow-trace.sh
. ./ways.sh
. ./fast-commits.sh

dir=/mnt/ext4
info=/proc/fs/jbd2/vda-8/info
modprobe ext4
# Without lazy initialisation, which would commit at times of its own.
mount_ext4 /dev/vda "$dir" -E lazy_itable_init=0,lazy_journal_init=0 || bail_out 'no file system'
metric() {
	fstunectl metrics |
		awk -v name="$1{" 'index($1, name) == 1 && /device="vda"/ { n = $2 } END { print n + 0 }'
}
transactions() {
	awk '/transactions \(/ { print $1 }' $info
}

sync
before=$(transactions)
fs-tuned --mode=observe 2>/out/fs-tuned.log &
daemon=$!
wait_for 30 fstunectl status || bail_out 'fs-tuned does not answer'

ways_are_documented

# Exactly: nobody else writes there, so what was committed since is the daemon's.
i=0
while [ $i -lt 12 ]; do
	dd if=/dev/zero of="$dir/q$i" bs=4k count=1 conv=fsync 2>/dev/null
	i=$((i + 1))
done
ours() {
	metric fstuned_commit_duration_seconds_count
}
caught_up() {
	[ "$(ours)" -ge $(($(transactions) - before)) ]
}
# all_counted NAME: after a sync nothing is left that could be committed meanwhile
all_counted() {
	sync
	wait_for 15 caught_up
	is "$(ours)" $(($(transactions) - before)) "$1: each transaction of the kernel's is counted"
}
all_counted 'a few fsyncs'
is "$(metric fstuned_fsync_duration_seconds_count)" 12 'a few fsyncs: and each fsync(2)'
[ "$(transactions)" -ge $((before + 12)) ]
ok $? 'each had a transaction of its own'

shadow_waits() {
	metric fstuned_shadow_wait_seconds_count
}
# Its number is as of the last tick.
shadow_at_least() {
	[ "$(shadow_waits)" -ge "$1" ]
}
if shadow_trace; then
	workload_shadow "$dir" 5 /tmp/victim.json
	shadow_end
	wait_for 10 shadow_at_least "$waits"
	diag "shadow waits: fs-tuned $(shadow_waits), bpftrace $waits (of $all on bit $bit)"
	[ "$waits" -ge 20 ]
	ok $? 'there are shadow waits'
	slack=$((waits / 100 + 2))
	shadow_at_least $((waits - slack)) && ! shadow_at_least $((waits + slack + 1))
	ok $? 'bpftrace counts as many, within 1 % and 2'
else
	workload_shadow "$dir" 5 /tmp/victim.json
	check 'there are shadow waits' wait_for 10 shadow_at_least 20
	skip 1 "$shadow_why"
fi
all_counted 'under load'

fast_commits_agree /dev/vdb /mnt/fast
is "$(fstunectl metrics | grep -cE '^fstuned_(fast_commit|fsync_commit).*"vda"')" 0 \
	'none of a file system without the feature'

# What people are told.
fstunectl --json status >/out/status.json
fstunectl --json doctor >/out/doctor.json
is "$(jq -r .kernel /out/status.json)" "$(uname -r)" 'status names the kernel'
is "$(jq .events_lost /out/status.json)" 0 'no event was lost'
is "$(jq -r '[.devices[].device] | join(" ")' /out/status.json)" vda 'status has the device'
is "$(jq '[.checks[] | select(.state == "problem") | .name | select(startswith("measure ") | not)] | length' \
	/out/doctor.json)" 0 'doctor has no problem but measures'
is "$(jq '[.checks[] | select(.state == "problem")] | length' /out/doctor.json)" \
	"$(jq '[.measures[] | select(.needed and .way == "none")] | length' /out/status.json)" \
	'and of those just the ones that are missed'

kill $daemon
wait $daemon
ok $? 'the daemon ends well'
check 'the kernel has no complaint' kernel_is_quiet
done_testing
