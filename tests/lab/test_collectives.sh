#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The shipped campaign of collectives from order to picture, cut short: ours
# beside the MPI's own, under a bound that was measured, against a prediction.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

collectives() # [options of coalctl campaign run]
{
	order collectives --wait -o campaign.ranks_per_node=1 \
		-o measure.vary="name broadcast allgather" \
		-o measure.sizes=96K -o measure.iterations=3 \
		-o measure.machine=lab "$@"
	expect_finished 5
}

check_records()
{
	records | jq -e '
		[.[] | select(.probe == "speedup")] as $s |
		[.[] | select(.probe == "collective")] as $c |
		([$s[].collective] == ["broadcast", "allgather"]) and
		($s | all(.bytes == 96 * 1024 * 12 and .throughput > 0 and
			.baseline_throughput > 0 and .bound > 5e6 and
			.bound < 30e6 and .bound_ratio > 0.01 and
			.bound_ratio < 2)) and
		($c | length == 2 and all(.machine == "lab" and .predicted > 0
			and .ratio > 0 and .model > 0)) and
		([.[] | select(.probe == "pairs")] | length == 2 and
			all(.nodes | length == 12 and all(.ratio > 0)))' \
		>/dev/null || fail "records of $run: $(records |
		jq -c '.[] | del(.hist, .samples)' | cut -c 1-600)"
}

check_shown()
{
	local metric text
	text=$(in_host collector curl -sf http://127.0.0.1:17701/metrics)
	for metric in 'throughput_bytes_per_second{collective="broadcast",impl="coalmine"}' \
		'throughput_bytes_per_second{collective="allgather",impl="mpi"}' \
		'bound_ratio{collective="broadcast",impl="coalmine"}'; do
		grep -qF "coalmine_collective_$metric" <<<"$text" ||
			fail "metrics lack $metric"
	done
	ctl report "$run" | grep -q '^allgather .*MiB/s.* %' ||
		fail "report: $(ctl report "$run")"
	ctl report "$run" --svg - | grep -q '>broadcast</text>' ||
		fail "no picture"
}

# Slower than its machine promises: with whomever it meets, so it is named.
check_named()
{
	"$lab" degrade node5 rate=50mbit >/dev/null || fail "degrade"
	collectives -o measure.vary="name broadcast" -o measure.sizes=32K
	ctl verdict list --json | jq -e 'length == 1 and
		(.[0] | .subject == "node5" and .verdict == "warn" and
		.what == "prediction" and .ratio < 0.5 and .machine == "lab")' \
		>/dev/null || fail "verdicts: $(ctl verdict list --json)
$(records | jq -c '.[] | select(.probe == "pairs") | .nodes')"
	"$lab" heal node5 >/dev/null || fail "heal"
	collectives -o measure.vary="name broadcast" -o measure.sizes=32K
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
