#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# f2fs: the way to each measure, counts that are the kernel's own, waits for semaphores as many as
# bpftrace sees, file systems found wherever they are. Wants a slow /dev/vda, /dev/vdb and vdc,
# bpftrace, jq, mkfs.f2fs, a sync that knows files, kernels.md and the daemon.
. ./lib.sh
. ./f2fs-oracle.sh
. ./ways.sh

dir=/mnt/f2fs
modprobe f2fs
# Not every kernel knows how to merge requests, and not every one does so by itself.
mount_f2fs /dev/vda $dir checkpoint_merge || mount_f2fs /dev/vda $dir || bail_out 'no file system'
mkdir $dir/d
sync $dir
has_merge=
f2fs_status vda | grep -q 'CP merge' && has_merge=yes

fs-tuned --mode=observe 2>/out/fs-tuned.log &
daemon=$!
wait_for 30 fstunectl status || bail_out 'fs-tuned does not answer'
is "$(fstunectl list)" vda 'the file system is found'
ways_are_documented

# --- counts, exactly: nobody else writes there ---

checkpoints_before=$(checkpoints vda)
total_before=$(merged total vda)
issued_before=$(merged issued vda)
# The daemon's numbers are as of its last tick.
settled() {
	[ "$(metric fstuned_f2fs_checkpoint_duration_seconds_count vda)" -ge \
		$(($(checkpoints vda) - checkpoints_before)) ] &&
		[ "$(metric fstuned_fsync_duration_seconds_count vda)" -ge "$1" ] || return 1
	[ -z "$has_merge" ] || [ "$(metric fstuned_f2fs_request_wait_seconds_count vda)" -ge \
		$(($(merged total vda) - total_before)) ]
}
# all_counted NAME FSYNCS: of which there were at least so many
all_counted() {
	wait_for 15 settled "$2"
	is "$(metric fstuned_f2fs_checkpoint_duration_seconds_count vda)" \
		$(($(checkpoints vda) - checkpoints_before)) "$1: each checkpoint of the kernel's is counted"
	for phase in block_ops write; do
		is "$(metric fstuned_f2fs_checkpoint_phase_duration_seconds_count vda "\"$phase\"")" \
			"$(metric fstuned_f2fs_checkpoint_duration_seconds_count vda)" "$1: and has its phase $phase"
	done
	if [ -n "$has_merge" ]; then
		is "$(metric fstuned_f2fs_request_wait_seconds_count vda)" \
			$(($(merged total vda) - total_before)) "$1: so is each request"
	fi
	if [ -n "$has_merge" ] && [ "$(documented f2fs_merge)" != none ]; then
		is "$(metric fstuned_f2fs_merged_requests_total vda)" \
			$(($(merged total vda) - total_before)) "$1: requests that were merged"
		is "$(metric fstuned_f2fs_merge_duration_seconds_count vda)" \
			$(($(merged issued vda) - issued_before)) "$1: and checkpoints that served them"
	fi
}

requests $dir/d 12
all_counted 'one after the other' 12
is "$(metric fstuned_f2fs_request_wait_seconds_count vda)" 12 'one after the other: 12 requests'
is "$(metric fstuned_fsync_duration_seconds_count vda)" 12 'one after the other: 12 fsyncs'

# together TASKS COUNT: requests of several tasks at once
together() {
	together_pids=
	for together_i in $(seq "$1"); do
		mkdir -p "$dir/t$together_i"
		requests "$dir/t$together_i" "$2" &
		together_pids="$together_pids $!"
	done
	# shellcheck disable=SC2086 # words
	wait $together_pids
}
together 6 8
all_counted 'several at once' 60
# A directory that somebody else's checkpoint has taken along needs none of its own.
is "$(metric fstuned_fsync_duration_seconds_count vda)" 60 'several at once: 48 fsyncs more'
if [ "$(documented f2fs_request)" = fentry ]; then
	[ "$(metric fstuned_f2fs_waiting_requests_max vda)" -ge 2 ] &&
		[ "$(metric fstuned_f2fs_waiting_requests_max vda)" -le 6 ]
	ok $? 'several at once: some waited together, no more than there were'
	is "$(metric fstuned_f2fs_waiting_requests vda)" 0 'and nobody waits any more'
	[ "$(metric fstuned_f2fs_overlapping_requests_total vda)" -ge 10 ]
	ok $? 'requests that overlap are counted'
