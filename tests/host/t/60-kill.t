#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# SIGKILL between any two steps of a change: strace kills the daemon at each system call on ledger
# or knob; `--restore` must undo what that leaves, and so must it after a next start.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

make_ext4 "$tmp/fs"
dev=$(name "$loop")
make_knob "$dev"
printf '[Policy]\nForceCopy=1\n' >"$tmp/conf"

applied() {
	jq -e '.entries[] | select(.state == "applied" and .original == "0")' "$run/ledger.json"
}
value() {
	cat "$(knob "$dev")"
}
# the daemon that a strace of ours runs, if it still does
traced() {
	pgrep -f "^$bin/fs-tuned --runtime-dir=$run "
}
# under_strace OPTION...: starts the daemon under strace, in the background
under_strace() {
	# the shell between keeps strace's own death out of our output
	sh -c '"$@"; :' _ strace -f -qq "$@" "$bin/fs-tuned" \
		--runtime-dir="$run" --sysroot="$sysroot" --config="$tmp/conf" --keep-on-exit \
		>>"$tmp/log" 2>&1 &
	tracer=$!
}
# fresh: as before any run
fresh() {
	rm -rf "$run"
	echo 0 >"$(knob "$dev")"
}
restore() {
	"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >>"$tmp/log" 2>&1
}

declare -A paths=(
	[ledger]="-P $run/ledger.json -P $run/ledger.json.tmp"
	[knob]="-P $(knob "$dev")"
)
points=()
# Undisturbed: the calls on each, as "what call count", the count being one thread's own, as
# strace's is.
for what in "${!paths[@]}"; do
	# shellcheck disable=SC2086 # several words
	under_strace ${paths[$what]} -o "$tmp/trace"
	wait_for 20 applied || bail_out "no change: $(cat "$tmp/log")"
	kill -TERM "$(traced)"
	wait "$tracer"
	restore
	is "$(value)" 0 "undisturbed: restored"
	fresh
	mapfile -t -O "${#points[@]}" points < <(awk -v what="$what" '
		match($2, /^(openat|read|write|rename|close)\(/) {
			call = substr($2, 1, RLENGTH - 1)
			n = ++count[$1 call]
			if (n > most[call]) { most[call] = n; print what, call, n }
		}' "$tmp/trace")
done
diag "${#points[@]} points"

# What a kill may leave behind.
consistent() {
	local entry
	entry=$(jq -r '.entries[0] | "\(.state) \(.original) \(.written)"' "$run/ledger.json" 2>/dev/null)
	case "$(value)/$entry" in
	'0/' | '0/null null null') ;;       # nothing happened
	'0/intent 0 1' | '1/intent 0 1') ;; # in the middle: the knob tells
	'1/applied 0 1') ;;                 # done
	*) diag "value $(value), ledger '$entry'" && return 1 ;;
	esac
	seen[$(value)${entry%% *}]=1
}

declare -A seen=()
bad=0 killed=0
complain() {
	bad=$((bad + 1))
	diag "$* after a kill at call $n"
}
ended_or_applied() {
	! traced || applied
}
for n in "${points[@]}"; do
	read -r what call count <<<"$n"
	# shellcheck disable=SC2086 # several words
	under_strace ${paths[$what]} -o /dev/null -e inject="$call:signal=KILL:when=$count"
	wait_for 5 traced
	wait_for 20 ended_or_applied
	if traced >/dev/null; then
		kill -KILL "$(traced)"
	else
		killed=$((killed + 1))
	fi
	wait "$tracer"
	consistent || complain "inconsistent"

	# restore alone undoes it, and so does it after a start that completes it
	cp -r "$run" "$tmp/copy" 2>/dev/null
	before=$(value)
	restore
	[ "$(value)" = 0 ] || complain "not restored"
	rm -rf "$run"
	mv "$tmp/copy" "$run" 2>/dev/null
	echo "$before" >"$(knob "$dev")"
	start_daemon --config="$tmp/conf" --keep-on-exit
	wait_for 10 applied || complain "not understood by the next start"
	[ "$(value)" = 1 ] || complain "not completed by the next start"
	stop_daemon
	restore
	[ "$(value)" = 0 ] || complain "not restored after the next start"
	fresh
done
[ "$killed" -ge $((${#points[@]} * 3 / 4)) ] && [ "$killed" -ge 15 ]
ok $? "$killed of ${#points[@]} starts were killed in the middle"
diag "states seen: ${!seen[*]}"
[ "${#seen[@]}" -ge 4 ]
ok $? "before, in the middle (written or not) and after were all met"
is "$bad" 0 "each left knob and ledger consistent, and restore and the next start understood it"
done_testing
