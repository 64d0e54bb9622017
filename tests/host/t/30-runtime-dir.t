#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A runtime directory that is full, read-only, vanished or taken: one clear line, and every knob
# as it was or as the ledger says.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

make_ext4 "$tmp/fs"
dev=$(name "$loop")
make_knob "$dev"

last_line() {
	tail -n 1 "$tmp/log"
}

start_daemon || bail_out "the daemon does not start: $(cat "$tmp/log")"
"$bin/fs-tuned" --runtime-dir="$run" --sysroot="$sysroot" --config="$tmp/no-config" >"$tmp/second" 2>&1
is $? 1 "a second daemon gives up"
is "$(wc -l <"$tmp/second")" 1 "with one line"
like "$(cat "$tmp/second")" "Another fs-tuned is using $run" "that says why"
check "the first one still answers" ctl status

# The daemon owns the ledger: nothing is rewritten under it.
check "set under the daemon" ctl set "$dev" force_copy 1
before=$(cat "$run/ledger.json")
"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >"$tmp/second" 2>&1
is $? 1 "--restore gives up while a daemon runs"
is "$(wc -l <"$tmp/second")" 1 "with one line"
like "$(cat "$tmp/second")" "Another fs-tuned is using $run" "that says why"
is "$(cat "$run/ledger.json")" "$before" "the ledger is as it was"
is "$(cat "$(knob "$dev")")" 1 "and so is the knob"
check "revert under the daemon" ctl revert "$dev"
check "auto under the daemon" ctl auto "$dev"

# Vanished under the running daemon.
rm -rf "$run"
"$bin/fstunectl" --runtime-dir="$run" list >/dev/null 2>&1
is $? 3 "without its socket the daemon counts as not running"
stop_daemon
is "$ended" 0 "it still ends in order"
is "$(cat "$(knob "$dev")")" 0 "the knob is as it was"
"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >"$tmp/second" 2>&1
is "$?/$(wc -l <"$tmp/second")" 0/0 "--restore without a runtime directory has nothing to say"

# Full.
mkdir -p "$run"
mount_at "$run" -t tmpfs -o mode=755,size=64k fs-tuned-test
start_daemon
dd if=/dev/zero of="$run/ballast" bs=4k status=none 2>/dev/null
ctl set "$dev" force_copy 1 2>"$tmp/err"
is $? 1 "set fails where the ledger cannot be written"
like "$(cat "$tmp/err")" 'No space left on device' "and says why"
is "$(wc -l <"$tmp/err")" 1 "in one line"
is "$(cat "$(knob "$dev")")" 0 "the knob was not touched"
rm "$run/ballast"
check "with room again it works" ctl set "$dev" force_copy 1
is "$(cat "$(knob "$dev")")" 1 "and the knob is set"
stop_daemon
umount "$run" && unset 'mounts[-1]'
echo 0 >"$(knob "$dev")"

# Read-only.
mount_at "$run" -t tmpfs -o ro,mode=755,size=64k fs-tuned-test
"$bin/fs-tuned" --runtime-dir="$run" --sysroot="$sysroot" --config="$tmp/no-config" >"$tmp/second" 2>&1
is $? 1 "on a read-only runtime directory it gives up"
is "$(wc -l <"$tmp/second")" 1 "with one line"
like "$(cat "$tmp/second")" "Read-only file system" "that says why"
mount -o remount,rw "$run"
start_daemon
mount -o remount,ro "$run"
ctl set "$dev" force_copy 1 2>"$tmp/err"
is $? 1 "turned read-only later: set fails"
is "$(cat "$(knob "$dev")")" 0 "and the knob was not touched"
mount -o remount,rw "$run"
stop_daemon

# A ledger that is none of ours.
umount "$run" && unset 'mounts[-1]'
rm -rf "$run"
for bad in '{' '[]' '{"version": 99}' "$(head -c 2000 /dev/urandom | tr -d '\0')"; do
	mkdir -p "$run"
	printf '%s' "$bad" >"$run/ledger.json"
	start_daemon
	is $? 0 "a bad ledger does not keep it from starting"
	[ -e "$run/ledger.json.bad" ]
	ok $? "the bad ledger is kept aside"
	stop_daemon
	rm -rf "$run"
done

# One that others may write to, or that holds traps.
# refused NAME PATTERN: it gives up with one line
refused() {
	timeout 10 "$bin/fs-tuned" --runtime-dir="$run" --config="$tmp/no-config" >"$tmp/second" 2>&1
	is $? 1 "$1: refused"
	is "$(wc -l <"$tmp/second")" 1 "$1: one line"
	like "$(cat "$tmp/second")" "$2" "$1: says why"
}
mkdir -m 777 "$run"
chmod 777 "$run"
refused "world-writable" 'belongs to others'
chown 65534 "$run"
chmod 755 "$run"
refused "somebody else's" 'belongs to others'
rm -rf "$run"
mkdir "$tmp/real"
ln -s real "$run"
refused "a symbolic link" "$run"
rm "$run"
mkdir "$run"
mkfifo "$run/lock"
refused "a FIFO as lock" 'regular'
rm "$run/lock"
mkfifo "$run/ledger.json.tmp"
start_daemon
check "a FIFO in the ledger's way does not block" timeout 10 "$bin/fstunectl" --runtime-dir="$run" set "$dev" force_copy 1
ctl set "$dev" force_copy 0
stop_daemon
rm -rf "$run"

"$bin/fs-tuned" --runtime-dir=/dev/null/x --config="$tmp/no-config" >"$tmp/second" 2>&1
is $? 1 "a runtime directory that cannot be"
is "$(wc -l <"$tmp/second")" 1 "is one line"
done_testing
