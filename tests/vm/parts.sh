# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A test of several guests, each a subtest. Sourced by t/*.t in this directory: any number of parts,
# then done_parts. Provides the directory $tmp.

parts_count=0
parts_failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# part NAME STATUS RUN-ARGUMENT...: one guest. It must end with that status and report no failure.
part() {
	local name=$1 wanted=$2 rc=0
	shift 2
	parts_count=$((parts_count + 1))
	echo "# Subtest: $name"
	./run "$@" 2>"$tmp/stderr" | tee "$tmp/stdout" | sed 's/^/    /' || rc=${PIPESTATUS[0]}
	if ((rc == wanted)) && ! grep -q '^not ok' "$tmp/stdout"; then
		echo "ok $parts_count - $name"
	else
		parts_failed=$((parts_failed + 1))
		echo "not ok $parts_count - $name"
		sed 's/^/# /' "$tmp/stderr"
	fi
}

done_parts() {
	echo "1..$parts_count"
	exit "$((parts_failed > 0))"
}
