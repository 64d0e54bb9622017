#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Fast commits are told as the kernel counts them, where the file system has them; each is timed, by
# how it ended, and so are the fsyncs that got them; and that this kernel loses files is said.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

# kernels WORD: a number of the kernel's account; reasons: its reasons, as "name count" lines
kernels() {
	sed -nE "s/^([0-9]+) $1\$/\1/p" "/proc/fs/ext4/$fast/fc_info"
}
reasons() {
	sed -nE 's/^"(.*)":\t([0-9]+)$/\1 \2/p' "/proc/fs/ext4/$fast/fc_info"
}
deep() {
	ctl --json status "$1" | jq -r ".devices[0].fast_commit$2"
}

# works N DIRECTORY: N fsyncs of new files, then N that a renamed directory makes full commits
works() {
	perl -MIO::Handle -e '
		my ($dir, $n) = @ARGV;
		sub synced {
			open(my $f, ">>", "$dir/$_[0]") or die "$_[0]: $!";
			syswrite($f, "x" x 100) and $f->sync or die "$_[0]: $!";
		}
		synced("file$_") for 1 .. $n;
		for (1 .. $n) {
			mkdir("$dir/a$_") and rename("$dir/a$_", "$dir/b$_") or die "directory: $!";
			synced("file$_");
		}' "$2" "$1" || bail_out 'no fsync'
}

# timed FAMILY LABEL VALUE: how many the daemon's probes have seen
timed() {
	ctl metrics | sed -nE "s/^fstuned_$1_duration_seconds_count\{device=\"$fast\",$2=\"$3\"\} //p" | grep . || echo 0
}
# seen: commits, those that fell back, blocks, as the probes have seen them; account: as the kernel
seen() {
	echo "$(timed fast_commit status ok)" \
		"$(($(timed fast_commit status ineligible) + $(timed fast_commit status failed)))" \
		"$(ctl --json status "$fast" | jq '.devices[0].counters.fast_commit_blocks')"
}
account() {
	echo "$(kernels commits) $(kernels ineligible) $(kernels numblks)"
}
# since "A B C" "D E F": the differences
since() {
	awk -v a="$1" -v b="$2" 'BEGIN { split(a, x); split(b, y); print y[1] - x[1], y[2] - x[2], y[3] - x[3] }'
}
# all_seen: what the kernel counted since the begin, the probes have seen since
all_seen() {
	[ "$(since "$seen0" "$(seen)")" = "$(since "$account0" "$(account)")" ]
}
begin() {
	seen0=$(seen)
	account0=$(account)
	fsyncs0="$(metric fstuned_fsync_duration_seconds_count "$fast") $(timed fsync_commit commit fast) $(timed fsync_commit commit full)"
}
# exactly FSYNCS WHAT COMMAND...: COMMAND makes so many fsyncs and no other fast commits
exactly() {
	local n=$1 what=$2 d
	shift 2
	begin
	"$@" || bail_out "$what: $* failed"
	check "$what: each fast commit is seen" wait_for 15 all_seen
	read -r -a d <<<"$(since "$account0" "$(account)")"
	is "$(since "$fsyncs0" "$(metric fstuned_fsync_duration_seconds_count "$fast") $(timed fsync_commit commit fast) $(timed fsync_commit commit full)")" \
		"$n ${d[0]} ${d[1]}" "$what: $n fsyncs, ${d[0]} of them by fast commits, ${d[1]} that fell back"
	made=${d[0]}
	fell_back=${d[1]}
}
# crowd N: 8 tasks, N fsyncs each, all at once
crowd() {
	local i pids=()
	for i in 1 2 3 4 5 6 7 8; do
		perl -MIO::Handle -e '
			open(my $f, ">>", $ARGV[1]) or die "$ARGV[1]: $!";
			for (1 .. $ARGV[0]) { syswrite($f, "x" x 100) and $f->sync or die "$ARGV[1]: $!"; }
		' "$1" "$tmp/fast/crowd$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || return 1
	done
}
# inexpressible: some more of what fast commits cannot do, then an fsync
inexpressible() {
	dd if=/dev/zero of="$tmp/fast/odd" bs=4k count=4 conv=fsync status=none &&
		fallocate -c -o 0 -l 4096 "$tmp/fast/odd" &&
		perl -e '
			require "syscall.ph";
			my ($one, $other) = @ARGV; # -100: AT_FDCWD; 2: RENAME_EXCHANGE
			syscall(SYS_renameat2(), -100, $one, -100, $other, 2) == 0 or die "exchange: $!";
			my ($name, $value) = ("user.odd", "x" x 100);
			syscall(SYS_setxattr(), $one, $name, $value, 100, 0) == 0 or die "attribute: $!";
		' "$tmp/fast/odd" "$tmp/fast/file1" &&
		sync "$tmp/fast/odd"
}

