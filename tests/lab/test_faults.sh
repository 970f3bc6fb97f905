#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_faults.sh FAULT... - kill something, or cut a host off, in the middle of
# a run. Soon (30 s on a quiet machine) the run has ended with a reason that
# names the node, or finished because nothing was lost; none of its processes
# still runs, its records exist exactly once, and the next run works: the one
# of the next fault, or a short one after the last. Faults pair_* have two
# collectors and a PostgreSQL with its replica, on separate hosts: there every
# run finishes, whichever collector is active.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
victim=node5    # never the head, which is node1

# A disconnected host ends its runs after this time: the default is 100 s, and
# by then it would rarely retry its collector.
before_start()
{
	in_host collector sed -i "s,^\[agent\],&\ngrace = 20s," \
		$(seq -f "$cluster/node%g/conf" "$nodes")
}

# FAULT: the action, the node to be named ("" if finished is right too), the
# repair before the next run.
fault_collector()
{
	cluster_signal KILL collector
	sleep 2
	cluster_start collector coalmined
	poll 10 cluster_collector_up || fail_with_log collector "no return"
	named=
}

fault_agent()
{
	cluster_signal KILL $victim
	named=$victim
}

fault_head_agent()
{
	cluster_signal KILL "$head"
	named=$head
}

# Open MPI's ranks of a host lose the server that connects them.
fault_server()
{
	kill_in $victim coalmine-pmix
	named="$victim( exited)?: coalmine-pmix ended with status 137"
}

fault_rank()
{
	kill_in $victim coalmine-probe
	named=$victim
}

fault_cut()
{
	"$lab" cut $victim
	named=$victim
}

mend_agent()
{
	cluster_start $victim coalmine-agent
}

mend_head_agent()
{
	cluster_start "$head" coalmine-agent
}

mend_cut()
{
	"$lab" heal $victim
}

# --- two collectors that share a database ------------------------------------

primary=node11
replica=node12
lease_s=3

pair_up()
{
	local host
	in_host collector coalctl pki issue $cluster/pki node9 --role collector \
		>/dev/null || fail "pki"
	in_host collector mkdir -p $cluster/node9/state
	in_host collector sed "s,$cluster/collector/,$cluster/node9/,
		s,pki/collector,pki/node9," $cluster/collector/conf |
		in_host node9 tee $cluster/node9/conf >/dev/null
	for host in collector node9; do
		in_host $host tee -a $cluster/$host/conf >/dev/null <<-END
		[http]
		socket = $cluster/$host/http.sock
		[store]
		url = postgresql://coalmine@$primary,$replica/coalmine
		lease = ${lease_s}s
		END
	done
	in_host collector sh -c 'sed -i "s/^\[agent\]/&\ncollector = \
collector:17700,node9:17700/" "$0"/node[1-8]/conf' $cluster
	server_make $primary
	server $replica pg_basebackup -R -h $primary -U admin -c fast ||
		fail "$replica: pg_basebackup"
	server_start $replica
	sql $primary "ALTER SYSTEM SET synchronous_standby_names = '*'" &&
		sql $primary "SELECT pg_reload_conf()" >/dev/null ||
		fail "no synchronous replica"
}

# The lab's commands use the active collector.
pair_asks()
{
	leader=collector
	ctl()
	{
		in_host $leader coalctl --url unix:$cluster/$leader/http.sock "$@"
	}
	ctl_api()
	{
		api $leader "$1"
	}
}

api() # HOST PATH
{
	in_host "$1" curl -sf --max-time 5 --unix-socket \
		$cluster/"$1"/http.sock "http://localhost/api/v1/$2"
}

leads() # HOST
{
	[ "$(api "$1" version 2>/dev/null | jq .active)" = true ]
}

one_leads()
{
	local host count=0
	for host in collector node9; do
		! leads $host || { leader=$host; count=$((count + 1)); }
	done
	[ $count = 1 ]
}

waits() # HOST
{
	[ "$(api "$1" version 2>/dev/null | jq .active)" = false ]
}

# The other collector starts a run.
follow()
{
	was=$leader
	[ $leader = node9 ] && leader=collector || leader=node9
	poll 30 leads $leader || fail_with_log $leader "$leader does not lead"
	named=
}

# Like its unit.
come_back() # HOST
{
	in_host "$1" sh -c 'kill -0 "$(cat "$0/pid")"' $cluster/"$1" \
		2>/dev/null || cluster_start "$1" coalmined
	poll 30 waits "$1" || fail_with_log "$1" "$1 does not wait"
	one_leads || fail "not one leads"
}

fault_pair_killed()
{
	cluster_signal KILL $leader
	follow
}

