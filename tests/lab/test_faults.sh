#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_faults.sh FAULT... - kill something, or cut a host off, in the middle
# of a run. Soon (30 s on a quiet machine) the run has ended with a reason that
# names the node, or finished because nothing was lost; nothing of it still runs
# anywhere, its records are there exactly once, and the next run works: that is
# the next fault's, and a short one after the last.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
victim=node5    # never the head, which is node1

# FAULT: what is done, who must be named ("" when finished is right too), how
# it is mended before the next run.
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

fault_launcher()
{
	kill_in "$head" "$launchers"
	named=$head
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

lab_up
cluster_up 12
for fault in "$@"; do
	mpi=${fault%%:*}
	try "${fault#*:}"
done
order short --wait -o "campaign.mpi=$mpi"
expect_finished 5
check_exactly_once
say passed