# told: all of the account is in the metrics
told() {
	[ "$(metric fstuned_fast_commits_total "$fast")" = "$(kernels commits)" ] &&
		[ "$(metric fstuned_fast_commit_ineligible_total "$fast")" = "$(kernels ineligible)" ] &&
		[ "$(metric fstuned_fast_commit_blocks_total "$fast")" = "$(kernels numblks)" ] &&
		[ "$(ctl metrics | sed -nE "s/^fstuned_fast_commit_fallbacks_total\{device=\"$fast\",reason=\"(.*)\"\} /\1 /p")" = "$(reasons)" ]
}

make_ext4 "$tmp/fast" -O fast_commit || {
	skip 1 'no fast_commit in this mke2fs or kernel'
	done_testing
}
fast=$(name "$loop")
make_ext4 "$tmp/plain"
plain=$(name "$loop")
if [ -z "$(kernels commits)" ]; then
	skip 1 'this kernel has no account of fast commits'
	done_testing
fi
works 3 "$tmp/fast"
[ "$(kernels commits)" -gt 0 ] || bail_out "no fast commits: $(cat "/proc/fs/ext4/$fast/fc_info")"

start_daemon || bail_out "the daemon does not start: $(cat "$tmp/log")"
check 'what was before is told at start' wait_for 5 told
is "$(reasons | sed -n 's/^Dir renamed //p')" 3 'the kernel counts renamed directories'

# Twice: the first may still be read together with the device's superblock.
for round in first second; do
	commits=$(kernels commits)
	fell_back=$(kernels ineligible)
	works 20 "$tmp/fast"
	works 2 "$tmp/plain"
	check "$round round: told when nothing happens any more" wait_for 40 told
	[ "$(kernels commits)" -gt "$commits" ] && [ "$(kernels ineligible)" -gt "$fell_back" ]
	ok $? "$round round: $(kernels commits) fast commits, $(kernels ineligible) that fell back"
done

is "$(deep "$fast" '|[.commits,.ineligible,.blocks]|@csv')" \
	"$(kernels commits),$(kernels ineligible),$(kernels numblks)" 'status tells the same'
is "$(deep "$fast" '.reasons[]|"\(.reason) \(.count)"')" "$(reasons)" 'and the same reasons'
like "$(COLUMNS=300 ctl status "$fast")" \
	"Fast: $(kernels commits) fast commits .* $(kernels ineligible) fell back .*Dir renamed 43" 'for people, too'

exactly 80 'one task' works 40 "$tmp/fast"
[ "$made" -gt 0 ] && [ "$fell_back" -gt 0 ]
ok $? 'one task: there are both'
exactly 400 'a crowd' crowd 50
diag "a crowd: $(timed fast_commit status skipped) found it done"
begin
inexpressible || bail_out 'not to be done here'
check 'more of what they cannot do: seen' wait_for 15 all_seen
check 'more of what they cannot do: told' wait_for 40 told
[ "$(reasons | grep -vc ' 0$')" -ge 4 ]
ok $? "more of what they cannot do: $(reasons | grep -v ' 0$' | paste -sd,)"
like "$(COLUMNS=300 ctl status "$fast")" '^ *fast_commit_ok .*' 'status has a row of them'

# A kernel has the switch only together with what makes fast commits safe.
switch=/sys/fs/ext4/$fast/fast_commit
warned() {
	ctl status "$fast" | grep -q 'may lose files'
}
problem() {
	ctl --json doctor | jq -r '.checks[] | select(.name == "fast commit safety") | .state'
}
if [ -e "$switch" ]; then
	skip 3 'this kernel is patched'
else
	check 'status warns' warned
	is "$(problem)" problem 'and doctor says so'
	mkdir -p "$sysroot${switch%/*}" && echo 1 >"$sysroot$switch"
	not_warned() {
		! warned
	}
	check 'not where there is the switch' wait_for 40 not_warned
fi
is "$(ctl --json status | jq '[.measures[] | select(.needed and .way == "none" and .measure == "fast_commit_locked")] | length')" \
	0 'nobody misses what this kernel does not do'

is "$(deep "$plain" '')" null 'a file system without the feature has none in status'
is "$(ctl metrics | grep -c "^fstuned_fast_.*\"$plain\"")" 0 'nor in metrics'
stop_daemon
is "$ended" 0 'the daemon ends in order'

if ! start_classic_daemon; then
	skip 2 'no tracefs on this kernel'
	done_testing
fi
wait_for 15 told
like "$(ctl metrics)" '^fstuned_probe_attached\{measure="fsync_fast",way="tracepoint"\} 1$' \
	'without BTF, the classic tracepoints'
exactly 40 'classic' works 20 "$tmp/fast"
stop_daemon
done_testing
