#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_engine.sh MPI CASE - the engine under a real launcher.
. "$(dirname "$0")/lib.sh"
need "$1"

cat >"$work/c.conf" <<'EOF'
[campaign]
seed = 7
[canary]
time = 400ms
rounds_min = 2
[congestor]
mix = alltoall,incast,put-incast,get-bcast
warmup = 100ms
[phases]
visits = 2
EOF

# Every test and every kind of congestor, alone and under load.
case_all() {
	engine 14 run "$work/c.conf" --json "$work/records" --quiet \
		-o canary.tests=lat,get-lat,bw,put-bw,bw-sync,natural-bw,allreduce,alltoall,incast \
		-o congestor.mix=alltoall,incast,put-incast,get-bcast,bcast,allreduce \
		-o congestor.allreduce_bytes=64K -o phases.visits=1 \
		-o congestor.rates=yes -o canary.raw=yes \
		-o canary.share=0.1 -o congestor.placement=blocks \
		-o 'congestor.leaves=fake[12-13] fake[0-11]'
	complete all
	[ "$(count '.probe=="begin" and .roles.canary=="fake[12-13]"')" = 1 ] ||
		fail "canaries are not on the first leaf"
	[ "$(count '.probe=="canary" and .n>0')" = 18 ] || fail "canaries"
	[ "$(count '.probe=="congestor" and .n>0')" = 12 ] || fail "rates"
	[ "$(count '.probe=="impact" and (.value>0 or
		(.of=="p99" and .cause=="too-few-samples"))')" = 18 ] ||
		fail "impacts"
	[ "$(count '.probe=="round"')" -ge 32 ] || fail "raw rounds"
	[ "$(count '.cause and .cause!="too-few-samples"')" = 0 ] ||
		fail "a cause without a fault"
	# Two canaries are one pair: all their traffic is between them.
	[ "$(count '.probe=="canary" and .test=="bw" and
		(.pairs|length)==1 and (.nodes|length)==2')" = 2 ] ||
		fail "pairs and nodes"
	# The time for which the canaries' ranks waited for a core, if the kernel
	# reports it.
	[ ! -s /proc/thread-self/schedstat ] ||
		[ "$(count '.probe=="canary" and any(.nodes[]; .wait_ratio |
			type=="number" and .>=0 and .<=1)')" -ge 1 ] ||
		fail "no wait for a core"
}

# Eight or more send to one: each node has received equally often and has its
# own number, and no pair has one.
case_incast() {
	for ranks in 5 20; do
		engine $ranks run "$work/c.conf" --json "$work/records" \
			--quiet -o canary.tests=incast -o canary.share=1 \
			-o canary.iterations=2 -o canary.time=10ms \
			-o congestor.mix=none -o phases.visits=1
		complete incast
		[ "$(count '.probe=="canary" and .test=="incast" and
			.pairs==[] and (.nodes|length)=='$ranks' and
			(.nodes|map(select(.q75>0 and .q25>0 and .n==4))|
			length)=='$ranks)" = 1 ] ||
			fail "$ranks: $(jq -c 'select(.probe=="canary") |
				[.cause, .pairs, [.nodes[] | [.n, .q75]]]' \
				"$work/records")"
	done
}

# The defaults' tests and mix, phases in their order, tables, stops in time.
case_usual() {
	engine 10 run "$work/c.conf" --json "$work/records" --run t-1
	complete usual
	# Each pair of visits has both phases, the second in reversed order.
	jq -r 'select(.event=="begin").phase' "$work/records" | tr '\n' ' ' |
		grep -qxE '(isolated congested congested isolated|congested isolated isolated congested) ' ||
		fail "order of phases"
	[ "$(count '.run!="t-1"')" = 0 ] || fail "run id"
	[ "$(count '.stop_s')" = 2 ] || fail "stop_s"
	[ "$(count '.stop_s>10')" = 0 ] || fail "congestors stop too late"
	[ "$(count '.probe=="impact" and .interval.lo<=.value and
		.interval.hi>=.value')" = 6 ] || fail "intervals"
	[ "$(count '.probe=="progress"')" -ge 2 ] || fail "progress"
	[ "$(count '.probe=="progress" and (.share<0 or .share>1)')" = 0 ] ||
		fail "progress out of range"
	grep -q '99%' "$work/out" || fail "no tables"
	# Equal seeds choose equal canaries.
	jq -c 'select(.probe=="begin").roles' "$work/records" >"$work/roles"
	engine 10 run "$work/c.conf" --json "$work/records" --quiet
	jq -c 'select(.probe=="begin").roles' "$work/records" |
		cmp - "$work/roles" || fail "roles differ"
	! grep -q '99%' "$work/out" || fail "--quiet prints tables"
}

# No congestors; idle ones; several ranks on a node; messages of another size,
# whose contents the engine checks.
case_none() {
	engine 4 run "$work/c.conf" --json "$work/records" --quiet \
		-o canary.tests=lat,get-lat,bw,put-bw,bw-sync,natural-bw,allreduce,alltoall,incast \
		-o canary.bytes=24K -o canary.iterations=1 \
		-o congestor.mix=none -o phases.visits=1
	complete bytes
	[ "$(count '.probe=="canary" and .n>0 and .bytes==24576 and
		(.cause|not)')" = 9 ] || fail "canaries of 24 KiB"
	jq -se '(.[] | select(.test=="natural-bw").carried // null) as $c |
		$c == null or $c.wanted_bytes % (16 * 24576) == 0' \
		"$work/records" >/dev/null || fail "bytes of natural-bw"
	engine 4 run "$work/c.conf" --json "$work/records" \
		-o congestor.mix=none -o phases.quiet=wild
	complete none
	[ "$(count '.probe=="canary" and .phase=="wild" and .n>0')" = 3 ] ||
		fail "wild canaries"
	[ "$(count '.probe=="impact"')" = 0 ] || fail "impact of nothing"
	COALMINE_FAKE_NODES=4 engine 12 run "$work/c.conf" \
		--json "$work/records" -o congestor.mix=idle
	complete idle
	[ "$(count '.probe=="congestor"')" = 0 ] || fail "idle has a rate"
	[ "$(count '.probe=="canary" and (.nodes|length)==2 and
		(.pairs|length)<=1')" = 6 ] || fail "ranks are not nodes"
	# 11 ranks on 4 nodes: one slice is shorter than the others.
	COALMINE_FAKE_NODES=4 engine 11 run "$work/c.conf" \
		--json "$work/records" -o congestor.mix=alltoall
	complete uneven
}

# Invalid options: reported with their place, and nothing is measured.
case_faults() {
	local status

	printf '[canary]\n\nshare = 3\n' >"$work/bad.conf"
	engine 4 run "$work/bad.conf" --json "$work/records"
	status=$?
	[ "$1" = mpich ] || [ $status = 3 ] || fail "status $status, not 3"
	grep -q 'bad.conf:3:' "$work/err" || fail "no file:line"
	"$checker" "$work/records" failed || fail "records of a wrong file"
	[ "$(count '.cause=="config"')" = 1 ] || fail "cause config"

	engine 9 run "$work/c.conf" --json "$work/records"
	"$checker" "$work/records" failed || fail "records of too few"
	[ "$(count '.cause=="too-few-nodes"')" = 1 ] || fail "cause too few"
	grep -q 'at least 10' "$work/err" || fail "how many are needed"

	engine 4 run "$work/c.conf" -o canary.nonsense=1 && fail "nonsense"
	engine 4 run "$work/missing.conf" && fail "missing file"

	# 4000 exchanges of 2 MiB do not fit into 100 ms: this is recorded, and
	# the run continues.
	engine 4 run "$work/c.conf" --json "$work/records" \
		-o congestor.mix=alltoall -o canary.tests=bw-sync,lat \
		-o canary.timeout=100ms -o canary.iterations=4000 \
		-o canary.warmup=0
	complete timeout
	[ "$(count '.probe=="canary" and .cause=="timeout" and
		.stopped_by=="timeout"')" -ge 2 ] || fail "no timeout"
	[ "$1" = mpich ] && return
	# Debian's Open MPI 4 as it is packaged has no windows over TCP.
	OMPI_MCA_osc=^ucx,pt2pt,rdma,sm engine 6 run "$work/c.conf" --json "$work/records" \
		-o canary.tests=get-lat,lat \
		-o congestor.mix=put-incast,alltoall
	complete unsupported
	[ "$(count '.cause=="unsupported"')" = 5 ] || fail "unsupported"
	[ "$(count '.probe=="canary" and .test=="lat" and .n>0')" = 2 ] ||
		fail "the other test"
}

# fabric WANTED LIBRARY [VARIABLE=VALUE...]: the carrying fabric is the
# reported one.
fabric() {
	local wanted=$1 library=$2
	shift 2
	(
		export COALMINE_FABRIC="$wanted" "$@"
		engine 4 run "$work/c.conf" --json "$work/records" --quiet \
			-o congestor.mix=none -o canary.tests=lat \
			-o canary.share=1 -o phases.visits=1
		complete "fabric $wanted"
		[ "$(count ".carried.wanted==\"$wanted\" and
			.carried.library==\"$library\" and
			.carried.transport==\"tcp\" and
			.carried.seen_bytes>0")" = 2 ] || fail "carried"
		[ "$(count '.carried | .wanted_bytes==1048576 and
			.seen_bytes/.wanted_bytes>0.98 and
			.seen_bytes/.wanted_bytes<1.02')" = 1 ] || fail "bytes"
	) || exit
}

# not_fabric WANTED TEXT [VARIABLE=VALUE...]: nothing is measured.
not_fabric() {
	local wanted=$1 text=$2
	shift 2
	(
		export COALMINE_FABRIC="$wanted" "$@"
		engine 4 run "$work/c.conf" --json "$work/records" --quiet
		"$checker" "$work/records" failed || fail "records"
		[ "$(count '.probe=="canary"')" = 0 ] || fail "it has measured"
		[ "$(count ".probe==\"begin\" and .carried.verdict==\"bad\" and
			(.carried.text | contains(\"$text\"))")" = 1 ] ||
			fail "$text"
		[ "$(count '.probe=="end" and .cause=="wrong-network"')" = 1 ] ||
			fail "cause"
	) || exit
}

case_fabric() {
	if [ "$1" = mpich ]; then
		fabric tcp ucx
		fabric ucx ucx
		not_fabric ofi "this MPI used ucx"
		not_fabric tcp "TCP carried" UCX_TLS=posix,self
		return
	fi
	fabric auto ob1
	fabric tcp ob1
	fabric ucx ucx OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any \
		OMPI_MCA_pml_ucx_devices=any
	fabric ofi ofi OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi
	not_fabric ucx "this MPI used ob1"
	not_fabric tcp "TCP carried 0" OMPI_MCA_btl=vader,self

	# Between ranks of one machine windows are shared memory.
	COALMINE_FABRIC=tcp OMPI_MCA_osc=^monitoring engine 4 run "$work/c.conf" \
		--json "$work/records" -o congestor.mix=none \
		-o canary.tests=lat,put-bw -o canary.share=1
	"$checker" "$work/records" failed || fail "records of windows"
	[ "$(count '.probe=="canary" and .test=="put-bw" and
		.carried.verdict=="bad" and (.carried.text |
		contains("fabric = tcp was required"))')" = 1 ] || fail "windows"
	[ "$(count '.probe=="canary" and .test=="lat" and
		.carried.verdict==null and
		.carried.seen_bytes>=.carried.wanted_bytes')" = 1 ] ||
		fail "messages of windows"
	[ "$(count '.probe=="end" and .cause=="wrong-network"')" = 1 ] ||
		fail "cause of windows"

	# The required bytes of a plan are known: 4 MiB, and 4 runs before.
	COALMINE_FABRIC=tcp engine 2 run group iterations=3 warmup=4 \
		--json "$work/records"
	complete "a plan"
	[ "$(count '.probe=="group" and .of=="whole" and
		(.carried | .wanted_bytes==29360128 and
		.seen_bytes/.wanted_bytes>0.98 and
		.seen_bytes/.wanted_bytes<1.02)')" = 1 ] || fail "plan"
	# Alternating with its baseline: only its own turns count.
	COALMINE_FABRIC=tcp engine 2 run collective name=broadcast \
		count=1048576 iterations=3 warmup=4 --json "$work/records"
	complete "with a baseline"
	[ "$(count '.probe=="collective" and .of=="whole" and
		(.carried | .wanted_bytes==25165824 and
		.seen_bytes/.wanted_bytes>0.98 and
		.seen_bytes/.wanted_bytes<1.02)')" = 1 ] ||
		fail "with a baseline"

	# Congestors, and one whose windows are shared memory.
	COALMINE_FABRIC=tcp engine 8 run "$work/c.conf" --json "$work/records" \
		-o congestor.mix=incast,bcast,alltoall -o canary.share=0.25 \
		-o canary.tests=lat
	complete "congestors"
	[ "$(count '.probe=="congestor" and .phase=="congested" and
		(.carried | .wanted_bytes>0 and .verdict==null and
		.seen_bytes/.wanted_bytes>0.98 and
		.seen_bytes/.wanted_bytes<1.3)')" = 3 ] || fail "congestors"
	COALMINE_FABRIC=tcp OMPI_MCA_osc=^monitoring engine 4 run "$work/c.conf" \
		--json "$work/records" -o congestor.mix=put-incast \
		-o canary.tests=lat -o canary.share=0.5
	"$checker" "$work/records" failed || fail "records of a congestor"
	[ "$(count '.probe=="congestor" and .carried.verdict=="bad"')" = 1 ] ||
		fail "windows of a congestor"
}

# Bursts: congestors send in a quarter of the time, by pauses, or by strength. A
# burst lasts some agreements longer than configured. Canaries measure
# concurrently. At full strength their idle time is less than half of that.
case_bursts() {
	local idle=() least most more first second

	for more in "congestor.burst=40ms congestor.pause=160ms" \
		"congestor.strength=0.25 canary.tests=lat" \
		"congestor.burst=60s congestor.strength=1"; do
		read -r first second <<<"$more"
		engine 6 run "$work/c.conf" --json "$work/records" \
			-o congestor.mix=incast,alltoall -o canary.share=0.34 \
			-o congestor.bytes=64K -o canary.tests=lat \
			-o canary.time=1s -o canary.precision=0.01 \
			-o "$first" -o "$second"
		complete "bursts"
		[ "$(count '.probe=="congestor" and .n>0 and
			.busy>0.15 and .busy<=1')" = 2 ] || fail "$more: busy"
		mapfile -t -O ${#idle[@]} idle < <(jq '
			select(.probe == "congestor") | 1 - .busy' "$work/records")
		[ "$(count '.stop_s>5')" = 0 ] || fail "$more: stops late"
		[ "$(count '.probe=="impact" and .of=="mean" and
			.value>0')" = 1 ] || fail "$more: impact"
	done
	least=$(printf '%s\n' "${idle[@]:0:4}" | sort -g | head -n 1)
	most=$(printf '%s\n' "${idle[@]:4}" | sort -g | tail -n 1)
	if [ ${#idle[@]} != 6 ] ||
		! awk "BEGIN { exit !(2 * $most < $least) }"; then
		fail "idle shares by burst, strength, none: ${idle[*]}"
	fi
}

# If a rank dies, the run ends soon.
case_killed() {
	local pid victim started=$SECONDS

	engine 10 run "$work/c.conf" --json "$work/records" \
		-o canary.time=60s -o canary.precision=0.001 &
	pid=$!
	until grep -q progress "$work/records" 2>/dev/null; do
		[ $((SECONDS - started)) -lt 30 ] || fail "does not start"
		sleep 0.1
	done
	victim=$(pgrep -f "^$engine run $work" | tail -1)
	kill -9 "$victim"
	started=$SECONDS
	wait $pid && fail "status 0 without a rank"
	[ $((SECONDS - started)) -lt 20 ] || fail "ends too late"
	pgrep -f "^$engine run $work" && fail "ranks are left"
	grep -q '"probe":"end"' "$work/records" && fail "an end record"
	return 0
}

# peak: the largest resident memory of any rank that runs now, KiB.
peak() {
	local pid

	for pid in $(pgrep -f "^$engine run $work"); do
		sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' \
			"/proc/$pid/status" 2>/dev/null
	done | sort -n | tail -1
}

# Memory above the MPI's own: the largest rank of a run, less the largest of a
# program that has the same traffic and keeps nothing.
case_memory() {
	local own most=0 now pid

	timeout -k 2 300 $launcher -n 10 \
		"$COALMINE_BUILD/tests/mpi/plain-$1" >"$work/out" 2>"$work/err"
	own=$(sed -n 's/.*VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "$work/out" |
		sort -n | tail -1)
	[ -n "$own" ] || fail "the plain program"
	engine 10 run "$work/c.conf" --json "$work/records" --quiet &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		now=$(peak)
		[ "${now:-0}" -gt "$most" ] && most=$now
		sleep 0.2
	done
	complete memory
	echo "largest rank $most KiB, plain program $own KiB, above: $((most - own)) KiB"
	[ "$most" -gt 0 ] && [ $((most - own)) -le $((32 * 1024)) ] ||
		fail "$((most - own)) KiB above the MPI's own"
}

"case_$2" "$1"
