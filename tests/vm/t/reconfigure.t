#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An f2fs is reconfigured in one option, and in nothing else.
set -u
cd "$(dirname "$0")/../../.." || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tests/vm/run --stock --with-fstuned --module quota_v2 --disk 128M --disk 64M --disk 64M --disk 128M,bps=2000000 \
	--tool mkfs.f2fs --tool fsck.f2fs --tool jq --tool perl --tool cmp --tool diff \
	--timeout 420 --out "${OUT:-$tmp/out}" tests/vm/guest/reconfigure.sh
