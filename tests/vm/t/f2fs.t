#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# f2fs on each kernel line: found, measured in the ways that docs/kernels.md says, counted as the
# kernel counts; and on kernels that are locked down. With arguments: on those lines alone, where
# LINE+ is one with the patched modules.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0
failed=0

# subtest NAME RUN-ARGUMENT...
subtest() {
	local name=$1
	shift
	count=$((count + 1))
	echo "# Subtest: $name"
	if tests/vm/run --with-fstuned --tool mkfs.f2fs --tool jq --tool sync \
		--file tests/vm/guest/f2fs-oracle.sh --out "$tmp/$name" "$@" 2>"$tmp/stderr" | sed 's/^/    /'; then
		echo "ok $count - $name"
	else
		failed=$((failed + 1))
		echo "not ok $count - $name"
		sed 's/^/# /' "$tmp/stderr" "$tmp/$name/fs-tuned.log" 2>/dev/null
	fi
}

lines=("$@")
(($#)) || lines=(5.10 6.1 6.12 7.2)
for line in "${lines[@]}"; do
	which=--stock
	[[ $line != *+ ]] || which=--patched
	subtest "$line" --kernel "${line%+}" "$which" --disk 512M,iops=300 --disk 128M --disk 128M \
		--tool bpftrace --tool blkid --file docs/kernels.md --file tests/vm/guest/ways.sh \
		--timeout 240 tests/vm/guest/f2fs-measures.sh
done
(($#)) || for level in integrity confidentiality; do
	subtest "lockdown=$level" --stock --append "lockdown=$level" --disk 256M \
		tests/vm/guest/f2fs-lockdown.sh "$level"
done
echo "1..$count"
exit "$((failed > 0))"
