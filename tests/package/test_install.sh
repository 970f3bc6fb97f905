#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The packages in a fresh root of Debian with systemd as its init. A lower version
# is installed, set up as in README.Debian with an agent of one process, and runs
# a campaign with either MPI. Nodes enrol by munge in two networks. The upgrade
# keeps the configuration; without agent.user = the agent then has two processes,
# enrols again, and runs the same campaigns. A rank has no access outside the
# unit's sandbox. systemd restarts programs that do not answer. Removal stops the
# units, and after purge no files remain. The root has the packages' dependencies
# and munge, but no network.
#
# Not covered: access of probes in the unit to InfiniBand or GPUs.
. "$(dirname "$0")/lib.sh"
need dpkg-deb mmdebstrap systemd-nspawn nsenter

root=$work/root

# Packages of an earlier version, with another content of one conffile.
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

# Path, kind, owner and mode of all files that packages or programs create, without
# those of systemd (.updated) and of this test (hosts).
files() {
	inside find / -xdev \( -path /proc -o -path /sys -o -path /dev -o \
	    -path /tmp -o -path /var/lib/dpkg -o -path /var/log -o \
	    -path /var/cache -o -path /mnt -o -path '/etc/*-' -o \
	    -path /etc/.updated -o -path /etc/hosts \) -prune -o \
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
	ok "users" getent passwd coalmine coalmine-agent coalmine-probe
	ok "units" systemd-analyze verify --man=no coalmined.service \
	    coalmine-agent.service
	for unit in coalmined coalmine-agent; do
		[ "$(inside systemctl is-enabled $unit)" = disabled ] &&
		    [ "$(inside systemctl is-active $unit)" = inactive ] ||
		    fail "$unit is enabled or active"
	done
	ok "campaigns are in the package of the engine" sh -c \
		"dpkg -L coalmine-probe | grep -q /campaigns/gpcnet-quick.conf"
	ok "machines are found" coalmine-probe predict group n=2 g=4 \
	    --machine dgx-a100
}

