#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_hour.sh 4|6 - the first hour, as described in docs/guide/first-hour.md,
# from packages to a named bad cable: a collector and six nodes, each a fresh
# Debian 12 with systemd as its init, on two leaf switches. Packages are
# installed by apt, nodes enrol with the command of coalctl init, diags is green,
# a campaign runs, one cable is slowed to a tenth, and verdict list names only
# this node. The network has only IPv4 or only IPv6. Nothing is compiled, and the
# test provides only the cable, the network and names of hosts.
#
# Not covered: effects of a real network card, a real clock or a batch system.
. "$(dirname "$0")/lib.sh"
need dpkg-deb mmdebstrap systemd-nspawn nsenter tc
if [ "${1-}" != inside ]; then
	make_root "$work/hour" munge # the same root as in test_install.sh
	exec unshare --mount --net --pid --fork --kill-child --mount-proc \
	    "$0" inside "${1:-4}"
fi
count=6
declare -A nets=([4]=10.1.0. [6]=fd00:c0a1::) masks=([4]=24 [6]=64)
net=${nets[$2]} mask=${masks[$2]}
declare -A init_of

# All files are in memory, which is freed at the end of this script.
make_machines() {
	local i name
	mount -t tmpfs hour /mnt && mkdir /mnt/base /mnt/up /mnt/tmp &&
	    tar -C "$work/hour" -c . | tar -C /mnt/base -x || fail "no memory"
	rm -rf "$work/hour"
	ip link set lo up
	for i in 1 2; do
		ip link add "leaf$i" type bridge && ip link set "leaf$i" up
	done
	ip link add up1 type veth peer name up2
	for i in 1 2; do
		ip link set "up$i" master "leaf$i" up
	done
	printf '%s localhost\n' 127.0.0.1 ::1 >/mnt/base/etc/hosts
	printf '%s mgmt1\n' "${net}1" >>/mnt/base/etc/hosts
	for ((i = 1; i <= count; i++)); do
		printf '%s n%03d\n' "$net$((10 + i))" $i
	done >>/mnt/base/etc/hosts
	start_machine mgmt1 "${net}1" leaf1
	for ((i = 1; i <= count; i++)); do
		printf -v name 'n%03d' $i
		start_machine "$name" "$net$((10 + i))" \
		    leaf$((1 + (i > count / 2)))
	done
}

start_machine() { # NAME ADDRESS LEAF
	mkdir "/mnt/$1" "/mnt/up/$1" "/mnt/tmp/$1"
	mount -t overlay -o "lowerdir=/mnt/base,upperdir=/mnt/up/$1,workdir=/mnt/tmp/$1" \
	    hour "/mnt/$1" || fail "no overlay"
	boot "/mnt/$1" "$1" --network-bridge="$3"
	init_of[$1]=$init
	[ "$mask" = 24 ] || local nodad=nodad
	inside sh -ec "ip addr add $2/$mask dev host0 ${nodad-}; ip link set host0 up"
	shape "$1" 200mbit
}

# Both ends of a machine's cable.
shape() { # NAME RATE
	local queue="burst 16k limit 256k"
	# shellcheck disable=SC2086
	tc qdisc replace dev "vb-$1" root tbf rate "$2" $queue &&
	    nsenter --target "${init_of[$1]}" --net -- \
		tc qdisc replace dev host0 root tbf rate "$2" $queue ||
	    fail "tc"
}

# on NAME WHAT COMMAND...
on() {
	init=${init_of[$1]}
	shift
	ok "$@"
}

nodes() {
	printf '%s\n' "${!init_of[@]}" | grep '^n' | LC_ALL=C sort
}

# Copies of the packages, where apt takes them from.
install() { # NAME PART...
	local name=$1 part
	shift
	mkdir -p "/mnt/$name/root/packages"
	for part; do
		cp "$packages/coalmine-$part"_*.deb "/mnt/$name/root/packages"
	done
	on "$name" "$name: packages" sh -c \
	    'cd /root/packages && apt-get install -y ./coalmine-*.deb'
}

make_machines
say "booted: $count nodes and a collector"

# 1. The collector
install mgmt1 collector probe ctl doc
on mgmt1 "collector set up" sh -c 'coalctl init >/root/init'

# 2. The nodes
line=$(grep '^(umask' "/mnt/mgmt1/root/init") || fail "no line for nodes"
for n in $(nodes); do
	install "$n" agent probe probe-openmpi probe-mpich ctl
	on "$n" "$n: enrolled" sh -c "$line"
done

# 3. Is all well?
on mgmt1 "nodes are there" sh -c 'for i in $(seq 240); do
    [ "$(coalctl node list -s ok | grep -c "^n[0-9]* ")" = '"$count"' ] && exit
    sleep 0.5; done; coalctl node list; coalctl diags; exit 1'
on mgmt1 "diags are green" coalctl diags

# 4. Configure the leaves
on mgmt1 "leaves" sh -ec 'for n in '"$(nodes | tr '\n' ' ')"'; do
    [ ${n#n} -gt $(printf %03d '$((count / 2))') ] && echo "$n leaf2" || echo "$n leaf1"
    done >/tmp/fabric
    coalctl topology import /tmp/fabric --out /etc/coalmine/leaves
    sed -i "s,^#*leaves =.*,leaves = /etc/coalmine/leaves," /etc/coalmine/coalmined.conf
    systemctl restart coalmined'
on mgmt1 "topology agrees" sh -c 'for i in $(seq 240); do
    [ "$(coalctl node list -s ok | grep -c "^n[0-9]* ")" = '"$count"' ] && break
    sleep 0.5; done; coalctl topology check'

# 5. The first answers
on mgmt1 "campaign watch-bw" coalctl campaign run watch-bw --wait
on mgmt1 "its report" coalctl report last
on mgmt1 "no verdict" sh -c '! coalctl verdict list | grep -E "^(warn|bad) "'

bad=$(nodes | sed -n "$((count / 2 + 1))p")
shape "$bad" 20mbit
for ((i = 1; i <= 12; i++)); do
	on mgmt1 "round $i" sh -c 'coalctl campaign run watch-bw --wait; true'
	! inside coalctl verdict list | grep -q "^bad .*$bad: " || break
done
say "$(inside coalctl verdict list 2>&1)"
inside coalctl verdict list | grep -q "^bad .*$bad: " ||
    fail "$bad is not named"
! inside coalctl verdict list | grep '^bad ' | grep -v "$bad: " ||
    fail "others are named"
