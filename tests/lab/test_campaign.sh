#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A congestion campaign from order to report, with both MPIs. With real root the
# agents have two processes (agent.user).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# One record per test and phase with the documented members, an impact for
# each test, and first and last lines.
check_records()
{
	records | jq -e '
		def has_all(k): . as $r | k | all(. as $n | $r | has($n));
		[.[] | select(.probe == "canary")] as $c |
		[.[] | select(.probe == "impact")] as $i |
		([$c[] | "\(.test) \(.phase)"] | unique) ==
			(["lat", "allreduce"] | map(. + " isolated",
				. + " congested") | sort) and
		($c | all(has_all(["run", "seq", "n", "mean", "min", "p50",
			"p90", "p99", "p999", "max", "interval", "hist",
			"nodes", "pairs", "stopped_by"]) and .n > 0 and
			.unit == "s" and .mean > 0)) and
		([$i[] | "\(.test) \(.of)"] | unique | length) == 4 and
		($i | all(.interval.lo <= .value and
			.value <= .interval.hi)) and
		.[0].probe == "begin" and .[-1].probe == "end" and
		.[-1].status == "ok"' >/dev/null ||
		fail "records of $run: $(records | cut -c 1-3000)"
}

# The canaries' traffic is on the emulated links, not in shared memory.
check_network_was_used()
{
	local lat_s
	lat_s=$(records | jq '[.[] | select(.probe == "canary" and
		.test == "lat" and .phase == "isolated")][0].p50')
	between "$lat_s" 5e-6 0.05 "isolated latency, s"
	ctl_api "runs/$run/counters" | jq -e 'length > 0' >/dev/null ||
		fail "no counters of $run"
}

check_metrics()
{
	local metric text
	text=$(in_host collector curl -sf http://127.0.0.1:17701/metrics) ||
		fail "no metrics"
	for metric in 'coalmine_agents{state="ok"} 12' \
		'coalmine_congestion_impact{' \
		'coalmine_canary_latency_seconds{' \
		'coalmine_runs_total{campaign="short",state="finished"}' \
		'coalmine_agent_up{node="node7"} 1'; do
		grep -qF "$metric" <<<"$text" || fail "metrics lack $metric"
	done
	in_host collector "$source_dir/tests/cli/prometheus/check.sh" \
		127.0.0.1:17701 coalmine_congestion_impact \
		coalmine_canary_latency_seconds coalmine_runs_total \
		coalmine_node_score || fail "Prometheus"
}

check_report()
{
	ctl report "$run" >/dev/null
	[ $? -le 2 ] || fail "report"
	ctl report "$run" --json | jq -e 'type == "array" and
		any(.[]; .probe == "impact")' >/dev/null || fail "report --json"
}

campaign() # MPI
{
	say "campaign with $1"
	order short --wait -o "campaign.mpi=$1"
	expect_finished 5
	[ "$(run_get .mpi)" = "$1" ] || fail "run $run is not of $1"
	check_exactly_once
	check_records
	check_network_was_used
	check_report
	expect_nothing_runs 15
}

# The process of an agent that reads the network has no rights.
check_separation()
{
	[ -n "$cluster_agent_user" ] || return 0
	in_host node1 sh -eu -c 'status=/proc/$(cat "$0/pid")/status
		[ "$(awk "/^Uid/ { print \$3 }" $status)" = "$(id -u "$1")" ]
		grep -q "^CapEff:\s0*$" $status' "$cluster/node1" \
		"$cluster_agent_user" || fail "node1: agent.user is not used"
	say "agents have the user $cluster_agent_user"
}

lab_up
[ -z "$(in_host collector bash -c "$(declare -f cluster_user)
	cluster_user")" ] || cluster_agent_user=daemon
cluster_up 12
check_separation
campaign openmpi
campaign mpich
check_metrics
say passed
