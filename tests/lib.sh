# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shared by the scripts that build and test. Source it from the top of the tree.

# Under sudo the tree stays its owner's: what needs no root runs as the owner.
as_owner() {
	local uid gid home

	uid=$(stat -c %u .)
	if [ "$(id -u)" -ne 0 ] || [ "$uid" -eq 0 ]; then
		"$@"
		return
	fi
	gid=$(stat -c %g .)
	home=$(getent passwd "$uid" | cut -d: -f6)
	setpriv --reuid="$uid" --regid="$gid" --init-groups -- env HOME="$home" "$@"
}

# Runs as root, by sudo where need be.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "needs root: $*" >&2
		return 1
	fi
}

# Where guests' kernels and images are kept; the owner's, also under sudo.
cache_dir() {
	# shellcheck disable=SC2016 # the owner's HOME, not ours
	printf '%s\n' "${FSTUNED_CACHE:-$(as_owner sh -c 'printf %s "$HOME"')/.cache/fs-tuned}"
}

# wait_for SECONDS COMMAND...: until the command succeeds; 1 if it never did.
wait_for() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}
