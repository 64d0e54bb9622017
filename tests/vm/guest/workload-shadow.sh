# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
#
# A workload in which a task that never asks for anything to be synchronous waits for others' fsyncs:
# three jobs append 4 KiB and fsync, over and over, while the victim does 200 buffered writes of 4
# KiB a second. All their inodes share a block or two of the inode table, which each commit writes
# to the journal and each of the victim's writes has to modify (mtime). Wants fio, wait_for of
# lib.sh, and a disk of about 100 I/Os a second.

# workload_shadow DIRECTORY SECONDS JSON: runs it in DIRECTORY for SECONDS and leaves fio's report of
# the victim in JSON.
workload_shadow() {
	shadow_dir=$1
	shadow_seconds=$2
	shadow_json=$3
	rm -rf "$shadow_dir/committer".* "$shadow_dir/victim".*

	fio --name=committer --directory="$shadow_dir" --numjobs=3 --rw=write --bs=4k --fsync=1 \
		--size=1g --fallocate=none --time_based --runtime=$((shadow_seconds + 60)) \
		--output=/dev/null &
	shadow_committer=$!
	wait_for 20 test -s "$shadow_dir/committer.2.0" || return 1

	shadow_status=0
	fio --name=victim --directory="$shadow_dir" --rw=write --bs=4k --rate_iops=200 \
		--size=1g --fallocate=none --time_based --runtime="$shadow_seconds" \
		--output-format=json --output="$shadow_json" || shadow_status=$?

	stop_process TERM "$shadow_committer" || true
	return "$shadow_status"
}

# shadow_latency JSON [PERCENTILE]: the victim's write latency in microseconds: that percentile
# (default 99.000000), or min, mean, max.
shadow_latency() {
	awk -v key="\"${2:-99.000000}\"" '
		/"write" :/ { write = 1 }
		/"trim" :/ { write = 0 }
		write && /"lat_ns"/ { lat = 1 }
		write && /"clat_ns"/ { clat = 1; lat = 0 }
		write && clat && key ~ /[0-9]/ && $1 == key { printf "%d\n", $3 / 1000; exit }
		write && lat && key !~ /[0-9]/ && $1 == key { printf "%d\n", $3 / 1000; exit }' "$1"
}
