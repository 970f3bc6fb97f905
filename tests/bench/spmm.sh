#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# spmm.sh - products of sparse and dense matrices with rows in blocks on 2 nodes
# with 8 ranks, links of 800 Mbit/s: blocks fetched through leaders compared
# with MPI_Neighbor_allgatherv. Every product is verified. Takes a minute.
#
# COALMINE_BENCH_TURNS (9) products of each side; 256 columns.
. "$COALMINE_SOURCE/tests/bench/lib/mpi.sh"

engine=$COALMINE_BUILD/probes/openmpi/coalmine-probe
mpi_btl=self,vader,tcp
command -v mpirun.openmpi >/dev/null ||
	{ echo "skipped: no mpirun.openmpi" >&2; exit 77; }

product() # MATRIX NUMBERING
{
	local curve=
	[ "$2" = drawn ] || curve=--morton
	"$COALMINE_SOURCE/lab/make-matrix" "$1" $curve >"$work/matrix.mtx" ||
		exit 1
	mpi_on node1:8,node2:8 120 "$engine" run neighbor \
		matrix="$work/matrix.mtx" columns=256 per_node=8 topology=mi250 \
		iterations="${COALMINE_BENCH_TURNS:-9}" warmup=1 --quiet \
		--json "$work/records" || exit 1
	jq -rs --arg matrix "$1" --arg numbering "$2" '
		def ms: . * 1e4 | round / 10;
		def cut: . * 100 | round / 100;
		(.[] | select(.probe == "speedup")) as $s |
		.[] | select(.probe == "spmm") |
		if .verified then . else error("not verified") end |
		"| \($matrix) | \($numbering) | \(.rows) | \(.nonzeros) | " +
		"\($s.bytes) | \($s.byte_ratio | cut) | " +
		"\($s.load_bound | cut) | \(.baseline_seconds | ms) | " +
		"\(.seconds | ms) | \(.steady_value | cut) | " +
		"\(.baseline_setup_s | ms) | \(.setup_s | ms) | " +
		"\(.value | cut) | \(.n) |"' "$work/records" || exit 1
}

mpi_lab --leaves 1 --hosts 2 --rate 800mbit
echo "Comparison with MPI_Neighbor_allgatherv of Open MPI, 2 nodes with 8 ranks each,"
echo "256 columns. Bytes: MPI's bytes between nodes over ours. Bound: of the busiest"
echo "direction. Speed-up: of one product, and of all n products with set-up."
echo
echo "| matrix | rows numbered | rows | nonzeros | largest message | bytes" \
	"MPI / leader | bound | MPI ms | leader ms | speed-up | set-up MPI ms" \
	"| leader ms | speed-up with set-up | n |"
echo "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
product ccc drawn
product debruijn drawn
product delaunay drawn
product delaunay morton
product crack drawn
product crack morton
