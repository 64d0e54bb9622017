#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A knob whose write does not return: a lease on its file makes whoever opens it for writing wait.
# The loop goes on and says so, and the other knobs are given back all the same.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

make_ext4 "$tmp/stuck"
stuck=$(name "$loop")
make_ext4 "$tmp/free"
free=$(name "$loop")
make_knob "$stuck"
make_knob "$free"
printf '[Policy]\nForceCopy=1\n' >"$tmp/conf"
holder=

# lease: held until release
lease() {
	rm -f "$tmp/lease" # what the last one said
	perl -e 'open my $f, "<", $ARGV[0] or die; fcntl($f, 1024, 0) or die "F_SETLEASE: $!";
		$SIG{IO} = "IGNORE"; $| = 1; print "held\n"; sleep 60' "$(knob "$stuck")" >"$tmp/lease" &
	holder=$!
	wait_for 5 grep -q held "$tmp/lease"
}
release() {
	kill "$holder"
	wait "$holder" 2>/dev/null
}
both_set() {
	[ "$(cat "$(knob "$stuck")")$(cat "$(knob "$free")")" = 11 ] &&
		[ "$(jq '[.entries[] | select(.state == "applied")] | length' "$run/ledger.json")" = 2 ]
}
restore() {
	"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >>"$tmp/log" 2>&1
}

start_daemon --config="$tmp/conf" --keep-on-exit
check "both knobs are set" wait_for 10 both_set

lease
ctl set "$stuck" force_copy 0 >"$tmp/out" 2>&1 &
client=$!
busy() {
	[ "$(ctl --json get "$stuck" force_copy | jq '.knobs[0].busy')" = true ]
}
check "a write that hangs is in progress" wait_for 5 busy
check "the others are served meanwhile" timeout 3 "$bin/fstunectl" --runtime-dir="$run" set "$free" force_copy 1
late() {
	[ "$(ctl --json get "$stuck" force_copy | jq '.knobs[0].stuck')" = true ]
}
check "after its deadline it is said to be stuck" wait_for 10 late
release
wait "$client"
is "$(cat "$(knob "$stuck")")" 0 "once it can, it is done"
ctl auto "$stuck"
ctl auto "$free"
check "the configured value is back" wait_for 10 both_set
stop_daemon

lease
begin=$SECONDS
restore
is $? 1 "restore with a stuck knob says that not all went well"
[ $((SECONDS - begin)) -le 8 ]
ok $? "and does not wait for it ($((SECONDS - begin)) s)"
is "$(cat "$(knob "$free")")" 0 "the other knob is given back"
is "$(jq -r '.entries[].device' "$run/ledger.json")" "$stuck" "the stuck one stays in the ledger"
release
restore
is $? 0 "a later restore"
is "$(cat "$(knob "$stuck")")" 0 "gives it back"
done_testing
