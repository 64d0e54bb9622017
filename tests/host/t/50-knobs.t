#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Turning by hand: set, auto, revert, foreign writes, restart, restore; knob files that are odd or
# go away. The files are in a sysroot: this kernel need not have the knob.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

make_ext4 "$tmp/fs"
dev=$(name "$loop")
make_ext4 "$tmp/other"
other=$(name "$loop")
make_knob "$dev"

knob_field() {
	ctl --json get "$dev" force_copy | jq -r ".knobs[0].$1"
}
value() {
	cat "$(knob "$dev")"
}
# fails STATUS PATTERN NAME COMMAND...: exit status, one line, and what it says
fails() {
	local status=$1 pattern=$2 name=$3
	shift 3
	"$@" >"$tmp/out" 2>"$tmp/err"
	is $? "$status" "$name: exit $status"
	is "$(wc -l <"$tmp/err")" 1 "$name: one line"
	like "$(cat "$tmp/err")" "$pattern" "$name: says what"
}

fails 3 'not running' "no daemon" ctl status
start_daemon || bail_out "the daemon does not start: $(cat "$tmp/log")"

fails 2 'verb|command' "unknown verb" ctl frobnicate
fails 1 'no such device|No device' "unknown device" ctl set nosuch force_copy 1
fails 1 '[Nn]o knob|no such knob' "unknown knob" ctl set "$dev" forced_copy 1
fails 1 'no value' "value out of range" ctl set "$dev" force_copy 2
fails 2 '' "missing argument" ctl set "$dev" force_copy
fails 1 '' "a knob that this kernel lacks" ctl set "$other" force_copy 1
is "$(value)" 0 "nothing of that wrote anything"

check "set" ctl set "$dev" force_copy 1
is "$(value)" 1 "set: written"
is "$(knob_field mode)" manual "set: pinned"
check "verify finds all as believed" ctl verify
check "set again is no error" ctl set "$dev" force_copy 1
check "revert" ctl revert "$dev"
is "$(value)" 0 "revert: the original value"
is "$(knob_field mode)" manual "revert: pinned"
check "auto" ctl auto "$dev"
is "$(knob_field mode)" auto "auto: the policy's again"

# Somebody else writes.
echo 1 >"$(knob "$dev")"
ctl verify >"$tmp/out" 2>&1
is $? 5 "verify sees a foreign write"
foreign() {
	[ "$(knob_field mode)" = manual ]
}
check "a foreign write pins" wait_for 15 foreign
is "$(value)" 1 "and stays"
like "$(ctl history "$dev")" 'foreign|somebody else' "the history tells"
ctl auto "$dev"
check "set after it" ctl set "$dev" force_copy 0

# A foreign write that nobody has looked at yet does not pass for what is asked for.
ctl set "$dev" force_copy 1
echo 0 >"$(knob "$dev")"
check "set after a write unseen" ctl set "$dev" force_copy 1
is "$(value)" 1 "is written"
ctl set "$dev" force_copy 0
echo 1 >"$(knob "$dev")"
ctl auto "$dev"
is "$(knob_field mode)" auto "auto after a write unseen hands back"
ctl set "$dev" force_copy 0
ctl auto "$dev"

# Restart and stop.
ctl set "$dev" force_copy 1
stop_daemon KILL
is "$(value)" 1 "SIGKILL leaves the knob"
start_daemon --keep-on-exit
is "$(knob_field mode)" manual "the pin is remembered"
is "$(value)" 1 "and so is the value"
stop_daemon
is "$(value)" 1 "with --keep-on-exit SIGTERM leaves the knob"
"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >>"$tmp/log" 2>&1
is $? 0 "restore"
is "$(value)" 1 "what an administrator set is not restored"
start_daemon --keep-on-exit
is "$(knob_field mode)/$(knob_field pinned_by)" "manual/fstunectl (uid 0)" \
	"a pin outlives stop and start, and whose it is"
stop_daemon
echo 0 >"$(knob "$dev")"
rm -rf "$run"

