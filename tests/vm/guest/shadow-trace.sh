# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
#
# Shadow waits as bpftrace counts them: told apart by who waits, not by what the daemon looks at.
# Wants bpftrace and wait_for of lib.sh.
# shellcheck disable=SC2034  # what it sets is for who sources it

shadow_begin() {
	rm -f /tmp/shadow
	# 23 is BH_Shadow on 5.10 to 6.12
	bpftrace -e '
		BEGIN { printf("ready\n"); @seen = 0; }
		kprobe:out_of_line_wait_on_bit /arg1 == 23/ {
			if (@seen == 0) { @seen = 1; printf("first %llu\n", nsecs / 1000000); }
			@waits[kstack(6)] = count();
		}' >/tmp/shadow &
	shadow_pid=$!
	wait_for 30 grep -qs ready /tmp/shadow || bail_out "bpftrace does not start"
}

# Sets $waits, those of jbd2's write access, $all, and $first, milliseconds of CLOCK_MONOTONIC.
shadow_end() {
	kill -INT "$shadow_pid"
	wait "$shadow_pid" || true
	# one map entry a stack
	waits=$(awk '/^@waits\[/ { ours = 0 }
		/do_get_write_access/ { ours = 1 }
		/^\]: / && ours { n += $2 }
		END { print n + 0 }' /tmp/shadow)
	all=$(awk '/^\]: / { n += $2 } END { print n + 0 }' /tmp/shadow)
	first=$(awk '/^first/ { print $2 }' /tmp/shadow)
}
