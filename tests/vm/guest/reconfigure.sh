#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# checkpoint_merge is set by `fstunectl set`, and nothing else changes: for each combination of
# options and mount flags, mountinfo of PID 1 and of a second namespace before and after. Then
# what is refused, and why, and what hangs. Wants three disks for an f2fs each, a slow fourth,
# mkfs.f2fs, jq, and the daemon.
set -u
. ./lib.sh

# line below which it runs: mountinfo of a process, of one device, without mount's propagation
mounts_of() {
	awk -v dev="$2" '$3 == dev { $1 = $2 = ""; sub(/ (shared|master):[^ ]*/, ""); print }' "/proc/$1/mountinfo"
}
dev_of() {
	cat "/sys/class/block/$1/dev"
}
# everything there is to say of it, in both namespaces
all_of() {
	mounts_of 1 "$(dev_of "$1")"
	echo --
	[ ! -e "/proc/$second/mountinfo" ] || mounts_of "$second" "$(dev_of "$1")"
}
masked() {
	sed 's/,nocheckpoint_merge,/,checkpoint_merge,/'
}
knob() {
	fstunectl --json get "$1" "${2:-checkpoint_merge}" 2>/dev/null | jq -r ".knobs[0].${3:-value}"
}
knob_is() {
	[ "$(knob "$1" "$2" "$3")" = "$4" ]
}
seen() {
	case $(knob "$1") in 0 | 1) return 0 ;; *) return 1 ;; esac
}
gone() {
	! fstunectl list | grep -qx "$1"
}

second=none
# in_second COMMAND: lives in a mount namespace of its own, where COMMAND has been run
in_second() {
	rm -f /tmp/ready
	unshare -m sh -c "$1 && : >/tmp/ready && exec tail -f /dev/null" &
	second=$!
	wait_for 10 test -e /tmp/ready || bail_out "no second namespace: $1"
}
end_second() {
	kill "$second"
	wait "$second" 2>/dev/null
	second=none
}

# combination OPTIONS [MKFS-OPTIONS [DIRECTORY [FLAGS-IN-SECOND]]]
combination() {
	what=$1${2:+ ($2)}${4:+ [$4]}
	dir=${3:-/mnt/f2fs}
	mkdir -p "$dir"
	# shellcheck disable=SC2086 # several arguments
	mkfs.f2fs -q -f ${2:-} /dev/vda >/dev/null 2>&1
	mount -t f2fs -o "$1" /dev/vda "$dir" 2>/dev/null || {
		ok 1 "$what: can be mounted"
		return
	}
	echo kept >"$dir/file"
	in_second "mount -o remount,bind,${4:-nosuid,noexec} '$dir'"
	wait_for 25 seen vda || bail_out "$what: is not seen"
	all_of vda | masked >/tmp/before
	was=$(knob vda)
	for value in $((1 - was)) "$was"; do
		fstunectl set vda checkpoint_merge "$value" >/tmp/said 2>&1
		rc=$?
		all_of vda >/tmp/now
		found=,checkpoint_merge,
		[ "$value" = 1 ] || found=,nocheckpoint_merge,
		masked </tmp/now >/tmp/after
		if [ $rc -eq 0 ] && cmp -s /tmp/before /tmp/after && grep -q "$found" /tmp/now &&
			[ "$(cat "$dir/file")" = kept ]; then
			ok 0 "$what: $value"
		else
			ok 1 "$what: $value"
			diag "$(cat /tmp/said)" "$(diff /tmp/before /tmp/after)"
		fi
	done
	end_second
	umount "$dir"
	wait_for 25 gone vda || bail_out "vda is still there"
}

# mount_data OPTIONS: as they are; mount(8) keeps some for itself
mount_data() {
	perl -e '($d, $m, $t, $o) = @ARGV; exit(syscall(165, $d, $m, $t, 0, $o) != 0)' \
		/dev/vda /mnt/f2fs f2fs "$1" # 165: mount
}

# refused NAME OPTIONS REASON [COMMAND]: and nothing has changed
refused() {
	${4:-mount -t f2fs /dev/vda /mnt/f2fs -o} "$2" || {
		ok 1 "$1: can be mounted"
		return
	}
	wait_for 25 seen vda
	all_of vda >/tmp/before
	said=$(fstunectl set vda checkpoint_merge 0 2>&1)
	refuse "$1: refused" test $? -eq 0
	like "$said" "$3" "$1: with its reason"
	like "$(knob vda checkpoint_merge refused)" "$3" "$1: which get and status tell, too"
	all_of vda >/tmp/after
	check "$1: all is as it was" cmp /tmp/before /tmp/after
	umount /mnt/f2fs
	wait_for 25 gone vda || bail_out "vda is still there"
}

modprobe f2fs
mkdir -p /mnt/f2fs
fs-tuned --log-level=debug 2>/out/fs-tuned.log &
daemon=$!
wait_for 20 fstunectl status || bail_out "fs-tuned does not answer"

