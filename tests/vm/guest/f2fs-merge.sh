#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# checkpoint_merge: its option, its thread and the thread's priority; requests are merged, counted,
# and none is lost when the thread comes and goes. Wants a slow /dev/vda.
set -u
. ./lib.sh
. ./f2fs.sh
ioprio=/sys/fs/f2fs/vda/ckpt_thread_ioprio

# remount OPTIONS: with these and no others; without the device, mount would add those in force.
remount() {
	mount -t f2fs -o "remount,$1" /dev/vda /mnt
}

set_ioprio() {
	echo "$1" >$ioprio
}

no_ckpt_thread() {
	[ -z "$(ckpt_thread)" ]
}

off_and_on() {
	refuse 'it is off by default' f2fs_has checkpoint_merge
	check 'and said to be' f2fs_has nocheckpoint_merge
	check 'no thread is there' no_ckpt_thread
	sync /mnt
	is "$(merged Total)" 0 'and no request is counted'
	check 'remount turns it on' remount checkpoint_merge
	check 'which is shown' f2fs_has checkpoint_merge
	refuse 'a thread is there' no_ckpt_thread
	check 'another remount with it changes nothing' remount checkpoint_merge
	is "$(ckpt_thread | wc -l)" 1 'there is one thread'
	refuse 'a remount that fails' remount nocheckpoint_merge,noextent_cache
	check 'leaves it on' f2fs_has checkpoint_merge
	refuse 'and the thread there' no_ckpt_thread
	check 'a remount without it turns it off' remount noatime
	check 'which is shown' f2fs_has nocheckpoint_merge
	check 'and the thread is gone' no_ckpt_thread
}

priority() {
	is "$(cat $ioprio)" be,3 'the priority is best effort 3 by default'
	check 'it can be set without a thread' set_ioprio be,5
	remount checkpoint_merge
	is "$(ionice -p "$(ckpt_thread)")" 'best-effort: prio 5' 'which then starts with it'
	check 'real time can be set' set_ioprio rt,2
	is "$(cat $ioprio)" rt,2 'and read'
	is "$(ionice -p "$(ckpt_thread)")" 'realtime: prio 2' 'and is what the thread has'
	for wrong in be,8 be,-1 'be,' be 3 idle,3 be,x be,3x ' ' be,4294967296; do
		refuse "'$wrong' is refused" set_ioprio "$wrong"
	done
	is "$(cat $ioprio)" rt,2 'which changes nothing'
	set_ioprio be,3
}

counts() {
	counts_total=$(merged Total) counts_issued=$(merged Issued) counts_all=$(checkpoints)
	for counts_round in 1 2 3 4 5; do
		: >"/mnt/alone.$counts_round"
		sync /mnt
	done
	is "$(merged Total)" $((counts_total + 5)) 'each fsync of a directory is a request'
	is "$(merged Issued)" $((counts_issued + 5)) 'that gets a checkpoint if it is alone'
	is "$(checkpoints)" $((counts_all + 5)) 'and no other'

	counts_total=$(merged Total) counts_issued=$(merged Issued) counts_all=$(checkpoints)
	syncers 8 12
	# shellcheck disable=SC2086  # several words
	wait $syncers
	is "$(merged Total)" $((counts_total + 96)) '8 tasks: each fsync is a request'
	counts_issued=$(($(merged Issued) - counts_issued)) counts_all=$(($(checkpoints) - counts_all))
	diag "96 requests were served $counts_issued times; $counts_all times there was something to write"
	[ $counts_issued -le 88 ]
	ok $? 'some are served together'
	[ $counts_all -le $counts_issued ]
	ok $? 'nobody but the thread writes checkpoints'
	is "$(merged Queued)" 0 'none is left'
	is "$(cat /tmp/sync-failed)" '' 'none failed'
}

