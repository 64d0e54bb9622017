#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The force_copy patch of a kernel line: its knob, its effect, and that it loses nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source-path=SCRIPTDIR/.. source=parts.sh
. ./parts.sh
run=(--kernel "${FSTUNED_KERNEL:-6.1}" --patched --timeout 240)

part 'the knob comes and goes with the journal' 0 "${run[@]}" \
	--disk 64M --disk 64M --disk 64M guest/force-copy-knob.sh

part 'it removes the waits' 0 "${run[@]}" --disk 1G,iops=100 --tool fio --tool bpftrace \
	--file guest/workload-shadow.sh --file guest/shadow-trace.sh guest/force-copy-shadow.sh

for size in 1024 4096; do
	disk=$tmp/disk.$size
	part "promises are made, then the guest resets, $size-byte blocks" 125 "${run[@]}" \
		--disk "96M,file=$disk" --tool fio guest/force-copy-crash.sh write "$size"
	part "promises were kept, $size-byte blocks" 0 "${run[@]}" \
		--disk "96M,file=$disk" --disk 96M --tool fio guest/force-copy-crash.sh verify
done

done_parts
