#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# /sys/fs/ext4/DEV/fast_commit: where it can be written and what then commits, on a quiet file system
# and toggled a thousand times under load.
set -u
. ./lib.sh

fc_info=/proc/fs/ext4/vda/fc_info
knob=/sys/fs/ext4/vda/fast_commit

# refused FILE VALUE WHY NAME: the write fails for that reason and changes nothing.
refused() {
	refused_was=$(cat "$1")
	like "$(printf '%b' "$2" | busybox dd of="$1" 2>&1)" "$3" "$4"
	is "$(cat "$1")" "$refused_was" '... and nothing changes'
}

# fast: fast commits and fallbacks so far, as one word.
fast() {
	sed -nE '2,3s/ .*//p' $fc_info | paste -sd+
}

transactions() {
	sed -n 's/ transactions .*//p' "$(journal /dev/vda)/info"
}

# fsyncs NUMBER: of as many changes. Sets $quick and $full, the commits of either kind that it took.
fsyncs() {
	quick=$(sed -n 's/ commits$//p' $fc_info)
	full=$(transactions)
	for number in $(seq "$1"); do
		echo "$number" >>/mnt/file
		sync /mnt/file
	done
	quick=$(($(sed -n 's/ commits$//p' $fc_info) - quick))
	full=$(($(transactions) - full))
}

on_a_quiet_one() {
	is "$(cat $knob)" 1 'with the feature it is on'
	is "$(stat -c '%a %U' $knob)" '644 root' 'everybody may read it, root may write it'
	: >/mnt/file
	sync # there are no fast commits before the first full one
	fsyncs 20
	is "$quick fast, $full full" '20 fast, 0 full' 'fast commits serve fsync'
	check 'it can be switched off' sh -c "echo 0 >$knob"
	is "$(cat $knob)" 0 'and is'
	was=$(cat $fc_info)
	fsyncs 20
	is "$quick fast, $full full" '0 fast, 20 full' 'full commits serve fsync'
	is "$(cat $fc_info)" "$was" 'nothing of fast commits is counted'
	check 'it can be switched on' sh -c "echo 1 >$knob"
	fsyncs 20
	is "$quick fast, $full full" '20 fast, 0 full' 'fast commits serve fsync again'
	for value in 2 -1 yes '1 0' '' 4294967296; do
		refused $knob "$value\n" 'Invalid argument' "it takes no '$value'"
	done
}

where_it_cannot_be() {
	mount -o remount,ro /mnt
	refused $knob 0 'Read-only file system' 'a read-only file system refuses'
	mount -o remount,rw /mnt
	echo 0 >$knob
	mount -o remount,ro /mnt
	refused $knob 1 'Read-only file system' 'switched off as well'
	mount -o remount,rw /mnt
	is "$(cat $knob)" 0 'it lasts as long as the mount'
	umount /mnt
	mount -t ext4 -o data=journal /dev/vda /mnt
	is "$(cat $knob)" 0 'with data=journal it is off'
	refused $knob 1 'Operation not supported' 'and stays'
	umount /mnt
	mount -t ext4 -o commit=600 /dev/vda /mnt
	is "$(cat $knob)" 1 'the next mount begins anew'

	for feature in '^fast_commit' '^has_journal'; do
		mount_ext4 /dev/vdb /mnt/other -O "$feature"
		is "$(cat /sys/fs/ext4/vdb/fast_commit)" 0 "$feature: it is off"
		refused /sys/fs/ext4/vdb/fast_commit 1 'Operation not supported' 'and stays'
		refused /sys/fs/ext4/vdb/fast_commit 0 'Operation not supported' 'nor can it be switched off'
		umount /mnt/other
	done
}

