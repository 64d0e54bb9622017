#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Power cuts: the crash checker finds the loss of stock fast commits, and nothing where there is none.
# The long form is `make check-crash`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

count=0
failed=0

# crash NAME STATUS PATTERN ARGUMENT...: crash-run ends with STATUS and says PATTERN. The output stays.
crash() {
	local name=$1 status=$2 pattern=$3 rc=0
	shift 3
	count=$((count + 1))
	./crash-run "$@" >"$tmp/said" 2>&1 || rc=$?
	if ((rc == status)) && grep -qE "$pattern" "$tmp/said"; then
		echo "ok $count - $name"
		grep ' points=' "$tmp/said" | sed 's/^/# /'
	else
		failed=$((failed + 1))
		echo "not ok $count - $name"
		echo "# status $rc, wanted $status"
		sed 's/^/# /' "$tmp/said"
	fi
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

crash 'a stock kernel loses an fsynced file, whoever recovers' 1 ' lost=1 .*e2fsck_lost=1' \
	--stock --recipe --e2fsck
crash 'a patched one does not' 0 'points=1 bad=0 .* miscounted=0 ' --patched --recipe
crash 'it keeps what it promises, switched on and off all the while' 0 'points=9 bad=0 .* miscounted=0 ' \
	--patched --points 9 --seconds 8

count=$((count + 1))
if grep -qE '^switch: written [0-9]{2,} times' "$tmp/said"; then
	echo "ok $count - there was a switch"
else
	failed=$((failed + 1))
	echo "not ok $count - there was a switch"
fi

echo "1..$count"
exit "$((failed > 0))"
