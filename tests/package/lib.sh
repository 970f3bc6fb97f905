# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# lib.sh - common to the tests of packages: their paths, and cleanup.
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

# The dependencies of the packages, without themselves.
dependencies() {
	local part
	for part in "${parts[@]}"; do
		dpkg-deb -f "$packages/coalmine-$part"_*.deb Depends
	done | sed 's/, /\n/g' | grep -v '^coalmine-\|^$' | LC_ALL=C sort -u |
	    paste -sd, | sed 's/,/, /g'
}

# make_root FOLDER [PACKAGE...]: make a fresh root of this release of Debian with
# the packages' dependencies, and these packages. It is cached by dependencies.
make_root() {
	local needs base lock to=$1 more
	shift
	[ "$(id -u)" = 0 ] && unshare --mount --net --pid --fork true || {
		echo "skipped: not root, or namespaces are not allowed here"
		exit 77
	}
	needs=$(dependencies)
	for more; do needs+=", $more"; done
	base=$work/root-$(md5sum <<<"$needs" | cut -c -8).tar
	exec {lock}>"$work/lock"
	flock "$lock"
	if [ ! -e "$base" ]; then
		find "$work" -name 'root-*.tar' -mtime +1 -delete
		nice mmdebstrap --quiet --format=tar --variant=minbase --include=systemd-sysv \
		    --customize-hook="chroot \"\$1\" apt-get -qq -y \
			--no-install-recommends satisfy '$needs' >/dev/null" \
		    "$(. /etc/os-release && echo "$VERSION_CODENAME")" \
		    "$base.new" || {
			echo "skipped: mmdebstrap cannot make a root"
			exit 77
		}
		mv "$base.new" "$base"
	fi
	exec {lock}>&-
	# Remove the name of the machine that made it.
	rm -rf "$to" && mkdir "$to" && tar -xf "$base" -C "$to" &&
	    rm -f "$to/etc/hostname" || fail "$base cannot be unpacked"
}

# ---- roots that are booted, with systemd as init ----

booted=() groups=()

shut_down() {
	kill -KILL "${booted[@]}"
	wait "${booted[@]}"
	sleep 1
	find "${groups[@]}" -depth -type d -exec rmdir {} +
} 2>/dev/null

# boot ROOT NAME [OPTION...]: $init is its init, which inside and ok enter. It
# ends with this script. Each has a separate control group; without it systemd
# would confuse the two.
boot() {
	local at group=() i root=$1 name=$2
	shift 2
	for at in $(findmnt -rn -t cgroup2 -o TARGET) \
	    $(findmnt -rn -t cgroup -O name=systemd -o TARGET); do
		group+=("$at/coalmine-$(stat -Lc %i /proc/self/ns/pid)-$$-$name")
	done
	mkdir -p "${group[@]}" && groups+=("${group[@]}")
	(
		for at in "${group[@]}"; do
			echo $BASHPID >"$at/cgroup.procs"
		done
		exec systemd-nspawn --quiet --directory="$root" \
		    --machine="$name" --register=no --keep-unit \
		    --link-journal=no "$@" --boot </dev/null
	) >"$work/boot-$name.log" 2>&1 &
	nspawn=$!
	booted+=("$nspawn")
	trap shut_down EXIT
	for ((i = 0; i < 600; i++)); do
		sleep 0.1
		init=$(cat "/proc/$nspawn/task/$nspawn/children" 2>/dev/null)
		init=${init%% *}
		[ -n "$init" ] || continue
		inside test -S /run/systemd/private 2>/dev/null &&
		    booted+=("$init") && return
		kill -0 "$nspawn" 2>/dev/null || break
	done
	tail -n 20 "$work/boot-$name.log"
	echo "skipped: systemd-nspawn cannot boot a root here"
	exit 77
}

inside() {
	nsenter --target "$init" --all -- env -i TERM=dumb LANG=C.UTF-8 \
	    PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# ok WHAT COMMAND...: inside.
ok() {
	local what=$1 out
	shift
	out=$(inside "$@" 2>&1) || fail "$what: $* ended with $?
$out
$(inside journalctl --no-pager -n 30 -u 'coalmine*' 2>&1)"
	say "$what"
}
