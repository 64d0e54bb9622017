#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The units under a real systemd.
set -u
cd "$(dirname "$0")/../../.." || exit 1

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# A folder below: mktemp's own is for its owner alone, and the guest's root would be, too.
make -s install DESTDIR="$tmp/tree" || exit 1
tests/vm/run-systemd --patched --tree "$tmp/tree" --disk 1G,iops=100 --reboots 1 \
	--tool fio --tool jq --file tests/vm/guest/workload-shadow.sh \
	--timeout 600 --out "${OUT:-$tmp/out}" tests/vm/guest/systemd.sh
