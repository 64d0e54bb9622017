#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# f2fs where the kernel is locked down: what cannot be had is said to be so, with the reason, and the
# rest is measured. Wants /dev/vda, jq, mkfs.f2fs, a sync that knows files and the daemon.
. ./lib.sh
. ./f2fs-oracle.sh

dir=/mnt/f2fs
mount -t securityfs securityfs /sys/kernel/security
modprobe f2fs
mount_f2fs /dev/vda $dir || bail_out 'no file system'
mkdir $dir/d
fs-tuned --mode=observe 2>/out/fs-tuned.log &
daemon=$!
wait_for 30 fstunectl status || bail_out 'fs-tuned does not answer'
is "$(fstunectl --json status | jq -r .lockdown)" "$1" 'the kernel is locked down'
is "$(fstunectl list)" vda 'the file system is found'

# way MEASURE
way() {
	fstunectl --json status | jq -r ".measures[] | select(.measure == \"$1\") | .way"
}
# counted METRIC: as many requests as there were, or nothing where it is unavailable
requests $dir/d 5
five() {
	[ "$(metric "$1" vda)" -eq 5 ]
}
while read -r measure metric; do
	if [ "$(way "$measure")" = none ]; then
		like "$(fstunectl --json status | jq -r ".measures[] | select(.measure == \"$measure\") | .why")" \
			'^[a-z_]+: .*[a-z]' "$measure is unavailable, and why"
		is "$(metric "$metric" vda)" 0 "$measure counts nothing"
	else
		check "$measure is counted" wait_for 10 five "$metric"
	fi
done <<-END
	f2fs_checkpoint fstuned_f2fs_checkpoint_duration_seconds_count
	f2fs_request fstuned_f2fs_request_wait_seconds_count
	f2fs_fsync fstuned_fsync_duration_seconds_count
END
fstunectl --json status | jq -r '.measures[] | select(.needed) | [.measure, .way, .why // ""] | join("|")' |
	while IFS= read -r line; do diag "$line"; done
kill $daemon
wait $daemon
ok $? 'the daemon ends well'
done_testing