combination defaults
combination nocheckpoint_merge
combination background_gc=off
combination background_gc=sync,gc_merge
combination nodiscard
combination heap
combination nouser_xattr,noacl
combination noinline_xattr
combination noinline_data,noinline_dentry
combination noflush_merge
combination nobarrier,fastboot
combination noextent_cache
combination data_flush,disable_ext_identify
combination mode=lfs
combination mode=fragment:block
combination active_logs=2
combination reserve_root=16,resuid=1000,resgid=100
combination usrquota,grpquota
combination quota '-O quota,extra_attr'
combination usrquota,prjquota '-O extra_attr,project_quota,quota'
combination alloc_mode=reuse,atgc
combination discard_unit=section
combination memory=low
combination disable_roll_forward
combination sync,dirsync
combination inline_xattr_size=60 '-O extra_attr,flexible_inline_xattr'
combination compress_algorithm=zstd:3,compress_log_size=3,compress_extension=txt,compress_extension=log,nocompress_extension=jpg,compress_chksum,compress_mode=user,compress_cache '-O extra_attr,compression'
combination nosuid,nodev,noexec
combination nosuid,noatime '' '' ro,nodev
combination strictatime,nodiratime '' '' noexec,noatime

# Mounts of one file system with flags of their own, one of them read-only.
mkfs.f2fs -q -f /dev/vda >/dev/null
mount -t f2fs -o nosuid /dev/vda /mnt/f2fs
mkdir -p /mnt/f2fs/sub /mnt/bind /mnt/ro
mount -o bind /mnt/f2fs/sub /mnt/bind
mount -o bind /mnt/f2fs /mnt/ro
mount -o remount,bind,ro,noexec /mnt/ro
in_second 'umount /mnt/f2fs'
wait_for 25 seen vda
all_of vda | masked >/tmp/before
check "binds: set" fstunectl set vda checkpoint_merge 0
all_of vda | masked >/tmp/after
check "binds: each mount is as it was" cmp /tmp/before /tmp/after
refuse "binds: the read-only one still is" touch /mnt/ro/file
check "binds: and the writable one" touch /mnt/f2fs/file
is "$(mounts_of 1 "$(dev_of vda)" | wc -l)" 3 "binds: all three are there"
end_second

# Where all but a read-only bind is hidden by something else.
umount /mnt/bind
mount -t tmpfs tmpfs /mnt/f2fs
all_of vda | masked >/tmp/before
check "hidden, but for a read-only bind: set" fstunectl set vda checkpoint_merge 1
all_of vda | masked >/tmp/after
check "hidden: all is as it was" cmp /tmp/before /tmp/after
refuse "hidden: the read-only bind still is" touch /mnt/ro/file
umount /mnt/f2fs /mnt/ro /mnt/f2fs
wait_for 25 gone vda

# The priority of a thread that is there only while checkpoints are merged.
mount -t f2fs /dev/vda /mnt/f2fs
prio() {
	cat /sys/fs/f2fs/vda/ckpt_thread_ioprio
}
wait_for 25 seen vda
is "$(knob vda ckpt_thread_ioprio)" be,3 "the thread's priority is shown"
check "it can be raised" fstunectl set vda ckpt_thread_ioprio be,0
is "$(prio)" be,0 "and is"
for value in be,8 be,-1 be 3 idle rt,8 be,0x1; do
	refuse "it takes no $value" fstunectl set vda ckpt_thread_ioprio "$value"
done
like "$(fstunectl set vda ckpt_thread_ioprio rt,0 2>&1)" RealTimeIoprio "real time needs a setting"
is "$(prio)" be,0 "and it stays as it was"
check "merging off" fstunectl set vda checkpoint_merge 0
check "then the priority may only be read" wait_for 15 knob_is vda ckpt_thread_ioprio refused \
	"without checkpoint_merge no thread has it"
refuse "and is not set" fstunectl set vda ckpt_thread_ioprio be,1
check "merging on" fstunectl set vda checkpoint_merge 1
check "it may be set again" wait_for 15 knob_is vda ckpt_thread_ioprio refused null
is "$(prio)" be,0 "and is what it was"
# While the file system is busy with s_umount the kernel says EAGAIN.
(while [ ! -e /tmp/enough ]; do mount -o remount,noatime /mnt/f2fs; done) &
busy=$!
for value in be,1 be,2 be,4; do
	check "$value during remounts" fstunectl set vda ckpt_thread_ioprio $value
	is "$(prio)" $value "and it is"
done
: >/tmp/enough
wait $busy
check "all is given back" fstunectl revert vda
is "$(prio) $(knob vda)" "be,3 1" "as it was"
umount /mnt/f2fs
wait_for 25 gone vda

# What must not be reconfigured.
refused "read-only" ro "read-only"
refused "nolazytime" nolazytime "nolazytime" mount_data
refused "fsync_mode=strict" fsync_mode=strict "fsync_mode"
refused "fsync_mode=nobarrier" fsync_mode=nobarrier "fsync_mode"
refused "checkpoint=disable" checkpoint=disable "checkpoints are disabled"
refused "journaled quota" usrjquota=aquota.user,jqfmt=vfsv1 "journaled quota"

