#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Mean run time of each of the daemon's programs beside bpftrace's for the same measure, in the
# same run (kernel.bpf_stats_enabled), for the hooks that a poor kernel lacks. /out/cost.tsv:
# owner, program, mean ns, runs. Wants a slow /dev/vda, fio, bpftrace, bpftool, jq, the daemon.
. ./lib.sh
. ./workload-shadow.sh

dir=/mnt/ext4
modprobe ext4
# a small journal, so that there are checkpoints and waits for log space
mount_ext4 /dev/vda $dir -J size=4 || bail_out "no file system"
fs-tuned --mode=observe 2>/out/fs-tuned.log &
daemon=$!
wait_for 20 fstunectl status || bail_out "fs-tuned does not answer"
bpftool -j prog show | jq '[.[].id]' >/tmp/ours

# pair FUNCTION MAP: time inside a function
pair() {
	cat <<-EOF
		kprobe:$1 { @$2_begin[tid] = nsecs; }
		kretprobe:$1 /@$2_begin[tid]/ { @$2 = hist((nsecs - @$2_begin[tid]) / 1000); delete(@$2_begin[tid]); }
	EOF
}
{
	cat <<-'EOF'
		BEGIN { printf("ready\n"); }
		kprobe:out_of_line_wait_on_bit /arg1 == 23/ { @w[tid] = nsecs; }
		kretprobe:out_of_line_wait_on_bit /@w[tid]/ { @shadow = hist((nsecs - @w[tid]) / 1000); delete(@w[tid]); }
	EOF
	pair jbd2_journal_commit_transaction commit
	pair ext4_sync_file fsync
	pair jbd2_log_wait_commit commit_wait
	pair __jbd2_log_wait_for_space log_space_wait
	pair jbd2_log_do_checkpoint checkpoint
	pair wait_transaction_locked transaction_wait
} >/tmp/peer.bt
bpftrace /tmp/peer.bt >/tmp/peer 2>&1 &
peer=$!
wait_for 40 grep -qx ready /tmp/peer || bail_out "bpftrace does not start: $(cat /tmp/peer)"

sysctl -q kernel.bpf_stats_enabled=1
workload_shadow $dir "${1:-20}" /tmp/victim.json
bpftool -j prog show | jq -r --slurpfile ours /tmp/ours '
	.[] | select(.run_cnt > 20) | . as $p
	| [(if ($ours[0] | index($p.id)) then "fs-tuned" else "bpftrace" end), .name,
		(.run_time_ns / .run_cnt | floor), .run_cnt] | @tsv' >/out/cost.tsv
sysctl -q kernel.bpf_stats_enabled=0
kill -INT $peer
wait $peer
kill $daemon
wait $daemon
check "there are figures" test -s /out/cost.tsv
check "the kernel has no complaint" kernel_is_quiet
done_testing
