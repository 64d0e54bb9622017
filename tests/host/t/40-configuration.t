#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Configuration that is missing, malformed, huge or binary: a line that says what, and defaults.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

make_ext4 "$tmp/fs"
dev=$(name "$loop")
make_knob "$dev"
conf=$tmp/fs-tuned.conf

value_of() {
	ctl --json config | jq -r --arg k "$1" '[.settings[] | select(.key == $k)][0].value'
}

# with_config NAME: the daemon comes up with $conf, and is asked.
with_config() {
	: >"$tmp/log"
	start_daemon --config="$conf"
	is $? 0 "$1: the daemon starts"
}

"$bin/fs-tuned" --runtime-dir="$run" --config="$tmp/none" >"$tmp/err" 2>&1
is $? 1 "a configuration that was named and is not there is an error"
is "$(wc -l <"$tmp/err")" 1 "with one line"
like "$(cat "$tmp/err")" "$tmp/none.*No such file" "that names it"
"$bin/fs-tuned" --runtime-dir="$run" --config="$tmp" >"$tmp/err" 2>&1
is $? 1 "so is a directory"

cat >"$conf" <<-EOF
	# a comment
	[Manager]
	HistorySize=10
	Nonsense=1
	[Policy]
	ForceCopyStall=20ms
	ForceCopyLongWait=later
	no equals sign
	[Other]
	x=y
EOF
with_config "a mixed one"
is "$(value_of ForceCopyStall)" 20ms "what is good holds"
is "$(value_of HistorySize)" 10 "also before what is bad"
is "$(value_of ForceCopyLongWait)" 250ms "a bad value keeps the default"
like "$(cat "$tmp/log")" "$conf:4: .*Nonsense" "an unknown key is told with its line"
like "$(cat "$tmp/log")" "$conf:7: .*ForceCopyLongWait" "so is a bad value"
like "$(cat "$tmp/log")" "$conf:9: .*Other" "and an unknown section"
like "$(cat "$tmp/log")" "$conf:8: " "and a line that is none"

# Reload: the good replaces, an unreadable one leaves the former.
printf '[Policy]\nForceCopyStall=30ms\n' >"$conf"
kill -HUP "$daemon"
reloaded() {
	[ "$(value_of ForceCopyStall)" = 30ms ]
}
check "SIGHUP reads it anew" wait_for 5 reloaded
rm "$conf"
kill -HUP "$daemon"
check "one that vanished is told" wait_for 5 grep -q 'not reloaded' "$tmp/log"
is "$(value_of ForceCopyStall)" 30ms "and the former one holds"

# The configuration pins.
printf '[Device %s]\nForceCopy=1\n' "$dev" >"$conf"
kill -HUP "$daemon"
check "a pinned value is written" wait_for 5 grep -qx 1 "$(knob "$dev")"
is "$(ctl --json get "$dev" force_copy | jq -r '.knobs[0].mode')" manual "and shown as pinned"
stop_daemon
is "$(cat "$(knob "$dev")")" 0 "it is given back at stop"

head -c 100000 /dev/urandom >"$conf"
with_config "binary"
[ "$(wc -l <"$tmp/log")" -lt 40 ]
ok $? "binary: it does not flood the log"
stop_daemon
{ printf '[Policy]\nForceCopyStall=20ms\n' && head -c 2000000 /dev/zero | tr '\0' '#'; } >"$conf"
"$bin/fs-tuned" --runtime-dir="$run" --config="$conf" >"$tmp/err" 2>&1
is $? 1 "one that is huge is an error when it was named"
is "$(wc -l <"$tmp/err")" 1 "with one line"
like "$(cat "$tmp/err")" "$conf" "that names it"
: >"$conf"
with_config "empty"
stop_daemon

"$bin/fs-tuned" --mode=often >"$tmp/err" 2>&1
is $? 2 "a wrong option is wrong usage"
"$bin/fs-tuned" --log-level=loud >"$tmp/err" 2>&1
is $? 2 "so is a wrong level"
"$bin/fs-tuned" surplus >"$tmp/err" 2>&1
is $? 2 "so is a surplus argument"
done_testing
