#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The life of /proc/fs/jbd2/JOURNAL/force_copy: there with the journal, 0 or 1, gone with it.
set -u
. ./lib.sh

mount_ext4 /dev/vda /mnt || bail_out 'no file system'
mke2fs -q -F -O journal_dev /dev/vdb >/dev/null
mount_ext4 /dev/vdc /mnt/external -J device=/dev/vdb >/dev/null || bail_out 'no external journal'

knob=/proc/fs/jbd2/vda-8/force_copy
set_knob() {
	printf '%b' "$1" >$knob
}

is "$(cat $knob)" 0 'a new journal does not copy'
is "$(stat -c '%a %U' $knob)" '644 root' 'everybody may read it, root may write it'
is "$(stat -c '%a' ${knob}_stats)" 444 'the counters are read-only'
is "$(cat /proc/fs/jbd2/vdb/force_copy)" 0 'an external journal has it under its own name'

check 'it can be switched on' set_knob '1\n'
is "$(cat $knob)" 1 'and is'
is "$(cat /proc/fs/jbd2/vdb/force_copy)" 0 'of that journal alone'
for value in 2 -1 0x2 yes '1 0' 4294967297 '\0377' "$(head -c 9000 /dev/zero | tr '\0' 1)"; do
	refuse "it takes no $(printf '%s' "$value" | cut -c 1-12)" set_knob "$value\n"
done
refuse 'nor an empty line' set_knob '\n'
is "$(cat $knob)" 1 'and stays as it was'
check 'it can be switched off' set_knob 0
is "$(cat $knob)" 0 'and is'

is "$(cut -d' ' -f1 ${knob}_stats | tr '\n' ' ')" \
	'copied_blocks copied_bytes copy_failures avoided_waits ' 'the counters have their names'
touch /mnt/file
sync
is "$(cut -d' ' -f2 ${knob}_stats | sort -u)" 0 'nothing is counted while it is off'
set_knob 1
touch /mnt/file
sync
refuse 'copies are counted while it is on' grep -q '^copied_blocks 0$' ${knob}_stats

umount /mnt/external
exec 3<$knob 4<${knob}_stats
umount /mnt
ok $? 'a reader that has it open does not hold up umount'
refuse 'and reads no more' sh -c 'cat <&3'
exec 3<&- 4<&-
refuse 'it is gone, and its directory with it' test -e /proc/fs/jbd2/vda-8
refuse 'so is the external one' test -e /proc/fs/jbd2/vdb
mount /dev/vda /mnt
is "$(cat $knob)" 0 'the next mount begins with 0'
umount /mnt

check 'the distribution'\''s ocfs2 loads with this jbd2' modprobe ocfs2
check 'jbd2 can be unloaded' rmmod ocfs2 ext4 jbd2
check 'the kernel had nothing to say' kernel_is_quiet
done_testing
