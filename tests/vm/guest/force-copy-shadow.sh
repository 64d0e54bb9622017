#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# force_copy does what it is for: nobody waits for a buffer that is being written to the journal.
set -u
. ./lib.sh
. ./workload-shadow.sh
. ./shadow-trace.sh

mount_ext4 /dev/vda /mnt || bail_out 'no file system'
knob=$(journal /dev/vda)/force_copy

# measure VALUE: sets the knob and runs the workload; leaves the number of shadow waits in $waits.
measure() {
	echo "$1" >"$knob"
	shadow_begin
	workload_shadow /mnt 8 "/out/fio.$1.json" || bail_out 'fio failed'
	shadow_end
	diag "force_copy $1: $waits shadow waits, the victim's p99 is" \
		"$(shadow_latency "/out/fio.$1.json") us"
}

counter() {
	sed -n "s/^$1 //p" "${knob}_stats"
}

measure 0
off=$waits
[ "$off" -ge 100 ]
ok $? 'without it there are shadow waits'
is "$(counter copied_blocks)" 0 'and no copies'

measure 1
[ $((waits * 100)) -le "$off" ]
ok $? 'with it there are none'
[ "$(counter avoided_waits)" -ge $((off / 10)) ]
ok $? 'they are counted as avoided'
[ "$(counter copied_blocks)" -ge 100 ] &&
	[ "$(counter copied_bytes)" -eq $(($(counter copied_blocks) * 4096)) ]
ok $? 'copies are counted'
is "$(counter copy_failures)" 0 'there was memory for all'
diag "$(cat "${knob}_stats")"

umount /mnt
check 'the file system is clean' e2fsck -fn /dev/vda
check 'the kernel had nothing to say' kernel_is_quiet
done_testing
