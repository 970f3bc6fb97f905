# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# lib.sh - what the tests of packages share: where they lie, and how to end.
set -u
source_dir=${COALMINE_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build_dir=${COALMINE_BUILD:-$source_dir/build/dev}
work=$build_dir/package
packages=$work/packages
parts=(collector agent ctl probe probe-openmpi probe-mpich
	probe-source lab doc)

fail() {
	echo "FAILED after $SECONDS s: $*" >&2
	exit 1
}

say() {
	echo "[$SECONDS s] $*"
}

# need PROGRAM...
need() {
	for p; do
		command -v "$p" >/dev/null && continue
		echo "skipped: no $p; see lab/deps"
		exit 77
	done
}

# What the packages depend on, without themselves.
dependencies() {
	local part
	for part in "${parts[@]}"; do
		dpkg-deb -f "$packages/coalmine-$part"_*.deb Depends
	done | sed 's/, /\n/g' | grep -v '^coalmine-\|^$' | LC_ALL=C sort -u |
	    paste -sd, | sed 's/,/, /g'
}

# make_root FOLDER: a fresh Debian 12 with what the packages depend on. It is
# made once for a list of dependencies.
make_root() {
	local needs base lock
	needs=$(dependencies)
	base=$work/root-$(md5sum <<<"$needs" | cut -c -8).tar
	exec {lock}>"$work/lock"
	flock "$lock"
	if [ ! -e "$base" ]; then
		rm -f "$work"/root-*.tar
		nice mmdebstrap --quiet --format=tar --variant=minbase --include=systemd-sysv \
		    --customize-hook="chroot \"\$1\" apt-get -qq -y \
			--no-install-recommends satisfy '$needs' >/dev/null" \
		    bookworm "$base.new" || {
			echo "skipped: mmdebstrap cannot make a root"
			exit 77
		}
		mv "$base.new" "$base"
	fi
	exec {lock}>&-
	# The name of the machine that made it came along.
	rm -rf "$1" && mkdir "$1" && tar -xf "$base" -C "$1" &&
	    rm -f "$1/etc/hostname" || fail "$base cannot be unpacked"
}
