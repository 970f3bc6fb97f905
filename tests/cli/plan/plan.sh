#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# plan.sh - the verbs plan and check of coalmine-probe without MPI: exact
# output, campaign files, exit codes, and that every wrong input is answered
# within 2 s with the option's name.
build=${COALMINE_BUILD:-$(dirname "$0")/../../../build/dev}
probe=$build/probes/serial/coalmine-probe
work=$(mktemp -d /tmp/coalmine-plan.XXXXXX)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
	echo "FAIL: $*"
	bad=1
}

# same TEXT COMMAND...: exactly this on stdout, nothing on stderr.
same() {
	want=$1
	shift
	got=$("$@" 2>"$work/err") || fail "$*: exit $?"
	[ "$got" = "$want" ] || fail "$*: printed: $got"
	[ -s "$work/err" ] && fail "$*: stderr: $(cat "$work/err")"
}

# refused WORDS ARGUMENT...: exit 3, nothing on stdout, these words on stderr.
refused() {
	words=$1
	shift
	timeout 60 "$probe" "$@" >"$work/out" 2>"$work/err"
	rc=$?
	[ $rc = 3 ] || fail "$*: exit $rc"
	[ -s "$work/out" ] && fail "$*: printed $(cat "$work/out")"
	grep -qF -e "$words" "$work/err" ||
	    fail "$*: $(cat "$work/err"), not \"$words\""
}

same '0 0 3 send+0 recv+0 192 mpi
0 1 4 send+0 recv+0 192 mpi' \
    "$probe" plan group pattern=rail n=2 g=3 k=2 count=48 type=int32
same '0 0 1 send+4 stripe+0 3 ipc
1 0 2 send+0 recv+0 4 rma
1 1 3 stripe+0 stripe+0 3 rma
2 3 2 stripe+0 recv+4 3 mpi' \
    "$probe" plan stripe g=2 bytes=7 via=ipc,rma,mpi --format list
same '0 0 0 send+0 recv+0 8 mpi
0 1 1 send+0 recv+0 8 mpi' "$probe" plan --ranks 2 self bytes=8

# A printed matrix is a matrix file.
"$probe" plan group pattern=symmetric n=2 g=2 k=2 count=6 type=byte \
    --format matrix | sed -n '/^# step/,/^# sum/p' >"$work/m"
same '0 0 2 send+0 recv+0 3 mpi
0 0 3 send+3 recv+0 3 mpi
0 1 2 send+0 recv+3 3 mpi
0 1 3 send+3 recv+3 3 mpi' \
    "$probe" plan sparse file="$work/m" type=byte

cat >"$work/c.conf" <<'END'
[campaign]
about = a campaign of plans
[group]
pattern = rail
k = 1
[collective]
name = allgather
hierarchy = 2,2
END
"$probe" check "$work/c.conf" >"$work/out" || fail "check of a campaign"
[ "$(grep -c '^proven: ' "$work/out")" = 2 ] ||
    fail "check of a campaign: $(cat "$work/out")"
printf '[group]\nk = 0\n' >"$work/bad.conf"
refused "$work/bad.conf:2: group.k = 0: expected" plan "$work/bad.conf"
# Every plan that a run would measure, or why it cannot be.
cat >"$work/vary.conf" <<'END'
[group]
k = 2
g = 2
[stripe]
g = 2
[measure]
vary = group.n 2 3 4
sizes = 4K,64K
END
"$probe" check "$work/vary.conf" --ranks 8 >"$work/out" ||
    fail "check of a sweep"
[ "$(grep -c '^proven: group n=[234] g=2 k=2 count=' "$work/out")" = 6 ] &&
    [ "$(grep -c '^proven: stripe g=2 bytes=' "$work/out")" = 2 ] ||
    fail "check of a sweep: $(cat "$work/out")"
"$probe" check "$work/vary.conf" --ranks 7 >"$work/out" 2>"$work/err"
[ $? = 3 ] && [ "$(grep -c '^proven: ' "$work/out")" = 6 ] &&
    grep -q 'measure.vary: group.n = 4: expected a value for 7' "$work/err" ||
    fail "check of too large a sweep: $(cat "$work/out" "$work/err")"
refused "measure.vary: group.k = 9: expected" check group "vary=k 9"
refused "5 bytes: expected whole elements" check group sizes=5
refused "unknown probe nosuch" check group "vary=nosuch.n 2"
printf '[campaign]\nabout = none\n' >"$work/none.conf"
refused "no section names a probe" check "$work/none.conf"

refused "group.n = 3: expected" plan group n=3 g=4 --ranks 8
refused "group.n = 1: expected" plan group n=1
refused "group.k = 0: expected" plan group k=0
refused "group.k = 3: expected 1 to g" plan group g=2 k=3
refused "group.direction = omni: expected" plan group pattern=asymmetric \
    direction=omni
refused "group.count = -1: expected" plan group count=-1
refused "group.count = 0: expected" plan group count=0
refused "stripe.via = mpi,carrier: expected" plan stripe via=mpi,carrier
refused "collective.ring = 3: expected a divisor of 8" plan collective \
    ring=3 --ranks 8
