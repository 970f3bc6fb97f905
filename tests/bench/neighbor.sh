#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# neighbor.sh - neighborhood collectives through leaders: prove the plans of
# random graphs, and in labs of 2 nodes with 8 ranks and 4 nodes with 4 ranks
# measure the gain over the MPI's own and the bytes on the wire.
#
# COALMINE_BENCH_CASES (3000) random graphs, COALMINE_BENCH_TURNS (5) turns of
# each side, COALMINE_BENCH_SIZES (256K 1M 4M), COALMINE_BENCH_LABS (2x8 4x4),
# COALMINE_BENCH_RATES (200mbit 800mbit 3200mbit) for the sweep. All of it
# takes ten minutes; with COALMINE_BENCH_KEEP, a folder, a restarted bench does
# not repeat earlier measurements. Open MPI only: an oversubscribed MPICH
# spins, and is not a fair baseline.
. "$COALMINE_SOURCE/tests/bench/lib/mpi.sh"

cases=${COALMINE_BENCH_CASES:-3000}
turns=${COALMINE_BENCH_TURNS:-5}
read -ra sizes <<<"${COALMINE_BENCH_SIZES:-256K 1M 4M}"
read -ra labs <<<"${COALMINE_BENCH_LABS:-2x8 4x4}"
read -ra rates <<<"${COALMINE_BENCH_RATES:-200mbit 800mbit 3200mbit}"
keep=${COALMINE_BENCH_KEEP:-$work/keep}
graphs=(rsg=0.05 rsg=0.2 rsg=0.4 rsg=0.6 "moore=2,1" "moore=3,1")
engine=$COALMINE_BUILD/probes/openmpi/coalmine-probe
mpi_btl=self,vader,tcp
lab_is=
mkdir -p "$keep"
command -v mpirun.openmpi >/dev/null ||
	{ echo "skipped: no mpirun.openmpi" >&2; exit 77; }

# lab_of NODES RATE: start this lab unless it is running.
lab_of()
{
	[ "$lab_is" != "$*" ] || return 0
	lab_is=$*
	mpi_lab --leaves 1 --hosts "$1" --rate "$2"
}

