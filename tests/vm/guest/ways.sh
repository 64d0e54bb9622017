# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
#
# The way to each measure, against the table of docs/kernels.md. Wants tap.sh, jq, kernels.md and
# a daemon that has seen a file system.

# documented MEASURE: its way on this kernel; empty if the table does not have it
documented() {
	awk -F ' *[|] *' -v measure="$1" -v release="$(uname -r)" '
		$2 == "measure" { for (i = 3; i < NF; i++) if (index(release, $i ".") == 1) column = i }
		$2 == measure && column { print $column; exit }' kernels.md
}

# ways_are_documented: a test point for each measure of the file systems that are there, and for the
# reason where a better way, or any, is not to be had
ways_are_documented() {
	fstunectl --json status |
		jq -r '.measures[] | select(.needed) | [.measure, .way, .why // ""] | join("|")' >/out/ways
	while IFS='|' read -r measure way why; do
		is "$way" "$(documented "$measure")" "$measure: the way is the documented one"
		[ "$way" != none ] || like "$why" '^[a-z_]+: .*[a-z]' "$measure: unavailable, and a reason is given"
		[ -z "$why" ] || diag "$measure: $way; $why"
	done </out/ways
	is "$(fstunectl --json status | jq -r '.measures[].measure' | sort)" \
		"$(sed -nE 's/^[|] ([a-z0-9_]+) [|] (tp_btf|fentry|kprobe|tracepoint|none) .*/\1/p' kernels.md | sort)" \
		'the table has each measure once'
}
