#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The guest's part of ../crash. What it prints ends with a line of counts; it succeeds if it could
# be done, whatever was found.
#
#   crash.sh run BYTES LOAD-ARGUMENTS -- CHECK-ARGUMENTS
#                              the load on /dev/vda, whose writes are recorded and which began as
#                              /dev/vdd, with marks on /dev/vdb; then the examination of the record,
#                              /dev/vdc
#   crash.sh again BYTES -- CHECK-ARGUMENTS
#                              only the latter, of /dev/vda, which began as /dev/vdb
#   crash.sh load LOAD-ARGUMENTS --
#                              only the load; the marks go to a port
#   crash.sh left BYTES -- CHECK-ARGUMENTS
#                              the examination of what that left behind: /dev/vda, and ./marks
set -u
. ./lib.sh

how=$1
shift
bytes=
if [ "$how" != load ]; then
	bytes=$1
	shift
fi

# load_arguments MARKS ARGUMENT... --: runs the load.
load() {
	marks=$1
	shift
	arguments=
	while [ "$1" != -- ]; do
		arguments="$arguments $1"
		shift
	done
	mount -t ext4 /dev/vda /mnt || bail_out 'no file system'
	knob=/sys/fs/ext4/vda/fast_commit
	# On a stock kernel one can only read it.
	if [ -e $knob ] && [ "$(stat -c %a $knob)" = 644 ]; then
		arguments="$arguments --knob $knob"
	fi
	# shellcheck disable=SC2086  # words
	./crash-load --marks "$marks" $arguments /mnt || bail_out 'the load failed'
	sed 's/^/fc_info: /' /proc/fs/ext4/vda/fc_info
}

# examine BASE ARGUMENT...: runs the examination.
examine() {
	base=$1
	shift
	while [ "$1" != -- ]; do
		shift
	done
	shift
	modprobe loop
	status=0
	./crash-check --bytes "$bytes" --base "$base" "$@" || status=$?
	kernel_is_quiet || echo "the kernel has something to say"
	[ $status -le 1 ]
	exit
}

case $how in
run)
	load /dev/vdb "$@"
	kernel_is_quiet || echo "the kernel has something to say"
	examine /dev/vdd "$@" --log /dev/vdc
	;;
again) examine /dev/vdb "$@" --log /dev/vda ;;
load)
	for port in /sys/class/virtio-ports/*; do
		[ "$(cat "$port/name")" = marks ] && marks=/dev/${port##*/}
	done
	load "$marks" "$@"
	;;
left) examine /dev/vda "$@" --marks ./marks ;;
esac