# ends NAME: the tasks that are told to end do, and the file system is at rest.
ends() {
	: >/tmp/enough
	# shellcheck disable=SC2086  # several words
	check "$1: all tasks end" wait_for 10 gone $syncers
	check "$1: nobody waits" wait_for 10 nobody_waits
	[ ! -e /sys/fs/f2fs/vda ] || is "$(merged Queued)" 0 "$1: no request is left"
}

# Requests that are queued when the thread is to stop, and others that come just then.
stop_with_requests() {
	syncers 12 100000
	stop_queued=0
	stop_failed=0
	for stop_round in $(seq 12); do
		remount checkpoint_merge || stop_failed=$((stop_failed + 1))
		wait_for 10 requests_wait && stop_queued=$((stop_queued + 1))
		set_ioprio "be,$((stop_round % 8))" 2>>/tmp/ioprio
		remount nocheckpoint_merge || stop_failed=$((stop_failed + 1))
		no_ckpt_thread || stop_failed=$((stop_failed + 1))
	done
	is $stop_failed 0 'the thread is stopped and started 12 times under load'
	[ $stop_queued -ge 10 ]
	ok $? "mostly with requests waiting ($stop_queued times)"
	ends 'stopped under load'
	is "$(cat /tmp/sync-failed)" '' 'no fsync failed'
}

requests_wait() {
	[ "$(merged Queued)" -ge 4 ]
}

# Directories may be synchronised while the file system becomes read-only.
read_only_with_requests() {
	remount checkpoint_merge
	syncers 12 100000
	ro_count=0
	ro_round=0
	while [ $ro_round -lt 12 ]; do
		ro_round=$((ro_round + 1))
		if remount ro,checkpoint_merge 2>/dev/null; then
			ro_count=$((ro_count + 1))
			no_ckpt_thread || ro_count=-1000
			remount rw,checkpoint_merge
		fi
	done
	[ $ro_count -ge 3 ]
	ok $? "it becomes read-only under load, $ro_count of 12 times, and has no thread then"
	refuse 'writable again it has one' no_ckpt_thread
	ends 'read-only under load'
}

checkpoint_disabled() {
	check 'checkpoint=disable goes along with it' remount checkpoint=disable,checkpoint_merge
	check 'but has no thread' no_ckpt_thread
	check 'and back' remount checkpoint=enable,checkpoint_merge
	refuse 'there it is' no_ckpt_thread
}

# The last who uses it goes while requests wait.
unmount_with_requests() {
	syncers 12 100000
	wait_for 10 requests_wait
	cd /
	check 'it is unmounted lazily with requests waiting' umount -l /mnt
	# shellcheck disable=SC2086  # several words
	kill -KILL $syncers
	check 'and gone when all have returned' wait_for 20 f2fs_is_gone
	ends 'unmounted under load'
}

f2fs_is_gone() {
	[ ! -e /sys/fs/f2fs/vda ]
}

echo 30 >/proc/sys/kernel/hung_task_timeout_secs
mount_f2fs || bail_out 'no file system'
off_and_on
priority
cd /mnt || exit
counts
stop_with_requests
read_only_with_requests
checkpoint_disabled
unmount_with_requests
cd /root || exit
check 'the file system is clean' f2fs_is_clean

check 'it can be mounted with the option' mount -t f2fs -o checkpoint_merge /dev/vda /mnt
check 'which is shown' f2fs_has checkpoint_merge
refuse 'a thread is there' no_ckpt_thread
umount /mnt
check 'the thread goes with the file system' no_ckpt_thread
mount -t f2fs -o ro,checkpoint_merge /dev/vda /mnt
check 'read-only there is none' no_ckpt_thread
check 'until it is writable' remount rw,checkpoint_merge
refuse 'then there is' no_ckpt_thread
umount /mnt
check 'the file system is clean' f2fs_is_clean
check 'f2fs can be unloaded' rmmod f2fs
check 'the kernel had nothing to say' kernel_is_quiet
done_testing
