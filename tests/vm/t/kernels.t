#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The programs on other kernel lines than counts.t's: what each gives is what docs/kernels.md says,
# and counts are the kernel's. With arguments: on those lines.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1

(($#)) || set -- 5.10 6.12 7.2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0
failed=0
for line; do
	count=$((count + 1))
	echo "# Subtest: $line"
	if tests/vm/run --kernel "$line" --stock --with-fstuned --disk 1G,iops=100 --disk 256M \
		--tool fio --tool bpftrace --tool jq --file docs/kernels.md --file tests/vm/guest/ways.sh --file tests/vm/guest/fast-commits.sh \
		--file tests/vm/guest/workload-shadow.sh --file tests/vm/guest/shadow-trace.sh \
		--out "$tmp/$line" --timeout 300 tests/vm/guest/kernels.sh 2>"$tmp/stderr" | sed 's/^/    /'; then
		echo "ok $count - $line"
	else
		failed=$((failed + 1))
		echo "not ok $count - $line"
		sed 's/^/# /' "$tmp/stderr" "$tmp/$line/fs-tuned.log" 2>/dev/null
	fi
done
echo "1..$count"
exit "$((failed > 0))"