# measure NODESxRANKS RATE WORD...: its speed-up record in $one.
measure()
{
	local nodes=${1%x*} ranks=${1#*x} rate=$2 hosts=
	one=$keep/$(tr ' /' '__' <<<"$*")
	shift 2
	[ ! -s "$one" ] || return 0
	for n in $(seq "$nodes"); do
		hosts+=${hosts:+,}node$n:$ranks
	done
	lab_of "$nodes" "$rate"
	mpi_on "$hosts" 600 "$engine" run neighbor "$@" per_node="$ranks" \
		topology=mi250 iterations="$turns" warmup=1 --quiet \
		--json "$work/records" || exit 1
	jq -c 'select(.probe == "speedup")' "$work/records" >"$work/one"
	mv "$work/one" "$one"
}

# over: excess of the payload over the list of transfers, as a share, the worst
# of all nodes and directions, without retransmissions (again). near: all are
# within 1.5 % and 64 kB.
wire='def share(a; b): if b > 0 then a / b - 1 else 0 end;
	def over(d): [.wire[] | select(.design == d) |
		share(.out_bytes - .resent_bytes; .expected_out_bytes),
		share(.in_bytes; .expected_in_bytes)] | max_by(fabs);
	def again(d): [.wire[] | select(.design == d) |
		if .expected_out_bytes > 0 then
			.resent_bytes / .expected_out_bytes
		else 0 end] | max;
	def off(a; b): ((a - b) | fabs) <= b * 0.015 + 65536;
	def near: all(.wire[]; off(.out_bytes - .resent_bytes;
		.expected_out_bytes) and off(.in_bytes; .expected_in_bytes));
	def pc: . * 10000 | round / 100;
	def cut: . * 100 | round / 100;'

row() # LAB GRAPH SIZE
{
	jq -r --arg lab "$1" --arg graph "$2" --arg size "$3" "$wire"'
		"| \($lab) | \($graph) | \($size) | \(.order) | " +
		"\(.baseline_seconds * 1e4 | round / 10) | " +
		"\(.seconds * 1e4 | round / 10) | \(.value | cut) | " +
		"\(.load_bound | cut) | \(.value / .load_bound | cut) | " +
		"\(.byte_ratio | cut) | " +
		"\(.byte_ratio_expected // null | if . then cut else "" end)" +
		" | \(over("direct") | pc) | \(over("leader") | pc) | " +
		"\(again("direct") | pc) | \(again("leader") | pc) | " +
		(if near then "yes" else "no" end) + " |"' "$one"
}

head_rows()
{
	echo "| lab | graph | message | order | MPI ms | leader ms |" \
		"speed-up | bound | share of bound | bytes MPI / leader |" \
		"expected | wire MPI % | leader % | sent again MPI % |" \
		"leader % | within |"
	echo "|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|" \
		"---:|---:|---|"
}

random_graphs()
{
	[ ! -s "$keep/random" ] || return 0
	COALMINE_CASES=$cases \
		"$COALMINE_BUILD/tests/unit/probes/test_probes_neighbor" \
		>"$work/log" 2>&1 || { tail -20 "$work/log" >&2; exit 1; }
	grep -o 'COALMINE_SEED=[0-9]*' "$work/log" >"$keep/random"
}

speedups()
{
	for shape in "${labs[@]}"; do
		for graph in "${graphs[@]}"; do
			for size in "${sizes[@]}"; do
				for order in phased dataflow; do
					measure "$shape" 800mbit "$graph" \
						bytes="$size" order=$order
					row "$shape" "$graph" "$size"
					cat "$one" >>"$work/all"
				done
			done
		done
	done
}

sweep()
{
	for rate in "${rates[@]}"; do
		for order in phased dataflow; do
			measure 2x8 "$rate" rsg=0.6 bytes=1M order=$order
			row "2x8 $rate" rsg=0.6 1M
		done
	done
}

summary()
{
	jq -rs "$wire"'
		[.[] | select(.load_bound > 1 and .bytes >= 1048576)] as $b |
		[.[] | select(.load_bound == 1)] as $one |
		"Messages of at least 1 MiB on graphs where leaders can gain: " +
		"\($b | map(select(.value >= 0.7 * .load_bound)) | length) of " +
		"\($b | length) reach 0.7 of the bound, the minimum is " +
		"\($b | map(.value / .load_bound) | min | . // 0 | cut). " +
		"Speed-ups on graphs where they cannot gain (density 0.05): " +
		"\($one | map(.value) | min | . // 0 | cut) to " +
		"\($one | map(.value) | max | . // 0 | cut). Wire within " +
		"bounds: \(map(select(near)) | length) of \(length)."' \
		"$work/all"
}

random_graphs
: >"$work/all"
speedups >"$work/speedups"
sweep >"$work/sweep"
echo "The plans of $cases random graphs were proven, and the local view of each rank"
echo "agrees with its plan. The graphs have 1 to 4 nodes with 1 to 8 devices,"
echo "alternately MI250 and MI250X. $(cat "$keep/random")."
echo
echo "Comparison with MPI_Neighbor_allgather of Open MPI, links of 800 Mbit/s, the"
echo "median of $turns turns each. Bound: the speed-up that the busiest direction of a node"
echo "allows. Bytes between nodes: of the measured graph; expected: mean of random"
echo "graphs. Wire: excess of the payload over the list of transfers, the worst of all"
echo "nodes and directions, without TCP retransmissions after drops in a switch. These"
echo "are in the columns \"sent again\". Within: all nodes are within 1.5 % + 64 kB."
echo
head_rows
cat "$work/speedups"
echo
summary
echo
echo "2x8, rsg=0.6, 1M at several link rates:"
echo
head_rows
cat "$work/sweep"
