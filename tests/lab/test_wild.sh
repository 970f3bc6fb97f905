#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_wild.sh - the effect of production load, measured without congestors:
# other traffic between two hosts raises the wild latencies above the values in
# a quiet network. When it ends the latencies fall again.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

rounds_each=3

before_start()
{
	local phase
	for phase in isolated wild; do
		in_host collector tee "$cluster/campaigns/$phase.conf" \
			>/dev/null <<-END
		[campaign]
		about = the network as it is
		class = background
		nodes_min = $nodes
		deadline = 10m
		start_limit = 5m
		[canary]
		tests = lat
		share = 1
		precision = 0.001
		time = 1500ms
		rounds_min = 8
		[congestor]
		mix = none
		[phases]
		quiet = $phase
		visits = 1
		END
	done
	in_host collector sh -c "cat >>$cluster/collector/conf" <<-END
	[mesh]
	enabled = no
	END
}

# Start this many runs; the last is in $run.
measure() # CAMPAIGN COUNT
{
	local n
	for n in $(seq "$2"); do
		order "$1"
		expect_finished 100
	done
}

# The median of the newest points of the series, as a plot shows it.
series_us()
{
	ctl_api "canaries?campaign=wild&test=lat&phase=wild&limit=$rounds_each" |
		jq '[.[].mean] | sort | .[length / 2 | floor] * 1e6 | round'
}

# node1 sends at the full rate of its link to node5, which is on the other leaf.
load_start()
{
	in_host node1 "$netload" bulk node5 9000 600 >/dev/null &
}

load_stop()
{
	in_host node1 kill $(pids_in node1 netload)
}

# Other load of this machine may change during the test, so one of four checks
# must pass. If the load is never detected, none does.
load_is_seen()
{
	local before during worse after
	measure wild $rounds_each
	before=$(series_us)
	load_start
	measure wild $rounds_each
	during=$(series_us)
	# Worse than quiet; the significance depends on this machine.
	worse=$(ctl baseline diff quiet "$run" --json | jq 'any(.[];
		.test == "lat" and .phase == "wild" and .ratio > 1)')
	load_stop || fail "the load is over already"
	measure wild $rounds_each
	after=$(series_us)
	say "mean latency, us: $before before, $during under load, $after after"
	[ "$worse" = true ] && [ "$during" -gt $((before * 3 / 2)) ] &&
		[ "$after" -lt $(((before + during) / 2)) ]
}

lab_up --leaves 2
cluster_up 8
in_host node5 "$netload" serve 9000 &
measure isolated 1
ctl baseline pin quiet "$run" >/dev/null || fail "cannot pin $run"
tries=0
until load_is_seen; do
	[ $((tries += 1)) -lt 4 ] || fail "the load is not seen, or stays"
done
ctl_api "canaries?campaign=wild&phase=wild" | jq -e \
	"length == 3 * $rounds_each * ($tries + 1)" >/dev/null ||
	fail "the series has gaps"
