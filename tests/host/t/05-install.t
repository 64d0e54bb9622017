#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is installed below another prefix looks for its files there.
# shellcheck source=tests/host/lib.sh
. "$(dirname "$0")/../lib.sh"

case $bin in
*-asan) export SANITIZE=1 ;;
esac
prefix=$tmp/usr
etc=$tmp/etc

# A copy, since the tests beside this one run what is built for /usr. What has the paths in it is
# built anew.
cp -a "$bin" "$tmp/build"
rm -f "$tmp"/build/{paths.h,daemon/config.o,libfs-tuned.a,fs-tuned,fstunectl} "$tmp"/build/cli/*.o
make -s BUILD="$tmp/build" PREFIX="$prefix" SYSCONFDIR="$etc" install >"$tmp/out" 2>&1
is $? 0 "it installs below another prefix" || diag "$(tail "$tmp/out")"
like "$(cat "$tmp/out")" "dbus-daemon may not read $prefix" "and says what is not looked for there"
# With the wrong paths in them, the programs would write to this machine's own.
grep -q "$etc/fs-tuned/" "$prefix/bin/fstunectl" || bail_out "fstunectl does not know $etc"

bin=$prefix/sbin
mkdir -p "$prefix/lib/fs-tuned/fs-tuned.conf.d" "$etc/fs-tuned/fs-tuned.conf.d"
printf '[Manager]\nHistorySize=77\nInterval=3s\n' >"$prefix/lib/fs-tuned/fs-tuned.conf.d/a.conf"
printf '[Manager]\nHistorySize=78\n' >"$etc/fs-tuned/fs-tuned.conf.d/b.conf"
"$bin/fs-tuned" --runtime-dir="$run" --sysroot="$sysroot" >"$tmp/log" 2>&1 &
daemon=$!
bin=$prefix/bin
wait_for 15 ctl status
is $? 0 "the daemon comes up"
is "$(ctl --json config | jq -r '.settings[] | select(.key == "Interval").file')" \
	"$prefix/lib/fs-tuned/fs-tuned.conf.d/a.conf" "the distribution's files are below PREFIX"
is "$(ctl --json config | jq -r '.settings[] | select(.key == "HistorySize").file')" \
	"$etc/fs-tuned/fs-tuned.conf.d/b.conf" "the administrator's below SYSCONFDIR"

make_ext4 "$tmp/fs"
dev=$(name "$loop")
make_knob "$dev"
stop_daemon
bin=$prefix/sbin
spawn_daemon
bin=$prefix/bin
wait_for 15 ctl set "$dev" force_copy 1 --persist
is "$(cat "$etc"/fs-tuned/fs-tuned.conf.d/50-fstunectl-*.conf | grep -c '^ForceCopy=1')" 1 \
	"a persisted pin is written where the daemon reads"
stop_daemon

like "$(cat "$prefix/lib/systemd/system/fs-tuned.service")" "ExecStart=$prefix/sbin/fs-tuned" \
	"the unit starts that daemon"
like "$(cat "$prefix/share/man/man5/fs-tuned.conf.5")" "$etc/fs-tuned/fs-tuned.conf" \
	"the manual names the files"

# A compiler for another machine: its BPF programs are for that one.
printf '#!/bin/sh\necho aarch64-linux-gnu\n' >"$tmp/cc"
chmod +x "$tmp/cc"
like "$(make -n CC="$tmp/cc" BUILD="$tmp/none" "$tmp/none/bpf/jbd2.bpf.o")" \
	"-D__TARGET_ARCH_arm64 -I/usr/include/aarch64-linux-gnu" "BPF is built for the target"
done_testing
