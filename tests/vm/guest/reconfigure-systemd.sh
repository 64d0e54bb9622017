#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# checkpoint_merge under a real systemd: set and given back from within the sandboxes, also where
# the daemon's own namespace hides the mount point, and left alone by a shutdown. Wants two disks,
# mkfs.f2fs, jq and the installed tree.
set -u
. ./lib.sh

# closed to all but its owner, and below what ProtectHome= hides
dir=/home/user/private
merge() {
	fstunectl --json get "$1" checkpoint_merge | jq -r '.knobs[0].value'
}
merge_is() {
	[ "$(merge "$1")" = "$2" ]
}
option_is() {
	grep -q " $dir .*,$1," /proc/1/mountinfo
}
mounted() {
	mkdir -p "$dir"
	chmod 700 /home/user
	chown 1000:1000 /home/user
	mount -t f2fs -o nosuid,noatime,background_gc=off /dev/vda "$dir"
}
options() {
	grep " $dir " /proc/1/mountinfo | sed 's/,nocheckpoint_merge,/,checkpoint_merge,/'
}

wait_for 60 systemctl is-system-running
if [ "$FSTUNED_BOOT" -gt 1 ]; then
	check "after a reboot it runs" systemctl is-active fs-tuned
	is "$(jq '.entries | length' /run/fs-tuned/ledger.json 2>/dev/null || echo 0)" 0 "and the ledger is empty"
	done_testing
	exit
fi

for unit in fs-tuned fs-tuned-restore; do
	exposure=$(systemd-analyze security --no-pager $unit.service | awk '/Overall exposure/ { print $(NF - 2) }')
	awk -v e="$exposure" 'BEGIN { exit !(e > 0 && e <= 2.5) }'
	ok $? "exposure of $unit: $exposure, at most 2.5"
done
modprobe f2fs
mkfs.f2fs -q -f /dev/vda >/dev/null
mkfs.f2fs -q -f /dev/vdb >/dev/null
mounted || bail_out "no f2fs"
options >/tmp/before
check "enable --now" systemctl enable --now fs-tuned
check "it is seen" wait_for 15 merge_is vda 1
check "set" fstunectl set vda checkpoint_merge 0
check "it is" option_is nocheckpoint_merge
options >/tmp/after
check "all else is as it was" cmp /tmp/before /tmp/after
check "auto gives it back" fstunectl auto vda checkpoint_merge
check "it is back" wait_for 15 option_is checkpoint_merge

# In a container, as it were: another namespace, and a root of its own.
mkdir -p /root/box/mnt
unshare -m sh -c 'mount -t tmpfs tmpfs /root/box && mkdir -p /root/box/mnt /root/box/proc /root/box/bin &&
	mount -t f2fs -o nodev /dev/vdb /root/box/mnt && : >/tmp/ready && exec tail -f /dev/null' &
box=$!
check "a container has one" wait_for 15 test -e /tmp/ready
check "container: it is seen" wait_for 15 merge_is vdb 1
check "container: set" fstunectl set vdb checkpoint_merge 0
like "$(grep /root/box/mnt /proc/$box/mountinfo)" ",nodev.*,nocheckpoint_merge," "container: it is, and nodev still"
kill $box

mkdir -p /etc/fs-tuned
printf '[Policy]\nCheckpointMerge=0\nCkptThreadIoprio=rt,2\nRealTimeIoprio=yes\n' >/etc/fs-tuned/fs-tuned.conf
check "reload" systemctl reload fs-tuned
check "the configuration sets it" wait_for 15 option_is nocheckpoint_merge
printf '[Policy]\nCheckpointMerge=1\nCkptThreadIoprio=rt,2\nRealTimeIoprio=yes\n' >/etc/fs-tuned/fs-tuned.conf
check "reload" systemctl reload fs-tuned
check "and sets it anew" wait_for 15 option_is checkpoint_merge
check "and then the thread's priority" wait_for 15 grep -qx rt,2 /sys/fs/f2fs/vda/ckpt_thread_ioprio
printf '[Policy]\nCheckpointMerge=0\n' >/etc/fs-tuned/fs-tuned.conf
check "restart" systemctl restart fs-tuned
check "merging is off" wait_for 15 option_is nocheckpoint_merge
applied() {
	jq -e '.entries[] | select(.knob == "checkpoint_merge" and .state == "applied" and .original == "1")' /run/fs-tuned/ledger.json
}
check "the ledger knows what it was" wait_for 15 applied
check "stop" systemctl stop fs-tuned
check "stop gives it back" wait_for 15 option_is checkpoint_merge
check "and the priority" wait_for 15 grep -qx be,3 /sys/fs/f2fs/vda/ckpt_thread_ioprio
options >/tmp/after
check "and all is as it was" cmp /tmp/before /tmp/after
check "start" systemctl start fs-tuned
check "it is set" wait_for 15 applied
reboot_guest