fault_pair_cut()
{
	"$lab" cut $leader
	follow
}

fault_pair_stopped()
{
	cluster_signal STOP $leader
	follow
	cluster_signal CONT "$was"
}

# Cut it off from the database only.
fault_pair_database()
{
	in_host $leader ip route add blackhole "$(in_host $leader getent hosts \
		$primary | cut -d" " -f1)" || fail "no route"
	follow
}

mend_pair_killed()
{
	come_back "$was"
}

mend_pair_stopped()
{
	come_back "$was"
}

mend_pair_cut()
{
	"$lab" heal "$was"
	come_back "$was"
}

mend_pair_database()
{
	in_host "$was" ip route flush type blackhole
	come_back "$was"
}

# Kill all processes of both at once; they restart in this order.
reboot() # HOST HOST
{
	cluster_signal KILL collector
	cluster_signal KILL node9
	sleep 2
	cluster_start "$1" coalmined
	sleep 1
	cluster_start "$2" coalmined
	poll 30 one_leads || fail "not one leads"
	named=
}

other()
{
	[ $leader = node9 ] && echo collector || echo node9
}

fault_pair_rebooted()
{
	reboot "$(other)" $leader
}

fault_pair_rebooted_active()
{
	reboot $leader "$(other)"
}

fault_pair_promoted()
{
	server_signal QUIT $primary
	sleep 2
	sql $replica "SELECT pg_promote()" >/dev/null || fail "not promoted"
	sleep $((lease_s + 1))
	poll 60 one_leads || fail "not one leads: $(cluster_log collector)"
	primary=$replica
	named=
}

# Check the records of all runs with counts of the database.
check_database()
{
	local odd
	odd=$(sql $primary "SELECT count(*) FROM (SELECT count(*) AS n,
		count(DISTINCT seq) AS d, max(seq) AS last FROM coalmine.record
		GROUP BY run_id) AS r WHERE n <> last OR d <> last" coalmine) ||
		fail "the database does not answer"
	[ "$odd" = 0 ] || fail "records of $odd runs are lost or there twice"
	say "$(sql $primary "SELECT count(*) || ' records of ' ||
		count(DISTINCT run_id) || ' runs, each once; terms: ' ||
		(SELECT term FROM coalmine.leader) FROM coalmine.record" coalmine)"
}

# --- one at a time ------------------------------------------------------------

kill_in() # HOST NAME
{
	local pids
	pids=$(pids_in "$1" "$2")
	[ -n "$pids" ] || fail "no $2 runs on $1"
	# shellcheck disable=SC2086
	in_host "$1" kill -KILL $pids
}

has_measured()
{
	run_is running && [ "$(run_get .records)" -ge 2 ]
}

check_verdict()
{
	if [ -z "$named" ] && run_is finished; then
		return
	fi
	[[ $1 != pair_* ]] || fail "$1: $(describe)"
	run_is 'failed|timed-out' || fail "$1: $(describe)"
	[ -z "$named" ] || [[ $(run_get .text) =~ $named([^0-9]|$) ]] ||
		fail "$1: does not name $named: $(describe)"
}

all_are_back() # FAULT
{
	poll 30 cluster_agents_up "$nodes" ||
		fail "$1: $(cluster_agents) agents came back"
}

try() # FAULT
{
	local at_s
	order long -o "campaign.mpi=$mpi"
	poll 20 has_measured || fail "$1: does not get going: $(describe)"
	head=$(run_get .head)
	[ "$head" != $victim ] || victim=node6
	"fault_$1"
	at_s=$SECONDS
	poll 30 run_ended || fail "$1: after 30 s: $(describe)"
	expect_nothing_runs 30
	say "$1, $mpi: after $((SECONDS - at_s)) s: $(describe)"
	check_verdict "$1"
	check_exactly_once
	! declare -F "mend_$1" >/dev/null || "mend_$1"
	all_are_back "$1"
}

is_pair=
[[ $* != *pair_* ]] || is_pair=yes
[ -z "$is_pair" ] || server_find
count=12
lab_up
if [ -n "$is_pair" ]; then
	before_start()
	{
		pair_up
		pair_asks
	}
	count=8
fi
cluster_up $count
if [ -n "$is_pair" ]; then
	cluster_start node9 coalmined
	poll 20 waits node9 || fail_with_log node9 "node9 does not wait"
fi
for fault in "$@"; do
	mpi=${fault%%:*}
	try "${fault#*:}"
done
order short --wait -o "campaign.mpi=$mpi"
expect_finished 5
check_exactly_once
[ -z "$is_pair" ] || check_database
say passed
