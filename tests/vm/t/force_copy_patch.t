#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The force_copy patch of a kernel line: its knob, its effect, and that it loses nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
line=${FSTUNED_KERNEL:-6.1}

# part NAME RUN-ARGUMENT...: one guest as a subtest. It must end with $STATUS and report no failure.
count=0
failed=0
STATUS=0
part() {
	local name=$1 rc=0
	shift
	count=$((count + 1))
	echo "# Subtest: $name"
	./run --kernel "$line" --patched --timeout 240 "$@" 2>"$tmp/stderr" |
		tee "$tmp/stdout" | sed 's/^/    /' || rc=${PIPESTATUS[0]}
	if ((rc == STATUS)) && ! grep -q '^not ok' "$tmp/stdout"; then
		echo "ok $count - $name"
	else
		failed=$((failed + 1))
		echo "not ok $count - $name"
		sed 's/^/# /' "$tmp/stderr"
	fi
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

part 'the knob comes and goes with the journal' \
	--disk 64M --disk 64M --disk 64M guest/force-copy-knob.sh

part 'it removes the waits' --disk 1G,iops=100 --tool fio --tool bpftrace \
	--file guest/workload-shadow.sh --file guest/shadow-trace.sh guest/force-copy-shadow.sh

for size in 1024 4096; do
	disk=$tmp/disk.$size
	STATUS=125 part "promises are made, then the guest resets, $size-byte blocks" \
		--disk "96M,file=$disk" --tool fio guest/force-copy-crash.sh write "$size"
	part "promises were kept, $size-byte blocks" \
		--disk "96M,file=$disk" --disk 96M --tool fio guest/force-copy-crash.sh verify
done

echo "1..$count"
exit "$((failed > 0))"
