#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# harness.sh HOW [ARGUMENT ...]: ends the way that is asked for. See ../t/harness.t.
set -eu
how=$1
shift

case $how in
pass)
	for argument; do
		echo "argument $argument"
	done
	grep -q 'vda' /proc/partitions
	for directory in /sys/kernel/tracing/events /sys/kernel/debug/bdi /sys/fs/cgroup/cgroup.procs \
		/sys/fs/bpf /dev/shm; do
		[ -e $directory ]
	done
	[ "$(cat /proc/sys/kernel/hung_task_timeout_secs)" -gt 0 ]
	echo kept >/out/file
	echo said >&2
	;;
status) exit "$1" ;;
panic) echo c >/proc/sysrq-trigger ;;
reset) reboot -f ;;
hang) exec tail -f /dev/null ;;
esac
