#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Clients that say nothing, say garbage, never read or go away; too many; descriptors exhausted.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

make_ext4 "$tmp/fs"
start_daemon || bail_out "the daemon does not start: $(cat "$tmp/log")"
socket=$run/bus

cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/$daemon/stat"
}
rss_kb() {
	awk '/VmRSS/ { print $2 }' "/proc/$daemon/status"
}
descriptors() {
	find "/proc/$daemon/fd" -mindepth 1 | wc -l
}

is "$(stat -c %a "$socket")" 600 "the socket is root's alone"
before=$(descriptors)
rss_before=$(rss_kb)

# 40 silent clients: more than there may be.
silent=()
for _ in $(seq 40); do
	socat -u "UNIX-CONNECT:$socket" /dev/null &
	silent+=($!)
done
full() {
	[ "$(descriptors)" -ge $((before + 30)) ]
}
wait_for 5 full
[ "$(descriptors)" -le $((before + 34)) ]
ok $? "no more than 32 clients are kept ($(($(descriptors) - before)))"
kill "${silent[@]}" 2>/dev/null
wait "${silent[@]}" 2>/dev/null
check "once they are gone, others are served" wait_for 30 ctl status

for garbage in 'GET / HTTP/1.1' "$(head -c 300 /dev/urandom | base64)" 'AUTH EXTERNAL 30'; do
	printf '%s\r\n' "$garbage" | timeout 2 socat - "UNIX-CONNECT:$socket" >/dev/null 2>&1
	head -c 100000 /dev/urandom | timeout 2 socat - "UNIX-CONNECT:$socket" >/dev/null 2>&1
done
check "garbage does no harm" ctl status

for _ in $(seq 200); do
	timeout 0.05 "$bin/fstunectl" --runtime-dir="$run" --json status >/dev/null 2>&1
done
check "neither do clients that go away in the middle" ctl status
same() {
	[ "$(descriptors)" -le $((before + 1)) ]
}
check "no descriptor was lost" wait_for 40 same

# Descriptors exhausted: no busy loop, and service again afterwards.
prlimit --pid "$daemon" --nofile=$((before + 3)):$((before + 3))
silent=()
for _ in $(seq 12); do
	socat -u "UNIX-CONNECT:$socket" /dev/null &
	silent+=($!)
done
out_of_fds() {
	[ "$(descriptors)" -ge $((before + 3)) ]
}
wait_for 5 out_of_fds
ticks=$(cpu_ticks)
wait_for 3 false
used=$(($(cpu_ticks) - ticks))
[ "$used" -lt 60 ]
ok $? "without descriptors it does not spin ($used ticks in 3 s)"
kill "${silent[@]}" 2>/dev/null
wait "${silent[@]}" 2>/dev/null
prlimit --pid "$daemon" --nofile=1024:1024 2>/dev/null || true
check "afterwards it serves again" wait_for 40 ctl status

if nm -D "$bin/fs-tuned" 2>/dev/null | grep -q __asan; then
	skip 1 "AddressSanitizer's own memory is far larger"
else
	[ "$(rss_kb)" -lt $((rss_before + 20480)) ]
	ok $? "memory stayed small ($rss_before, now $(rss_kb) KiB)"
fi
stop_daemon
is "$ended" 0 "the daemon ends in order"
done_testing
