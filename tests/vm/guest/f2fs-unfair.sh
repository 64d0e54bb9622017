#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# unfair_rwsem: its values, what it changes in who waits behind whom, and that nobody is forgotten
# when it is switched TOGGLES times while readers and writers wait. Wants fio and bpftrace.
set -u
. ./lib.sh
. ./f2fs.sh
knob=/sys/fs/f2fs/vda/unfair_rwsem
toggles=$1

set_knob() {
	echo "$1" >$knob
}

values() {
	is "$(cat $knob)" 0 'it is fair by default'
	check 'it can be set' set_knob 1
	is "$(cat $knob)" 1 'and read'
	for wrong in 2 -1 x '' 4294967297 '1 1'; do
		refuse "'$wrong' is refused" set_knob "$wrong"
	done
	is "$(cat $knob)" 1 'which changes nothing'
	check 'it can be set back' set_knob 0
	is "$(cat $knob)" 0 'and read'
}

# load_begin SECONDS: readers of all kinds: writes and their fsyncs, through mappings too, files that
# come and go; and writers: checkpoints and garbage collection.
load_begin() {
	echo 1 >/sys/fs/f2fs/vda/gc_urgent
	fio --directory=/mnt --thread --time_based --runtime="$1" --output=/dev/null --bs=4k --size=32m \
		--name=write --rw=randwrite --numjobs=3 --fsync=16 --new_group \
		--name=map --rw=randrw --ioengine=mmap --numjobs=2 --fsync=32 --new_group \
		--name=read --rw=randrw --numjobs=2 &
	fio=$!
	syncers 4 1000000
	load="$fio $syncers"
}

load_end() {
	: >/tmp/enough
	# shellcheck disable=SC2086  # several words
	kill -KILL $load 2>/dev/null
	# shellcheck disable=SC2086
	check "$1: all tasks of the load end within 10 s" wait_for 10 gone $load
	check "$1: nobody waits any more" wait_for 10 nobody_waits
	echo 0 >/sys/fs/f2fs/vda/gc_urgent
}

# Who waits for the file system's semaphores: readers in f2fs, readers in the queue, writers.
trace_begin() {
	rm -f /tmp/trace
	bpftrace -e '
		BEGIN { printf("ready\n"); }
		kprobe:f2fs_sb_read_slowpath {
			@sem[arg1] = 1;
			@read[tid] = nsecs;
			@readers = count();
		}
		kretprobe:f2fs_sb_read_slowpath /@read[tid]/ {
			@readers_us = sum((nsecs - @read[tid]) / 1000);
			@readers_max = max((nsecs - @read[tid]) / 1000);
			delete(@read[tid]);
		}
		kprobe:rwsem_down_read_slowpath /@sem[arg0]/ { @queued = count(); }
		kprobe:rwsem_down_write_slowpath /@sem[arg0]/ {
			@write[tid] = nsecs;
			@writers = count();
		}
		kretprobe:rwsem_down_write_slowpath /@write[tid]/ {
			@writers_us = sum((nsecs - @write[tid]) / 1000);
			@writers_max = max((nsecs - @write[tid]) / 1000);
			delete(@write[tid]);
		}
		END { clear(@sem); clear(@read); clear(@write); }' >/tmp/trace 2>&1 &
	trace=$!
	wait_for 30 grep -q ready /tmp/trace || bail_out "bpftrace does not start: $(cat /tmp/trace)"
}

# traced NAME: a number of the trace, 0 if it never happened
traced() {
	awk -v name="@$1:" '$1 == name { n = $2 } END { print n + 0 }' /tmp/trace
}

trace_end() {
	stop_process INT $trace || true
	diag "$1: $(traced readers) readers waited, $(traced readers_us) us in all, $(traced readers_max) at most;" \
		"$(traced queued) times in the queue;" \
		"$(traced writers) writers waited, $(traced writers_us) us in all, $(traced writers_max) at most"
}

# who_waits SECONDS VALUE NAME
who_waits() {
	set_knob "$2"
	trace_begin
	load_begin "$1"
	wait $fio
	trace_end "$3"
	load_end "$3"
}

mechanism() {
	who_waits 10 0 fair
	[ "$(traced readers)" -ge 20 ]
	ok $? 'fair: readers wait'
	[ "$(traced queued)" -ge 20 ]
	ok $? 'in the queue, where writers come behind them'
	who_waits 10 1 unfair
	[ "$(traced readers)" -ge 20 ]
	ok $? 'unfair: readers wait'
	is "$(traced queued)" 0 'but never in the queue'
}

# In bursts, so that there are both: changes in quick succession and a while in each state.
toggle() {
	toggle_count=0
	while [ $toggle_count -lt "$1" ]; do
		for toggle_value in 1 0 1 0 1 0 1 0 1; do
			echo $toggle_value >$knob
		done
		usleep $((1000 + toggle_count * 7919 % 40000))
		echo 0 >$knob
		toggle_count=$((toggle_count + 10))
		[ $((toggle_count % 50)) -ne 0 ] || usleep 10000
	done
}

stress() {
	trace_begin
	load_begin 3600
	stress_from=$(cut -d. -f1 /proc/uptime)
	toggle "$toggles"
	diag "$toggle_count changes in $(($(cut -d. -f1 /proc/uptime) - stress_from)) s"
	trace_end 'changing'
	load_end 'changing'
	# writers are few: 6 in one run of 2,000 changes, 72 in one of 10,000
	[ "$(traced readers)" -ge 20 ] && [ "$(traced queued)" -ge 1 ] && [ "$(traced writers)" -ge 1 ]
	ok $? 'changing: readers and writers waited, some in the queue'
	is "$(cat /tmp/sync-failed)" '' 'no fsync failed'
}

echo 30 >/proc/sys/kernel/hung_task_timeout_secs
echo 5 >/proc/sys/kernel/hung_task_check_interval_secs
mount_f2fs || bail_out 'no file system'
values
cd /mnt || exit
mechanism
stress
cd /root || exit
check 'it can be unmounted' wait_for 10 umount /mnt
check 'the file system is clean' f2fs_is_clean
check 'the kernel had nothing to say' kernel_is_quiet
done_testing
