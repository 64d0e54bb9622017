# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# TAP for test scripts, on the host and in guests: any number of checks, then `done_testing`.

tap_count=0
tap_failed=0

# ok STATUS NAME: one test point; STATUS 0 is success: `some command; ok $? "it works"`.
ok() {
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $2"
	fi
}

# check NAME COMMAND...: a test point that passes if COMMAND succeeds; if not, shows what it said.
check() {
	check_name=$1
	shift
	if check_said=$("$@" 2>&1 </dev/null); then
		ok 0 "$check_name"
	else
		ok 1 "$check_name"
		diag "$*"
		diag "$check_said"
	fi
}

# refuse NAME COMMAND...: a test point that passes if COMMAND fails.
refuse() {
	refuse_name=$1
	shift
	! "$@" >/dev/null 2>&1 </dev/null
	ok $? "$refuse_name"
}

# is GOT WANTED NAME
is() {
	[ "$1" = "$2" ]
	ok $? "$3"
	[ "$1" = "$2" ] || diag "got '$1', wanted '$2'"
}

# like TEXT PATTERN NAME: an extended regular expression that some line of TEXT matches.
like() {
	printf '%s\n' "$1" | grep -qE -e "$2"
	like_status=$?
	ok $like_status "$3"
	[ $like_status -eq 0 ] || diag "'$1' does not match '$2'"
}

# skip COUNT WHY: that many test points cannot be run here.
skip() {
	skip_n=$1
	while [ "$skip_n" -gt 0 ]; do
		tap_count=$((tap_count + 1))
		skip_n=$((skip_n - 1))
		echo "ok $tap_count - # SKIP $2"
	done
}

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

done_testing() {
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit $?
}

bail_out() {
	echo "Bail out! $*"
	exit 1
}
