# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shared by the host tests: a scratch directory, loop devices of their own, the daemon and the
# client as processes. Everything made here is unmade at exit, and nothing else.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.." || exit 1
. tests/tap.sh
. tests/lib.sh

bin=${FSTUNED_BUILD:-$PWD/build}
[ "$(id -u)" -eq 0 ] || {
	echo "1..0 # skip needs root: loop devices, mounts, BPF"
	exit 0
}

# A tmpfs of our own: devices behind loop are then as fast as memory.
tmp=$(mktemp -d "${TMPDIR:-/tmp}/fs-tuned-test.XXXXXX")
mount -t tmpfs -o size=2g fs-tuned-test "$tmp"
run=$tmp/run
sysroot=$tmp/sysroot
mkdir -p "$sysroot"
loops=()
mounts=()
daemon=

cleanup() {
	local i

	[ -z "$daemon" ] || { kill -KILL "$daemon" && wait "$daemon"; } 2>/dev/null
	for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do
		umount "${mounts[i]}" 2>/dev/null || umount -l "${mounts[i]}"
	done
	for i in "${loops[@]}"; do
		losetup -d "$i"
	done
	umount "$tmp" 2>/dev/null || umount -l "$tmp"
	rmdir "$tmp"
}
trap cleanup EXIT

# make_loop SIZE: sets $loop to a new loop device.
make_loop() {
	local file
	file=$(mktemp "$tmp/disk.XXXXXX")
	truncate -s "$1" "$file"
	loop=$(losetup -f --show "$file")
	loops+=("$loop")
}

# mount_at DIRECTORY MOUNT-ARGUMENT...
mount_at() {
	mkdir -p "$1"
	mount "${@:2}" "$1" && mounts+=("$1")
}

# make_ext4 DIRECTORY [MKE2FS-OPTION...]: sets $loop; mounted there.
make_ext4() {
	make_loop 64M
	mke2fs -q -F -t ext4 "${@:2}" "$loop" && mount_at "$1" "$loop"
}

name() {
	basename "$1"
}

# knob DEVICE: path of a knob file in the sysroot, as that kernel would have it.
knob() {
	printf '%s/proc/fs/jbd2/%s-8/force_copy\n' "$sysroot" "$(name "$1")"
}

# make_knob DEVICE [VALUE]
make_knob() {
	mkdir -p "$(dirname "$(knob "$1")")"
	printf '%s\n' "${2:-0}" >"$(knob "$1")"
}

# ctl ARGUMENT...: the client, on our runtime directory.
ctl() {
	"$bin/fstunectl" --runtime-dir="$run" "$@"
}

# start_daemon [ARGUMENT...]: in the background, ready when it returns; its log is $tmp/log.
start_daemon() {
	spawn_daemon "$@"
	wait_for 15 ctl status
}

spawn_daemon() {
	[ -e "$tmp/no-config" ] || : >"$tmp/no-config"
	case " $* " in
	*' --config='*) ;;
	*) set -- --config="$tmp/no-config" "$@" ;;
	esac
	"$bin/fs-tuned" --runtime-dir="$run" --sysroot="$sysroot" "$@" >>"$tmp/log" 2>&1 &
	daemon=$!
}

# start_classic_daemon: in a mount namespace of its own in which there is no BTF, but tracefs. Fails if
# the kernel has no tracefs.
start_classic_daemon() {
	cat >"$tmp/classic" <<-'EOF'
		#!/bin/sh
		mount -t tmpfs none /sys/kernel/btf &&
			{ [ -d /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing; } &&
			exec "$@"
	EOF
	chmod +x "$tmp/classic"
	unshare -m "$tmp/classic" true 2>/dev/null || return
	unshare -m "$tmp/classic" "$bin/fs-tuned" --runtime-dir="$run" --sysroot="$sysroot" \
		--config="$tmp/no-config" >>"$tmp/log" 2>&1 &
	daemon=$!
	wait_for 15 ctl status || bail_out "the daemon does not start without BTF: $(cat "$tmp/log")"
}

# stop_daemon [SIGNAL]: sets $ended to its exit status.
stop_daemon() {
	local pid=$daemon
	daemon=
	kill -"${1:-TERM}" "$pid"
	wait "$pid" 2>/dev/null
	ended=$?
}

# metric NAME DEVICE: its value, 0 if there is none.
metric() {
	ctl metrics | awk -v name="$1" -v device="device=\"$2\"" '
		index($1, name "{") == 1 && index($1, device) { v = $2 }
		END { print v + 0 }'
}
