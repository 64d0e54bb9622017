#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# SIGKILL between any two steps of a change: strace kills the daemon at the N-th system call that
# could leave a trace, for every N; the next start must understand what it finds, and
# `--restore` after any of them leaves the original value.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

make_ext4 "$tmp/fs"
dev=$(name "$loop")
make_knob "$dev"
printf '[Policy]\nForceCopy=1\n' >"$tmp/conf"
calls=openat,write,rename,renameat,renameat2,unlink,unlinkat,close,read,pread64

# Counts the calls from the ledger's first opening to the end of the change.
consistent() {
	local value entry
	value=$(cat "$(knob "$dev")")
	entry=$(jq -r '.entries[0] | "\(.state) \(.original) \(.written)"' "$run/ledger.json" 2>/dev/null)
	case "$value/$entry" in
	'0/' | '0/null null null') ;;            # nothing happened
	'0/intent 0 1' | '1/intent 0 1') ;;      # in the middle: told apart by the knob
	'1/applied 0 1') ;;                      # done
	*) diag "value $value, ledger '$entry'" && return 1 ;;
	esac
}

total=$(
	strace -f -qq -e trace="$calls" -o "$tmp/trace" "$bin/fs-tuned" --runtime-dir="$run" --sysroot="$sysroot" \
		--config="$tmp/conf" --keep-on-exit >>"$tmp/log" 2>&1 &
	pid=$!
	applied() {
		jq -e '.entries[] | select(.state == "applied")' "$run/ledger.json"
	}
	wait_for 20 applied
	# strace passes the signal on to its child
	kill -TERM "$(pgrep -P "$pid")"
	wait "$pid"
	# the calls that touch the ledger or the knob, by their number among all
	awk '/ledger\.json|force_copy/ { print NR }' "$tmp/trace" | sed -n '1p;$p' | paste -sd' '
)
read -r first last <<<"$total"
diag "calls $first to $last of the start touch ledger or knob"
[ -n "${last:-}" ] || bail_out "no call touches the ledger"
"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >>"$tmp/log" 2>&1
is "$(cat "$(knob "$dev")")" 0 "undisturbed: restored"
rm -rf "$run"

bad=0 killed=0 n=0
step=$(((last - first) / ${KILL_POINTS:-60} + 1))
for ((n = first > 5 ? first - 5 : 1; n <= last + 3; n += step)); do
	strace -f -qq -o /dev/null -e trace="$calls" -e inject="$calls:signal=KILL:when=$n" \
		"$bin/fs-tuned" --runtime-dir="$run" --sysroot="$sysroot" --config="$tmp/conf" --keep-on-exit \
		>>"$tmp/log" 2>&1 &
	pid=$!
	gone_or_done() {
		! kill -0 "$pid" || jq -e '.entries[] | select(.state == "applied")' "$run/ledger.json"
	}
	wait_for 20 gone_or_done
	child=$(pgrep -P "$pid")
	if [ -n "$child" ]; then
		kill -KILL "$child"
	else
		killed=$((killed + 1))
	fi
	wait "$pid" 2>/dev/null
	consistent || { bad=$((bad + 1)) && diag "inconsistent after a kill at call $n"; }

	# The next start understands it, completes it, and restore undoes it.
	start_daemon --config="$tmp/conf" --keep-on-exit
	wait_for 10 grep -qx 1 "$(knob "$dev")" || { bad=$((bad + 1)) && diag "not completed after call $n"; }
	is_ours() {
		jq -e '.entries[] | select(.state == "applied" and .original == "0")' "$run/ledger.json"
	}
	wait_for 10 is_ours >/dev/null || { bad=$((bad + 1)) && diag "original forgotten after call $n"; }
	stop_daemon
	"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >>"$tmp/log" 2>&1
	[ "$(cat "$(knob "$dev")")" = 0 ] || { bad=$((bad + 1)) && diag "not restored after call $n"; }
	rm -rf "$run"
	echo 0 >"$(knob "$dev")"
done
[ "$killed" -ge 10 ]
ok $? "$killed starts were killed in the middle"
is "$bad" 0 "each left knob and ledger consistent, and the next start understood it"
done_testing
