#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# neighbor.sh - neighborhood collectives through leaders: are random graphs
# planned right, and in labs of 2 nodes with 8 ranks and 4 with 4, what is
# gained over the MPI's own, turn by turn, and what goes over the wire?
#
# COALMINE_BENCH_CASES (3000) random graphs, COALMINE_BENCH_TURNS (7) turns of
# each side, COALMINE_BENCH_SIZES (256K 1M 4M), COALMINE_BENCH_LABS (2x8 4x4),
# COALMINE_BENCH_RATES (200mbit 800mbit 3200mbit) for the sweep. Open MPI: an
# oversubscribed MPICH spins, and is no fair baseline.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lab/lib.sh
. "$here/../lab/lib.sh"

cases=${COALMINE_BENCH_CASES:-3000}
turns=${COALMINE_BENCH_TURNS:-7}
read -ra sizes <<<"${COALMINE_BENCH_SIZES:-256K 1M 4M}"
read -ra labs <<<"${COALMINE_BENCH_LABS:-2x8 4x4}"
read -ra rates <<<"${COALMINE_BENCH_RATES:-200mbit 800mbit 3200mbit}"
graphs=(rsg=0.05 rsg=0.2 rsg=0.4 rsg=0.6 "moore=2,1" "moore=3,1")
engine=$build_dir/probes/openmpi/coalmine-probe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v mpirun.openmpi >/dev/null || skip "no mpirun.openmpi"
[ -x "$engine" ] || skip "no engine for Open MPI"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
export OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_oob_tcp_if_include=eth0
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_plm_rsh_agent=$work/rsh

# Nodes reach each other as the lab lets anyone in.
rsh_make()
{
	cat >"$work/rsh" <<-END
	#!/bin/sh
	host=\$1
	shift
	exec "$lab" exec --name "$COALMINE_LAB" "\$host" sh -c "\$*"
	END
	chmod +x "$work/rsh"
}

# lab_of NODES RATE: a lab of its own, since lab_up ends with the script.
lab_of()
{
	"$lab" down >/dev/null 2>&1
	[ -z "${lab_fd-}" ] || exec {lab_fd}<&-
	lab_up --leaves 1 --hosts "$1" --rate "$2"
	trap '"$lab" down; rm -rf "$work"' EXIT
	rsh_make
}

# measure NODES RANKS WORD...: its speed-up record in $work/one.
measure()
{
	local nodes=$1 ranks=$2 hosts=
	shift 2
	for n in $(seq "$nodes"); do
		hosts+=${hosts:+,}node$n:$ranks
	done
	"$lab" exec node1 timeout 600 mpirun.openmpi --host "$hosts" \
		-n $((nodes * ranks)) "$engine" run neighbor "$@" \
		per_node="$ranks" topology=mi250 iterations="$turns" \
		warmup=1 --quiet --json "$work/records" >"$work/log" 2>&1 ||
		{ cat "$work/log" >&2; fail "$*"; }
	jq -c 'select(.probe == "speedup")' "$work/records" >"$work/one"
}

# Bytes beyond the list of transfers, as a share, worst of all nodes and both
# directions; and whether all are within 1.5 % and 64 kB.
wire='def share(a; b): if b > 0 then a / b - 1 else 0 end;
	def over(d): [.wire[] | select(.design == d) |
		share(.out_bytes; .expected_out_bytes),
		share(.in_bytes; .expected_in_bytes)] | max_by(fabs);
	def near: all(.wire[]; ((.out_bytes - .expected_out_bytes) | fabs) <=
			.expected_out_bytes * 0.015 + 65536 and
		((.in_bytes - .expected_in_bytes) | fabs) <=
			.expected_in_bytes * 0.015 + 65536);
	def pc: . * 10000 | round / 100;
	def cut: . * 100 | round / 100;'

row() # LAB GRAPH SIZE ORDER
{
	jq -r --arg lab "$1" --arg graph "$2" --arg size "$3" "$wire"'
		"| \($lab) | \($graph) | \($size) | \(.order) | " +
		"\(.baseline_seconds * 1e4 | round / 10) | " +
		"\(.seconds * 1e4 | round / 10) | \(.value | cut) " +
		"[\(.interval.lo // 0 | cut), \(.interval.hi // 0 | cut)] | " +
		"\(.load_bound | cut) | \(.value / .load_bound | cut) | " +
		"\(over("direct") | pc) | \(over("leader") | pc) | " +
		(if near then "yes" else "no" end) + " |"' "$work/one"
	cat "$work/one" >>"$work/all"
}

head_rows()
{
	echo "| lab | graph | message | order | MPI ms | leader ms |" \
		"speed-up | bound | share of bound | wire MPI % |" \
		"wire leader % | wire within |"
	echo "|---|---|---|---|---:|---:|---|---:|---:|---:|---:|---|"
}

COALMINE_CASES=$cases "$build_dir/tests/unit/plan/test_plan_neighbor" \
	>"$work/log" 2>&1 || { tail -20 "$work/log" >&2; fail "random graphs"; }
echo "$cases random graphs of 1 to 4 nodes with 1 to 8 devices, MI250 and"
echo "MI250X by turns, were proven, and each rank's own view is the plan's:"
echo "$(grep -o 'COALMINE_SEED=[0-9]*' "$work/log")."
echo
echo "Against MPI_Neighbor_allgather of Open MPI, links of 800 Mbit/s, $turns"
echo "turns of each; intervals are of the median of ratios. Wire: payload over"
echo "the list of transfers, the worst of all nodes, and whether all are"
echo "within 1.5 % + 64 kB of it."
echo
head_rows
: >"$work/all"
for shape in "${labs[@]}"; do
	lab_of "${shape%x*}" 800mbit
	for graph in "${graphs[@]}"; do
		for size in "${sizes[@]}"; do
			for order in phased dataflow; do
				measure "${shape%x*}" "${shape#*x}" "$graph" \
					bytes="$size" order=$order
				row "$shape" "$graph" "$size" $order
			done
		done
	done
done
echo
jq -rs "$wire"'
	[.[] | select(.load_bound > 1 and .bytes >= 1048576)] as $b |
	[.[] | select(.load_bound == 1)] as $one |
	"Messages of 1 MiB and more where leaders can gain: " +
	"\($b | map(select(.value >= 0.7 * .load_bound)) | length) of " +
	"\($b | length) reach 0.7 of the bound, the least " +
	"\($b | map(.value / .load_bound) | min | . // 0 | cut). Where they " +
	"cannot (density 0.05): \($one | map(.value) | min | . // 0 | cut) " +
	"to \($one | map(.value) | max | . // 0 | cut). Wire within bounds: " +
	"\(map(select(near)) | length) of \(length)."' "$work/all"
echo
echo "The same 2x8, rsg=0.6, 1M, at other rates:"
echo
head_rows
for rate in "${rates[@]}"; do
	lab_of 2 "$rate"
	for order in phased dataflow; do
		measure 2 8 rsg=0.6 bytes=1M order=$order
		row "2x8 $rate" rsg=0.6 1M $order
	done
done