# What the configuration pinned is ours.
printf '[Policy]\nForceCopy=1\n' >"$tmp/conf"
start_daemon --keep-on-exit --config="$tmp/conf"
check "the configuration's value is written" wait_for 5 grep -qx 1 "$(knob "$dev")"
applied() {
	jq -e '.entries[] | select(.state == "applied")' "$run/ledger.json"
}
check "and in the ledger" wait_for 5 applied
stop_daemon
"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >>"$tmp/log" 2>&1
is "$(value)" 0 "restore gives it back"
[ ! -e "$run/ledger.json" ]
ok $? "and leaves no empty ledger"
"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >>"$tmp/log" 2>&1
is $? 0 "a second restore does no harm"
start_daemon --keep-on-exit --config="$tmp/conf"
wait_for 5 grep -qx 1 "$(knob "$dev")"
wait_for 5 applied
stop_daemon KILL
echo 2 >"$(knob "$dev")"
"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >>"$tmp/log" 2>&1
is "$(value)" 2 "restore leaves what somebody else wrote since"
echo 0 >"$(knob "$dev")"
rm -rf "$run"

# Somebody wrote while it was down.
printf '[Policy]\nForceCopy=1\n' >"$tmp/conf"
start_daemon --keep-on-exit --config="$tmp/conf"
wait_for 5 applied
stop_daemon
echo 2 >"$(knob "$dev")"
start_daemon --config="$tmp/conf"
is "$(knob_field value)/$(knob_field mode)" 2/manual "a value written meanwhile is shown and stays"
check "and can be changed by hand" ctl set "$dev" force_copy 0
stop_daemon
rm -rf "$run"
echo 0 >"$(knob "$dev")"

# Knob files that are odd or go away.
start_daemon
mv "$(knob "$dev")" "$tmp/aside"
fails 1 '' "the knob's file vanished" ctl set "$dev" force_copy 1
check "the daemon goes on" ctl status
mv "$tmp/aside" "$(knob "$dev")"
check "it is found again" wait_for 15 ctl set "$dev" force_copy 0
for odd in '' 'x' '-1' '99999999999999999999999' "$(head -c 5000 /dev/zero | tr '\0' 1)" "0 1"; do
	printf '%s' "$odd" >"$(knob "$dev")"
	refuse "verify does not take '${odd:0:12}' for what it wrote" ctl verify
done
unreadable() {
	ctl --json status "$dev" | jq -e '.devices[].knobs[] | select(.knob == "force_copy") | .supported | not'
}
check "the daemon notices" wait_for 15 unreadable
fails 1 'could not be checked' "verify, when it has noticed" ctl -q verify
like "$(ctl --json verify | jq -r '.knobs[] | select(.state == "unknown") | .device' 2>/dev/null)" \
	"^$dev\$" "and it says which"
check "the daemon goes on" ctl status
rm "$(knob "$dev")" && mkdir "$(knob "$dev")"
check "even with a directory in its place" ctl status
rmdir "$(knob "$dev")" && make_knob "$dev"
check "it is found again" wait_for 15 ctl set "$dev" force_copy 1

# Unmounted in the middle: its entry goes, too.
entries() {
	jq '.entries | length' "$run/ledger.json"
}
is "$(entries)" 1 "it is in the ledger"
umount "$tmp/fs" && mounts=("${mounts[@]:1}")
unlisted() {
	! ctl list | grep -qx "$dev"
}
check "an unmounted file system is gone" wait_for 5 unlisted
forgotten() {
	[ "$(entries)" = 0 ]
}
check "and out of the ledger" wait_for 15 forgotten
check "verify has nothing against it" ctl verify
fails 1 '' "set on what is gone" ctl set "$dev" force_copy 1

# What the configuration says holds for a knob that appears later, and after auto.
make_ext4 "$tmp/late"
dev=$(name "$loop")
printf '[Policy]\nForceCopy=1\n' >"$tmp/conf"
stop_daemon
start_daemon --config="$tmp/conf"
is "$(ctl --json get "$dev" | jq -r '.knobs[0].supported')" false "a knob that is not there"
make_knob "$dev"
check "appears, and gets the configured value" wait_for 15 grep -qx 1 "$(knob "$dev")"
ctl set "$dev" force_copy 0
is "$(value)" 0 "an administrator's value"
check "auto" ctl auto "$dev"
check "hands it back to what the configuration pins" wait_for 5 grep -qx 1 "$(knob "$dev")"
is "$(knob_field pinned_by)" configuration "and says so"
check "pause" ctl pause
stop_daemon KILL
start_daemon --config="$tmp/conf"
like "$(ctl status)" '[Pp]aused' "a pause outlives the daemon"
ctl resume
stop_daemon
rm -rf "$run"
start_daemon

fails 2 '' "pause for a time that is none" ctl pause --for=soon
check "pause" ctl pause --for=1h
like "$(ctl status)" '[Pp]aused' "status says so"
check "resume" ctl resume
stop_daemon
is "$ended" 0 "the daemon ends in order"
done_testing
