#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# collectives.sh - eight collectives on the default lab, as composed by
# tune=auto, alternating with Open MPI's own: the gain, the share of the bound
# of the links, and the accuracy of the prediction.
#
# COALMINE_BENCH_TURNS (5) turns of each side, COALMINE_BENCH_SIZES (4M 16M) of
# a rank's buffer, COALMINE_BENCH_RANKS (24 48), COALMINE_BENCH_LIMIT (900 s)
# for one of these.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/lib/mpi.sh
. "$here/lib/mpi.sh"

turns=${COALMINE_BENCH_TURNS:-5}
read -ra sizes <<<"${COALMINE_BENCH_SIZES:-4M 16M}"
read -ra ranks <<<"${COALMINE_BENCH_RANKS:-24 48}"
limit_s=${COALMINE_BENCH_LIMIT:-900}
engine=$COALMINE_BUILD/probes/openmpi/coalmine-probe
hosts=12 leaves=3
# Ranks of a node communicate through shared memory, the default of this MPI.
mpi_btl=tcp,self,vader
names="broadcast reduce gather scatter allgather reduce-scatter allreduce"
names+=" alltoall"

campaign() # COUNT
{
	cat <<-END
	[campaign]
	class = exclusive
	[collective]
	count = $1
	tune = auto
	[measure]
	machine = $root/etc/machines/lab.conf
	vary = name $names
	iterations = $turns
	warmup = 1
	END
}

# Bounds: the bytes of the busiest link, at 25 MB/s for a host and 50 for an
# uplink.
table='def cut: . * 100 | round / 100;
	def ms: . * 1e4 | round / 10;
	def others: ($hosts - 1) / $hosts;
	def far: ($hosts - $hosts / $leaves) / $hosts;
	def bound: .bytes / 25e6 * {
		broadcast: 1, reduce: 1, gather: others, scatter: others,
		allgather: others, "reduce-scatter": others,
		allreduce: (2 * others),
		alltoall: ([.ranks / $hosts * others,
			.ranks / $leaves * far / 2] | max)
		}[.collective];
	(map(select(.predicted != null)) | map({(.plan): .predicted}) | add)
		as $expected |
	map(select(.probe == "speedup" and .value != null) |
		.bound_s = bound | .share = .bound_s / .seconds |
		.expected_s = ($expected // {})[.plan])'

# Run one mpirun: print its rows, and append its speed-ups to $work/all.
measure() # RANKS SIZE
{
	local list="" n count
	for n in $(seq $hosts); do
		list+=${list:+,}node$n:$(($1 / hosts))
	done
	count=$(($(numfmt --from=iec "$2") / 4 / $1))
	campaign $count >"$work/campaign.conf"
	mpi_on "$list" "$limit_s" "$engine" run "$work/campaign.conf" --quiet \
		--json "$work/records" || { cat "$work/err" >&2; exit 1; }
	jq -s --argjson hosts $hosts --argjson leaves $leaves "$table" \
		"$work/records" >"$work/one"
	jq -r --arg size "$2" 'def cut: . * 100 | round / 100;
		def ms: . * 1e4 | round / 10;
		.[] | "| \(.collective) | \($size) | \(.ranks) | " +
		"\(.seconds | ms) | \(.baseline_seconds | ms) | " +
		"\(.value | cut) | \(.bound_s | ms) | " +
		"\(.share * 100 | round) | " + (if .expected_s == null then
		"- | - |" else "\(.expected_s | ms) | " +
		"\(.seconds / .expected_s | cut) |" end)' "$work/one"
	jq -c --arg size "$2" '.[] | .size = $size' "$work/one" >>"$work/all"
}

mpi_lab
echo "Lab: 3 leaves with 4 hosts each, 200 Mbit/s, uplinks 400 Mbit/s. Open MPI with"
echo "btl=$mpi_btl. $turns turns of each side alternate; values are medians. Ratio:"
echo "the median over turns of Open MPI's time divided by ours. Bound: the time of"
echo "the busiest link at its full rate, without headers. Share: bound over our time."
echo
echo "| collective | buffer | ranks | ours ms | Open MPI ms | ratio |" \
	"bound ms | share % | predicted ms | measured / predicted |"
echo "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
: >"$work/all"
for n in "${ranks[@]}"; do
	for size in "${sizes[@]}"; do
		measure "$n" "$size"
	done
done
echo
jq -rs 'def cut: . * 100 | round / 100;
	def median: sort | (.[length / 2 | floor] +
		.[(length - 1) / 2 | floor]) / 2;
	group_by([.ranks, .size])[] | "\(.[0].ranks) ranks, \(.[0].size): " +
	"geometric mean of ratios \(map(.value | log) | add / length | exp |
	cut), least \(map(.value) | min | cut); at least 60 % of the bound: " +
	"\(map(select(.share >= 0.6)) | length) of \(length); measured over " +
	"predicted, median \(map(.seconds / (.expected_s // .seconds)) |
	median | cut)."' "$work/all"
