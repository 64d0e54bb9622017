#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The minimal recipes of files that were fsynced and are lost (patches/6.1/0003 and 0006), and changes
# made while fast commits were switched off, which a later fast commit must not leave out (0004).
#
# With `write HOW` it promises and the machine stops dead; with `verify HOW` it looks, in another guest
# on the same disks. HOW is stock or patched. vda, vdb and vdc are slow and have been made before,
# with the feature and 200 directories dir.N; vdd is empty. Wants isa-debug-exit at port 0x501.
set -u
. ./lib.sh

how=$2
slow='vda vdb vdc'
tracing=/sys/kernel/tracing

# stop_dead: the disks keep what was completed at this instant, flushed or not: what is missing then, no
# crash would have kept. (sysrq would also let the machine complete what is queued.)
stop_dead() {
	printf '\0' | dd of=/dev/port bs=1 seek=$((0x501)) conv=notrunc 2>/dev/null
	bail_out 'the machine goes on'
}

# mount_calm DISK: where nothing is committed but what is asked for, after the first full commit.
# Before that there are no fast ones. Sets $dir.
mount_calm() {
	dir=/mnt/$1
	mkdir -p "$dir"
	mount -t ext4 -o commit=600 "/dev/$1" "$dir" || bail_out "cannot mount $1"
	echo first >"$dir/first"
	sync -f "$dir"
}

transactions() {
	sed -n 's/ transactions .*//p' "$(journal "/dev/$1")/info"
}

fast_commits() {
	sed -n 's/ commits$//p' "/proc/fs/ext4/$1/fc_info"
}

# recipe DISK: succeeds if the file was made while the transaction before was being committed, and a
# fast commit served its fsync.
recipe() {
	mount_calm "$1"
	mv "$dir/dir.0" "$dir/renamed"
	for number in $(seq 1 199); do
		for name in a b c d; do
			: >"$dir/dir.$number/$name"
		done
	done

	before=$(transactions "$1")
	: >$tracing/trace
	sync -f "$dir" &
	wait_for 60 grep -q jbd2_commit_logging $tracing/trace || bail_out "$1: no commit begins"
	: >"$dir/promised"
	meanwhile=$(($(transactions "$1") - before))
	fast=$(fast_commits "$1")
	echo kept >"$dir/promised"
	sync "$dir/promised" || bail_out "$1: fsync fails"
	fast=$(($(fast_commits "$1") - fast))
	diag "$1: $meanwhile commits until the file was there, $fast fast commits for its fsync"
	[ $meanwhile -eq 0 ] && [ $fast -eq 1 ]
}

# temporary: a file that is given its name with linkat() after it was written, and then fsynced. The
# calls by their numbers on x86-64: openat (O_TMPFILE, O_RDWR), write, linkat, fsync.
temporary() {
	# shellcheck disable=SC2016  # these are perl's
	perl -e '
		my ($dir, $name) = @ARGV;
		my $fd = syscall(257, -100, $dir, 0x410002, 0600);
		my $text = "kept\n";
		syscall(1, $fd, $text, 5) == 5 or die "write: $!";
		my $file = "/proc/self/fd/$fd";
		syscall(265, -100, $file, -100, $name, 0x400) == 0 or die "linkat: $!";
		syscall(74, $fd) == 0 or die "fsync: $!";' "$dir" "$dir/temporary"
	ok $? 'a temporary file is given a name and fsynced'
}

# directories: made and removed before a file elsewhere is fsynced
directories() {
	mkdir "$dir/made"
	rmdir "$dir/removed"
	echo kept >"$dir/elsewhere"
	sync "$dir/elsewhere"
}

# while_off DISK
while_off() {
	echo 0 >"/sys/fs/ext4/$1/fast_commit"
	: >"$dir/unasked"
	mv "$dir/first" "$dir/moved"
	echo 1 >"/sys/fs/ext4/$1/fast_commit"
	fast=$(fast_commits "$1")
	echo kept >"$dir/promised"
	sync "$dir/promised"
	is $(($(fast_commits "$1") - fast)) 1 'switched on again, fsync uses a fast commit'
}

write_everything() {
	modprobe jbd2
	echo 1 >$tracing/events/jbd2/jbd2_commit_logging/enable
	met=0
	for disk in $slow; do
		recipe "$disk" && met=$((met + 1))
	done
	[ $met -gt 0 ]
	ok $? "the conditions of the loss are met, $met times"
	mke2fs -q -F -t ext4 -O fast_commit /dev/vdd
	mount_calm vdd
	mkdir "$dir/removed"
	sync -f "$dir"
	temporary
	[ "$how" = stock ] || {
		directories
		while_off vdd
	}
	stop_dead
}

recover() {
	mount -t ext4 "/dev/$1" /mnt || bail_out "the kernel does not recover $1"
}

is_clean() {
	umount /mnt
	check "$1 is clean" e2fsck -fn "/dev/$1"
}

verify_everything() {
	lost=
	for disk in $slow; do
		recover "$disk"
		[ "$(cat /mnt/promised 2>/dev/null)" = kept ] || lost="$lost $disk"
		# A stock kernel may have left the inode there, without a name.
		if [ "$how" = stock ]; then umount /mnt; else is_clean "$disk"; fi
	done
	recover vdd
	if [ "$how" = stock ]; then
		refuse "the fsynced file is lost, on:$lost" [ -z "$lost" ]
		refuse 'the temporary file that got a name is lost' test -e /mnt/temporary
	else
		is "$lost" '' 'the fsynced file is there on all disks'
		is "$(cat /mnt/temporary)" kept 'the temporary file that got a name is there'
		check 'a directory that was made is there' test -d /mnt/made
		refuse 'one that was removed is not' test -e /mnt/removed
		is "$(cat /mnt/elsewhere)" kept 'the file that was fsynced next is there'
		is "$(cat /mnt/promised)" kept 'what was fsynced when it was on again is there'
		check 'and so is what was made while it was off' test -e /mnt/unasked
		is "$(cat /mnt/moved)" first 'and what was moved'
		refuse 'which is no longer where it was' test -e /mnt/first
		is_clean vdd
	fi
	check 'the kernel had nothing to say' kernel_is_quiet
	done_testing
}

"$1_everything"