fi

# --- semaphores, against bpftrace: the address of an f2fs_sb_info is the checkpoint's argument ---

semaphores_ready() {
	grep -qs ready /tmp/semaphores || ! kill -0 "$trace"
}
# traced KIND: waits that bpftrace saw
traced() {
	awk -v kind="@$1[" 'index($0, kind) == 1 { n += $NF } END { print n + 0 }' /tmp/semaphores
}
readers() {
	metric fstuned_f2fs_rwsem_wait_seconds_count vda '"reader"'
}
writers() {
	echo $(($(metric fstuned_f2fs_rwsem_wait_seconds_count vda '"writer_behind_readers"') +
		$(metric fstuned_f2fs_rwsem_wait_seconds_count vda '"writer_behind_writer"')))
}
# near OURS THEIRS: within 1 % and 2
near() {
	[ "$1" -ge $(($2 - $2 / 100 - 2)) ] && [ "$1" -le $(($2 + $2 / 100 + 2)) ]
}
agree() {
	near $(($(readers) - readers_before)) "$(traced read)" &&
		near $(($(writers) - writers_before)) "$(traced write)"
}
# contend: tasks that create files, which checkpoints stop, and tasks that want checkpoints
contend() {
	mkdir -p $dir/c
	: >/tmp/contend
	contend_pids=
	for contend_i in 1 2 3; do
		(
			n=0
			while [ -e /tmp/contend ]; do
				: >"$dir/c/$contend_i.$n"
				n=$((n + 1))
			done
		) &
		contend_pids="$contend_pids $!"
	done
	together 2 15
	rm /tmp/contend
	# shellcheck disable=SC2086 # words
	wait $contend_pids
}
if [ "$(documented f2fs_reader_wait)" != none ]; then
	readers_before=$(readers)
	writers_before=$(writers)
	# With the switch unfair_rwsem readers wait in a function of their own.
	reader=rwsem_down_read_slowpath
	[ ! -e /sys/fs/f2fs/vda/unfair_rwsem ] || reader=f2fs_sb_read_slowpath
	# shellcheck disable=SC2016 # bpftrace's own variables
	bpftrace -e '
		BEGIN { printf("ready\n"); }
		kprobe:f2fs_write_checkpoint { @base = arg0; }
		kprobe:'$reader' /@base/ {
			$at = (int64)(arg0 - @base);
			if ($at >= 0 && $at < 8192) { @read[$at] = count(); }
		}
		kprobe:rwsem_down_write_slowpath /@base/ {
			$at = (int64)(arg0 - @base);
			if ($at >= 0 && $at < 8192) { @write[$at] = count(); }
		}' >/tmp/semaphores 2>/tmp/semaphores.err &
	trace=$!
	wait_for 30 semaphores_ready
	contend
	if [ $reader = f2fs_sb_read_slowpath ]; then
		fair=$(readers)
		echo 1 >/sys/fs/f2fs/vda/unfair_rwsem
		contend
		echo 0 >/sys/fs/f2fs/vda/unfair_rwsem
		more_readers() {
			[ "$(readers)" -gt "$fair" ]
		}
		check 'readers of unfair semaphores wait, too' wait_for 10 more_readers
	fi
	if grep -q ready /tmp/semaphores; then
		stop_process INT $trace || true
		wait_for 12 agree
		diag "waits: readers $(($(readers) - readers_before)) and $(traced read) as bpftrace sees it," \
			"writers $(($(writers) - writers_before)) and $(traced write)"
		[ $(($(traced read) + $(traced write))) -ge 20 ]
		ok $? 'tasks wait for semaphores'
		check 'bpftrace counts as many, within 1 % and 2' agree
	else
		[ $(($(readers) + $(writers) - readers_before - writers_before)) -ge 20 ]
		ok $? 'tasks wait for semaphores'
		skip 1 "bpftrace does not start: $(tail -n 1 /tmp/semaphores.err)"
	fi
	all_counted 'under load' 90
fi

# --- file systems wherever they are ---

# device NAME QUERY: of status
device() {
	fstunectl --json status "$1" | jq -r ".devices[0]$2"
}
is "$(device vda .fstype) $(device vda .mountpoint) $(device vda .block_bytes) $(device vda .read_only)" \
	"f2fs $dir 4096 false" 'named from its mount and its superblock'
