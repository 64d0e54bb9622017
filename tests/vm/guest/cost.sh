#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cost.sh ROUNDS SECONDS: mean run time of the daemon's programs beside bpftrace's for the same
# measures (kernel.bpf_stats_enabled), for the hooks that a poor kernel lacks. Each round runs the
# workload under one and then the other: whoever comes first after a sleep pays for cold caches,
# so they must not run at once. /out/cost.tsv: owner, program, ns, runs, round. Wants a slow /dev/vda,
# fio, bpftrace, bpftool, jq, the daemon.
. ./lib.sh
. ./workload-shadow.sh

dir=/mnt/ext4
modprobe ext4
# a small journal, so that there are checkpoints and waits for log space
mount_ext4 /dev/vda $dir -J size=4 || bail_out "no file system"
# pair FUNCTION MAP: time inside a function
pair() {
	cat <<-EOF
		kprobe:$1 { @$2_begin[tid] = nsecs; }
		kretprobe:$1 /@$2_begin[tid]/ { @$2 = hist((nsecs - @$2_begin[tid]) / 1000); delete(@$2_begin[tid]); }
	EOF
}
{
	bit=$(bpftool btf dump file /sys/kernel/btf/jbd2 | awk -F= "/'BH_Shadow'/ { print \$2; exit }")
	cat <<-EOF
		BEGIN { printf("ready\n"); }
		kprobe:out_of_line_wait_on_bit /arg1 == ${bit:?jbd2 has no BTF}/ { @w[tid] = nsecs; }
		kretprobe:out_of_line_wait_on_bit /@w[tid]/ { @shadow = hist((nsecs - @w[tid]) / 1000); delete(@w[tid]); }
	EOF
	pair jbd2_journal_commit_transaction commit
	pair ext4_sync_file fsync
	pair jbd2_log_wait_commit commit_wait
	pair __jbd2_log_wait_for_space log_space_wait
	pair jbd2_log_do_checkpoint checkpoint
	pair wait_transaction_locked transaction_wait
} >/tmp/peer.bt
# load OWNER: the workload, and what the programs took meanwhile, in this round
load() {
	bpftool -j prog show | jq -c '[.[] | {id, t: (.run_time_ns // 0), n: (.run_cnt // 0)}]' >/tmp/before
	workload_shadow $dir "$seconds" /tmp/victim.json
	bpftool -j prog show | jq -r --arg owner "$1" --arg round "$rounds" --slurpfile before /tmp/before '
		.[] | select(.run_cnt) | . as $p
		| ([$before[0][] | select(.id == $p.id)] + [{t: 0, n: 0}])[0] as $b
		| [$owner, .name, .run_time_ns - $b.t, .run_cnt - $b.n, $round] | @tsv' >>/out/cost.tsv
}

rounds=${1:-2}
seconds=${2:-10}
: >/out/cost.tsv
sysctl -q kernel.bpf_stats_enabled=1
while [ "$rounds" -gt 0 ]; do
	rounds=$((rounds - 1))
	fs-tuned --mode=observe 2>/out/fs-tuned.log &
	pid=$!
	wait_for 30 fstunectl status || bail_out "fs-tuned does not answer"
	load fs-tuned
	kill $pid
	wait $pid
	bpftrace /tmp/peer.bt >/tmp/peer 2>&1 &
	pid=$!
	wait_for 40 grep -qx ready /tmp/peer || bail_out "bpftrace does not start: $(cat /tmp/peer)"
	load bpftrace
	stop_process INT $pid
done
sysctl -q kernel.bpf_stats_enabled=0
check "there are figures" test -s /out/cost.tsv
check "the kernel has no complaint" kernel_is_quiet
done_testing
