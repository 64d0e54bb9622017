#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the daemon counts is what the kernel and bpftrace count, on a stock kernel.
set -u
cd "$(dirname "$0")/../../.." || exit 1
exec tests/vm/run --stock --with-fstuned --disk 1G,iops=100 --disk 1G \
	--tool fio --tool bpftrace --tool jq --tool mkfs.btrfs \
	--file tests/vm/guest/workload-shadow.sh --file tests/vm/guest/shadow-trace.sh \
	--file tests/vm/guest/ways.sh --file tests/vm/guest/fast-commits.sh --file docs/kernels.md \
	--timeout 300 tests/vm/guest/counts.sh
