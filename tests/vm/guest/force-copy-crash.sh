#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is promised to be on disk is there after a reset, with force_copy on, off and being toggled,
# in all kinds of blocks: data=journal and mmap, blocks that must be escaped in the journal because
# they begin with its magic number, the orphan file (whose checksums are set as it is frozen).
#
# With `write BLOCKSIZE` it promises and resets; with `verify` it looks, in another guest on the same
# disk.
set -u
. ./lib.sh

# escaped NUMBER: a block that looks like the journal's own.
escaped() {
	printf '\300\073\071\230\0\0\0\001'
	yes "block $1" | head -c 4088
}

# blocks NAME: a file of such blocks and others, by turns.
blocks() {
	for block in $(seq 40); do
		escaped "$1 $block"
		yes "plain $1 $block" | head -c 4096
	done
}

write_everything() {
	mke2fs -q -F -t ext4 -b "$1" -O orphan_file,metadata_csum -J size=16 -E lazy_itable_init=0 /dev/vda
	mount -t ext4 -o data=journal,commit=600 /dev/vda /mnt || bail_out 'no file system'
	knob=$(journal /dev/vda)/force_copy

	for value in 0 1; do
		echo $value >"$knob"
		blocks $value >"/mnt/blocks.$value"
		mkdir "/mnt/dir.$value"
		for file in $(seq 50); do
			echo "$file" >"/mnt/dir.$value/$file"
		done
		sync
	done

	while :; do
		echo 0 >"$knob"
		usleep 30000
		echo 1 >"$knob"
		usleep 30000
	done &
	toggler=$!
	# Through a shared mapping, each block once, verified from the disk's cache of the mapping.
	fio --name=map --directory=/mnt --ioengine=mmap --rw=randwrite --bs=4k --size=3m --numjobs=2 \
		--fsync=16 --verify=crc32c --do_verify=1 --verify_fatal=1 --output=/out/map &&
		! grep -q 'verify:' /out/map
	ok $? 'what went through a mapping is read back'

	# Files that are gone but open: entries in the orphan file.
	for file in $(seq 30); do
		tail -f /dev/null >>"/mnt/orphan.$file" &
	done
	for file in $(seq 30); do
		wait_for 10 test -e "/mnt/orphan.$file"
		echo orphan >>"/mnt/orphan.$file"
		rm "/mnt/orphan.$file"
	done
	sync
	kill $toggler
	echo 1 >"$knob"
	for value in 0 1; do
		blocks $value >"/mnt/again.$value"
	done
	sync
	diag "$(cat "${knob}_stats")"
	check 'the kernel had nothing to say' kernel_is_quiet

	# In the middle of things.
	fio --name=more --directory=/mnt --ioengine=mmap --rw=randwrite --bs=4k --size=4m --fsync=1 \
		--time_based --runtime=60 --output=/dev/null &
	wait_for 30 test -s /mnt/more.0.0
	usleep 700000
	echo b >/proc/sysrq-trigger
}

# verify_everything DIRECTORY WHO
verify_everything() {
	for value in 0 1; do
		for name in blocks again; do
			blocks $value | cmp -s - "$1/$name.$value"
			ok $? "$2: blocks that look like the journal's own, $name $value"
		done
		is "$(cat "$1/dir.$value"/* | sort -n | tr '\n' ' ')" "$(seq 50 | tr '\n' ' ')" \
			"$2: small files $value"
	done
	check "$2: what went through a mapping" fio --name=map --directory="$1" --rw=randread \
		--bs=4k --size=3m --numjobs=2 --verify=crc32c --verify_only=1 --verify_fatal=1 \
		--output=/dev/null
}

verify_twice() {
	dd if=/dev/vda of=/dev/vdb bs=1M 2>/dev/null
	check 'the journal needs a recovery' sh -c 'dumpe2fs -h /dev/vda | grep -q needs_recovery'
	debugfs -R 'logdump -a' /dev/vda 2>/dev/null >/out/logdump
	check 'some blocks in it are escaped' grep -qE '\(flags 0x[0-9a-f]*[13579bdf]\)' /out/logdump

	mount -t ext4 /dev/vda /mnt || bail_out 'the kernel does not recover it'
	check 'the orphans are found' sh -c "dmesg | grep -qE 'vda.*(30|3[0-9]) orphan inodes deleted'"
	verify_everything /mnt kernel
	umount /mnt
	check 'what the kernel recovered is clean' e2fsck -fn /dev/vda

	e2fsck -fp /dev/vdb >/out/e2fsck 2>&1
	[ $? -le 1 ]
	ok $? 'e2fsck recovers it'
	mount -t ext4 /dev/vdb /mnt
	verify_everything /mnt e2fsck
	umount /mnt
	check 'the kernel had nothing to say' kernel_is_quiet
	done_testing
}

case $1 in
write) write_everything "$2" ;;
verify) verify_twice ;;
esac
