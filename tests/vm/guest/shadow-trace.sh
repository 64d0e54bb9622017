# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
#
# Shadow waits as bpftrace counts them: told apart by who waits, not by what the daemon looks at.
# That also tells which bit BH_Shadow is on this kernel, with BTF of jbd2 or without. Wants bpftrace
# and wait_for of lib.sh.
# shellcheck disable=SC2034  # what it sets is for who sources it

# shadow_trace: fails if this bpftrace cannot do it on this kernel; $shadow_why says why.
shadow_trace() {
	rm -f /tmp/shadow
	bpftrace -e '
		BEGIN { printf("ready\n"); }
		kprobe:out_of_line_wait_on_bit {
			if (!@seen[arg1]) {
				@seen[arg1] = 1;
				printf("first %d %llu\n", arg1, nsecs / 1000000);
			}
			@waits[arg1, kstack(6)] = count();
		}
		END { clear(@seen); }' >/tmp/shadow 2>/tmp/shadow.err &
	shadow_pid=$!
	wait_for 30 shadow_settled
	grep -qs ready /tmp/shadow && return
	kill -KILL "$shadow_pid" 2>/dev/null
	wait "$shadow_pid" 2>/dev/null
	shadow_why="bpftrace does not start: $(tail -n 1 /tmp/shadow.err)"
	return 1
}

shadow_settled() {
	grep -qs ready /tmp/shadow || ! kill -0 "$shadow_pid"
}

shadow_begin() {
	shadow_trace || bail_out "$shadow_why"
}

# Sets $waits, those of jbd2's write access, $bit, the one they waited on, $all, all waits on that
# bit number, and $first, milliseconds of CLOCK_MONOTONIC. Without a wait $bit and $first are empty.
shadow_end() {
	stop_process INT "$shadow_pid" || true
	# one map entry a bit and stack: "@waits[23, ", the stack, "]: 5"
	read -r waits bit all <<-EOT
		$(awk '
			/^@waits\[/ { split($0, key, /[[,]/); bit = key[2]; ours = 0 }
			/do_get_write_access/ { ours = 1 }
			/^\]: / { all[bit] += $2 }
			/^\]: / && ours { waits += $2; shadow = bit }
			END { print waits + 0, shadow, all[shadow] + 0 }' /tmp/shadow)
	EOT
	[ -n "$all" ] || {
		all=$bit
		bit=
	}
	first=$(awk -v bit="${bit:-none}" '/^first/ && $2 == bit { print $3 }' /tmp/shadow)
}
