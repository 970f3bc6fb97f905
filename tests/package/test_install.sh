#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The packages in a fresh root of Debian 12 with systemd as its init: a lower
# version is installed, set up as README.Debian says, and runs a campaign with
# either MPI; the upgrade keeps what was configured; removal stops the units;
# purge leaves nothing behind. The root has what packages depend on, and no
# network.
#
# Not covered: that probes reach InfiniBand or GPUs out of the unit.
. "$(dirname "$0")/lib.sh"
need dpkg-deb mmdebstrap systemd-nspawn nsenter

root=$work/root

# Packages of a version before: one conffile was another then.
make_older() {
	local part at=$work/older
	rm -rf "$at" && mkdir -p "$at"
	for part in "${parts[@]}"; do
		dpkg-deb -R "$packages/coalmine-$part"_*.deb "$at/tree" || return
		sed -i "s/\\b$version\\b/0.0.9/" "$at/tree/DEBIAN/control"
		[ "$part" != collector ] ||
		    echo "# older" >>"$at/tree/etc/coalmine/campaigns/self.conf"
		dpkg-deb --root-owner-group -b "$at/tree" \
		    "$at/coalmine-$part.deb" >/dev/null || return
		rm -rf "$at/tree"
	done
}

# A file's path, kind, owner and mode, for all that packages or programs leave.
files() {
	inside find / -xdev \( -path /proc -o -path /sys -o -path /dev -o \
	    -path /tmp -o -path /var/lib/dpkg -o -path /var/log -o \
	    -path /var/cache -o -path /mnt -o -path '/etc/*-' \) -prune -o \
	    -printf '%p %y %u:%g %m\n' | LC_ALL=C sort
}

install_packages() { # FOLDER
	mkdir -p "$root/mnt"
	rm -f "$root"/mnt/*.deb
	cp "${@}" "$root/mnt"
	ok "installed" sh -c 'dpkg -i /mnt/*.deb'
}

check_installed() {
	local program unit
	for program in coalmined coalmine-agent coalmine-probe; do
		inside "$program" --version | grep -q "$version" ||
		    fail "$program --version: $(inside "$program" --version 2>&1)"
	done
	inside coalctl version --json 2>/dev/null | grep -q "\"coalctl\": *\"$version\"" ||
	    fail "coalctl version: $(inside coalctl version --json 2>&1)"
	ok "users" getent passwd coalmine coalmine-probe
	ok "units" systemd-analyze verify --man=no coalmined.service \
	    coalmine-agent.service
	for unit in coalmined coalmine-agent; do
		[ "$(inside systemctl is-enabled $unit)" = disabled ] &&
		    [ "$(inside systemctl is-active $unit)" = inactive ] ||
		    fail "$unit is enabled or active"
	done
	ok "machines are found" coalmine-probe predict group n=2 g=4 \
	    --machine dgx-a100
}

# A network of two nodes, of which the unit's is node1.
set_up() {
	ok "network" sh -ec 'ip netns add node2
	    ip link add eth0 type veth peer name eth0 netns node2
	    ip addr add 10.1.0.1/24 dev eth0
	    ip link set eth0 up
	    for a in "addr add 10.1.0.2/24 dev eth0" "link set eth0 up" \
		"link set lo up"; do ip -n node2 $a; done
	    mkdir /mnt/node2'
	ok "collector set up" sh -c 'coalctl init >/mnt/init && cat /mnt/init'
	ok "node enrolled by the line" sh -ec 'sh -c "$(grep umask /mnt/init)"
	    for i in $(seq 120); do
		coalctl node list -s ok | grep -q "^node1 " && exit
		sleep 0.5
	    done; exit 1'
	ok "set up again" sh -ec 'coalctl init | grep umask
	    ! coalctl init | grep "made\|set \|started"'
	ok "node2's key" coalctl pki issue /etc/coalmine/pki node2 --role agent
}

# An agent beside the unit's, with a name of its own.
second_node() {
	inside nsenter --net=/run/netns/node2 unshare --uts --ipc sh -c '
	    hostname node2
	    exec coalmine-agent -o agent.name=node2 \
		-o agent.state_dir=/mnt/node2/state \
		-o agent.run_dir=/mnt/node2/run \
		-o tls.cert=/etc/coalmine/pki/node2.pem \
		-o tls.key=/etc/coalmine/pki/node2.key' \
	    >"$work/node2.log" 2>&1 &
}

check_runs() {
	local mpi
	ok "agents are there" sh -c 'for i in $(seq 120); do
	    [ "$(coalctl node list -s ok | grep -c "^node[12] ")" = 2 ] && exit
	    sleep 0.5; done; exit 1'
	ok "diags are green" coalctl diags
	for mpi in openmpi mpich; do
		ok "campaign canary by $mpi" coalctl campaign run canary \
		    --wait -o campaign.mpi=$mpi -o measure.time=200ms
	done
}

upgrade() {
	local before
	before=$(inside systemctl show -P MainPID coalmined coalmine-agent)
	install_packages "${new[@]}"
	[ "$(inside systemctl show -P MainPID coalmined coalmine-agent)" != \
	    "$before" ] || fail "not restarted by the upgrade"
	! grep -q older "$root/etc/coalmine/campaigns/self.conf" ||
	    fail "self.conf is the older one"
	grep -q '^collector = 10.1.0.1' "$root/etc/coalmine/coalmine-agent.conf" ||
	    fail "coalmine-agent.conf lost what was configured"
}

version=$(dpkg-deb -f "$packages"/coalmine-ctl_*.deb Version) ||
    fail "no packages in $packages"
new=()
for part in "${parts[@]}"; do
	new+=("$packages/coalmine-$part"_*.deb)
done
make_older || fail "no older packages"
make_root "$root"
say "root made: $(du -sm "$root" | cut -f 1) MB"
boot "$root" node1 --private-network
say "booted: $(inside systemctl --version | head -n 1)"
files >"$work/files.before"
install_packages "$work"/older/*.deb
check_installed
set_up
second_node
check_runs
upgrade
check_runs
ok "second node's end" pkill -f agent.name=node2
ok "removed" sh -c 'dpkg -r $(dpkg-query -W -f "\${Package} " "coalmine-*")'
for unit in coalmined coalmine-agent; do
	[ "$(inside systemctl is-active $unit)" != active ] ||
	    fail "$unit runs without its package"
done
[ -e "$root/etc/coalmine/coalmine-agent.conf" ] ||
    fail "removal took the configuration"
ok "purged" sh -c 'dpkg -P $(dpkg-query -W -f "\${Package} " "coalmine-*")'
files >"$work/files.after"
diff "$work/files.before" "$work/files.after" || fail "left behind"
kill -KILL "$init"
wait "$nspawn"
rm -rf "$root"
say "nothing is left behind"
