# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
#
# What test scripts in a guest share: `. ./lib.sh`, any number of checks, then `done_testing`.

. ./tap.sh
# What the script had counted when it rebooted.
# shellcheck source=/dev/null
[ ! -e /var/tap ] || . /var/tap

# wait_for SECONDS COMMAND...: until COMMAND succeeds; fails if it has not by then.
wait_for() {
	wait_until=$(($(cut -d. -f1 /proc/uptime) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(cut -d. -f1 /proc/uptime)" -le $wait_until ] || return 1
		sleep 0.05
	done
}

# stop_process SIGNAL PID: and waits for its end. bpftrace overlooks a signal that does not interrupt
# its waiting for events, so it is told again every 5 s, and after 30 s it is killed.
stop_process() {
	kill "-$1" "$2"
	(
		for _ in 1 2 3 4 5; do
			sleep 5
			kill "-$1" "$2" || exit
		done
		sleep 5
		kill -KILL "$2"
	) 2>/dev/null &
	stop_watch=$!
	stop_status=0
	wait "$2" || stop_status=$?
	kill $stop_watch 2>/dev/null
	wait $stop_watch 2>/dev/null
	return $stop_status
}

# reboot_guest: with systemd; the script begins anew, and FSTUNED_BOOT is one more.
reboot_guest() {
	echo "tap_count=$tap_count tap_failed=$tap_failed" >/var/tap
	systemctl reboot
	exec tail -f /dev/null
}

# mount_ext4 DEVICE DIRECTORY [MKE2FS-OPTION...]: makes a file system there and mounts it.
mount_ext4() {
	mount_device=$1
	mount_point=$2
	shift 2
	mkdir -p "$mount_point"
	mke2fs -q -F -t ext4 "$@" "$mount_device" &&
		mount -t ext4 "$mount_device" "$mount_point"
}

# journal DEVICE: the /proc directory of the internal journal of a mounted ext4.
journal() {
	echo "/proc/fs/jbd2/${1#/dev/}-8"
}

# kernel_is_quiet: the kernel has not complained since the last call.
kernel_is_quiet() {
	dmesg -c >>/tmp/dmesg.now
	kernel_said=$(grep -E 'WARNING:|BUG:|Oops|blocked for more than|EXT4-fs (error|warning)|JBD2: |F2FS-fs .*([Ff]ail|[Cc]annot|error|corrupt|[Ii]nconsisten)|I/O error|general protection|leaking' \
		/tmp/dmesg.now)
	cat /tmp/dmesg.now >>/out/dmesg
	: >/tmp/dmesg.now
	[ -z "$kernel_said" ] || {
		echo "$kernel_said"
		return 1
	}
}
