#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The f2fs patches: checkpoint_merge on 5.10, and unfair_rwsem on 6.1, where TOGGLES says how often
# it is switched under load: 2000 times by default, which takes a quarter of a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source-path=SCRIPTDIR/.. source=parts.sh
. ./parts.sh

f2fs=(--tool mkfs.f2fs --tool fsck.f2fs --tool sync --file guest/f2fs.sh)
toggles=${TOGGLES:-2000}

part 'a stock 5.10 has no checkpoint_merge' 0 --kernel 5.10 --stock --disk 128M "${f2fs[@]}" \
	guest/f2fs-merge-stock.sh
part 'checkpoint_merge on 5.10' 0 --kernel 5.10 --patched --disk 256M,iops=200 "${f2fs[@]}" \
	--timeout 300 guest/f2fs-merge.sh
part 'unfair_rwsem on 6.1' 0 --kernel 6.1 --patched --disk 512M,iops=1000 "${f2fs[@]}" \
	--tool fio --tool bpftrace --timeout $((240 + toggles / 20)) guest/f2fs-unfair.sh "$toggles"

done_parts
