#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a test may expect where systemd runs; with a reboot in the middle.
set -u
. ./lib.sh

boot() {
	wait_for 60 systemctl is-system-running
	is "$(systemctl is-system-running)" running "boot $FSTUNED_BOOT: all units are well"
	is "$(cat /proc/1/comm)" systemd "boot $FSTUNED_BOOT: systemd is the first process"
	check "boot $FSTUNED_BOOT: there is a system bus" busctl --system status
	root=$(findmnt -no SOURCE /)
	check "boot $FSTUNED_BOOT: the root's journal has force_copy" \
		test -e "$(journal "$root")/force_copy"
}

boot
if [ "$FSTUNED_BOOT" -eq 1 ]; then
	check 'what was installed is there' test -x /usr/bin/program-of-tree
	check 'and runs' program-of-tree
	check 'modules can be loaded' modprobe btrfs
	check 'the first disk is the one that was asked for' test "$(cat /sys/block/vda/size)" -eq 131072
	reboot_guest
fi
echo kept >/out/file
done_testing
