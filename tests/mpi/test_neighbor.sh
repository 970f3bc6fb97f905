#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_neighbor.sh MPI CASE - neighborhood collectives in turns with the MPI's
# own: both proven, the bytes of every turn counted, and the record has the
# ratio. tests/bench measures their speed.
. "$(dirname "$0")/lib.sh"
need "$1"
unset UCX_TLS UCX_NET_DEVICES

# good RANKS BASELINE WORD...
good() {
	local ranks=$1 baseline=$2
	shift 2
	engine "$ranks" run neighbor "$@" iterations=6 warmup=1 \
		--json "$work/records" || fail "$*: exit $?"
	complete "$*"
	[ "$(count '.probe=="neighbor" and .of=="whole" and .n==6 and
		.verified')" = 1 ] || fail "$*: record"
	[ "$(count ".probe==\"speedup\" and .of==\"neighbor\" and .n==6 and
		.baseline==\"$baseline\" and .value>0 and .seconds>0 and
		.baseline_seconds>0 and .interval.lo<=.value and
		.interval.hi>=.value and (.wire | length > 0 and
			all(.resent_bytes>=0))")" = 1 ] || fail "$*: speed-up"
	[ "$(count '.probe=="bad"')" = 0 ] || fail "$*: wrong data"
	grep -q "speed-up over $baseline: " "$work/out" || fail "$*: text"
}

# made NAME [--morton]: the path of a matrix that lab/make-matrix makes.
made() {
	"$COALMINE_SOURCE/lab/make-matrix" "$@" >"$work/$1.mtx" &&
		echo "$work/$1.mtx"
}

case_graphs() {
	good 8 MPI_Neighbor_allgather rsg=.5 bytes=10007 per_node=4
	good 8 MPI_Neighbor_allgather rsg=.5 bytes=1M order=dataflow unit=64
	good 8 MPI_Neighbor_allgather moore=2,1 per_node=2 bytes=5000
	good 6 MPI_Neighbor_allgather cart=3 per_node=3 topology=none bytes=99
	good 8 MPI_Neighbor_allgather rsg=.5 bytes=4095 threshold=4K
	printf '%s\n' '5 5' '5 0' '5 0' '5 1' '0 7' '1 7' '6 2' >"$work/graph"
	printf '%s\n' 0 1 2 3 4 1000003 70000 9 >"$work/sizes"
	good 8 MPI_Neighbor_allgatherv graph="$work/graph" \
		sizes="$work/sizes" per_node=4
	good 6 MPI_Neighbor_allgatherv columns=7 per_node=3 \
		matrix="$(made delaunay --morton)" order=dataflow
}

# Products: whole numbers from a generated matrix, others from a file, and a rank
# that sends no data.
product() { # ROWS NONZEROS COLUMNS WORD...
	local rows=$1 nonzeros=$2 columns=$3
	shift 3
	good "$@"
	[ "$(count ".probe==\"spmm\" and .rows==$rows and .n==6 and .verified and
		.nonzeros==$nonzeros and .columns==$columns and .value>0 and
		.steady_value>0 and .setup_s>0 and .baseline_setup_s>0")" = \
		1 ] || fail "$*: product"
}

case_products() {
	product 256 1018 9 6 MPI_Neighbor_allgatherv columns=9 per_node=3 \
		matrix="$(made debruijn)" order=dataflow
	product 384 1152 5 8 MPI_Neighbor_allgather columns=5 \
		matrix="$(made ccc)"
	printf '%s\n' '%%MatrixMarket matrix coordinate real general' \
		'9 9 5' '1 9 0.1' '1 8 0.7' '1 1 -3.3' '5 9 1e-3' '9 2 7.77' \
		>"$work/m"
	product 9 5 9 4 MPI_Neighbor_allgatherv matrix="$work/m" per_node=2
}

# Every rank a separate node: the wire then carries every transfer, and with
# MPI every edge.
case_wire() {
	good 8 MPI_Neighbor_allgather rsg=.5 bytes=1000 per_node=8
	[ "$(jq 'select(.probe=="neighbor") | .footprint_bytes' \
		"$work/records")" = "$(jq 'select(.probe=="speedup") |
		[.wire[] | select(.design=="leader") | .expected_out_bytes] |
		add' "$work/records")" ] || fail "leader bytes"
	[ "$(jq 'select(.probe=="speedup") | .edges * .bytes' \
		"$work/records")" = "$(jq 'select(.probe=="speedup") |
		[.wire[] | select(.design=="direct") | .expected_in_bytes] |
		add' "$work/records")" ] || fail "direct bytes"
}

# A campaign: every density with every size, and a product for every matrix.
case_campaigns() {
	printf '%s\n' '[neighbor]' 'rsg = 0.2' 'per_node = 4' '[measure]' \
		'vary = rsg 0.1 0.5' 'sizes = 1K,4K' 'iterations = 6' \
		>"$work/c.conf"
	engine 8 run "$work/c.conf" --json "$work/records" || fail "exit $?"
	complete densities
	[ "$(jq -c 'select(.probe=="speedup") | [.bytes, .edges,
		.byte_ratio_expected != null]' "$work/records" | sort)" = \
		'[1024,25,true]
[1024,4,true]
[4096,25,true]
[4096,4,true]' ] || fail "densities: $(jq -c 'select(.probe=="speedup") |
		[.bytes, .edges]' "$work/records")"
	printf '%s\n' '[neighbor]' "matrix = $(made ccc)" 'columns = 3' '[measure]' \
		"vary = matrix $(made ccc) $(made debruijn) $(made delaunay) \
$(made crack)" 'iterations = 6' \
		>"$work/c.conf"
	engine 4 run "$work/c.conf" --json "$work/records" || fail "exit $?"
	complete matrices
	[ "$(jq -c 'select(.probe=="spmm") | [.rows, .nonzeros, .verified]' \
		"$work/records" | tr '\n' ' ')" = "[384,1152,true] \
[256,1018,true] [1024,6112,true] [10240,60760,true] " ] || fail "matrices"
}

case_refusals() {
	local rc=0
	engine 4 run neighbor rsg=2 --json "$work/records" || rc=$?
	[ $rc = 3 ] || fail "rsg=2: exit $rc"
	grep -q 'neighbor.rsg = 2: expected' "$work/err" || fail "rsg=2: text"
	rc=0
	engine 4 run neighbor graph=/nonexistent \
		--json "$work/records" || rc=$?
	[ $rc = 3 ] || fail "no graph: exit $rc"
	[ "$(count '.value')" = 0 ] || fail "a number of nothing"
	rc=0
	engine 4 run neighbor rsg=.1 vary=rsg \
		--json "$work/records" || rc=$?
	[ $rc = 3 ] || fail "vary: exit $rc"
	grep -q 'measure.vary = rsg: expected' "$work/err" || fail "vary: text"
}

case_"$2"
