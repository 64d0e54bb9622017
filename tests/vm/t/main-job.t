#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One triple of the main job, with thresholds that noise does not trip: the bench has the figures.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/tap.sh

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
tests/vm/run --patched --with-fstuned --disk 1G,iops=100 \
	--tool fio --tool bpftrace --tool jq \
	--file tests/vm/guest/workload-shadow.sh --file tests/vm/guest/shadow-trace.sh --out "$out" --timeout 400 \
	tests/vm/guest/main-job.sh 1 10 >"$out/tap" 2>"$out/err"
ok $? "the guest's own checks pass"
[ "$tap_failed" -eq 0 ] || diag "$(cat "$out/tap" "$out/err" "$out"/fs-tuned.log 2>/dev/null)"

# column MODE NUMBER
column() {
	awk -F'\t' -v mode="$1" -v n="$2" '$2 == mode { print $n }' "$out/runs.tsv"
}
# at_most VALUE LIMIT NAME: -1 stands for never
at_most() {
	[ "${1:--1}" -ge 0 ] && [ "$1" -le "$2" ]
	ok $? "$3 (${1:-none}, at most $2)"
}
off=$(column off 4) on=$(column on 4) auto=$(column auto 4)
diag "victim's p99: off $off us, on $on us, auto $auto us"
[ "$(column off 8)" -gt 100 ]
ok $? "off: tasks wait for shadow buffers ($(column off 8) times)"
at_most "$(column on 8)" $(($(column off 8) / 100)) "on: at most 1 % of that"
at_most "$on" $((off / 2)) "on: p99 at most half of off's"
at_most "$auto" $((off / 2)) "under fs-tuned: likewise"
at_most "$(column auto 9)" 3000 "force_copy is 1 within 3 s of the first wait (ms)"
at_most "$(column auto 10)" 2 "at most two changes under load"
at_most "$(column auto 11)" 40 "quiet brings it back to 0 (s)"
done_testing
