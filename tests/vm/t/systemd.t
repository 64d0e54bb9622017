#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The units under a real systemd.
set -u
cd "$(dirname "$0")/../../.." || exit 1

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
make -s install DESTDIR="$tree" || exit 1
tests/vm/run-systemd --patched --tree "$tree" --disk 1G,iops=100 --reboots 1 \
	--tool fio --tool jq --file tests/vm/guest/workload-shadow.sh \
	--timeout 600 --out "${OUT:-$tree/out}" tests/vm/guest/systemd.sh
