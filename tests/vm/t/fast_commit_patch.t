#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The fast_commit patches of a kernel line: the losses that they end, seen without them and not with
# them, and the switch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
run=(--kernel "${FSTUNED_KERNEL:-6.1}" --timeout 240)
PATH=$PATH:/usr/sbin:/sbin

# shellcheck source-path=SCRIPTDIR/.. source=parts.sh
. ./parts.sh

for ((number = 0; number < 200; number++)); do
	mkdir -p "$tmp/tree/dir.$number"
done

part 'the switch, on a quiet file system and under load' 0 "${run[@]}" --patched --disk 256M --disk 64M \
	guest/fast-commit-switch.sh

for how in stock patched; do
	slow=()
	same=()
	for disk in 0 1 2; do
		truncate -s 128M "$tmp/$how.$disk"
		mke2fs -q -F -t ext4 -O fast_commit -b 4096 -J size=16 -E lazy_itable_init=0 \
			-d "$tmp/tree" "$tmp/$how.$disk"
		slow+=(--disk "0,bps=400000,file=$tmp/$how.$disk")
		same+=(--disk "0,file=$tmp/$how.$disk")
	done
	last=(--disk "64M,file=$tmp/$how.last")
	part "$how: a fsynced file, then the machine stops" 125 "${run[@]}" "--$how" "${slow[@]}" "${last[@]}" --tool perl \
		--qemu -device --qemu isa-debug-exit,iobase=0x501,iosize=1 \
		guest/fast-commit-loss.sh write "$how"
	part "$how: what the kernel recovers" 0 "${run[@]}" "--$how" "${same[@]}" "${last[@]}" \
		guest/fast-commit-loss.sh verify "$how"
done

done_parts
