#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Campaigns of plans, through agents and collector, on hosts with two interfaces
# each, one for each rank. Then one interface has a tenth of its rate, and the
# responsible probes name it.
here=$(cd "$(dirname "$0")" && pwd)
# eth0 is for everything else, as in a cluster with a network for management.
cluster_nics=eth1,eth2
. "$here/lib.sh"

# Of two links of 100 Mbit/s; MB/s are 12.5 at most, and less for headers. A
# machine with other load may delay an agent.
before_start()
{
	in_host collector sh -c "cat >>$cluster/collector/conf" <<-END
	[collector]
	silence = 60s
	END
}

quick=(-o measure.time=400ms -o measure.sizes=)

campaign() # NAME [OVERRIDES]
{
	say "campaign $1"
	order "$1" --wait "${quick[@]}" "${@:2}"
	expect_finished 5
	check_exactly_once
	ctl report "$run" >"$report" || fail "report of $1: $(cat "$report")"
}

has() # JQ-CONDITION on one record
{
	records | jq -e "any(.[]; $1)" >/dev/null ||
		fail "no record with $1: $(records |
			jq -c '.[] | del(.hist, .samples)' | cut -c 1-1200)"
}

well()
{
	campaign group -o group.count=262144 -o group.direction=out
	has '.probe == "group" and .verified and (.rails | length) == 2 and
		.rails[1].nic == "eth2" and (.rails[1].nodes | length) == 2'
	campaign self -o self.bytes=1M
	has '.probe == "self" and .of == "whole" and (.nodes | length) == 2'
	campaign stripe -o stripe.bytes=1M
	has '.probe == "speedup" and .baseline == "direct" and
		.efficiency > 0 and (.rails | length) == 2'
	campaign binding -o binding.bytes=512K
	has '.probe == "fit" and .pattern == "rail" and
		(.profile | length) == 2'
}

metric() # TEXT
{
	in_host collector curl -sf http://127.0.0.1:17701/metrics |
		grep -qF "$1" || fail "no metric $1"
}

metrics()
{
	metric 'coalmine_group_bandwidth_bytes_per_second{pattern="rail",direction="out",k="2"}'
	metric 'coalmine_stripe_efficiency_ratio{via="ipc+mpi+ipc",g="2"}'
	metric 'coalmine_self_bandwidth_ratio{node="node2"}'
	metric 'coalmine_rail_bandwidth_ratio{node="node2",rail="1"}'
}

weak()
{
	"$lab" degrade node2.eth2 rate=10mbit
	campaign stripe -o stripe.bytes=1M
	has '.probe == "speedup" and .baseline == "direct" and
		.verdict == "warn" and (.text | test("^rail 1 \\(eth2\\) "))'
	in_host collector curl -sf http://127.0.0.1:17701/metrics | awk '
		/^coalmine_rail_bandwidth_ratio[{]node="node2",rail=/ { is[$1] = $2 }
		END {
			for (m in is)
				if (m ~ /rail="1"/ ? is[m] >= 0.3 : is[m] < 0.7)
					bad = bad " " m " " is[m]
			if (bad != "" || length(is) != 2) print "rails:" bad
			exit bad != "" || length(is) != 2 }' ||
		fail "metrics do not distinguish the slow rail from others"
	campaign binding -o binding.bytes=512K
	has '.probe == "fit" and .verdict == "warn" and
		(.text | test("rail 1 \\(eth2\\) between node1 and node2 "))
		and (.rails[0].weak | not) and .rails[1].weak and
		.rails[1].ratio < 0.3'
	grep -q "rail 1 (eth2) between node1 and node2 has 0" "$report" ||
		fail "not in the report: $(cat "$report")"
}

report=$(mktemp)
lab_up --leaves 1 --hosts 2 --rails 3 --rate 100mbit
trap '"$lab" down; rm -f "$report"' EXIT
cluster_up 2
well
metrics
weak
say passed
