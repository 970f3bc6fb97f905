#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_probes.sh [whole] - shipped campaigns through collector and agents,
# shortened, since tests/bench measures their speed: neighborhood collectives
# on two nodes with four ranks each, in both designs with the right bytes,
# products, and the probes that neither campaign.sh nor rails.sh has. Metrics
# and report show the measurements. "whole": neighborhood collectives as
# shipped, with eight ranks on each node, and leaders gain where they can.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

short=(-o measure.iterations=6 -o neighbor.per_node=4
	-o campaign.ranks_per_node=4 -o campaign.nodes_max=2)
matrices=$build_dir/etc/matrices
made=(-o neighbor.matrix="$matrices/ccc.mtx"
	-o measure.vary="matrix $matrices/ccc.mtx $matrices/debruijn.mtx \
$matrices/delaunay.mtx")

# An application that agents may start.
before_start()
{
	in_host collector sh -eu -c 'printf "#!/bin/sh\nsleep 0.1\n" >"$0"
		chmod 755 "$0"
		for conf; do
			sed -i "s,^\[children\],&\nprograms = $0," "$conf"
		done' "$cluster/application" \
		$(seq -f "$cluster/node%g/conf" "$nodes")
}

# ordered CAMPAIGN [options of coalctl campaign run]
ordered()
{
	say "$1"
	order "$@" --wait
	expect_finished 5
	check_exactly_once
	records >/tmp/records-$$
}

expect_records() # TEXT JQ-CONDITION
{
	jq -e "$2" /tmp/records-$$ >/dev/null || fail "$1: $(jq -c '.[] |
		del(.hist, .samples, .notes)' /tmp/records-$$ |
		cut -c 1-800)"
}

# Bytes between the nodes, without control messages and retransmissions.
wire='def near(a; b): ((a - b) | fabs) <= b * 0.1 + 262144;
	def wire_fits: length == 4 and all(
		near(.out_bytes - .resent_bytes; .expected_out_bytes) and
		near(.in_bytes; .expected_in_bytes));'

check_random()
{
	expect_records "random graphs" "$wire"'
		[.[] | select(.probe == "speedup")] as $s |
		([$s[] | [.bytes, .edges]] | sort) == [[262144, 2],
			[262144, 30], [1048576, 2], [1048576, 30]] and
		($s | all(.value > 0 and .n == 6 and
			(.wire | wire_fits))) and
		([$s[] | select(.edges == 30)] | all(.byte_ratio == 2.25 and
			(.byte_ratio_expected | . > 2.46 and . < 2.47) and
			.load_bound == 2.5))'
}

check_stencils()
{
	expect_records "stencils" "$wire"'
		[.[] | select(.probe == "speedup")] | ([.[].byte_ratio] ==
			[2, 4]) and all(.value > 0 and .order == "dataflow" and
			(.wire | wire_fits))'
}

check_products() # COLUMNS
{
	expect_records "products" '
		[.[] | select(.probe == "spmm")] |
		([.[] | [.rows, .nonzeros]] == [[384, 1152], [256, 1018],
			[1024, 6112]]) and
		all(.verified and .value > 0 and .setup_s > 0 and
			.columns == '"$1"')'
}

check_sparse()
{
	expect_records "sparse" '
		([.[] | select(.probe == "speedup" and .of == "sparse" and
			.pattern == "halo8" and .value > 0)] | length) == 2 and
		any(.[]; .probe == "concurrent" and .verified)'
}

# Each path of a message, and all-reduces alternating with the composed one.
check_ways()
{
	expect_records "several ways" '
		any(.[]; .probe == "speedup" and .of == "multipath" and
			.value > 0 and (.ways | length) == 2) and
		([.[] | select(.probe == "speedup" and .of == "allreduce" and
			.value > 0)] | length) == 2'
}

check_collectives()
{
	expect_records "collectives" '
		([.[] | select(.probe == "collective" and .verified)] |
			length) == 8 and
		([.[] | select(.probe == "tuning" and .why == "measured")] |
			length) == 8 and
		([.[] | select(.probe == "speedup" and .value > 0 and
			(.bound_ratio > 0 or .bound_exceeded > 0))] |
			length) == 8 and
		any(.[]; .probe == "machine") and any(.[]; .probe == "pairs")'
}

check_application()
{
	expect_records "an application" '
		([.[] | select(.probe == "command" and .verdict == "ok" and
			.seconds >= 0.1)] | length) == 10 and
		any(.[]; .probe == "impact" and .test == "command" and
			.value > 0)'
}

check_shown()
{
	local text
	text=$(in_host collector curl -sf http://127.0.0.1:17701/metrics)
	grep -q '^coalmine_neighbor_speedup_ratio{order="phased".* [0-9]' \
		<<<"$text" || fail "no metric"
}

check_report() # PATTERN
{
	local text
	text=$(ctl report "$run")
	grep -q "$1" <<<"$text" || fail "report: $text"
}

cut_short()
{
	ordered neighbor-rsg "${short[@]}" -o measure.vary="rsg 0.05 0.6" \
		-o measure.sizes=256K,1M
	check_random
	check_shown
	check_report '^ *0.54 *1.0 MiB  phased'
	ordered neighbor-moore "${short[@]}" -o measure.sizes=64K \
		-o neighbor.order=dataflow
	check_stencils
	ordered spmm "${short[@]}" "${made[@]}" -o neighbor.columns=8
	check_products 8
	check_report '^1024 *6112'
	ordered sparse -o measure.time=300ms
	check_sparse
	ordered multipath -o campaign.nodes_max=2 -o multipath.bytes=4M \
		-o measure.device=host \
		-o allreduce.count=4096 -o collective.count=1024 \
		-o measure.time=300ms
	check_ways
	ordered collectives -o campaign.nodes_max=3 -o measure.sizes=16K \
		-o campaign.ranks_per_node=1 -o measure.iterations=3
	check_collectives
	ordered application -o canary.time=500ms -o command.repetitions=1 \
		-o command.interval=0s -o command.run="$cluster/application"
	check_application
}

# Half of the bound, because this machine may have other load.
check_gain() # RECORDS
{
	expect_records "gain" "$wire"'
		[.[] | select(.probe == "speedup")] |
		length == '"$1"' and all(.n == 9 and (.wire | wire_fits)) and
		all(select(.bytes >= 1048576 and .load_bound > 1) |
			.value > .load_bound / 2)'
}

whole()
{
	ordered neighbor-rsg
	check_gain 12
	check_report '^ *0.6[0-9]* *4.0 MiB  phased'
	ordered neighbor-moore
	check_gain 6
	check_shown
	ordered spmm "${made[@]}"
	check_products 256
	check_report '^1024 *6112'
}

hosts=6
[ "${1-}" != whole ] || hosts=2
lab_up --leaves 1 --hosts $hosts --rate 800mbit
trap '"$lab" down; rm -f /tmp/records-$$' EXIT
cluster_up $hosts
"${1:-cut_short}"
expect_nothing_runs 15
say "done"
