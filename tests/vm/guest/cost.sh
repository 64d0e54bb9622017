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
# The peer measures the same: each wait by its journal or device, only such waits for that bit as are
# for a journaled buffer, and who asked first for a commit. The empty program on submit_bio tells what
# a run costs in which nothing is done: the clock that times it is emulated.
#
# pair FUNCTION MAP [MORE]: time inside a function, by its first argument
pair() {
	cat <<-EOF
		kprobe:$1 { @$2_begin[tid] = nsecs; @$2_of[tid] = arg0; $3 }
		kretprobe:$1 /@$2_begin[tid]/ {
			@$2[@$2_of[tid]] = hist((nsecs - @$2_begin[tid]) / 1000);
			delete(@$2_begin[tid]);
			delete(@$2_of[tid]);
		}
	EOF
}
{
	bit=$(bpftool btf dump file /sys/kernel/btf/jbd2 | awk -F= "/'BH_Shadow'/ { print \$2; exit }")
	cat <<-EOF
		BEGIN { printf("ready\n"); }
		kprobe:submit_bio { }
		kprobe:out_of_line_wait_on_bit /arg1 == ${bit:?jbd2 has no BTF}/ {
			\$bh = (struct buffer_head *)arg0;
			\$journal_head = (uint64)\$bh->b_private;
			if (\$journal_head != 0 && *(uint64 *)\$journal_head == arg0) {
				@w[tid] = nsecs;
				@dev[tid] = \$bh->b_bdev->bd_dev;
			}
		}
		kretprobe:out_of_line_wait_on_bit /@w[tid]/ {
			@shadow[@dev[tid]] = hist((nsecs - @w[tid]) / 1000);
			delete(@w[tid]);
			delete(@dev[tid]);
		}
	EOF
	pair jbd2_journal_commit_transaction commit
	pair ext4_sync_file fsync
	# shellcheck disable=SC2016 # bpftrace's
	pair jbd2_log_wait_commit commit_wait \
		'if (@asked_for[arg0] != arg1) { @asked_for[arg0] = arg1; @asked[arg0] = (pid, tid, cgroup, comm); }'
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

# counted OWNER COUNT: shadow waits of this round, which are a part of the waits that the hook sees
counted() {
	printf '%s\tshadow:count\t0\t%s\t%s\n' "$1" "$2" "$rounds" >>/out/cost.tsv
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
	counted fs-tuned "$(fstunectl metrics |
		awk '$1 ~ /^fstuned_shadow_wait_seconds_count/ { n += $2 } END { print n + 0 }')"
	kill $pid
	wait $pid
	bpftrace /tmp/peer.bt >/tmp/peer 2>&1 &
	pid=$!
	wait_for 40 grep -qx ready /tmp/peer || bail_out "bpftrace does not start: $(cat /tmp/peer)"
	load bpftrace
	stop_process INT $pid
	counted bpftrace "$(awk '/^@/ { shadow = /^@shadow/ } shadow && sub(/ *\|.*/, "") { n += $NF }
		END { print n + 0 }' /tmp/peer)"
done
sysctl -q kernel.bpf_stats_enabled=0
check "there are figures" test -s /out/cost.tsv
check "the kernel has no complaint" kernel_is_quiet
done_testing
