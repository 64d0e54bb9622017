#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Fast commits are told as the kernel counts them, where the file system has them.
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

is "$(deep "$plain" '')" null 'a file system without the feature has none in status'
is "$(ctl metrics | grep -c "^fstuned_fast_.*\"$plain\"")" 0 'nor in metrics'
stop_daemon
is "$ended" 0 'the daemon ends in order'
done_testing
