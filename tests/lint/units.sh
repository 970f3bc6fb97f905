#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# units.sh [TREE] - the systemd units are well formed and exposed by at most
# 2.2 as systemd-analyze rates it (it counts rights that the agent gives up at its
# start); sysusers and tmpfiles are understood.
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
	systemd-analyze security --offline=true --threshold=22 --no-pager \
	    "$work/$name" >"$work/out" 2>&1 && continue
	tail -n 1 "$work/out"
	bad=1
done

# The generator allows the devices that PCI lists, and none on a machine without
# them. Its output is valid in the unit.
device() { # SLOT VENDOR CLASS
	mkdir -p "$work/sys/bus/pci/devices/$1"
	echo "$2" >"$work/sys/bus/pci/devices/$1/vendor"
	echo "$3" >"$work/sys/bus/pci/devices/$1/class"
}
generate() {
	rm -rf "$work/made"
	mkdir "$work/made"
	COALMINE_SYSFS=$work/sys systemd/coalmine-devices-generator \
	    "$work/made" "$work/made" "$work/made"
	sed -n 's/^DeviceAllow=char-\(.*\) rw$/\1/p' \
	    "$work/made/coalmine-agent.service.d/10-devices.conf" 2>/dev/null |
	    tr '\n' ' '
}
opens() { # WORDS SLOT VENDOR CLASS
	rm -rf "$work/sys"
	device 0000:00:1f.0 0x8086 0x060100
	device 0000:00:02.0 0x8086 0x030000
	[ $# = 1 ] || device "$2" "$3" "$4"
	[ "$(generate)" = "$1" ] && return
	echo "coalmine-devices-generator: for $*: $(generate)"
	bad=1
}
opens ""
opens "infiniband_verbs infiniband_cm " 0000:81:00.0 0x15b3 0x020700
opens "infiniband_verbs infiniband_cm " 0000:81:00.0 0x15b3 0x020000
opens "infiniband_verbs infiniband_cm hfi1 " 0000:81:00.0 0x8086 0x020800
opens "cxi " 0000:81:00.0 0x17db 0x020000
opens "kfd drm " 0000:81:00.0 0x1002 0x120000
opens "nvidia-frontend nvidia nvidiactl nvidia-uvm nvidia-caps \
nvidia-caps-imex-channels " 0000:81:00.0 0x10de 0x030200
mkdir -p "$work/coalmine-agent.service.d"
cp "$work/made/coalmine-agent.service.d/10-devices.conf" \
    "$work/coalmine-agent.service.d/"
said=$(systemd-analyze verify "$work/coalmine-agent.service" 2>&1)
if [ -n "$said" ]; then
	echo "with the generator's drop-in: $said"
	bad=1
fi

# Drivers have changed their names in /proc/devices.
for name in infiniband_verbs hfi1 cxi nvidia-frontend nvidia nvidiactl \
    nvidia-uvm nvidia-caps nvidia-caps-imex-channels kfd drm; do
	grep -qx "DeviceAllow=char-$name rw" \
	    systemd/coalmine-agent-devices.conf || {
		echo "systemd/coalmine-agent-devices.conf: no char-$name"
		bad=1
	}
	grep -qw -- "$name" systemd/coalmine-devices-generator || {
		echo "systemd/coalmine-devices-generator: no $name"
		bad=1
	}
done

if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers --dry-run "$PWD"/systemd/sysusers-*.conf \
	    >"$work/out" 2>&1 || { cat "$work/out"; bad=1; }
fi
exit $bad
