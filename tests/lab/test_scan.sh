#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_scan.sh [SEED...] - coalmine-scan by hand, under the launchers of both
# MPIs, in labs whose faults are drawn: no collector, no agent. A trial is a
# lab of 8 or 12 hosts that is healthy, has 1, 2 or 3 slow hosts or a slow
# uplink; it is right if these are named and nothing else is. Without seeds one
# trial of each kind is judged; with seeds a table of all is printed, and one in
# SCAN_WRONG_OF (20) may be wrong. SCAN_LEAVES=6: labs of 24 hosts.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

kinds=(healthy 1 2 3 uplink)
slow_rate=20mbit # of 200mbit, which the lab has
bytes=32K # an operation over a slow link takes 0.2 s
mpis=()
for mpi in openmpi mpich; do
	[ ! -x "$build_dir/probes/$mpi/coalmine-probe" ] ||
		! command -v mpirun.$mpi >/dev/null || mpis+=($mpi)
done
[ ${#mpis[@]} -gt 0 ] || skip "no MPI"
folder=$(mktemp -d "${TMPDIR:-/tmp}/scan-XXXXXX") || exit 1
chmod 755 "$folder"
cat >"$folder/rsh" <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
host=\$1
shift
exec $lab exec "\$host" sh -c "\$*"
END
chmod 755 "$folder/rsh"

# scan MPI HOSTS [options]: standard output in $folder/out, exit status in $rc.
scan()
{
	local mpi=$1 count=$2 hosts
	shift 2
	hosts=$(seq -s, -f node%g "$count")
	local engine=$build_dir/probes/$mpi/coalmine-probe
	if [ "$mpi" = openmpi ]; then
		timeout 200 "$lab" exec node1 env OMPI_ALLOW_RUN_AS_ROOT=1 \
			OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi \
			--mca plm_rsh_agent "$folder/rsh" --mca btl tcp,self \
			--mca btl_tcp_if_include 10.78.0.0/16 \
			--mca oob_tcp_if_include 10.78.0.0/16 \
			--mca mpi_yield_when_idle 1 \
			--map-by node --host "$hosts" \
			"$engine" scan --bytes $bytes "$@" \
			>"$folder/out" 2>"$folder/err"
	else
		timeout 200 "$lab" exec node1 env UCX_TLS=tcp,self \
			mpirun.mpich -launcher ssh \
			-launcher-exec "$folder/rsh" -hosts "$hosts" -ppn 1 \
			-iface eth0 "$engine" scan --bytes $bytes "$@" \
			>"$folder/out" 2>"$folder/err"
	fi
	rc=$?
}

# trial SEED [KIND]: one line, "right" or "wrong" at its end.
trial()
{
	local seed=$1 kind mpi hosts leaves wanted=() wanted_rc=1 got named paths
	RANDOM=$seed
	kind=${2-${kinds[seed % ${#kinds[@]}]}}
	mpi=${mpis[seed / ${#kinds[@]} % ${#mpis[@]}]}
	leaves=${SCAN_LEAVES:-$((2 + RANDOM % 2))}
	hosts=$((4 * leaves))
	"$lab" heal all
	case $kind in
	healthy) wanted_rc=0 ;;
	uplink)
		wanted=("leaf$((1 + RANDOM % leaves))")
		"$lab" degrade "${wanted[0]}" rate=60mbit # of 400mbit
		;;
	*)
		mapfile -t wanted < <(seq -f node%g "$hosts" |
			shuf --random-source=<(yes "$seed") -n "$kind" | sort -V)
		for host in "${wanted[@]}"; do
			"$lab" degrade "$host" rate=$slow_rate
		done
		;;
	esac
	scan "$mpi" "$hosts" --json --within 60s
	named=$(jq -r '[.slow[].node] | join(" ")' "$folder/out" 2>/dev/null)
	paths=$(jq -r '[.paths[] | .between + " and " + .and] | join("; ")' \
		"$folder/out" 2>/dev/null)
	got=right
	# MPICH's launcher can fail at the end, where it has no core for long.
	[ "$mpi" = openmpi ] || rc=$(jq .status "$folder/out")
	[ "$rc" = $wanted_rc ] || got=wrong
	if [ "$kind" = uplink ]; then
		[ -z "$named" ] || got=wrong
		is_leaf "${wanted[0]#leaf}" "$paths" "$leaves" || got=wrong
	else
		[ "$named" = "${wanted[*]}" ] && [ -z "$paths" ] || got=wrong
	fi
	[ $got = right ] || [ "$rc" != 2 ] || [ -n "$named$paths" ] || got=open
	echo "| $seed | $mpi | $hosts | $kind | ${wanted[*]} | $named |" \
		"$paths | $(jq '.took_s | . * 10 | round / 10' "$folder/out" \
			2>/dev/null) | $got |"
	[ $got = right ] || [ -z "${SCAN_KEEP-}" ] || {
		cp "$folder/out" "$SCAN_KEEP/$seed.json"
		(cat "$folder/err" && echo "exit status $rc") \
			>"$SCAN_KEEP/$seed.err"
	}
	[ $got = right ]
}

# is_leaf N PATHS LEAVES: the only path is between the hosts of leaf N and all
# others.
is_leaf()
{
	local from=$((4 * $1 - 3)) to=$((4 * $1))
	[[ $2 != *\;* ]] || return 1
	[[ " $2 " == *" node[$from-$to] "* ]]
}

lab_up --leaves "${SCAN_LEAVES:-3}" --hosts 4
trap '"$lab" down; rm -rf "$folder"' EXIT
if [ $# -gt 0 ]; then
	wrong=0
	echo "| seed | MPI | hosts | kind | broken | named nodes | paths | s | |"
	echo "|---:|---|---:|---|---|---|---|---:|---|"
	for seed; do
		trial "$seed" || wrong=$((wrong + 1))
	done
	echo "$wrong of $# wrong"
	[ $((wrong * ${SCAN_WRONG_OF:-20})) -le $# ] || fail "$wrong of $# wrong"
	exit 0
fi

# ---- one of each, judged ----

busy=

# Where others had the cores, the rest is judged before the test is skipped.
expect() # WHAT JQ-CONDITION
{
	jq -e "$2" "$folder/out" >/dev/null && return
	jq -e .busy "$folder/out" >/dev/null && busy=$1 && return 1
	fail "$1: rc $rc: $(head -c 1500 "$folder/out")" \
		"$(head -c 500 "$folder/err")"
}

for mpi in "${mpis[@]}"; do
	"$lab" heal all
	"$lab" degrade node3 rate=$slow_rate
	scan "$mpi" 8 --json --within 60s
	expect "$mpi: a slow node" '[.slow[].node] == ["node3"] and
		.slow[0].interval.lo > 2 and .paths == [] and
		.carried.transport == "tcp" and
		.carried.devices == ["eth0"] and .status == 1' || continue
	say "$mpi: $(jq -c '.slow[0] | [.node, .times, .interval.lo,
		.interval.hi]' "$folder/out")"
	[ "$rc" = 1 ] || [ "$mpi" = mpich ] || fail "$mpi: exit status $rc"
done
"$lab" heal all
# Two nodes have no peers, only an expected rate. One node has neither.
scan "${mpis[0]}" 2 --json --within 15s
expect "two nodes" '.slow == [] and .open == "node[1-2]" and .status == 2'
scan "${mpis[0]}" 2 --json --within 15s --expect 10gbit
expect "a promise" '[.below[].node] == ["node1", "node2"] and .status == 1'
scan "${mpis[0]}" 1
[ "$rc" = 3 ] && grep -q 'needs at least 2 nodes' "$folder/err" ||
	fail "one node: rc $rc: $(cat "$folder/err")"
scan "${mpis[0]}" 2 --within never
[ "$rc" = 3 ] && grep -q 'within' "$folder/err" ||
	fail "a wrong option: rc $rc: $(cat "$folder/err")"
[ -z "$busy" ] || skip "$busy: others have the cores of this machine"
say passed
