#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# trials.sh [NAME...]: faults of no other test, one after another, in clusters
# of several shapes, without manual action. A line for each has the named nodes
# and the time, wrongly named ones, and the time when all was cleared:
# TRIALS.md has the table. With names only these trials run. A trial passes if
# all broken parts were named, no other, and all was cleared after the repair;
# one in eight may fail.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# Time limits until a fault is named and until it is cleared, and the time for
# which it stays after it was named. A busy machine with few cores needs minutes
# for some rounds.
named_s=${TRIALS_NAMED_S:-400} stays_s=20 clear_s=${TRIALS_CLEAR_S:-400}
nft=${NFT:-nft}

# NAME, the cluster's shape, the nodes to be named (separated by commas; alarm:
# an event that names no node), the text, and the fault.
trials()
{
	cat <<-'END'
	from-start 2x4m node5 node degrade node5 rate=40mbit
	head 2x4m node1 node degrade node1 rate=30mbit
	quota 2x4m node6 quota quota 6
	send 3x3 node4 when.it.sends degrade node4 rate-out=30mbit
	mid-confirmation 3x3 node9,node2 node second_in_confirmation
	beside-a-job 3x3 node6 node job_and_fault
	loss 3x3 node5 lost drop 'iifname "p-node5" numgen random mod 200 < 1'
	one-way-path 3x3 alarm path drop 'ip saddr 10.78.1.3 ip daddr 10.78.3.1'
	twice 3x3 node8 node duplicate node8
	loss-udp 3x3 node6 lost drop 'oifname "p-node6" ip protocol udp numgen random mod 10 < 4'
	hole-to-leaf 3x3 alarm between.10.78.1.0/24.and.10.78.2.0/24 drop 'iifname "down-leaf1" oifname "down-leaf2" meta length > 1300'
	loss-of-leaf 3x3 10.78.2.0/24 lost drop 'iifname "down-leaf2" numgen random mod 20 < 1'
	two-nodes 3x3 node2,node8 node degrade_each rate=30mbit node2 node8
	leaf 4x3 10.78.3.0/24 leaf degrade_each rate=30mbit node7 node8 node9
	uplink-in 4x3 10.78.2.0/24 leaf degrade leaf2 rate-in=50mbit
	rail 2x4r2 node3 eth1 degrade node3.eth1 rate=30mbit
	one-leaf 1x5 node4 node degrade node4 rate=30mbit
	END
}

# --- faults ------------------------------------------------------------------

degrade()
{
	"$lab" degrade "$@"
}

degrade_each() # SETTING HOST...
{
	local host
	for host in "${@:2}"; do
		degrade "$host" "$1"
	done
}

# A command where the switches are.
in_switches()
{
	local pid
	pid=$("$lab" list | awk -v n="$COALMINE_LAB" '$1 == n { print $3 }')
	nsenter --target "$pid" --mount --net -- "$@"
}

# Make a switch drop a share of its packets.
drop() # RULE
{
	in_switches "$nft" -f - <<-END
	table bridge trial {
		chain pass {
			type filter hook forward priority 0;
			$1 drop
		}
	}
	END
}

# All packets to the host arrive twice.
duplicate() # HOST
{
	in_switches "$nft" -f - <<-END
	table netdev trial {
		chain twice {
			type filter hook egress device "p-$1" priority 0;
			dup to "p-$1"
		}
	}
	END
}

# Two healthy hosts exchange data at full rate.
job_and_fault()
{
	in_host node9 "$netload" serve 9000 &
	served=$!
	sleep 1
	in_host node1 "$netload" bulk node9 9000 3000 >/dev/null &
	bulk=$!
	degrade node6 rate=35mbit
}

second_in_confirmation()
{
	degrade node9 rate=30mbit
	poll 50 confirmation_runs || say "no confirmation run"
	degrade node2 rate=30mbit
}

confirmation_runs()
{
	ctl run list --json --campaign confirmation | jq -e '
		any(.[]; .state == "running")' >/dev/null
}

quota() # N
{
	group=$(cpu_group) || { say "no control group of cpu time"; return; }
	cpu_group_take "$1"
}

all_well()
{
	in_switches "$nft" flush ruleset
	"$lab" heal all
	[ -z "$bulk" ] || kill "$bulk"
	[ -z "$served" ] || in_host node9 kill $(pids_in node9 netload)
	[ -z "$group" ] || cpu_group_limit -1 max
	bulk= served=
} 2>/dev/null

# --- the cluster -------------------------------------------------------------

before_start()
{
	in_host collector sed -i 's/^every/enabled = no\n&/' \
		$cluster/campaigns/canary.conf
	in_host collector tee "$cluster/campaigns/watch.conf" >/dev/null <<-END
	[campaign]
	about = of the trials
	class = background
	mpi = $mpi
	nodes_min = 4
	deadline = 5m
	start_limit = 2m
	[schedule]
	every = 8s
	[canary]
	tests = lat,bw
	share = 1
	partners = match
	precision = 0.001
	time = 1s
	rounds_min = 5
	timeout = 10s
	stuck = 10s
	[congestor]
	mix = none
	[phases]
	visits = 1
	[mpi]
	rails = turns
	END
	in_host collector sh -c "cat >>$cluster/collector/conf" <<-END
	[verdict]
	votes = 3
	window = 5
	clean = 3
	second_pass_per_hour = 100
	[mesh]
	interval = 8s
	round = 200ms
	rate = 400
	target_rate = 200
	[links]
	interval = 2s
	END
}

