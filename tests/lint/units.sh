#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# units.sh [TREE] - the systemd units are well formed and exposed by at most
# 2.0 as systemd-analyze rates it; sysusers and tmpfiles are understood.
#
# Not covered: that the programs work inside this confinement, which needs a
# machine run by systemd.
. "$(dirname "$0")/lib.sh"
need systemd-analyze
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A unit with an empty program at its place, so that only the unit can be
# wrong; the manual is not installed here.
for unit in systemd/*.service; do
	name=$(basename "$unit")
	sed -e 's|@CMAKE_INSTALL_FULL_SBINDIR@/[a-z-]*|/bin/true|' \
	    -e '/^Documentation=/d' "$unit" >"$work/$name"
	said=$(systemd-analyze verify "$work/$name" 2>&1)
	# rc alone will not do: an unknown key is only warned about
	if [ -n "$said" ]; then
		echo "$said" | sed "s|^$work|systemd|"
		bad=1
	fi
	systemd-analyze security --offline=true --threshold=20 --no-pager \
	    "$work/$name" >"$work/out" 2>&1 && continue
	tail -n 1 "$work/out"
	bad=1
done

# Drivers have changed what /proc/devices calls them.
for name in infiniband_verbs hfi1 cxi nvidia-frontend nvidia nvidiactl \
    nvidia-uvm nvidia-caps nvidia-caps-imex-channels kfd drm; do
	grep -qx "DeviceAllow=char-$name rw" \
	    systemd/coalmine-agent-devices.conf || {
		echo "systemd/coalmine-agent-devices.conf: no char-$name"
		bad=1
	}
done

if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers --dry-run "$PWD"/systemd/sysusers-*.conf \
	    >"$work/out" 2>&1 || { cat "$work/out"; bad=1; }
fi
exit $bad
