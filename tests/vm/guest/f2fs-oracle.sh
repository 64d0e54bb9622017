# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
#
# An f2fs in a guest, and what its kernel and the daemon count of it. Wants lib.sh, mkfs.f2fs and,
# for the kernel's counts, debugfs.

# mount_f2fs DEVICE DIRECTORY [OPTIONS [MKFS-ARGUMENT...]]: makes a file system there and mounts it.
# Without background GC, which would make checkpoints at times of its own.
mount_f2fs() {
	mount_device=$1
	mount_point=$2
	mount_options=background_gc=off${3:+,$3}
	shift "$(($# < 3 ? $# : 3))"
	mkdir -p "$mount_point"
	mkfs.f2fs -q -f "$@" "$mount_device" >/dev/null &&
		mount -t f2fs -o "$mount_options" "$mount_device" "$mount_point"
}

# f2fs_status DEVICE: its part of debugfs f2fs/status
f2fs_status() {
	awk -v device="($1)." '
		/partition info/ { mine = index($0, device) }
		mine' /sys/kernel/debug/f2fs/status
}

# checkpoints DEVICE: that were completed. Up to 6.1 and so they are the "CP calls"; later these count
# what was asked for, and there is a line for checkpoints.
checkpoints() {
	f2fs_status "$1" | awk '
		/CP calls:/ && !later { n = $3 }
		/CP count:/ { n = $3; later = 1 }
		END { print n + 0 }'
}

# merged issued|total DEVICE: checkpoints of the merging thread, or the requests that they served
merged() {
	f2fs_status "$2" | tr ',(' '\n' | awk -v name="$1" '
		{ line = tolower($0) }
		/CP merge/ { seen = 1 }
		/GC calls/ { seen = 0 }
		seen && line ~ "^[ -]*" name " *:" { sub(/.*: */, ""); print $1 + 0; exit }'
}

# metric NAME DEVICE [LABEL]: a value of the daemon's; 0 if there is none
metric() {
	fstunectl metrics | awk -v name="$1{" -v device="device=\"$2\"" -v label="$3" '
		index($1, name) == 1 && index($1, device) && (label == "" || index($1, label)) { n = $2 }
		END { print n + 0 }'
}

# requests DIRECTORY COUNT: each makes the directory dirty and wants it on the disk, which takes a
# checkpoint
requests() {
	requests_i=0
	while [ $requests_i -lt "$2" ]; do
		read -r requests_file </proc/sys/kernel/random/uuid
		: >"$1/$requests_file"
		sync "$1"
		requests_i=$((requests_i + 1))
	done
}