# 3x4 is three leaves of four hosts; r2 two interfaces for ranks, m MPICH.
shape_up() # SHAPE
{
	local leaves=${1%%x*} hosts=${1#*x}
	mpi=openmpi rails=1 cluster_nics=
	case $hosts in
	*r2) rails=3 cluster_nics=eth1,eth2 ;;
	*m) mpi=mpich ;;
	esac
	hosts=${hosts//[rm]*/}
	COALMINE_LAB=trials-$$-$1
	lab_up --leaves "$leaves" --hosts "$hosts" --rails $rails \
		--rate 100mbit --uplink 200mbit
	bulk= served= group=
	cluster_up $((leaves * hosts))
}

# --- a trial -----------------------------------------------------------------

verdicts()
{
	ctl_api verdicts || echo '[]'
}

# All events since FROM, as JSON lines, oldest first.
said_since() # FROM
{
	ctl_api 'verdicts/history?limit=500' | jq -c --argjson from "$1" \
		'sort_by(.at_unix_ns) | .[] | select(.at_unix_ns >= $from * 1e9)'
}

alarms_since() # FROM
{
	ctl_api 'events?limit=500' | jq -r --argjson from "$1" '.[] |
		select(.kind == "alarm" and
			.at_unix_ns >= $from * 1e9) | .text'
}

is_named()
{
	if [ "$want" = alarm ]; then
		alarms_since "$from" | grep -q "$words"
	else
		verdicts | jq -e --arg want "$want" --arg words "$words" '
			[.[] | select((.text + .what) | test($words)) |
				.subject] as $is |
			$want | split(",") | all(IN($is[]))' >/dev/null
	fi
}

is_bad()
{
	[ "$want" = alarm ] || verdicts | jq -e --arg want "$want" '[.[] |
		select(.verdict == "bad" or .what == "host" or
			.what == "link-errors") | .subject] as $is |
		$want | split(",") | all(IN($is[]))' >/dev/null
}

all_clear()
{
	[ "$(verdicts)" = '[]' ]
}

# Wait until COMMAND is true, up to a limit; the time is in $took.
within() # SECONDS COMMAND...
{
	local since=$SECONDS
	until "${@:2}"; do
		if [ $((SECONDS - since)) -gt "$1" ]; then
			took=never
			return 1
		fi
		sleep 2
	done
	took=$((SECONDS - since))
}

trial() # NAME WANT WORDS COMMAND...
{
	local name=$1 want=$2 words=$3 from named bad cleared beside_it
	within "$clear_s" all_clear || echo "before $name: $(verdicts)"
	from=$(date +%s)
	"${@:4}"
	within "$named_s" is_named
	named=$took
	within "$named_s" is_bad
	bad=$took
	sleep $stays_s
	all_well
	within "$clear_s" all_clear
	cleared=$took
	beside_it=$(said_since "$from" | jq -r --arg want "$want" '
		select(.verdict != "ok" and
			(.subject as $s | $want | split(",") | index($s) |
				not)) | .subject' | sort | uniq -c | tr -s '\n ' ' ')
	echo "$name: want $want, named $named s, bad +$bad s," \
		"cleared $cleared s, innocents:${beside_it:- none}"
	said_since "$from" | jq -r --argjson from "$from" \
		'"    +\(.at_unix_ns / 1e9 - $from | round) s " +
			"\(.verdict) \(.subject): \(.text)"'
	alarms_since "$from" | sed 's/^/    alarm /'
	[ $named != never ] && [ $cleared != never ] && [ -z "$beside_it" ]
}

shape_trials() # SHAPE NAME...
{
	local shape=$1 row name of want words command failed=0
	shift
	shape_up "$shape"
	within 120 rounds_are 2 || fail "no rounds: $(ctl run list)"
	while read -r -u 9 name of want words command; do
		[ "$of" = "$shape" ] && [[ " $* " == *" $name "* ]] || continue
		eval "trial $name $want $words $command" || failed=$((failed + 1))
	done 9< <(trials)
	"$lab" down
	[ -z "$group" ] || rmdir "$group"
	return $failed
}

rounds_are() # COUNT
{
	[ "$(ctl run list --json --campaign watch --state finished |
		jq length)" -ge "$1" ]
}

command -v "$nft" >/dev/null || skip "no nft"
[ $# -gt 0 ] || set -- $(trials | cut -d ' ' -f 1)
count=$# failed=0
for shape in $(trials | cut -d ' ' -f 2 | uniq); do
	chosen=$(trials | awk -v s="$shape" -v n=" $* " '$2 == s &&
		index(n, " " $1 " ") { print $1 }')
	[ -n "$chosen" ] || continue
	# shellcheck disable=SC2086
	(shape_trials "$shape" $chosen)
	failed=$((failed + $?))
done
say "$((count - failed)) of $count right"
[ $((failed * 8)) -le "$count" ]
