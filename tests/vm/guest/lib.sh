# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
#
# What test scripts in a guest share: `. ./lib.sh`, any number of checks, then `done_testing`.

tap_count=0
tap_failed=0
# What the script had counted when it rebooted.
# shellcheck source=/dev/null
[ ! -e /var/tap ] || . /var/tap

# ok STATUS NAME: one test point; STATUS 0 is success: `some command; ok $? "it works"`.
ok() {
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $2"
	fi
}

# check NAME COMMAND...: a test point that passes if COMMAND succeeds; if not, shows what it said.
check() {
	check_name=$1
	shift
	if check_said=$("$@" 2>&1 </dev/null); then
		ok 0 "$check_name"
	else
		ok 1 "$check_name"
		diag "$*"
		diag "$check_said"
	fi
}

# refuse NAME COMMAND...: a test point that passes if COMMAND fails.
refuse() {
	refuse_name=$1
	shift
	! "$@" >/dev/null 2>&1 </dev/null
	ok $? "$refuse_name"
}

# is GOT WANTED NAME
is() {
	[ "$1" = "$2" ]
	ok $? "$3"
	[ "$1" = "$2" ] || diag "got '$1', wanted '$2'"
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - # SKIP $1"
}

diag() {
	echo "$*" | sed 's/^/# /'
}

done_testing() {
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit $?
}

bail_out() {
	echo "Bail out! $*"
	exit 1
}

# wait_for SECONDS COMMAND...: until COMMAND succeeds; fails if it has not by then.
wait_for() {
	wait_until=$(($(cut -d. -f1 /proc/uptime) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(cut -d. -f1 /proc/uptime)" -le $wait_until ] || return 1
		usleep 50000
	done
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
	kernel_said=$(grep -E 'WARNING:|BUG:|Oops|blocked for more than|EXT4-fs (error|warning)|JBD2: |I/O error|general protection|leaking' \
		/tmp/dmesg.now)
	cat /tmp/dmesg.now >>/out/dmesg
	: >/tmp/dmesg.now
	[ -z "$kernel_said" ] || {
		echo "$kernel_said"
		return 1
	}
}
