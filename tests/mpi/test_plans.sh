#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_plans.sh MPI CASE - plans that move real bytes under a real launcher.
. "$(dirname "$0")/lib.sh"
need "$1"
mpi=$1
# Through shared memory: over TCP this MPICH does not return from MPI_Finalize.
unset UCX_TLS UCX_NET_DEVICES
quick=(iterations=3 warmup=1)

# good RANKS WORD...: it runs, is proven, and its records are valid. Many
# values in one launch with vary: a start takes longer than the measurement.
good() {
	local ranks=$1
	shift
	engine "$ranks" run "$@" "${quick[@]}" --json "$work/records" ||
		fail "$*: exit $?"
	complete "$*"
	[ "$(count ".probe==\"$1\" and .of==\"whole\" and .n==3 and
		.verified and .min>0 and .min<=.median_middle and
		.median_middle<=.max and (.samples|length)==3")" = \
		"$(wholes "$@")" ] || fail "$*: record"
	[ "$(count '.probe=="bad"')" = 0 ] || fail "$*: wrong data"
}

# refused TEXT RANKS WORD...: exit 3, the reason on one line, no results.
refused() {
	local text=$1 ranks=$2 rc=0
	shift 2
	engine "$ranks" run "$@" --json "$work/records" || rc=$?
	[ $rc = 3 ] || fail "$*: exit $rc instead of 3"
	[ "$(grep -c -- "$text" "$work/err")" = 1 ] || fail "$*: no $text"
	[ ! -s "$work/out" ] || fail "$*: prints a result"
	[ "$(count '.min')" = 0 ] || fail "$*: a number of nothing"
	"$checker" "$work/records" failed || fail "$*: records"
}

# All patterns with a few numbers that divide badly.
case_patterns() {
	good 8 group pattern=rail n=2 g=4 k=3 count=50 \
		"vary=direction out in bi omni"
	good 8 group pattern=symmetric n=4 g=2 k=2 count=1003 type=int64 \
		"vary=direction out in bi omni"
	good 8 group pattern=asymmetric n=2 g=4 k=2 count=50 direction=bi
	good 8 stripe g=4 bytes=1000001
	good 8 stripe g=3 count=10
	good 8 self bytes=1M
	engine 4 run binding g=2 bytes=100001 "${quick[@]}" \
		--json "$work/records" || fail "binding: exit $?"
	complete binding
	[ "$(count '.probe=="binding" and .verified and .n==3')" = 6 ] ||
		fail "steps of a binding"
	[ "$(count '.probe=="fit" and .g==2')" = 2 ] || fail "fits of a binding"
	printf '0 1 2\n3 0 4\n5 6 7\n' >"$work/matrix"
	good 8 sparse file="$work/matrix"
	beside_alltoallv
	printf '0 1 100\n1 5 70000\n6 0 3\n' >"$work/list"
	good 8 sparse file="$work/list" g=4 stripes=3
	beside_alltoallv
	printf '[sparse]\nfile = %s\ng = 4\n[measure]\nvary = scope %s\n%s\n%s\n' \
		"$work/list" 'intra inter' 'concurrent = yes' 'iterations = 3' \
		>"$work/apart.conf"
	engine 8 run "$work/apart.conf" --json "$work/records" ||
		fail "intra and inter: exit $?"
	complete 'intra and inter'
	[ "$(count '.probe=="speedup" and .of=="sparse" and .value>0')" = 2 ] ||
		fail 'intra and inter: speed-ups'
	[ "$(count '.probe=="concurrent" and .verified and .n==3')" = 1 ] ||
		fail 'intra and inter: together'
}

