#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The units under a real systemd, on the patched kernel, with the knob turned by the policy under
# a real load: enable, reload, restart, SIGKILL, re-exec, stop, a stop while it waits to be
# restarted, start limit, disable, reboot; the sandbox; a stopped journald. After each: knob and
# ledger. Wants a slow /dev/vda, fio, jq and the installed tree.
set -u
. ./lib.sh
. ./workload-shadow.sh

dir=/mnt/slow
knob=/proc/fs/jbd2/vda-8/force_copy
ledger=/run/fs-tuned/ledger.json

knob_is() {
	[ "$(cat $knob)" = "$1" ]
}
applied() {
	jq -e '.entries[] | select(.device == "vda" and .state == "applied" and .original == "0")' $ledger
}
nothing_ours() {
	[ ! -e $ledger ] || jq -e 'all(.entries[]; .state == "pinned")' $ledger
}
state() {
	systemctl show -P ActiveState fs-tuned
}
state_is() {
	[ "$(systemctl show -P ActiveState fs-tuned)/$(systemctl show -P SubState fs-tuned)" = "$1" ]
}
main_pid() {
	systemctl show -P MainPID fs-tuned
}
active_as_another() {
	state_is active/running && [ "$(main_pid)" != "$1" ]
}
mode() {
	fstunectl --json get vda force_copy | jq -r '.knobs[0].mode'
}
# kept NAME: the knob is on, ours, and in the ledger
kept() {
	check "$1: the knob stays" knob_is 1
	check "$1: the ledger has it" wait_for 10 applied
	is "$(mode)" auto "$1: and it is still the policy's"
}
# given_back NAME: as it was found, and nothing of the policy's left to be given back
given_back() {
	check "$1: the knob is given back" wait_for 20 knob_is 0
	check "$1: nothing of the policy's is left in the ledger" wait_for 20 nothing_ours
	nothing_ours || diag "$(systemctl status fs-tuned-restore; cat $ledger)"
}
# load: until the policy turns the knob
load() {
	workload_shadow $dir 60 /tmp/victim.json >/dev/null 2>&1 &
	load=$!
	check "$1: the policy sets the knob under load" wait_for 40 knob_is 1
	pkill -x fio
	wait $load
	check "$1: the change is in the ledger" wait_for 10 applied
}

# set_at_start NAME: the configuration sets it, which is quicker than a load, and ours as well
set_at_start() {
	check "$1: the knob is set" wait_for 20 knob_is 1
	check "$1: the change is in the ledger" wait_for 10 applied
}

config() {
	mkdir -p /etc/fs-tuned
	cat >/etc/fs-tuned/fs-tuned.conf
}

configured() {
	config <<-EOF
		[Device vda]
		ForceCopy=1
	EOF
}

lifecycle() {
	config <<-EOF
		[Policy]
		ForceCopyQuiet=1h
		ForceCopyTrialInterval=1h
	EOF
	check "enable --now" systemctl enable --now fs-tuned
	is "$(systemctl is-enabled fs-tuned)" enabled "it is enabled"
	# Type=notify: when the start job is done it answers.
	check "it answers at once" fstunectl status
	missed=$(fstunectl --json status | jq '[.measures[] | select(.needed and .way == "none")] | length')
	is "$missed" 0 "in its sandbox every measure can be had"
	[ "$missed" = 0 ] || diag "$(fstunectl doctor)"
	check "the system bus serves too" busctl call org.fstuned1 /org/fstuned1 org.fstuned1.Manager ListDevices
	like "$(fstunectl doctor)" 'modules' "doctor looks for modules"
	load "enabled"

	pid=$(main_pid)
	config <<-EOF
		[Policy]
		ForceCopyQuiet=2h
		ForceCopyTrialInterval=1h
	EOF
	check "reload" systemctl reload fs-tuned
	is "$(fstunectl --json config | jq -r '.settings[] | select(.key == "ForceCopyQuiet") | .value')" 2h \
		"reload: the configuration is read when it returns"
	is "$(main_pid)" "$pid" "reload: by the same process"
	kept "reload"

	check "restart" systemctl restart fs-tuned
	is "$(state)" active "restart: it runs"
	kept "restart"

	pid=$(main_pid)
	systemctl kill -s KILL fs-tuned
	check "SIGKILL: it is started again" wait_for 20 active_as_another "$pid"
	wait_for 10 fstunectl status
	kept "SIGKILL"
	like "$(fstunectl history vda)" 'adopted|former run' "SIGKILL: the history tells"

	check "daemon-reexec" systemctl daemon-reexec
	kept "daemon-reexec"

	check "stop" systemctl stop fs-tuned
	given_back "stop"

	# From here on the configuration sets it: a load takes long.
	configured
	check "start" systemctl start fs-tuned
	set_at_start "started"
	mkdir -p /run/systemd/system/fs-tuned.service.d
	printf '[Service]\nRestartSec=60s\n' >/run/systemd/system/fs-tuned.service.d/slow.conf
	systemctl daemon-reload
	systemctl kill -s KILL fs-tuned
	check "killed: it waits to be restarted" wait_for 10 state_is activating/auto-restart
	check "killed: the knob stays" knob_is 1
	check "stop in the restart delay" systemctl stop fs-tuned
	given_back "stop in the restart delay"

	printf '[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=100s\n[Service]\nRestartSec=100ms\n' \
		>/run/systemd/system/fs-tuned.service.d/slow.conf
	systemctl daemon-reload
	systemctl reset-failed fs-tuned
	check "start again" systemctl start fs-tuned
	set_at_start "start limit"
	for _ in 1 2; do
		pid=$(main_pid)
		systemctl kill -s KILL fs-tuned
		wait_for 15 active_as_another "$pid" || break
	done
	check "start limit: it has failed" wait_for 20 state_is failed/failed
	given_back "start limit"
	rm -r /run/systemd/system/fs-tuned.service.d
	systemctl daemon-reload
	systemctl reset-failed fs-tuned
}