is "$(device vda .uuid)" "$(blkid /dev/vda | sed -nE 's/.* UUID="([^"]+)".*/\1/p')" 'and its UUID'
is "$(device vda .journal) $(device vda .policy)" 'null null' 'it has no journal'

listed() {
	[ "$(fstunectl list | tr '\n' ' ')" = "$1" ]
}
mount_f2fs /dev/vdb /mnt/several '' -c /dev/vdc || bail_out 'no file system on two devices'
check 'one on several devices is found once' wait_for 10 listed 'vda vdb '
on_two() {
	[ "$(device vdb .devices)" = 2 ]
}
check 'with their number' wait_for 10 on_two
: >/mnt/several/f
sync /mnt/several
counted_there() {
	[ "$(metric fstuned_f2fs_checkpoint_duration_seconds_count vdb)" -ge 1 ]
}
check 'and measured' wait_for 10 counted_there
is "$(device vdb .service)" null 'of one device of several no service times are told'
check 'unmounted' umount /mnt/several
check 'it is gone' wait_for 10 listed 'vda '

mount -t f2fs -o ro /dev/vdb /mnt/several
read_only() {
	[ "$(device vdb .read_only)" = true ]
}
check 'a read-only one is known to be so' wait_for 10 read_only
umount /mnt/several
wait_for 10 listed 'vda '

# In a mount namespace of its own: no mountinfo that the daemon reads has it.
rm -f /tmp/unshared
unshare -m sh -c 'mount -t f2fs /dev/vdb /mnt/several && : >/tmp/unshared && exec tail -f /dev/null' &
elsewhere=$!
wait_for 10 test -e /tmp/unshared
check 'one in another namespace is found' wait_for 15 listed 'vda vdb '
is "$(device vdb '| [.mountpoint, .fstype] | join(" ")')" ' f2fs' 'although nothing says where it is'
kill $elsewhere
wait $elsewhere 2>/dev/null
check 'until it has gone' wait_for 15 listed 'vda '

# --- bad days ---

check 'debugfs goes' umount /sys/kernel/debug
requests_before=$(metric fstuned_f2fs_request_wait_seconds_count vda)
requests $dir/d 3
three_more() {
	[ "$(metric fstuned_f2fs_request_wait_seconds_count vda)" -eq $((requests_before + 3)) ]
}
check 'the daemon never needed it' wait_for 10 three_more
mount -t debugfs debugfs /sys/kernel/debug

umount $dir
check 'the last f2fs is gone' wait_for 10 listed ''
check 'the module is free to go' wait_for 10 rmmod f2fs
is "$(fstunectl --json status | jq '[.measures[] | select(.needed)] | length')" 0 \
	'no measure of f2fs is wanted any more'
check 'it comes back' modprobe f2fs
mount -t f2fs -o background_gc=off /dev/vda $dir
check 'and so does the device' wait_for 10 listed 'vda '
fstunectl --json status | jq -r '.measures[] | select(.needed) | [.measure, .way] | join(" ")' >/tmp/again
is "$(cat /tmp/again)" "$(cut -d'|' -f1,2 /out/ways | tr '|' ' ')" 'each measure is taken as before'
requests $dir/d 4
four() {
	[ "$(metric fstuned_f2fs_request_wait_seconds_count vda)" -eq 4 ]
}
check 'and counts from the mount' wait_for 10 four

# --- what people are told ---

fstunectl --json status >/out/status.json
fstunectl --json doctor >/out/doctor.json
fstunectl status >/out/status.txt
fstunectl status vda >/out/vda.txt
is "$(jq -r '[.checks[] | select(.state == "problem") | .name] | sort | join(" ")' /out/doctor.json)" \
	"$(jq -r '[.measures[] | select(.needed and .way == "none") | "measure " + .measure] | sort | join(" ")' \
		/out/status.json)" 'doctor has no problem but measures that are unavailable'
like "$(cat /out/status.txt)" '^vda +/mnt/f2fs +f2fs +[0-9]' 'status has a row of it'
like "$(cat /out/vda.txt)" '^f2fs_checkpoint +4 ' 'and its checkpoints in depth'
is "$(jq .events_lost /out/status.json)" 0 'no event was lost'

kill $daemon
wait $daemon
ok $? 'the daemon ends well'
check 'the kernel has no complaint' kernel_is_quiet
done_testing