# load NAME: changes and fsyncs until told to stop; leaves the number of its fsyncs in /tmp/NAME.
load() {
	mkdir -p "/mnt/$1.dir"
	load_count=0
	while [ ! -e /tmp/stop ]; do
		load_file=/mnt/$1.dir/$((load_count % 10))
		echo "$load_count" >>"$load_file"
		[ $((load_count % 7)) -ne 0 ] || {
			mv "$load_file" "$load_file.moved"
			load_file=$load_file.moved
		}
		# What cannot be a fast commit, now and then.
		[ $((load_count % 50)) -ne 0 ] || {
			mkdir "/mnt/$1.$load_count"
			mv "/mnt/$1.$load_count" "/mnt/$1.dir"
		}
		sync "$load_file" || echo failed >>/tmp/failed
		load_count=$((load_count + 1))
		echo $load_count >"/tmp/$1.new"
		mv "/tmp/$1.new" "/tmp/$1"
	done
}

loads='a b c d'

# each_has NUMBER: every load's count, that many times further on than it was in $marks.
each_has() {
	for mark in $marks; do
		read -r each_now <"/tmp/${mark%=*}" && [ "$each_now" -ge $((${mark#*=} + $1)) ] || return 1
	done
}

set_marks() {
	marks=$(for name in $loads; do echo "$name=$(cat "/tmp/$name")"; done)
}

# passed NUMBER: until every load has done that many fsyncs from here on.
passed() {
	set_marks
	wait_for 60 each_has "$1" || bail_out "the load stands still: $marks"
}

under_load() {
	for name in $loads; do
		echo 0 >"/tmp/$name"
		load "$name" &
	done
	passed 1
	still=0
	moving=0
	for round in $(seq 500); do
		usleep 1000 # not all in the time of one fsync
		echo 0 >$knob
		if [ $((round % 20)) -eq 0 ]; then
			passed 1 # whatever was under way when it was switched off
			fast_was=$(fast)
			full_was=$(transactions)
			passed 2
			[ "$(fast)" = "$fast_was" ] && [ "$(transactions)" -gt "$full_was" ] &&
				still=$((still + 1))
			fast_was=$(fast)
		fi
		usleep 1000
		echo 1 >$knob
		if [ $((round % 20)) -eq 0 ]; then
			passed 2
			[ "$(fast)" != "$fast_was" ] && moving=$((moving + 1))
		fi
	done
	: >/tmp/stop
	wait
	is $still 25 'off, full commits only, whenever that was looked at'
	is $moving 25 'on, fast ones as well'
	refuse 'no fsync has failed' test -e /tmp/failed
	diag "$(for name in $loads; do printf '%s ' "$(cat "/tmp/$name")"; done)fsyncs;" \
		"$(sed -n 2,3p $fc_info | tr '\n' ' ')"
	diag "$(grep 'Dir renamed' $fc_info)"
}

# mixed STOCK OTHER: the distribution's module STOCK with the new OTHER.
mixed() {
	umount /mnt
	rmmod ext4 jbd2
	for module in jbd2 ext4; do
		if [ $module = "$1" ]; then
			insmod "/lib/modules/$(uname -r)/kernel/fs/$module/$module.ko"
		else
			modprobe $module
		fi
	done
	check "the distribution's $1 loads with this $2" mount -t ext4 /dev/vda /mnt
	echo mixed >/mnt/mixed
	check '... and works' sync /mnt/mixed
}

mixed_modules() {
	mixed jbd2 ext4
	is "$(cat $knob)" 1 '... which has its switch'
	refuse '... and no other knob is there' test -e "$(journal /dev/vda)/force_copy"
	mixed ext4 jbd2
	refuse '... and no switch is there' test -e $knob
}

mount_ext4 /dev/vda /mnt -O fast_commit || bail_out 'no file system'
mount -o remount,commit=600 /mnt
on_a_quiet_one
where_it_cannot_be
under_load
mixed_modules
umount /mnt
check 'the file system is clean' e2fsck -fn /dev/vda
check 'the kernel had nothing to say' kernel_is_quiet
done_testing
