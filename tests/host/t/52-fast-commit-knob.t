#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The knob fast_commit: offered where the file system has the feature, turned by hand, tried by the
# policy under real fsyncs, given back; and what explain says. The switch is in a sysroot: this
# kernel need not have it.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

switch() {
	printf '%s/sys/fs/ext4/%s/fast_commit\n' "$sysroot" "$1"
}
make_switch() {
	mkdir -p "$(dirname "$(switch "$1")")"
	echo "$2" >"$(switch "$1")"
}
field() {
	ctl --json get "$1" fast_commit 2>/dev/null | jq -r ".knobs[0].$2"
}
policy() {
	ctl --json status "$fast" | jq -r ".devices[0].knobs[] | select(.knob == \"fast_commit\") | .policy.$1"
}

make_ext4 "$tmp/fast" -O fast_commit || {
	skip 1 'no fast_commit in this mke2fs or kernel'
	done_testing
}
fast=$(name "$loop")
make_ext4 "$tmp/plain"
plain=$(name "$loop")
make_ext4 "$tmp/bare" -O fast_commit
bare=$(name "$loop")
make_switch "$fast" 1
make_switch "$plain" 0
make_knob "$fast"

# Short intervals, and any load is one: this disk is as fast as memory.
echo 0 >"$tmp/worse"
cat >"$tmp/conf" <<-END
	[Policy]
	ChangeInterval=0
	ChangesMax=32
	FastCommitLoad=0
	FastCommitBaseline=1s
	FastCommitTrial=4s
	FastCommitTrialInterval=2s
END
start_daemon --config="$tmp/conf" || bail_out "the daemon does not start: $(cat "$tmp/log")"

offered() {
	[ "$(field "$fast" supported)" = true ]
}
check 'offered where the feature is' wait_for 20 offered
is "$(field "$fast" mode)/$(field "$fast" value)/$(field "$fast" initial)" auto/1/1 \
	'on after a mount is nobody'"'"'s doing'
refused() {
	[[ $(field "$plain" why) == *'no feature fast_commit'* ]]
}
check 'not where it is not, and says so' wait_for 20 refused
like "$(field "$bare" why)" 'no switch for fast commits' 'nor where the kernel has no switch'
like "$(ctl doctor 2>&1)" 'knob fast_commit: offered on '"$fast" 'doctor knows it'

# By hand.
check 'set' ctl set "$fast" fast_commit off
is "$(cat "$(switch "$fast")")" 0 'set: written'
is "$(field "$fast" mode)/$(field "$fast" original)" manual/1 'set: pinned, and what it was'
ctl set "$plain" fast_commit 1 2>"$tmp/err"
is $? 1 'set without the feature fails'
like "$(cat "$tmp/err")" 'no feature fast_commit' 'and says why'
ctl set "$fast" force_copy 1
check 'revert, of two knobs' ctl revert "$fast"
is "$(cat "$(switch "$fast")")/$(cat "$(knob "$fast")")" 1/0 'revert: both as they were'
ctl auto "$fast" force_copy
check 'set to 0 again' ctl set "$fast" fast_commit 0
check 'auto' ctl auto "$fast"
is "$(field "$fast" mode)/$(field "$fast" ours)" auto/true 'the policy has what was set'

# Under load it is tried. The switch does nothing here, so the load does what it would do: with the
# value in $tmp/worse there is more to write.
perl -MIO::Handle -e '
	my ($dir, $switch, $worse) = @ARGV;
	sub word { open(my $f, "<", $_[0]) or exit; my $w = <$f>; $w =~ s/\s//g; $w }
	open(my $f, ">", "$dir/load") or die "$!";
	while (1) {
		sysseek($f, 0, 0);
		syswrite($f, "x" x (word($switch) eq word($worse) ? 1 << 20 : 4096)) and $f->sync or die "$!";
		select(undef, undef, undef, 0.001);
	}' "$tmp/fast" "$(switch "$fast")" "$tmp/worse" 2>/dev/null &
load=$!
# kept VALUE: a trial found it to be better, and it is there
kept() {
	ctl --json history "$fast" |
		jq -e "[.history[] | select(.reason == \"trial-kept\")] | last | .to == \"$1\"" &&
		[ "$(cat "$(switch "$fast")")" = "$1" ]
}
check 'a trial finds that 1 is better' wait_for 60 kept 1
like "$(policy note)" 'with 0 .* fsync/s of .*, with 1 .*: better, kept' 'status tells what it said'
like "$(COLUMNS=200 ctl status "$fast")" 'policy: (watch|trial) for .*with [01] ' 'for people, too'
like "$(ctl history "$fast")" 'trying 1' 'the history says why'
echo 1 >"$tmp/worse"
check 'and that 0 is, when it has become so' wait_for 60 kept 0

# What the time went for.
ctl --json explain "$fast" >"$tmp/explain"
is "$(jq -r '.fast_commit | "\(.feature) \(.kernel_switch) \(.command)"' "$tmp/explain")" \
	'true true null' 'explain: the feature, the switch, nothing to be done'
is "$(jq '[.parts[] | select(.measure == "fsync")] | length' "$tmp/explain")" 1 'explain: fsync'
like "$(ctl explain "$tmp/fast")" 'fsync takes' 'explain for people, by a path'
kill "$load"
wait "$load" 2>/dev/null

# Without the feature: the command.
perl -MIO::Handle -e '
	open(my $f, ">>", "$ARGV[0]/load") or die "$!";
	for (1 .. 300) {
		syswrite($f, "x" x 4096) and $f->sync or die "$!";
	}' "$tmp/plain"
command() {
	ctl explain "$plain" | grep -qx "    tune2fs -O fast_commit /dev/$plain"
}
check 'explain has the command, on a line of its own' wait_for 10 command
like "$(ctl explain "$plain")" 'fsync forced about [0-9]+ % of' 'and how much fsync forced'
like "$(ctl --json explain "$bare" | jq -c '.fast_commit | [.kernel_switch, .kernel_loses_data]')" \
	'^\[false,true\]$' 'a kernel without the switch is known to lose data'
ctl explain nosuch 2>"$tmp/err"
is $? 1 'explain of what is not there fails'

# Given back.
check 'set before the stop' ctl set "$fast" fast_commit 0
ctl auto "$fast"
stop_daemon
is "$(cat "$(switch "$fast")")" 1 'at stop what was found is given back'

# The configuration's word.
rm -rf "$run"
printf '[Device %s]\nFastCommit=0\n' "$fast" >"$tmp/conf"
start_daemon --config="$tmp/conf" --keep-on-exit
check 'a configured value is written' wait_for 20 grep -qx 0 "$(switch "$fast")"
stop_daemon KILL
"$bin/fs-tuned" --restore --runtime-dir="$run" --sysroot="$sysroot" >>"$tmp/log" 2>&1
is "$(cat "$(switch "$fast")")" 1 'and given back by --restore after a SIGKILL'
echo 0 >"$(switch "$fast")"
start_daemon --config="$tmp/no-config"
pinned() {
	[ "$(field "$fast" mode)" = manual ]
}
check '0 that nobody knows of is somebody else'"'"'s' wait_for 20 pinned
is "$(field "$fast" pinned_by)" 'foreign write' 'and stays'
stop_daemon
is "$(cat "$(switch "$fast")")" 0 'also at stop'
is "$ended" 0 'the daemon ends in order'
done_testing
