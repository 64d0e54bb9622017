#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The guest harness itself: what ../run promises, other tests rely on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

count=0
ok() {
	count=$((count + 1))
	if (($1 == 0)); then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

# guest STATUS NAME ARGUMENT...: runs ./run, keeps its output, and checks its exit status.
guest() {
	local wanted=$1 name=$2 rc=0
	shift 2
	TMPDIR=$tmp/left ./run "$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null || rc=$?
	ok $((rc != wanted)) "$name: status $wanted"
	if ((rc != wanted)); then
		echo "# status $rc"
		sed 's/^/# /' "$tmp/stdout" "$tmp/stderr"
	fi
}

says() {
	local rc=0
	grep -qE "$1" "$2" || rc=$?
	ok "$rc" "$3"
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/left"

guest 0 'a script that passes' --disk 64M --out "$tmp/out" guest/harness.sh pass 'two words' "it's"
diff - "$tmp/stdout" <<-'END' >/dev/null && rc=0 || rc=$?
	argument two words
	argument it's
END
ok "$rc" 'its output arrives, unmixed, its arguments arrived'
says '^said$' "$tmp/stderr" 'its errors arrive'
says '^kept$' "$tmp/out/file" 'its files arrive'
says 'Linux version' "$tmp/out/dmesg" 'the kernel log arrives'

guest 3 'a script that fails' guest/harness.sh status 3

guest 125 'a kernel that panics' guest/harness.sh panic
says 'Kernel panic' "$tmp/stderr" 'the end of its console is shown'

guest 125 'a guest that resets' guest/harness.sh reset

guest 124 'a guest that hangs' --timeout 8 guest/harness.sh hang

mkdir -p "$tmp/tree/usr/bin"
cp -L "$(type -P true)" "$tmp/tree/usr/bin/program-of-tree"
guest 0 'a root with systemd, that reboots' --systemd --patched --reboots 1 --disk 64M \
	--tree "$tmp/tree" --out "$tmp/out.systemd" guest/harness-systemd.sh
sed 's/^/    /' "$tmp/stdout"
says '^1\.\.12$' "$tmp/stdout" 'it was there twice'
says '^kept$' "$tmp/out.systemd/file" 'its files arrive'

./run guest/harness.sh hang >/dev/null 2>&1 &
run=$!
until children=$(pgrep -P "$run" -x timeout); do
	kill -0 "$run"
done
kill "$run"
rc=0
wait "$run" || rc=$?
ok $((rc != 143)) 'a run that is killed ends'
rc=0
timeout 20 tail --pid="$children" -f /dev/null || rc=$?
ok "$rc" 'and takes its guest along'

rmdir "$tmp/left" && rc=0 || rc=$?
ok "$rc" 'nothing is left behind'

echo "1..$count"