refused "--ranks = 0: expected" plan self --ranks 0
refused "--format: expected list" plan self --format png
refused "usage:" plan
refused "usage:" check self --format json
refused "neither a campaign file nor a probe" plan nothing
printf '1 2\n3 -4\n' >"$work/m"
refused "$work/m:2: -4: expected" plan sparse file="$work/m"
printf '1 2\n3\n' >"$work/m"
refused "$work/m:2: 1 numbers" plan sparse file="$work/m"
printf '1 2\n' >"$work/m"
refused "$work/m:1: the matrix ends" plan sparse file="$work/m"
printf '1 2\0 9\n3 4\n' >"$work/m"
refused "$work/m:1: not a text file" plan sparse file="$work/m"
printf '1 2\n3 \033[1m4\n' >"$work/m"
refused "$work/m:2: not a text file" check sparse file="$work/m"
printf '1 2\n3 4\n' >"$work/m"
refused "sparse.g = 3: expected a divisor of 2" plan sparse \
    file="$work/m" g=3
refused "sparse.stripes = 3: expected 0 to g" plan sparse file="$work/m" \
    g=2 stripes=3
refused "$work/m:1: a matrix for 2 ranks" plan sparse file="$work/m" --ranks 1
printf '0 1 5\n4 1 5\n' >"$work/m"
refused "$work/m:2: rank 4: expected 0 to 3" plan sparse file="$work/m" \
    format=list --ranks 4
printf '0 1 5\n0 4096 5\n' >"$work/m"
refused "$work/m:2: rank 4096: expected 0 to 4095" plan sparse \
    file="$work/m" format=list
refused "sparse.file = : expected" plan sparse
mkfifo "$work/fifo"
refused "sparse.file = $work/fifo: expected a readable regular file" plan sparse \
    file="$work/fifo"
refused "sparse.file = /dev/zero: expected a readable regular file" plan sparse \
    file=/dev/zero
printf '0 0\n0 0\n' >"$work/m"
refused "sparse.scope = all: expected a scope in which" plan sparse \
    file="$work/m"
printf '0 2\n3 0\n' >"$work/m"
refused "sparse.scope = inter: expected a scope in which" check sparse \
    file="$work/m" g=2 scope=inter
refused "$work/fifo: " plan neighbor graph="$work/fifo"

# What no memory holds is refused before it is built.
refused "group.n = 60000: expected at most 100000000 messages" plan group \
    pattern=rail direction=omni n=60000 g=1 k=1
for name in allgather reduce-scatter allreduce alltoall; do
	refused "collective.name = $name: expected at most 100000000" \
	    plan collective name=$name --ranks 65536
done
refused "collective.name = broadcast: expected at most 100000000" \
    plan collective name=broadcast form=allgather.scatter depth=8 \
    --ranks 4096

# The same from a campaign file, by its line.
while IFS='|' read -r section want; do
	printf '# made here\n[%s]\n%s\n' "$section" "$want" \
	    >"$work/bad.conf"
	for verb in plan check; do
		refused "$work/bad.conf:3: $section.$want: expected" \
		    $verb "$work/bad.conf" --ranks 8
	done
done <<END
group|n = 1
group|n = 9
group|k = 0
group|k = 5
group|count = -1
group|count = 0
group|count = 1e30
group|via = smoke
group|type = complex
stripe|g = 5
stripe|bytes = 0
stripe|bytes = 9E
stripe|via = ipc,smoke,ipc
stripe|via = ipc,mpi
self|bytes = -4
sparse|file = $work/none
sparse|scope = some
collective|depth = 0
END

printf '6 4\n6 5\n' >"$work/g"
same '0 6 4 send+0 recv.6+0 3 mpi
0 6 5 send+3 recv.6+3 4 mpi
1 4 5 recv.6+0 recv.6+0 3 mpi
1 5 4 recv.6+3 recv.6+3 4 mpi' \
    "$probe" plan neighbor graph="$work/g" topology=mi250 bytes=7 per_node=8
"$probe" plan neighbor rsg=0.6 ranks=16 bytes=1K --format matrix >"$work/out"
for note in 'edges: 145 1' 'wire: 16384 bytes' 'wire_direct: 81920 bytes' \
    'byte_ratio: 5 1' 'byte_ratio_expected: 4.80315 1' 'load_bound: 5.125 1' \
    'wire_node0_in: 8192 bytes'; do
	grep -qx "# $note" "$work/out" || fail "neighbor: no $note"
done
same '0 0 0 send+0 host+0 1 mpi
0 0 1 send+2 recv+2 6 mpi
1 0 0 send+1 host+1 1 mpi
1 0 1 host+0 recv+0 1 mpi
2 0 1 host+1 recv+1 1 mpi' \
    "$probe" plan multipath bytes=8 share=.25 chunks=2
"$probe" plan allreduce ranks=8 per_node=4 count=100 --format matrix |
    grep -qx '# hierarchical: 2 nodes, so that data crosses between nodes only once' ||
    fail "plan allreduce gives no reason"
refused "allreduce.machine = nowhere: expected a machine file" \
    plan allreduce machine=nowhere
refused "multipath.share = 2: expected auto" check multipath share=2
refused "neighbor.graph = : expected the path" plan neighbor
refused "neighbor.per_node = 0: expected" check neighbor rsg=.1 per_node=0
printf '0 1\n1 x\n' >"$work/g"
refused "$work/g:2: x: expected" plan neighbor graph="$work/g"
[ -d /sys/class/kfd ] || refused "class/kfd/kfd/topology/nodes: no AMD device" plan neighbor rsg=.1 \
    ranks=4 topology=machine

"$probe" plan self >/dev/full 2>/dev/null && fail "a full disk went unnoticed"
exit $bad
