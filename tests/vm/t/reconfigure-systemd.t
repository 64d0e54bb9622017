#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An f2fs is reconfigured from within the units' sandboxes.
set -u
cd "$(dirname "$0")/../../.." || exit 1

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
make -s install DESTDIR="$tmp/tree" || exit 1
tests/vm/run-systemd --stock --tree "$tmp/tree" --disk 128M --disk 128M --reboots 1 \
	--tool mkfs.f2fs --tool jq --timeout 300 --out "${OUT:-$tmp/out}" \
	tests/vm/guest/reconfigure-systemd.sh
