# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shared by the benches that compare programs' run times.

# cost_table FILE MEASURE:PATTERN...: ns of all programs of a measure per occurrence, ours and
# bpftrace's; the occurrences are the runs of its most-run program
cost_table() {
	local file=$1 m
	shift
	for m; do
		awk -v measure="${m%%:*}" -v pattern="${m#*:}" '
			$2 ~ pattern && $4 > 0 { t[$1] += $3; n[$1 $2] += $4; if (n[$1 $2] > most[$1]) most[$1] = n[$1 $2] }
			END {
				if (!most["fs-tuned"] || !most["bpftrace"]) exit
				ours = t["fs-tuned"] / most["fs-tuned"]
				peer = t["bpftrace"] / most["bpftrace"]
				printf "%-58s %14.2f  %.0f ns against %.0f ns, %d and %d times\n", \
					measure ": programs over bpftrace (<= 0.5)", ours / peer, ours, peer, \
					most["fs-tuned"], most["bpftrace"]
			}' "$file"
	done
}