# A read-only one stays so, even where it has quota in it.
mkfs.f2fs -q -f -O extra_attr,quota /dev/vda >/dev/null
refused "read-only with quota" ro "read-only"

# Frozen: the kernel says so, and nothing hangs.
mkfs.f2fs -q -f /dev/vda >/dev/null
mount -t f2fs /dev/vda /mnt/f2fs
wait_for 25 seen vda
all_of vda >/tmp/before
fsfreeze --freeze /mnt/f2fs
like "$(fstunectl set vda checkpoint_merge 0 2>&1)" "frozen" "frozen: refused with its reason"
like "$(fstunectl history vda)" "frozen" "frozen: which the history tells"
fsfreeze --unfreeze /mnt/f2fs
all_of vda >/tmp/after
check "frozen: all is as it was" cmp /tmp/before /tmp/after
# What the kernel refuses halfway leaves all as it was.
sync
blockdev --setro /dev/vda
like "$(fstunectl set vda checkpoint_merge 0 2>&1)" "Read-only file system" "write-protected: refused with its reason"
blockdev --setrw /dev/vda
all_of vda >/tmp/after
check "write-protected: all is as it was" cmp /tmp/before /tmp/after
check "thawed: it can be set" fstunectl set vda checkpoint_merge 0
like "$(all_of vda)" ",nocheckpoint_merge," "thawed: and is"
umount /mnt/f2fs
wait_for 25 gone vda

# Several devices in one file system.
mkfs.f2fs -q -f -c /dev/vdc /dev/vdb >/dev/null
mount -t f2fs -o noatime /dev/vdb /mnt/f2fs
wait_for 25 seen vdb
all_of vdb | masked >/tmp/before
check "several devices: set" fstunectl set vdb checkpoint_merge 0
like "$(all_of vdb)" ",nocheckpoint_merge," "several devices: it is"
all_of vdb | masked >/tmp/after
check "several devices: all else is as it was" cmp /tmp/before /tmp/after

# Mounted in another namespace alone; with several file systems, each is what it is.
mkdir -p /mnt/other
in_second 'mount -t f2fs -o nosuid,background_gc=off /dev/vda /mnt/other'
check "another namespace: it is found" wait_for 25 seen vda
all_of vda | masked >/tmp/before
check "another namespace: set" fstunectl set vda checkpoint_merge 0
like "$(mounts_of "$second" "$(dev_of vda)")" ",nocheckpoint_merge," "another namespace: it is"
all_of vda | masked >/tmp/after
check "another namespace: all else is as it was" cmp /tmp/before /tmp/after
is "$(mounts_of 1 "$(dev_of vda)")" "" "another namespace: and it did not get here"
check "another namespace: and back" fstunectl set vda checkpoint_merge 1
is "$(knob vdb)" 0 "the other file system is not touched"
end_second
wait_for 25 gone vda
umount /mnt/f2fs

# While a checkpoint takes long, it waits, and nobody waits for it.
mkfs.f2fs -q -f -t 0 /dev/vdd >/dev/null
mount -t f2fs -o nodiscard /dev/vdd /mnt/f2fs
wait_for 25 seen vdd
dd if=/dev/zero of=/mnt/f2fs/big bs=1M count=24 2>/dev/null
sync -f /mnt/f2fs/big &
sync=$!
# not before it has begun: a tenth of it is written
written() {
	[ "$(awk '{ print $7 }' /sys/block/vdd/stat)" -gt $((sectors + 5000)) ]
}
sectors=$(awk '{ print $7 }' /sys/block/vdd/stat)
wait_for 20 written
fstunectl set vdd checkpoint_merge 0 >/tmp/said 2>&1 &
client=$!
check "a long sync: the change is in progress" wait_for 5 knob_is vdd checkpoint_merge busy true
like "$(fstunectl status)" "checkpoint_merge .* in progress" "a long sync: status says so"
mount -t f2fs /dev/vda /mnt/other
wait_for 25 seen vda
check "a long sync: others are served" fstunectl set vda checkpoint_merge 0
check "a long sync: after its deadline it is said to hang" wait_for 15 knob_is vdd checkpoint_merge stuck true
wait "$client"
is "$?" 0 "a long sync: in the end it is done" || diag "$(cat /tmp/said)"
is "$(knob vdd) $(knob vdd checkpoint_merge busy)" "0 false" "a long sync: and is so"
wait "$sync"
umount /mnt/other /mnt/f2fs

# And a mount point that mountinfo has to escape.
combination defaults '' "$(printf '/mnt/a b\n"\\\303\244,x')"

kill "$daemon"
wait "$daemon"
check "fsck.f2fs finds nothing" fsck.f2fs --dry-run /dev/vda
check "the kernel has no complaint" kernel_is_quiet
done_testing