# journald stopped: its socket fills, and nobody may wait for it.
stuck_journal() {
	mkdir -p /run/systemd/system/fs-tuned.service.d
	printf '[Service]\nExecStart=\nExecStart=/usr/sbin/fs-tuned --keep-on-exit --log-level=debug\nWatchdogSec=5s\n' \
		>/run/systemd/system/fs-tuned.service.d/debug.conf
	systemctl daemon-reload
	check "start with debug messages" systemctl start fs-tuned
	pid=$(main_pid)
	# fills the socket's queue for everybody
	kill -STOP "$(systemctl show -P MainPID systemd-journald)"
	# each reload says something
	i=0
	dropped=0
	while [ $i -lt 4000 ] && [ "$dropped" -eq 0 ]; do
		kill -HUP "$pid"
		sleep 0.01
		i=$((i + 1))
		[ $((i % 200)) -ne 0 ] || dropped=$(fstunectl --json status | jq .log_dropped)
	done
	[ "$dropped" -gt 0 ]
	ok $? "journald stopped: messages are dropped and counted, after $i reloads"
	check "a change is made all the same" fstunectl set vda force_copy 1
	begin=$(cut -d. -f1 /proc/uptime)
	wait_for 12 false
	check "it still answers" fstunectl status
	[ $(($(cut -d. -f1 /proc/uptime) - begin)) -lt 20 ]
	ok $? "and without delay"
	is "$(main_pid)" "$pid" "the watchdog has not killed it"
	kill -CONT "$(systemctl show -P MainPID systemd-journald)"
	rm -r /run/systemd/system/fs-tuned.service.d
	systemctl daemon-reload
	fstunectl revert vda
	fstunectl auto vda
	check "stop" systemctl stop fs-tuned
	given_back "journald"
}

# A value that somebody typed is theirs, daemon or not.
pinned() {
	check "start" systemctl start fs-tuned
	check "set" fstunectl set vda force_copy 1
	check "stop" systemctl stop fs-tuned
	check "stop: the administrator's value stays" knob_is 1
	check "start" systemctl start fs-tuned
	is "$(mode)" manual "start: the pin is remembered"
	like "$(fstunectl --json get vda force_copy | jq -r '.knobs[0].pinned_by')" '^fstunectl' \
		"start: and whose it is"
	fstunectl revert vda
	fstunectl auto vda
	check "stop" systemctl stop fs-tuned
	given_back "pinned"
}

persist() {
	check "start" systemctl start fs-tuned
	check "set --persist" fstunectl set --persist vda force_copy 1
	check "it is written" wait_for 10 knob_is 1
	check "restart" systemctl restart fs-tuned
	check "restart: it is still pinned" knob_is 1
	is "$(mode)" manual "and shown so"
	check "auto --persist" fstunectl auto --persist vda
	check "stop" systemctl stop fs-tuned
	echo 0 >$knob
}

messages() {
	like "$(journalctl -o json -u fs-tuned | jq -r 'select(.KNOB == "force_copy" and .TO == "1") | .MESSAGE_ID')" \
		'^[0-9a-f]{32}$' "changes are in the journal with a MESSAGE_ID"
	like "$(journalctl -o json -u fs-tuned | jq -r 'select(.KNOB == "force_copy") | .DEVICE')" \
		'^vda$' "and with the device in a field"
}

if [ "$FSTUNED_BOOT" -eq 1 ]; then
	wait_for 60 systemctl is-system-running
	for unit in fs-tuned fs-tuned-restore; do
		exposure=$(systemd-analyze security --no-pager $unit.service | awk '/Overall exposure/ { print $(NF - 2) }')
		awk -v e="$exposure" 'BEGIN { exit !(e > 0 && e <= 2.5) }'
		ok $? "exposure of $unit: $exposure, at most 2.5"
	done
	check "the units are valid" systemd-analyze verify --man=no fs-tuned.service fs-tuned-restore.service
	mount_ext4 /dev/vda $dir || bail_out "no file system"
	lifecycle
	messages
	stuck_journal
	pinned
	persist
	check "enable --now" systemctl enable --now fs-tuned
	set_at_start "before disable"
	check "disable --now" systemctl disable --now fs-tuned
	given_back "disable --now"
	is "$(systemctl is-enabled fs-tuned)" disabled "it is disabled"
	check "enable --now for the reboot" systemctl enable --now fs-tuned
	set_at_start "before the reboot"
	check "no unit has failed" test -z "$(systemctl list-units --failed -q)"
	reboot_guest
else
	wait_for 60 systemctl is-system-running
	is "$(state)" active "after a reboot it runs"
	is "$(jq '.entries | length' $ledger 2>/dev/null || echo 0)" 0 "and the ledger is empty"
	mount -t ext4 /dev/vda $dir
	check "status answers" fstunectl status
	set_at_start "after the reboot"
	check "stop" systemctl stop fs-tuned
	given_back "stop after the reboot"
	umount $dir
	check "e2fsck finds nothing" e2fsck -fn /dev/vda
fi
done_testing
