#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_stuck.sh MPI CASE - a rank that is stopped while others wait for it:
# they report the stuck peer, and the job ends. In a collective of MPI they
# report an unknown peer; if all ranks are in one, the collector ends the run,
# which this script does here: then the turn is repeated. Case plan: the rank
# stops before its messages of a plan. Case memory: it stops while all measure
# their memory before a plan, so that no rank can name it.
. "$(dirname "$0")/lib.sh"
need "$1"
ranks=6

cat >"$work/c.conf" <<'EOF'
[canary]
tests = lat
time = 10m
rounds_min = 2
share = 1
precision = 0.001
stuck = 2s
timeout = 30s
iterations = 500
[congestor]
mix = none
[phases]
visits = 1
EOF

# Ranks of this test, found by their output file.
ours() {
	pgrep -f -- "^$engine run $work/c.conf" | grep -vx "$job"
}

rank_of() { # PID
	tr '\0' '\n' <"/proc/$1/environ" |
		sed -nE 's/^(OMPI_COMM_WORLD_RANK|PMI_RANK)=//p'
}

# All but the stopped one are in MPI, and none has aborted since.
in_collective() {
	[ "$(grep -c 'stuck for .* does not report the peer' "$work/err")" \
		-ge $((ranks - 1)) ] || return
	sleep 15
	! grep -q 'run aborted' "$work/err"
}

stop_rank() { # RANK OPTION...
	local pid victim tries=600 helped=
	rm -f "$work/records" # of an earlier attempt
	timeout -k 20 300 $launcher -n $ranks "$engine" run "$work/c.conf" \
		--json "$work/records" "${@:2}" >"$work/out" 2>"$work/err" \
		</dev/null &
	job=$!
	until grep -q '"progress"' "$work/records" 2>/dev/null; do
		[ $((tries -= 1)) -gt 0 ] || fail "does not get going"
		sleep 0.2
	done
	sleep 0.$((RANDOM % 10))
	for pid in $(ours); do
		[ "$(rank_of "$pid")" != "$1" ] || victim=$pid
	done
	[ -n "${victim-}" ] || fail "no rank $1"
	kill -STOP "$victim"
	while kill -0 $job 2>/dev/null; do
		if [ -z "$helped" ] && in_collective; then
			kill $job 2>/dev/null
			helped=yes
		fi
		sleep 0.5
	done
	wait $job
	[ $? != 124 ] || [ -n "$helped" ] || fail "did not end without a signal"
	kill -KILL "$victim" 2>/dev/null
	grep stuck "$work/err"
	[ "$(jq -c 'select(.probe=="end")' "$work/records" | wc -l)" = 0 ] ||
		fail "ended well"
}

# stop_in_plan NTH CALL: a rank stops itself there.
stop_in_plan() {
	local victim=
	cat >"$work/c.conf" <<-EOF
	[pairs]
	bytes = 100K
	[measure]
	stuck = 2s
	EOF
	COALMINE_STOP="3 $*" timeout -k 20 120 $launcher -n $ranks env \
		LD_PRELOAD="$COALMINE_BUILD/tests/mpi/libfake-spoil-$mpi.so" \
		"$engine" run "$work/c.conf" --json "$work/records" \
		>"$work/out" 2>"$work/err" </dev/null &
	job=$!
	while kill -0 $job 2>/dev/null; do
		for pid in $(ours); do
			[ "$(ps -o state= -p "$pid")" != T ] || victim=$pid
		done
		sleep 0.5
	done
	wait $job || [ $? != 124 ] || fail "did not end without a signal"
	[ -n "$victim" ] || fail "rank 3 did not stop"
	kill -KILL "$victim" 2>/dev/null
	grep stuck "$work/err"
}

mpi=$1
case $2 in
plan)
	stop_in_plan 3 startall
	grep -q 'stuck with rank 3 on fake3 for .* (plan)' "$work/err" ||
		fail "not reported"
	exit 0
	;;
memory)
	stop_in_plan 4 double
	[ "$(grep -c 'stuck for .* report the peer (plan)' "$work/err")" \
		-ge $((ranks - 1)) ] || fail "not reported"
	exit 0
	;;
match) options=(-o canary.partners=match) many=1 ;;
ring) options=() many=2 ;;
barrier)
	# The last message of a barrier to rank 0 is lost: the others continue
	# and wait for rank 0, which reports that they have left the barrier.
	COALMINE_LOSE="0 40" timeout -k 20 120 $launcher -n $ranks env \
		LD_PRELOAD="$COALMINE_BUILD/tests/mpi/libfake-spoil-$1.so" \
		"$engine" run "$work/c.conf" --json "$work/records" \
		-o canary.partners=match >"$work/out" 2>"$work/err" </dev/null
	grep stuck "$work/err"
	grep -q 'stuck in a barrier that others have left (lat)' "$work/err" ||
		fail "the lost message is not reported"
	exit 0
	;;
esac
for _ in 1 2 3 4 5; do
	stop_rank 3 "${options[@]}"
	[ "$(grep -c 'stuck for .* does not report the peer' "$work/err")" \
		-ge $((ranks - 1)) ] || break
done
[ "$(grep -c "stuck with rank 3 on fake3 for [0-9.]* s (lat)" "$work/err")" \
	-ge $many ] || fail "not reported"