# A network of two nodes; the unit's is node1.
set_up() {
	ok "network" sh -ec 'ip netns add node2
	    ip link add eth0 type veth peer name eth0 netns node2
	    ip addr add 10.1.0.1/24 dev eth0
	    ip link set eth0 up
	    for a in "addr add 10.1.0.2/24 dev eth0" "link set eth0 up" \
		"link set lo up"; do ip -n node2 $a; done
	    mkdir /mnt/node2'
	ok "an agent of one process, and folders as then" sh -ec '
	    sed -i "s/^#user = coalmine-agent/user =/" \
		/etc/coalmine/coalmine-agent.conf
	    grep -q "^user =$" /etc/coalmine/coalmine-agent.conf
	    chown root: /etc/coalmine/pki
	    chmod 755 /etc/coalmine/pki'
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

# An agent next to the unit's, with another name.
second_node() {
	inside nsenter --net=/run/netns/node2 unshare --uts --ipc sh -c '
	    hostname node2
	    exec coalmine-agent -o agent.name=node2 \
		-o children.programs=/usr/bin/look-around \
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
	for mpi in openmpi mpich; do
		ok "campaign canary by $mpi" coalctl campaign run canary \
		    --wait -o campaign.mpi=$mpi -o measure.time=200ms
	done
}

# The view and the rights of a rank of the unit's agent.
sandbox() {
	local seen=$root/mnt/seen want=()
	cat >"$root/usr/bin/look-around" <<-"END"
	#!/bin/bash
	exec >/tmp/seen 2>/dev/null
	id -un
	grep -E "^(NoNewPrivs|CapEff|CapBnd):" /proc/self/status | tr -d "\t"
	[ -e /proc/1 ] && echo "sees others"
	for f in {/usr,/etc,/etc/coalmine/pki,/var/lib/coalmine-agent}/x; do
		: >$f && echo "wrote $f"
	done
	for f in /root/.profile /etc/coalmine/pki/*.key /etc/munge/munge.key; do
		: <$f && echo "reads $f"
	done
	[ -e /dev/kmsg ] && echo "has devices"
	unshare --user true && echo "makes namespaces"
	exec 3<>/dev/tcp/10.1.0.1/17700 && echo "reaches 10.1.0.1"
	timeout 5 bash -c "exec 3<>/dev/tcp/203.0.113.9/17700" &&
	    echo "reaches 203.0.113.9"
	exit 0
	END
	chmod 755 "$root/usr/bin/look-around"
	ok "a program of a campaign" sh -ec '
	    ip addr add 203.0.113.9/32 dev lo
	    bash -c "exec 3<>/dev/tcp/203.0.113.9/17700"
	    sed -i "s,^#programs =.*,programs = /usr/bin/look-around," \
		/etc/coalmine/coalmine-agent.conf
	    systemctl restart coalmine-agent
	    for i in $(seq 60); do
		coalctl node list -s ok | grep -q "^node1 " && break
		sleep 0.5
	    done
	    coalctl campaign run canary --wait -o campaign.mpi=openmpi \
		-o canary.tests=command -o command.run=/usr/bin/look-around \
		-o command.on=each || coalctl report last
	    cp /tmp/systemd-private-*-coalmine-agent.service-*/tmp/seen /mnt'
	want=(coalmine-probe NoNewPrivs:1 CapEff:0000000000000000
		CapBnd:00000000000000e1 "reaches 10.1.0.1")
	if [ "$(inside stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then
		say "IPAddressDeny is not looked at: only cgroup v1 here"
		want+=("reaches 203.0.113.9")
	fi
	[ "$(sort "$seen")" = "$(printf '%s\n' "${want[@]}" | sort)" ] ||
	    fail "a rank finds: $(cat "$seen")"
	rm "$root/usr/bin/look-around"
	say "a rank is in its sandbox"
}

# The unit's node, and one in the other network with a separate munge daemon,
# share only the secret of the realm. The collector does not run as root, and the
# user namespace of its unit has few users.
munge_realm() {
	ok "munge" sh -ec 'systemctl start munge
	    grep -qs " node1" /etc/hosts || echo "10.1.0.1 node1" >>/etc/hosts
	    install -d -o munge -m 755 /mnt/node3 /mnt/node3/munge
	    echo "10.1.0.2 node3" >>/etc/hosts
	    sed -i "s/^#munge_users =.*/munge_users = root/" \
		/etc/coalmine/coalmined.conf
	    sed -i "s/^#*enroll =.*/enroll = munge/" \
		/etc/coalmine/coalmine-agent.conf
	    systemctl stop coalmine-agent
	    mv /etc/coalmine/pki/agent.pem /etc/coalmine/pki/agent.key /mnt
	    systemctl restart coalmined
	    systemctl start coalmine-agent'
	inside nsenter --net=/run/netns/node2 unshare --uts sh -c 'hostname node3
	    setpriv --reuid munge --regid munge --clear-groups munged \
		--key-file=/etc/munge/munge.key --socket=/mnt/node3/munge/socket \
		--pid-file=/mnt/node3/munge/pid --seed-file=/mnt/node3/munge/seed \
		--log-file=/mnt/node3/munge/log
	    exec coalmine-agent -o agent.name=node3 \
		-o agent.state_dir=/mnt/node3/state \
		-o agent.run_dir=/mnt/node3/run -o agent.enroll=munge -o agent.user= \
		-o agent.munge_socket=/mnt/node3/munge/socket \
		-o tls.cert=/mnt/node3/a.pem -o tls.key=/mnt/node3/a.key \
		-o tls.ca=/mnt/node3/ca.pem' >"$work/node3.log" 2>&1 &
	ok "nodes enrol by munge" sh -c 'for i in $(seq 120); do
	    [ "$(coalctl node list -s ok | grep -c "^node[13] ")" = 2 ] && exit
	    sleep 0.5; done; coalctl node list; cat /mnt/node3/munge/log; exit 1'
	inside test -s /etc/coalmine/pki/agent.key || fail "no key of node1"
	[ "$(inside systemctl show -P PrivateUsers coalmined)" = yes ] &&
	    [ "$(inside stat -c %U "/proc/$(inside systemctl show -P \
		MainPID coalmined)")" = coalmine ] ||
	    fail "the collector is not in its sandbox"
	ok "node3's end" pkill -f agent.name=node3
	ok "its munge's end" pkill -f /mnt/node3/munge
}

# Readers cannot make a unit miss its watchdog; a stopped program is killed and
# restarted.
watchdog() {
	local unit
	for unit in coalmined coalmine-agent; do
		ok "$unit stands still" sh -ec 'unit=$0
		    mkdir -p /run/systemd/system/$unit.service.d
		    printf "[Service]\nWatchdogSec=4\nRestartSec=1\n" \
			>/run/systemd/system/$unit.service.d/short.conf
		    systemctl daemon-reload
		    systemctl restart $unit
		    for i in $(seq 100); do
			for j in $(seq 5); do
			    bash -c "exec 3<>/dev/tcp/127.0.0.1/17701 &&
				printf \"GET /api/v1/runs?node=z&limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n\" >&3" || true
			done
			sleep 0.1
		    done
		    [ "$(systemctl show -P NRestarts $unit)" = 0 ]
		    kill -STOP "$(systemctl show -P MainPID $unit)"
		    for i in $(seq 120); do
			[ "$(systemctl show -P NRestarts $unit)" != 1 ] ||
			    [ "$(systemctl is-active $unit)" != active ] ||
			    break
			sleep 0.5
		    done
		    journalctl -u $unit | grep -q "Watchdog timeout"
		    [ "$(systemctl is-active $unit)" = active ]
		    rm -r /run/systemd/system/$unit.service.d
		    systemctl daemon-reload' "$unit"
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
	    fail "coalmine-agent.conf lost its settings"
}

# The real and effective user, and the capabilities of a process.
rights() { # PID
	inside awk '/^Uid/ { print $2, $3 }
	    /^Cap(Prm|Eff)/ { sub("^0*", "", $2); print "{" $2 "}" }' \
	    "/proc/$1/status" | paste -sd' '
}

# The agent as it is installed: one process without rights, and the broker.
separation() {
	local main broker all user
	main=$(inside systemctl show -P MainPID coalmine-agent)
	all=$(rights "$main")
	[ "$all" = "0 0 {e0} {e0}" ] || fail "one process has: $all"
	ok "agent.user by default" sh -ec '
	    sed -i "s/^user =$/#user = coalmine-agent/" \
		/etc/coalmine/coalmine-agent.conf
	    sed -i "s/^enroll = munge/#enroll =/" \
		/etc/coalmine/coalmine-agent.conf
	    systemctl restart coalmine-agent'
	main=$(inside systemctl show -P MainPID coalmine-agent)
	broker=$(inside cat "/proc/$main/task/$main/children")
	user=$(inside id -u coalmine-agent)
	all="$(rights "$main"), $(rights "${broker% }")"
	[ "$all" = "$user $user {} {}, 0 0 {e0} {e0}" ] ||
	    fail "network process and broker have: $all"
	ok "files have changed their owner" sh -ec '
	    for f in /var/lib/coalmine-agent /var/lib/coalmine-agent/spool \
		/run/coalmine-agent /etc/coalmine/pki/agent.key; do
		[ "$(stat -c %U $f)" = coalmine-agent ] || { echo $f; exit 1; }
	    done'
	ok "in pki that user can only create files" setpriv \
	    --reuid coalmine-agent --regid coalmine-agent --clear-groups \
	    sh -ec 'cd /etc/coalmine/pki
		: >x; mv x y; rm y
		for f in collector.key ca.key collector.pem ca.pem; do
		    ! rm -f $f || { echo removed $f; exit 1; }
		done 2>/dev/null
		! cat collector.key 2>/dev/null'
	ok "it enrols again" sh -ec 'systemctl stop coalmine-agent
	    rm /etc/coalmine/pki/agent.pem /etc/coalmine/pki/agent.key
	    for i in $(seq 120); do
		coalctl node list -s ok | grep -q "^node1 " || break
		sleep 0.5
	    done
	    coalctl init >/mnt/init
	    sh -c "$(grep umask /mnt/init)"
	    for i in $(seq 120); do
		coalctl node list -s ok | grep -q "^node1 " && break
		sleep 0.5
	    done
	    coalctl node list -s ok | grep "^node1 "
	    [ ! -e /etc/coalmine/pki/enroll ]
	    [ "$(stat -c %U /etc/coalmine/pki/agent.key)" = coalmine-agent ]'
	ok "what it cannot do is refused" sh -ec '
	    ! coalmine-agent -n -o agent.ras_port=28028 2>/mnt/no
	    grep -q "agent.ras_port: expected 0 with agent.user" /mnt/no
	    ! coalmine-agent -n -o tls.cert=/mnt/none -o tls.key=/mnt/none.key \
		-o agent.enroll=munge 2>/mnt/no
	    grep -q "expected agent.user = (empty)" /mnt/no'
}

version=$(dpkg-deb -f "$packages"/coalmine-ctl_*.deb Version) ||
    fail "no packages in $packages"
new=()
for part in "${parts[@]}"; do
	new+=("$packages/coalmine-$part"_*.deb)
done
make_older || fail "no older packages"
make_root "$root" munge
say "root made: $(du -sm "$root" | cut -f 1) MB"
boot "$root" node1 --private-network
say "booted: $(inside systemctl --version | head -n 1)"
files >"$work/files.before"
install_packages "$work"/older/*.deb
check_installed
set_up
second_node
check_runs
ok "diags are green" coalctl diags
munge_realm
upgrade
separation
check_runs
sandbox
watchdog
ok "second node's end" pkill -f agent.name=node2
rm "$root/etc/hosts"
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
