#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# impact.sh - the congestion impact on the default lab: gpcnet-quick must detect
# congestion, give the same result with the same seed, and be quick. With
# congestors that do nothing it must detect no congestion.
#
# COALMINE_BENCH_REPEATS (5) runs with one seed, COALMINE_BENCH_NULLS (20) runs
# of the self-check.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lab/lib.sh
. "$here/../lab/lib.sh"

repeats=${COALMINE_BENCH_REPEATS:-5}
nulls=${COALMINE_BENCH_NULLS:-20}
seed=20

# One row of a run's records: its state and seconds, then value [lo, hi] of
# each wanted "test of".
impact_row() # TITLE
{
	records | jq -r --arg title "$1" --argjson spent "$spent_s" '
		[.[] | select(.probe == "impact")] as $i |
		def one(t; o): $i | map(select(.test == t and .of == o))[0] |
			if . == null or .value == null then "-" else
			"\(.value * 100 | round / 100) [\(.interval.lo * 100 |
			round / 100), \(.interval.hi * 100 | round / 100)]"
			end;
		def quiet(p): [.[] | select(.probe == "canary" and
			.test == "lat" and .phase == "isolated")][0] |
			.[p] * 1e6 | round;
		"| \($title) | \($spent) | \(quiet("mean")) | \(quiet("p99"))" +
		" | \(one("lat"; "mean")) | \(one("lat"; "p99"))" +
		" | \(one("bw-sync"; "mean")) | \(one("allreduce"; "p99")) |"'
}

head_rows()
{
	echo "| run | s | lat us | p99 us | lat mean | lat p99 |" \
		"bw-sync mean | allreduce p99 |"
	echo "|---|---:|---:|---:|---|---|---|---|"
}

one_run() # CAMPAIGN OPTIONS...
{
	local from_s=$SECONDS
	order "$@" --wait
	spent_s=$((SECONDS - from_s))
	run_is finished || { echo "$(describe)"; exit 1; }
}

impact_of() # TEST OF FIELD
{
	records | jq -r --arg t "$1" --arg o "$2" "[.[] | select(.probe ==
		\"impact\" and .test == \$t and .of == \$o)][0] | $3"
}

lab_up
cluster_up 12
set -e -o pipefail

echo "gpcnet-quick, Open MPI, 12 hosts, seed $seed. Impacts have their 95 % intervals."
echo
head_rows
p99=()
for k in $(seq "$repeats"); do
	one_run gpcnet-quick -o campaign.seed=$seed
	impact_row "$k"
	p99+=("$(impact_of lat p99 .value)")
done
printf '%s\n' "${p99[@]}" | sort -g | awk '
	{ x[NR] = $1 }
	END {
		m = x[int((NR + 1) / 2)]
		printf "\nThe p99 latency impacts are from %.0f %% below to " \
		    "%.0f %% above their median.\n", 100 * (1 - x[1] / m),
		    100 * (x[NR] / m - 1)
	}'

echo
echo "The same with congestors that do nothing: a different seed each, 2 s a test."
echo
head_rows
within=()
for k in $(seq "$nulls"); do
	one_run gpcnet-quick -o campaign.seed=$((seed + k)) \
		-o congestor.mix=idle -o canary.time=2s
	impact_row "$k"
	within+=("$(records | jq -r '.[] | select(.probe == "impact") |
		"\(.test) \(.of) \(.interval.lo <= 1 and
		.interval.hi >= 1)"')")
done
echo
echo "| impact | intervals that contain 1 |"
echo "|---|---:|"
printf '%s\n' "${within[@]}" | awk '
	{ n[$1 " " $2]++; ok[$1 " " $2] += $3 == "true" }
	END { for (k in n) printf "| %s | %d of %d |\n", k, ok[k], n[k] }' |
	sort

one_run gpcnet
echo
echo "gpcnet at its defaults took $spent_s s:"
echo
head_rows
impact_row gpcnet
