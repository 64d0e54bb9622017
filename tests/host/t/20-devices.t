#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is found, how it is named, and that it is found once.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

listed() {
	ctl list | grep -qx "$1"
}
gone() {
	! listed "$1"
}
# has NAME FIELD VALUE
has() {
	[ "$(field "$1" "$2")" = "$3" ]
}
# field NAME FIELD: of the device, from the JSON
field() {
	ctl --json status | jq -r --arg n "$1" ".devices[] | select(.device == \$n) | $2"
}

make_ext4 "$tmp/plain" -L plain
plain=$(name "$loop")
start_daemon || bail_out "the daemon does not start: $(cat "$tmp/log")"
check "a mounted ext4 is listed at start" listed "$plain"
is "$(field "$plain" .mountpoint)" "$tmp/plain" "its mount point is told"
check "its label is told" wait_for 10 has "$plain" .label plain

# Mounts and unmounts are seen at once: well before the ten seconds of the re-reading.
make_ext4 "$tmp/late"
late=$(name "$loop")
check "a mount is seen at once" wait_for 2 listed "$late"
umount "$tmp/late" && unset 'mounts[-1]'
check "an unmount is seen at once" wait_for 3 gone "$late"
unseen=0
for i in $(seq 8); do
	mount_at "$tmp/late" "/dev/$late" && wait_for 2 listed "$late"
	umount "$tmp/late" && unset 'mounts[-1]'
	wait_for 3 gone "$late" || unseen=$((unseen + 1))
done
is "$unseen" 0 "every time"

make_loop 64M
mke2fs -q -F -t ext3 "$loop" && mount_at "$tmp/three" -t ext4 "$loop"
check "ext3 through ext4 is listed" wait_for 2 listed "$(name "$loop")"

make_loop 64M
mke2fs -q -F -t ext4 -O ^has_journal "$loop" && mount_at "$tmp/without" "$loop"
without=$(name "$loop")
make_ext4 "$tmp/after"
check "a later one is seen" wait_for 2 listed "$(name "$loop")"
like "$(ctl get "$without" 2>&1)" 'no journal|no such device' \
	"an ext4 without journal has no knob, and is told apart"

make_ext4 "$tmp/ro-first"
ro=$(name "$loop")
wait_for 2 listed "$ro"
mount -o remount,ro "$tmp/ro-first"
check "a read-only remount keeps it" wait_for 2 has "$ro" .read_only true

# One superblock, many mounts: one entry, one series.
mkdir "$tmp/plain/sub"
mount_at "$tmp/bind" --bind "$tmp/plain/sub"
mount_at "$tmp/again" "/dev/$plain"
is "$(ctl list | grep -cx "$plain")" 1 "bind mounts and second mounts make no second entry"
is "$(ctl metrics | grep -c "^fstuned_filesystem_info{device=\"$plain\"")" 1 "nor a second series"

odd=$tmp/$'with space, "quote", new\nline and \xc3\xa4'
make_ext4 "$odd"
odd_dev=$(name "$loop")
wait_for 2 listed "$odd_dev"
is "$(field "$odd_dev" .mountpoint)" "$odd" "an odd mount point comes through JSON as it is"
is "$(ctl metrics | grep -c "^fstuned_filesystem_info{device=\"$odd_dev\"")" 1 \
	"and stays one line in the metrics"
check "it is accepted as DEVICE" ctl get "$odd"

make_loop 64M
journal=$loop
mke2fs -q -F -O journal_dev -b 4096 "$journal"
make_loop 64M
mke2fs -q -F -t ext4 -b 4096 -J device="$journal" "$loop"
mount_at "$tmp/external" "$loop"
external=$(name "$loop")
wait_for 2 listed "$external"
is "$(field "$external" .journal)" "$(name "$journal")" "an external journal has its own name"
dd if=/dev/zero of="$tmp/external/f" bs=4k count=4 conv=fsync status=none
counted() {
	[ "$(metric fstuned_commit_duration_seconds_count "$external")" -gt 0 ]
}
check "and its commits are counted for the file system's device" wait_for 5 counted

# Every form of DEVICE.
uuid=$(blkid -s UUID -o value "/dev/$plain")
majmin=$(lsblk -ndo MAJ:MIN "/dev/$plain" | tr -d ' ')
ln -s "/dev/$plain" "$tmp/link"
for form in "$plain" "/dev/$plain" "$tmp/link" "$majmin" "$tmp/plain" "$tmp/plain/sub" "UUID=$uuid" LABEL=plain; do
	is "$(ctl --json get "$form" | jq -r .device)" "$plain" "${form#"$tmp"} denotes it"
done
stop_daemon
is "$ended" 0 "the daemon ends in order"
done_testing
