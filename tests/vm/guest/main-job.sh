#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# main-job.sh ROUNDS SECONDS: the main job, measured. In each round the same workload runs with
# force_copy off, on, and under fs-tuned (in turning order, so that no mode is always first); a
# line for each run goes to /out/runs.tsv, `status` and `history` as they stood to /out. Wants the
# patched modules, a slow /dev/vda, fio, bpftrace, jq, and the daemon.
#
# Columns: round mode p50 p99 p99.9 max mean (us) shadow-waits reaction(ms) changes-under-load
#          back(s); the last three of mode auto only.
. ./lib.sh
. ./workload-shadow.sh
. ./shadow-trace.sh

rounds=${1:-1}
seconds=${2:-20}
dir=/mnt/main
run=/run/fs-tuned

now_ms() {
	awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime
}

# measure ROUND MODE: one measured run; the columns up to shadow-waits.
measure() {
	shadow_begin
	workload_shadow "$dir" "$seconds" /tmp/victim.json >&2
	shadow_end
	printf '%s\t%s' "$1" "$2"
	for p in 50.000000 99.000000 99.900000 max mean; do
		printf '\t%s' "$(shadow_latency /tmp/victim.json $p)"
	done
	printf '\t%s' "$waits"
}

changes() {
	fstunectl --json history vda | jq '[.history[] | select(.result == "applied")] | length'
}

# While the load begins: when was force_copy set, against when somebody first waited?
watch_reaction() {
	while [ "$(cat "$knob")" = 0 ]; do
		sleep 0.02
	done
	now_ms >/tmp/turned
}

run_auto() {
	mkdir -p /etc/fs-tuned
	cat >/etc/fs-tuned/fs-tuned.conf <<-EOF
		[Policy]
		ForceCopyQuiet=15s
		ForceCopyTrial=3s
		ChangeInterval=1s
	EOF
	fs-tuned 2>>/out/fs-tuned.log &
	daemon=$!
	wait_for 20 fstunectl status || bail_out "fs-tuned does not answer"

	# The load begins: how long does it take?
	rm -f /tmp/turned
	shadow_begin
	watch_reaction &
	watcher=$!
	workload_shadow "$dir" 5 /tmp/warm.json >&2
	shadow_end
	kill "$watcher" 2>/dev/null
	wait "$watcher" 2>/dev/null
	reaction=-1
	[ ! -s /tmp/turned ] ||
		reaction=$(($(cat /tmp/turned) - first))

	# Steady state.
	measure "$1" auto
	fstunectl status >/out/status.txt
	fstunectl status vda >/out/status-vda.txt
	printf '\t%s\t%s' "$reaction" "$(changes)"

	# The load has ended: quiet gives it back.
	began=$(now_ms)
	back=-1
	if wait_for 60 grep -qx 0 "$knob"; then
		back=$((($(now_ms) - began) / 1000))
	fi
	printf '\t%s\n' "$back"
	fstunectl history >/out/history.txt
	fstunectl --json status >/out/status.json
	fstunectl metrics >/out/metrics.txt
	kill "$daemon"
	wait "$daemon" || diag "fs-tuned ended with $?"
	rm -rf "$run" /etc/fs-tuned
}

one() {
	mount_ext4 /dev/vda "$dir" || bail_out "no file system"
	knob=$(journal vda)/force_copy
	[ -e "$knob" ] || bail_out "no $knob: not the patched modules"
	diag "round $1: $2"
	case $2 in
	off) measure "$1" off && printf '\t-\t-\t-\n' ;;
	on) echo 1 >"$knob" && measure "$1" on && printf '\t-\t-\t-\n' ;;
	auto) run_auto "$1" ;;
	esac >>/out/runs.tsv
	diag "$(tail -n 1 /out/runs.tsv)" # what there is, should a later run hang
	umount "$dir"
	check "round $1, $2: e2fsck finds nothing" e2fsck -fn /dev/vda
}

: >/out/runs.tsv
modprobe ext4
i=1
while [ "$i" -le "$rounds" ]; do
	case $((i % 3)) in
	1) order='off on auto' ;;
	2) order='on auto off' ;;
	0) order='auto off on' ;;
	esac
	for mode in $order; do
		one "$i" "$mode"
	done
	i=$((i + 1))
done
check "the kernel has no complaint" kernel_is_quiet
done_testing
