# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The benches' tables, in Markdown: a line for each figure, beside its limit.

rows_failed=0

rows_begin() {
	printf '| what | limit | measured | beside it |\n| --- | --- | --- | --- |\n'
}

# row WHAT VALUE LIMIT NOTE: LIMIT is an operator and a number, or empty. A value that is none fails.
row() {
	local mark=
	if [ -n "$3" ] && ! awk -v value="$2" -v limit="$3" 'BEGIN {
		split(limit, l, " ")
		if (value !~ /^-?[0-9.]+$/) exit 1
		if (l[1] == "<") exit !(value < l[2])
		if (l[1] == "<=") exit !(value <= l[2])
		if (l[1] == ">=") exit !(value >= l[2])
		exit 1
	}'; then
		mark=' **over**'
		rows_failed=$((rows_failed + 1))
	fi
	printf '| %s | %s | %s%s | %s |\n' "$1" "$3" "${2:-none}" "$mark" "$4"
}

# rows_end: the exit status.
rows_end() {
	[ "$rows_failed" -eq 0 ] || printf '%d lines over their limit\n' "$rows_failed" >&2
	[ "$rows_failed" -eq 0 ]
}

median() {
	perl -Itests/bench -Mstats -lne 'push @v, $_; END { print stats::median(@v) }'
}

# cost_row FILE MEASURE PATTERN: ns of all programs of a measure per occurrence, ours over
# bpftrace's. FILE has lines of owner, program, ns, runs, round; how often the measure occurred in a
# round tells a line for a program NAME:count, or else the program that ran most (names are cut short,
# so that two may have one). What a run of submit_bio takes, if FILE has that, is subtracted from each.
cost_row() {
	local ratio note
	read -r ratio note < <(awk -v pattern="$3" '
		$2 == "submit_bio" { empty += $3; empties += $4 }
		$2 !~ pattern { next }
		$2 ~ /:count$/ { counted[$1] += $4; next }
		{ t[$1] += $3; runs[$1] += $4; if ($4 > most[$1, $5]) { n[$1] += $4 - most[$1, $5]; most[$1, $5] = $4 } }
		END {
			for (owner in counted) n[owner] = counted[owner]
			if (empties) for (owner in t) t[owner] -= runs[owner] * empty / empties
			if (!n["fs-tuned"] || !n["bpftrace"]) {
				print "none ran " n["fs-tuned"] + 0 " and " n["bpftrace"] + 0 " times"
				exit
			}
			ours = t["fs-tuned"] / n["fs-tuned"]
			peer = t["bpftrace"] / n["bpftrace"]
			printf "%.2f %.0f ns against %.0f ns, %d and %d times\n", ours / peer, ours, peer,
				n["fs-tuned"], n["bpftrace"]
		}' "$1")
	row "$2: programs over bpftrace's" "$ratio" "<= 0.5" "$note"
}
