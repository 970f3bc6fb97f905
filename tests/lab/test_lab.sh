#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The lab itself: names, links shaped in both directions, faults, isolation, and
# complete removal.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

expect()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', not '$3'"
}

check_names()
{
	local host
	for host in node1 node12 collector; do
		expect hostname "$(in_host $host hostname)" $host
		in_host node5 getent hosts $host >/dev/null ||
			fail "$host does not resolve"
		expect interfaces "$(in_host $host ls /sys/class/net |
			tr '\n' ' ')" "eth0 lo "
	done
	grep -q node12 /etc/hosts && fail "the machine's /etc/hosts knows node12"
}

check_exec()
{
	local fd
	in_host node1 sh -c 'exit 7'
	expect status $? 7
	in_host node1 sh -c 'kill -9 $$' 2>/dev/null
	expect "status of a killed command" $? 137
	expect stdin "$(echo word | in_host node1 cat)" word
	exec {fd}< <(exec "$lab" exec node1 bash -c \
		'trap "exit 9" TERM; echo; while :; do sleep 0.1; done')
	read -r -t 60 <&"$fd" || fail "the command does not start"
	kill -TERM $!
	wait $!
	expect "status after TERM" $? 9
	in_host node99 true 2>/dev/null
	expect "status of an unknown host" $? 1
	"$lab" degrade node1 rate=fast 2>/dev/null
	expect "status of a bad rate" $? 3
}

serve_all()
{
	local n
	for n in $(seq 12) ; do
		in_host node$n "$netload" serve 5000 &
	done
	for n in $(seq 12); do
		poll 10 in_host node$n "$netload" ping node$n 5000 1 \
			>/dev/null 2>&1 || fail "node$n does not serve"
	done
}

bulk() # FROM TO: Mbit/s
{
	in_host "$1" "$netload" bulk "$2" 5000 1
}

four_hosts()
{
	local n
	for n in 1 2 3 4; do
		bulk node$n node$((n + 4)) &
	done | awk '{ s += $1 } END { print s }'
}

# carries LOW HIGH WHAT COMMAND...: COMMAND prints Mbit/s. Load on the machine
# only lowers it, so one of twenty results must reach LOW, which is far below
# the expected rate and above the rate of the other case. None may exceed HIGH,
# except sums: if hosts start late, each has the uplink alone for some time.
carries()
{
	local low=$1 high=$2 what="$3, Mbit/s" tries=20 rate
	shift 3
	while :; do
		rate=$("$@")
		[ "$1" = four_hosts ] || between "$rate" 0 "$high" "$what"
		awk -v r="$rate" -v l="$low" -v h="$high" \
			'BEGIN { exit !(r >= l && r <= h) }' && return
		((--tries)) || fail "$what: $rate is not in $low to $high"
	done
}

check_shaping()
{
	carries 100 201 "node1 to node5" bulk node1 node5
	carries 100 201 "node5 to node1" bulk node5 node1
	carries 210 420 "four hosts over one uplink" four_hosts
}

# Many connections that start at once fill a switch's queue, not their own.
check_losses()
{
	local n dropped pids=()
	expect "congestion control" "$(in_host node1 \
		cat /proc/sys/net/ipv4/tcp_congestion_control)" reno
	expect "slow start after a rest" "$(in_host node1 \
		cat /proc/sys/net/ipv4/tcp_slow_start_after_idle)" 0
	in_host node1 ip route show | grep -q 'rto_min lock 10ms' ||
		fail "the Internet's time-out"
	for n in $(seq 40); do
		bulk node1 node$((n % 3 + 2)) >/dev/null &
		pids+=($!)
	done
	wait "${pids[@]}" || fail "40 connections of one host"
	dropped=$(in_host node1 tc -s qdisc show dev eth0 |
		sed -n 's/.*dropped \([0-9]*\).*/\1/p')
	expect "dropped by its own host" "$dropped" 0
}

check_faults()
{
	"$lab" degrade node2 rate=20mbit || fail "degrade"
	carries 5 21 "from a degraded host" bulk node2 node5
	carries 5 21 "to a degraded host" bulk node5 node2
	"$lab" heal node2 && "$lab" degrade node2 rate-in=20mbit ||
		fail "degrade one way"
	carries 5 21 "to a host that receives slowly" bulk node5 node2
	carries 100 201 "from a host that receives slowly" bulk node2 node5
	"$lab" heal node2 && "$lab" degrade leaf1 rate-out=20mbit ||
		fail "degrade a leaf one way"
	carries 5 21 "out of a leaf" bulk node2 node5
	carries 100 201 "into a leaf that sends slowly" bulk node5 node2
	"$lab" heal leaf1
	"$lab" cut node3 || fail "cut"
	timeout 1 "$lab" exec node1 "$netload" ping node3 5000 1 2>/dev/null &&
		fail "a cut host answers"
	expect carrier "$(in_host node3 cat /sys/class/net/eth0/carrier)" 0
	"$lab" heal all || fail "heal"
	poll 10 in_host node1 "$netload" ping node3 5000 1 >/dev/null ||
		fail "a healed host does not answer"
	carries 100 201 "from a healed host" bulk node2 node5
}

# A second lab has the same names and addresses, and its own network.
check_second()
{
	"$lab" up --name "$COALMINE_LAB-b" --leaves 1 --hosts 2 >/dev/null ||
		fail "a second lab"
	"$lab" exec --name "$COALMINE_LAB-b" node1 "$netload" \
		ping node2 5000 1 2>/dev/null && fail "the labs are connected"
	"$lab" list | grep -q "^$COALMINE_LAB-b " || fail "list misses a lab"
	"$lab" down --name "$COALMINE_LAB-b" || fail "down"
	"$lab" list | grep -q "^$COALMINE_LAB-b " && fail "it is still listed"
	return 0
}

# In the foreground it ends with a signal to its command, whole and at once.
check_signals()
{
	local signal fd
	for signal in TERM INT KILL; do
		# A background job of a script ignores INT: bash gives it back.
		exec {fd}< <(exec python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$lab" up --foreground \
			--name "$COALMINE_LAB-s" --leaves 1 --hosts 2)
		read -r -t 60 <&"$fd" || fail "no lab to end by $signal"
		kill -$signal $!
		poll 5 eval '! "$lab" list | grep -q "^$COALMINE_LAB-s "' ||
			fail "a lab in the foreground outlives SIG$signal"
		exec {fd}<&-
	done
}

# All processes of a lab are children of its init: kill -9 of init ends them all.
check_nothing_left()
{
	local init left
	in_host node4 setsid sleep 98765 &
	poll 5 pgrep -f 'sleep 98765' >/dev/null || fail "the stray is missing"
	init=$("$lab" list | awk -v n="$COALMINE_LAB" '$1 == n { print $3 }')
	kill -KILL "$init"
	poll 5 eval '! pgrep -f "sleep 98765" >/dev/null' ||
		fail "a process outlives the lab"
	poll 5 nothing_left || fail "left: $left"
}

nothing_left()
{
	left=$(pgrep -f "coalmine-lab-init .* $COALMINE_LAB " ||
		grep coalmine-lab /proc/mounts || ls -d /run/coalmine-lab 2>/dev/null)
	[ -z "$left" ]
}

lab_up
say names; check_names
say exec; check_exec
serve_all
say shaping; check_shaping
say losses; check_losses
say faults; check_faults
say "two labs"; check_second
say signals; check_signals
say end; check_nothing_left
trap - EXIT
say passed
