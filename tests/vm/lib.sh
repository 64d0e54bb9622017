# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# What the tools of this directory share. Sourced, never run.

# A failure inside $(...) is one.
shopt -s inherit_errexit

# Everything that is downloaded or built from downloads lives here, outside the tree.
cache=${FSTUNED_CACHE:-${HOME:?}/.cache/fs-tuned}

me=${0##*/}

note() {
	printf '%s: %s\n' "$me" "$*" >&2
}

die() {
	note "$@"
	exit 1
}

# need COMMAND PACKAGE ...: names the packages of the commands that are missing.
need() {
	local missing=
	while (($#)); do
		[[ -n $(type -P "$1") ]] || missing+=" $2"
		shift 2
	done
	[[ -z $missing ]] || die "needs packages:$missing"
}

# debian_sources SUITE: apt source lines for a Debian suite and its security updates, on the
# mirrors that the host itself is configured with.
debian_sources() {
	local suite=$1 uri codename main='' security=''
	while read -r uri codename; do
		case $codename in
		*-security | */updates) security=${security:-$uri} ;;
		buster | bullseye | bookworm | trixie | forky | sid | oldoldstable | oldstable | \
			stable | testing | unstable) main=${main:-$uri} ;;
		esac
	done < <(apt-get update --print-uris 2>/dev/null |
		sed -nE "s,^'([^']+)/dists/([^']+)/(In)?Release'.*,\1 \2,p")
	[[ -n $main ]] || die "apt on this host has no Debian archive among its sources"

	local keys=/usr/share/keyrings/debian-archive-keyring.gpg
	[[ -r $keys ]] || die "needs package: debian-archive-keyring"
	echo "deb [signed-by=$keys] $main $suite main"
	if [[ -n $security && $suite != sid && $suite != unstable ]]; then
		echo "deb [signed-by=$keys] $security $suite-security main"
	fi
}

# private_apt DIR SUITE: gives apt a world of its own in DIR and reads the suite's lists there.
# Afterwards `"${apt_get[@]}" …` and `"${apt_cache[@]}" …` see that suite and nothing else; the
# host's configuration is only read (for its proxies), its lists and caches are not touched.
private_apt() {
	local dir=$1 suite=$2
	mkdir -p "$dir"/{lists/partial,archives/partial,etc}
	: >"$dir/status"
	debian_sources "$suite" >"$dir/sources.list"
	cat >"$dir/apt.conf" <<-END
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Post-Invoke;
		Dir::State "$dir";
		Dir::State::Lists "$dir/lists";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir";
		Dir::Cache::archives "$dir/archives";
		Dir::Etc::SourceList "$dir/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Preferences "/dev/null";
		Dir::Etc::PreferencesParts "/dev/null";
		Dir::Log "$dir";
		APT::Sandbox::User "$(id -un)";
		Acquire::Languages "none";
		Acquire::Retries "3";
	END
	apt_get=(apt-get -q -c "$dir/apt.conf")
	apt_cache=(apt-cache -q -c "$dir/apt.conf")
	"${apt_get[@]}" update --error-on=any >"$dir/update.log" 2>&1 || {
		cat "$dir/update.log" >&2
		die "could not read the package lists of Debian $suite"
	}
}
