#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The shipped campaign of all eight collectives from order to picture, in one
# size: tuned, in turns with the MPI's own, with a measured bound and a
# prediction.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

names="broadcast reduce gather scatter allgather reduce-scatter allreduce"
names+=" alltoall"

collectives() # [options of coalctl campaign run]
{
	order collectives --wait -o campaign.ranks_per_node=1 \
		-o measure.sizes=64K -o measure.iterations=3 \
		-o measure.machine=lab "$@"
	expect_finished 5
}

check_records()
{
	# shellcheck disable=SC2086
	records | jq -e --args '
		[.[] | select(.probe == "speedup")] as $s |
		[.[] | select(.probe == "collective")] as $c |
		([$s[].collective] == $ARGS.positional) and
		($s | all(.bytes == 64 * 1024 * 12 and .throughput > 0 and
			.baseline_throughput > 0 and (.bound_exceeded > 0 or
			(.throughput / .bound / .bound_ratio - 1 | fabs) <
			1e-3))) and
		($c | length == 8 and all(.verified and .machine == "lab" and
			.predicted > 0 and .ratio > 0 and .model > 0)) and
		([.[] | select(.probe == "tuning")] | length == 8 and
			all(.why == "measured" and .machine == "lab")) and
		([.[] | select(.probe == "pairs")] | length == 2 and
			all(.nodes | length == 12 and all(.ratio > 0)))' \
		$names >/dev/null || fail "records of $run: $(records |
		jq -c '.[] | del(.hist, .samples)' | cut -c 1-600)"
}

check_shown()
{
	local impl metric name report scraped
	scraped=$(in_host collector curl -sf http://127.0.0.1:17701/metrics)
	report=$(ctl report "$run")
	for name in $names; do
		for impl in coalmine mpi; do
			for metric in throughput_bytes_per_second bound_ratio; do
				[ $metric = bound_ratio ] && records | jq -e \
					"any(.[]; .collective == \"$name\" and
						.bound_exceeded > 0)" >/dev/null &&
					continue
				metric+="{collective=\"$name\",impl=\"$impl\"}"
				grep -qF "coalmine_collective_$metric" \
					<<<"$scraped" ||
					fail "metrics lack $metric"
			done
		done
		grep -q "^$name .*iB/s.*iB/s.*iB/s.* %" <<<"$report" ||
			fail "report: $report"
	done
	ctl tuning "$run" | grep -c '^[*] ' | grep -qx 8 ||
		fail "choices: $(ctl tuning "$run")"
}

# Slower than the machine's description, with all partners, so it is named.
check_named()
{
	"$lab" degrade node5 rate=50mbit >/dev/null || fail "degrade"
	collectives -o measure.vary="name broadcast" -o measure.sizes=32K \
		-o collective.tune=no
	ctl verdict list --json | jq -e 'length == 1 and
		(.[0] | .subject == "node5" and .verdict == "warn" and
		.what == "prediction" and .ratio < 0.5 and .machine == "lab")' \
		>/dev/null || fail "verdicts: $(ctl verdict list --json)
$(records | jq -c '.[] | select(.probe == "pairs") | .nodes')"
	"$lab" heal node5 >/dev/null || fail "heal"
	collectives -o measure.vary="name broadcast" -o measure.sizes=32K \
		-o collective.tune=no
	ctl verdict list --json | jq -e 'length == 0' >/dev/null ||
		fail "not healed: $(ctl verdict list --json)"
}

lab_up
cluster_up 12
collectives
check_records
check_shown
check_named
expect_nothing_runs 15
say "done"