# The previous pattern alternated with MPI_Alltoallv, which delivered the same
# data.
beside_alltoallv() {
	[ "$(count '.probe=="speedup" and .of=="sparse" and .n==3 and .value>0
		and .baseline=="MPI_Alltoallv" and .seconds>0 and
		.baseline_seconds>0 and .throughput>0 and
		((.bytes/.seconds/.throughput-1)|fabs)<1e-6 and
		.scope=="all" and .stripes>=0 and (.pattern|length)>0')" = 1 ] ||
		fail "no baseline of sparse"
}

# The previous collective alternated with the MPI's own.
baseline() { # NAME
	[ "$(count ".probe==\"speedup\" and .collective==\"$1\" and .n==3 and
		.value>0 and .seconds>0 and .baseline_seconds>0 and
		.throughput>0 and .baseline_throughput>0 and
		(.baseline|startswith(\"MPI_\"))")" = 1 ] ||
		fail "$1: no speed-up over the MPI's own"
}

# spoilt SPOIL FILTER: after one wrong byte there is one record of it that passes
# FILTER, no time, and exit 2.
spoilt() {
	local text rc=0
	COALMINE_SPOIL=$1 LD_PRELOAD=$spoiler engine 2 run group n=2 g=1 \
		type=byte count=5000 "${quick[@]}" --json "$work/records" ||
		rc=$?
	[ $rc = 2 ] || fail "spoilt $1: exit $rc instead of 2"
	"$checker" "$work/records" failed || fail "spoilt $1: records"
	[ "$(count '.probe=="bad"')" = 1 ] || fail "spoilt $1: not one record"
	[ "$(count ".probe==\"bad\" and .verdict==\"bad\" and $2")" = 1 ] ||
		fail "spoilt $1: another place: $(jq -c \
			'select(.probe=="bad")' "$work/records")"
	[ "$(count '.min')" = 0 ] || fail "spoilt $1: a number all the same"
	text=$(jq -r 'select(.probe=="bad")|.text' "$work/records")
	[ -n "$text" ] && grep -qF -- "$text" "$work/err" ||
		fail "spoilt $1: nothing said"
}

# Five runs of three iterations: proven, warmed up, timed; and one more after.
case_faults() {
	[ -z "$COALMINE_SANITIZE" ] || skip "a sanitizer has to be loaded first"
	spoiler=$COALMINE_BUILD/tests/mpi/libfake-spoil-$mpi.so
	local at='.of=="group" and .cause=="wrong-data" and .rank==1'
	spoilt '1 1 r 4321' "$at"' and .buffer=="recv" and .offset==4321 and
		.when=="before timing" and (.got-.want|fabs)==16'
	spoilt '1 5 r 0' "$at"' and .offset==0 and
		.when=="in the timed part"'
	spoilt '1 6 r 4999' "$at"' and .offset==4999 and
		.when=="after timing"'
	spoilt '1 1 r 5003' "$at"' and .buffer=="recv" and .offset==5003 and
		(.text|contains("3 bytes after the end of recv"))'
	spoilt '0 5 s 17' '.rank==0 and .buffer=="send" and .offset==17 and
		.when=="in the timed part"'
	LD_PRELOAD=$spoiler good 2 group n=2 g=1 type=byte count=777777
	[ "$(count '.of=="whole" and .above_memory==false')" = 1 ] ||
		fail "above a memory that is fast"
	COALMINE_SLOW=777777 LD_PRELOAD=$spoiler good 2 group n=2 g=1 \
		type=byte count=777777
	[ "$(count '.of=="whole" and .above_memory==true and
		.memory_bytes_per_s<2*777777/0.3 and
		.bandwidth.median_middle>1.1*.memory_bytes_per_s')" = 1 ] ||
		fail "not above a memory that is slow"
}

# started COUNT ORDER WORD...: what rank 0 starts first.
started() {
	COALMINE_STARTS=$1 LD_PRELOAD=$spoiler good 4 "${@:3}"
	grep -qx "starts: $2" "$work/err" ||
		fail "${*:3}: $(grep starts "$work/err") instead of $2"
}

# A message that MPI sends only after the receiver has agreed starts before
# receives: all at once, and where others wait for them.
case_order() {
	[ -z "$COALMINE_SANITIZE" ] || skip "a sanitizer has to be loaded first"
	spoiler=$COALMINE_BUILD/tests/mpi/libfake-spoil-$mpi.so
	local all=(collective name=alltoall)
	local ring=(collective name=allgather exchange=recursive)
	started 2 SS "${all[@]}" count=17000
	started 3 rrr "${all[@]}" count=16000
	started 8 SSSSSSSS pairs bytes=1000000
	started 2 Sr "${ring[@]}" count=17000
	started 2 rr "${ring[@]}" count=16000
}

# Every collective, with all options of a hierarchy.
case_collectives() {
	local how names="broadcast reduce gather scatter allgather"
	names+=" reduce-scatter allreduce alltoall"
	good 8 collective count=96 hierarchy=2,4 stripe=2 ring=2 depth=3 \
		root=5 "vary=name $names"
	for name in $names; do
		baseline $name
	done
	good 12 collective count=103 hierarchy=2,2,3 stripe=3 depth=2 lean=no \
		"vary=name $names"
	good 7 collective count=103 exchange=recursive root=4 \
		"vary=name ${names% *}"
	good 6 collective count=103 exchange=swing \
		"vary=name allgather reduce-scatter allreduce"
	good 6 collective count=103 exchange=bine root=4 \
		"vary=name ${names% *}"
	for how in "int64 prod" "float sum" "double max" "half sum" \
		"bfloat16 prod" "int32 land" "half lor" "bfloat16 min"; do
		# shellcheck disable=SC2086
		set -- $how
		good 8 collective name=allreduce count=1003 hierarchy=2,4 \
			type="$1" op="$2" depth=2
	done
}

# The rate between two nodes is measured first, and gives the bound of the
# following measurements.
case_bounds() {
	local words="hierarchy=auto depth=2 bounds=yes sizes=4K,16K"
	export COALMINE_FAKE_NODES=rank
	# shellcheck disable=SC2086
	engine 4 run collective name=gather $words "${quick[@]}" \
		--json "$work/records" || fail "bounds"
	complete bounds
	[ "$(count '.probe=="group" and .of=="whole" and .verified')" = 2 ] ||
		fail "groups"
	[ "$(count '.probe=="pairs" and (.nodes|length)==4 and
		([.nodes[]|.seconds>0 and has("partner")]|all)')" = 2 ] ||
		fail "pairs"
	[ "$(count '.probe=="collective" and ([.nodes[]|has("partner")]|
		any)')" = 0 ] || fail "a gather has partners"
	# Share of one node's bytes: 4/3 for 4 ranks on 4 nodes.
	jq -es '([.[]|select(.probe=="group" and
			(.plan|contains("direction=out")))][0]|.bytes/
			([.nodes[].seconds//empty]|max)) as $rate |
		[.[]|select(.probe=="speedup")] | length==2 and
		all((.bound//.bound_exceeded)/$rate/4*3-1|fabs<1e-3) and
		all(if .bound then (.throughput/.bound/.bound_ratio-1|
			fabs<1e-3) and .bound_ratio<=1 else has("bound_ratio")|not
			end) and
		all(.collective=="gather" and .baseline_impl=="mpi")' \
		"$work/records" >/dev/null || fail "bound"
	# Dealt in turns, two groups of ranks are not two nodes.
	# shellcheck disable=SC2086
	COALMINE_FAKE_NODES=2 engine 4 run collective name=gather $words \
		"${quick[@]}" --json "$work/records" || fail "dealt"
	[ "$(count '.bound')" = 0 ] || fail "a bound without a measurement"
}

# The best by prediction are measured, and the fastest is used, or a simpler one
# that is at most 5 % slower. It is used again without another measurement for
# sizes of the same class.
case_tuned() {
	local words="name=allreduce tune=auto table=$work/table" first
	local lab=$COALMINE_SOURCE/etc/machines/lab.conf
	# shellcheck disable=SC2086
	good 4 collective $words count=36000 machine="$lab"
	[ "$(count '.probe=="tuning" and .why=="measured" and
		([.tried[]|.seconds//empty]|length)>=4 and
		(.choice as $c|[.tried[]|select(.seconds)]|
		([.[]|select(.words==$c)|.seconds]|min)*0.95<=
			(map(.seconds)|min))')" = 1 ] || fail "tuning"
	jq -es '([.[]|select(.probe=="tuning")][0].choice|split(" ")) as $c |
		[.[]|select(.probe=="collective")][0].plan as $p |
		$c|all(. as $w|$p|contains($w))' "$work/records" >/dev/null ||
		fail "another shape than the choice"
	first=$(jq -c 'select(.probe=="tuning")|.choice' "$work/records")
	# shellcheck disable=SC2086
	good 4 collective $words count=36001 machine="$lab"
	[ "$(count ".probe==\"tuning\" and .why==\"remembered\" and
		.choice==$first")" = 1 ] || fail "not remembered"
	# shellcheck disable=SC2086
	good 4 collective $words count=90 machine="$lab"
	[ "$(count '.probe=="tuning" and .why=="measured"')" = 1 ] ||
		fail "another class is not measured"
	[ "$(wc -l <"$work/table")" = 2 ] || fail "table"
	# Long messages, since they are not cut by depth.
	good 4 collective name=allreduce tune=auto count=36000 depth=1 \
		machine="$lab"
	[ "$(count '.probe=="tuning" and any(.tried[];
		(.words|endswith(" piece=60K")) and .seconds>0)')" = 1 ] ||
		fail "pieces are not tried"
	echo '{"probe":"tuning"}' >>"$work/table"
	# shellcheck disable=SC2086
	refused 'table:3: run is missing' 4 collective $words machine="$lab"
}

# Without a machine its rates are measured, once for all collectives.
case_measured() {
	local nodes
	cat >"$work/p.conf" <<-END
	[collective]
	tune = auto
	[measure]
	vary = name broadcast allgather
	sizes = 4K,40K
	iterations = 3
	END
	for nodes in 1 rank; do
		COALMINE_FAKE_NODES=$nodes engine 4 run "$work/p.conf" \
			--json "$work/records" || fail "measured: exit $?"
		complete measured
		[ "$(count '.probe=="machine" and .ranks==4 and has("step_s") and
			.memory_bytes_per_s>0 and
			([.ways[]|select(.via=="mpi" and .seconds>0 and
			.one_bytes_per_s>0 and .all_bytes_per_s>0)]|
			length)==1')" = 1 ] || fail "machine"
		[ "$(count '.probe=="collective" and
			.machine=="this machine" and .predicted>0 and
			.ratio>0')" = 4 ] || fail "predictions"
		[ "$(count '.probe=="tuning" and .why=="measured" and
			.machine=="this machine"')" = 4 ] || fail "tunings"
	done
	[ "$(count '.probe=="machine" and .ranks_per_node==1 and .nodes==4 and
		all(.ways[]; .between_nodes and .via!="ipc")')" = 1 ] ||
		fail "ways between nodes"
	grep -q '^this machine as measured: 4 ranks on 4 nodes, .*/s and ' \
		"$work/out" || fail "not told"
}

# Messages that are cut, as those longer than an int are.
case_pieces() {
	good 8 stripe g=4 bytes=1000001 piece=1000
	good 8 group n=2 g=4 k=4 count=100000 direction=omni \
		pattern=symmetric piece=4K
	refused 'group.piece = 2G: ' 8 group n=2 g=4 piece=2G
	refused 'too many messages' 2 self bytes=4G piece=1
	export COALMINE_FAKE_NODES=1
	good 8 stripe g=4 bytes=1000001 piece=1000 via=rma
	refused 'rma: too many messages (4294967296)' 2 self bytes=2G piece=1 via=rma
}

# large GIB VIA: one message of GIB and five bytes, a size beyond int and, at 4
# GiB, beyond 32 bits. Five bytes alone would be fast, with another sum.
large() {
	local bytes=$((($1 << 30) + 5)) nodes=2 across free
	free=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
	[ "$free" -ge $((3 * $1)) ] ||
		skip "$free GiB of memory are free, not $((3 * $1))"
	[[ $2 != ipc* ]] || nodes=1
	across=$((bytes * (nodes - 1)))
	COALMINE_FAKE_NODES=$nodes OMPI_MCA_btl=vader,self \
		limit_s=$((180 * $1)) engine 2 run group n=2 g=1 k=1 \
		type=byte count=$bytes via="$2" iterations=1 warmup=0 \
		--json "$work/records" || fail "$1 GiB by $2: exit $?"
	complete "$1 GiB by $2"
	[ "$(count ".probe==\"group\" and .of==\"whole\" and .verified and
		.bytes==$bytes and .footprint_bytes==$bytes and .messages==1 and
		([.nodes[].sent_bytes]|add)==$across and
		([.nodes[].received_bytes]|add)==$across and
		(.bandwidth.median_middle*.median_middle/$bytes-1|fabs)<
		1e-6")" = 1 ] || fail "$1 GiB by $2: record"
}

# Above 2 GB with real data; "huge" has the other transports.
case_large() {
	large 2 mpi
}

case_huge() {
	for via in mpi rma ipc-put ipc-get; do
		large 4 $via
	done
}

# Other transports than messages, and several in one plan. With one node ipc is
# possible; with a node for each rank it is not.
case_transports() {
	export COALMINE_FAKE_NODES=1
	good 8 stripe g=4 bytes=300001 \
		"vary=via ipc ipc-put ipc-get rma ipc,mpi,ipc-get rma,ipc,mpi"
	good 8 group pattern=symmetric direction=omni n=2 g=4 k=4 count=50003 \
		"vary=via ipc rma"
	good 8 self bytes=1M "vary=via ipc rma"
	[ "$(count '.probe=="self" and (.rails|length)==0 and
		(.nodes|length)==1 and .nodes[0].slowest==3')" = 2 ] ||
		fail "nodes of self"
	COALMINE_FAKE_NODES=2 good 8 group n=2 g=1 count=100 \
		machine="$COALMINE_SOURCE/etc/machines/lab.conf"
	[ "$(count '.groups==2 and .node_bandwidth>0 and .rated>2e7 and
		((.bytes/.median_middle/.node_bandwidth-1)|fabs)<1e-6 and
		((.node_bandwidth/.rated/.rated_ratio-1)|fabs)<1e-6')" = 1 ] ||
		fail "each way through a node"
	[ "$(count '(.nodes|length)==2 and .rails[0].sent_bytes==400 and
		.nodes[0].sent_bytes==400 and .nodes[1].received_bytes==400 and
		([.nodes[].slowest]|add)==3')" = 1 ] || fail "nodes and rails"
	good 8 collective name=allreduce count=1003 hierarchy=2,4 stripe=2 \
		depth=4 via=mpi,ipc
	good 12 collective name=reduce-scatter count=507 hierarchy=2,2,3 \
		depth=3 type=float via=rma,ipc-get,ipc-put
	export COALMINE_FAKE_NODES=rank
	refused 'on different nodes' 8 stripe g=4 bytes=1M via=ipc
	good 2 self bytes=1M via=ipc
}

# The shipped files, with few turns, to check that they run.
shipped() { # NAME RANKS NODES [OVERRIDES]
	COALMINE_FAKE_NODES=$3 engine "$2" run \
		"$COALMINE_SOURCE/etc/campaigns/$1.conf" -o measure.iterations=3 \
		"${@:4}" --json "$work/records" || fail "$1: exit $?"
	complete "$1"
}

case_shipped() {
	shipped collectives 4 rank -o measure.sizes=1K,16K
	[ "$(count '.probe=="collective" and .verified and .predicted>0')" = \
		16 ] || fail "collectives"
	[ "$(count '.probe=="tuning" and .why=="measured"')" = 16 ] ||
		fail "collectives are not tuned"
	[ "$(count '.probe=="speedup" and .value>0 and
		((.bound>0 and .bound_ratio>0 and .bound_ratio<=1) or
		.bound_exceeded>0)')" = 16 ] || fail "collectives and MPI"
	shipped sparse 8 4
	[ "$(count '.probe=="speedup" and .of=="sparse" and .value>0 and
		.pattern=="halo8"')" = 2 ] || fail "sparse"
	shipped scaling 8 4
	[ "$(jq -sc '[.[]|select(.probe=="group" and .of=="whole").groups]|
		unique' "$work/records")" = '[2,3,4]' ] || fail "scaling"
	shipped multipath 4 1 -o multipath.bytes=4M -o measure.device=host
	[ "$(count '.probe=="speedup" and .of=="allreduce" and .value>0')" = 2 ] ||
		fail "all-reduces: $(jq -c 'select(.probe=="speedup")' \
			"$work/records")"
}

# A campaign of several, each with a sweep, its steps, and all at once; and
# with canaries.
case_campaign() {
	cat >"$work/p.conf" <<-END
	[stripe]
	g = 4
	[group]
	n = 2
	g = 4
	k = 2
	[measure]
	sizes = 4,100K
	steps = yes
	concurrent = yes
	iterations = 2
	machine = $COALMINE_SOURCE/etc/machines/lab.conf
	END
	engine 8 run "$work/p.conf" --json "$work/records" || fail "campaign"
	complete campaign
	[ "$(count '.probe=="group" and .of=="whole"')" = 2 ] || fail "groups"
	[ "$(count '.probe=="stripe" and .of=="whole"')" = 2 ] ||
		fail "stripes"
	[ "$(count '.of=="whole" and .machine=="lab" and .predicted>0 and
		((.ratio*.median_middle/.predicted-1)|fabs)<1e-6')" = 4 ] ||
		fail "predictions"
	[ "$(count '.probe=="stripe" and .of=="step" and .step==1')" = 2 ] ||
		fail "steps"
	[ "$(count '.probe=="concurrent" and .n==2')" = 1 ] ||
		fail "concurrent"
	[ "$(count '.probe=="canary"')" = 0 ] || fail "canaries unasked"
	[ "$(count '.bytes==102400 and .of=="whole"')" -ge 1 ] || fail "sizes"
	# Ranks of a node share their NIC: no rail is accused.
	COALMINE_FAKE_NODES=3 engine 8 run stripe g=4 bytes=100K \
		"${quick[@]}" --json "$work/records" || fail "shared NICs"
	[ "$(count '.probe=="speedup" and .baseline=="direct" and
		.verdict=="unknown" and (.text|test("rails not compared")) and
		(.rails|length)>1 and
		([.rails[]|.ratio,.nodes[]]|unique)==[null]')" = 1 ] ||
		fail "rails: $(jq -c 'select(.probe=="speedup")' \
			"$work/records")"
	engine 8 measure self bytes=4 iterations=100 --json "$work/records" ||
		fail "latency"
	[ "$(count '.probe=="self" and .n==100 and .max<1')" = 1 ] ||
		fail "latency record"
	engine 8 measure self bytes=4M iterations=20 --json "$work/records" ||
		fail "cores"
	[ "$(count '.probe=="self" and (.nodes[0].wait_ratio |
		type=="number" and .>=0 and .<1)')" = 1 ] ||
		fail "cores: $(jq -c .nodes "$work/records")"
	cat >>"$work/p.conf" <<-END
	[canary]
	tests = lat
	time = 200ms
	[congestor]
	mix = none
	END
	engine 8 run "$work/p.conf" --json "$work/records" || fail "both"
	complete both
	[ "$(count '.probe=="canary"')" = 1 ] || fail "no canary"
	[ "$(count '.probe=="concurrent"')" = 1 ] || fail "no plans"
}

# One message over several paths: a record for each size, its bytes compared,
# and the learnt shares are stored.
case_ways() {
	export COALMINE_FAKE_NODES=1
	local ways=(multipath tune=yes bytes=4M table="$work/table")

	good 4 multipath bytes=1000003 share=.3,.2 relays=1 chunks=5 via=ipc
	good 2 multipath bytes=64K share=1 chunks=3 streams=1
	good 4 allreduce form=flat count=50003 via=ipc
	good 5 allreduce form=hierarchical count=50003 in_place=yes
	good 7 allreduce per_node=4 count=1003 type=double
	engine 2 run "${ways[@]}" --json "$work/records" || fail "ways: exit $?"
	complete "ways"
	[ "$(count '.probe=="speedup" and .of=="multipath" and .value>0 and
		(.ways|length)==2')" = 4 ] || fail "ways: records"
	grep -q '"format": "coalmine-tuning"' "$work/table" ||
		fail "no table of the tuner"
	engine 1 run "${ways[@]}" frozen=yes --json "$work/records" ||
		fail "frozen: exit $?"
	[ "$(count '.choice=="frozen"')" = 4 ] || fail "not frozen"
	rm "$work/table"
	engine 2 run multipath tune=yes bytes=4M relays=1 \
		--json "$work/records" || fail "tuned streams: exit $?"
	[ "$(count '.probe=="speedup" and .pair_class=="host" and
		(.ways|length)==3')" = 4 ] || fail "tuned streams: records"
	echo '{"format":"coalmine-tuning","version":1,"machine":"x","pairs":[]}' \
		>"$work/table"
	refused 'measured on machine x, but this machine is host' 1 "${ways[@]}"
	refused 'multipath.bytes = 2G' 1 multipath tune=yes bytes=2G
	COALMINE_PLUGIN_DIR=/nonexistent refused 'measure.device = hip: ' 1 \
		multipath tune=yes device=hip
}

# Both forms of the all-reduce for devices, and the composed one with the same
# number of bytes, each alternating with the MPI's own. With idle ranks there is
# no such baseline.
case_allreduce() {
	export COALMINE_FAKE_NODES=1
	cat >"$work/p.conf" <<-END
	[allreduce]
	count = 5004
	type = float
	multipath = none
	[collective]
	name = allreduce
	count = 1251
	type = float
	[measure]
	iterations = 3
	vary = allreduce.form flat hierarchical
	END
	engine 4 run "$work/p.conf" --json "$work/records" ||
		fail "allreduce: exit $?"
	complete "allreduce"
	for form in flat hierarchical; do
		[ "$(count ".probe==\"speedup\" and .of==\"allreduce\" and
			(.plan|contains(\"form=$form\")) and .value>0 and
			.baseline==\"MPI_Allreduce\" and .n==3 and
			.bytes==20016")" = 1 ] || fail "$form and MPI"
	done
	[ "$(count '.probe=="speedup" and .of=="collective" and .value>0 and
		.bytes==20016')" = 1 ] || fail "composed and MPI"
	good 4 allreduce count=70003 ranks=3
	[ "$(count '.probe=="speedup" and .value==null and
		(.text|contains("leaves some idle"))')" = 1 ] ||
		fail "a baseline of other ranks"
	good 4 allreduce in_place=yes machine=mist
	[ "$(count '.probe=="allreduce" and (.remark|startswith(
		"hierarchical: d0 and d2 of mist have no direct link"))')" = 1 ] ||
		fail "why this form"
	[ "$(count '.probe=="speedup"')" = 0 ] || fail "in place"
	refused 'unknown probe nosuch' 4 allreduce "vary=nosuch.form flat"
}

# Invalid plans are rejected with one line that names the error, and not measured.
case_refusals() {
	refused 'group.n = 3' 8 group n=3 g=4 k=1
	refused 'group.k = 5: ' 2 group n=2 g=1 k=5
	refused 'group.n = 1: ' 2 group n=1 g=1 k=1
	refused 'group.count = -3' 2 group n=2 g=1 count=-3
	refused 'direction = omni' 2 group n=2 g=1 pattern=asymmetric \
		direction=omni
	refused 'group.via = tcp' 2 group n=2 g=1 via=tcp
	refused 'sparse.file' 2 sparse file=/nonexistent
	refused 'unknown key odd' 2 group odd=1
	refused 'expected at most 90 %' 2 self bytes=1000G
	refused 'measure.iterations = 0: expected' 2 self bytes=8 iterations=0
	# The last of many is wrong: none is measured.
	printf '[group]\n[stripe]\ng = 9\n[measure]\nsizes = 4K,8K\n' \
		>"$work/late.conf"
	refused 'late.conf:3: stripe.g = 9: expected' 2 "$work/late.conf" \
		-o measure.sizes=4K
	refused 'measure.vary: group.n = 3: expected' 2 group g=1 "vary=n 2 3"
	refused 'group.via = tcp' 2 "$work/late.conf" -o stripe.g=1 \
		-o group.via=tcp
	# Pipes without a writer, and devices without an end.
	mkfifo "$work/pipe"
	refused "$work/pipe: expected a regular file" 2 "$work/pipe"
	refused "/dev/zero: expected a regular file" 2 /dev/zero
	refused "$work/pipe: expected a regular file" 2 self bytes=8 \
		machine="$work/pipe"
	refused "$work/pipe: expected a regular file" 2 collective \
		name=allreduce tune=auto machine=lab table="$work/pipe"
	refused "$work/pipe: expected a regular file" 2 multipath \
		tune=yes bytes=4M table="$work/pipe"
	echo "no plugin" >"$work/coalmine-device-hip.so"
	COALMINE_PLUGIN_DIR=$work refused 'coalmine-device-hip.so: ' 2 self \
		device=hip
}

# Without MPI_Init ranks may end before MPICH's launcher has written to them
# all, which kills it by SIGPIPE, once in some hundred times on a busy machine.
without_mpi() { # VERB...
	local rc=141
	for _ in 1 2 3 4 5; do
		[ $rc = 141 ] || break
		timeout 300 $launcher -n 4 "$engine" "$@" >"$work/out" \
			2>"$work/err" </dev/null
		rc=$?
	done
	[ $rc = 0 ] || fail "$1: exit $rc: $(cat "$work/err")"
	[ "$(wc -l <"$work/out")" = 1 ] || fail "$1 printed by every rank"
}

# Only the first rank answers for a verb that needs no MPI.
case_quiet() {
	without_mpi plan group n=2 g=2 k=1 count=8
	without_mpi check stripe g=2 bytes=64
}

case_"$2"
