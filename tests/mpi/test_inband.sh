#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_inband.sh MPI - libcoalmine-pmpi.so in a user's program: its counts, as
# the agent reads them; and that it has no other effect.
. "$(dirname "$0")/lib.sh"
need "$1"
engine=$COALMINE_BUILD/tests/mpi/plain-$1
library=$COALMINE_BUILD/probes/$1/libcoalmine-pmpi.so
reader=$COALMINE_BUILD/tests/unit/agents/test_agents_inband
[ -x "$engine" ] && [ -x "$reader" ] || skip "tests are not built"
export PLAIN_FINALIZE=yes COALMINE_JOB=77_1 LD_PRELOAD=$library

# runs RANKS: the program has the same result as without it. Hydra may lose its
# ranks at their end, or wait for them for ever, after everything that is checked
# here.
limit_s=30
runs() {
	engine "$@" || [ "$launcher" = mpiexec.hydra ] || fail "exit $?"
	[ "$(grep -c VmHWM "$work/out")" = "$1" ] || fail "ranks are missing"
}

mkdir "$work/in-band"
COALMINE_IN_BAND=$work/in-band runs 4
[ "$(ls -A "$work/in-band" | wc -l)" = 4 ] || fail "files: $(ls -A "$work/in-band")"
cat "$work"/in-band/77_1-*-{0,1,2,3}-0.jsonl | jq -es 'length == 8 and
	([.[] | select(.op == "allreduce" and .comm_ranks == 4 and
		.comm_nodes == 1 and .calls == 50 and .bytes == 400 and
		.seconds > 0) | .rank] | sort) == [0, 1, 2, 3] and
	([.[] | select(.op == "barrier" and .calls == 1)] | length) == 4' \
	>/dev/null || fail "$(cat "$work"/in-band/*)"
LD_PRELOAD= "$reader" "$work/in-band" "$(hostname)" >"$work/read"
jq -e 'length == 1 and .[0].job == "77_1" and (.[0].rows[] |
	select(.op == "allreduce") | .source == "pmpi" and .ranks == 4 and
	.nodes == 1 and .bytes == 8 and .calls == 200 and .least_s > 0 and
	.least_s <= .seconds / .calls)' "$work/read" >/dev/null ||
	fail "an agent reads $(cat "$work/read")"

# sums JOB: calls of allreduce in all files, and the number of files.
sums() {
	cat "$work"/in-band/*.jsonl | jq -es --arg job "$1" 'all(.[];
		.job == $job) and all(.[]; .comm_nodes == 1)' >/dev/null ||
		fail "job $1: $(cat "$work"/in-band/*)"
	echo "$(cat "$work"/in-band/*.jsonl | jq -s '[.[] |
		select(.op == "allreduce") | .calls] | add')" \
		"$(find "$work/in-band" -name '*.jsonl' | wc -l)"
}

# A later program of the same job continues the counts, and a concurrent one
# has separate files; files of an earlier start of the job, or of an unknown
# job, are started again. The code is the same with both MPIs, and MPICH is
# slow to end.
files() {
	for step in 0 4 1; do
		SLURM_STEP_ID=$step COALMINE_IN_BAND=$work/in-band runs 4
	done
	[ "$(sums 77_1)" = "800 8" ] || fail "steps: $(sums 77_1)"
	SLURM_STEP_ID=1 SLURM_JOB_START_TIME=$(($(date +%s) + 100)) \
		COALMINE_IN_BAND=$work/in-band runs 4
	[ "$(sums 77_1)" = "800 8" ] || fail "a new start: $(sums 77_1)"
	unset COALMINE_JOB
	plain=$engine
	for name in 'PBS_JOBID=123[4].server' FLUX_JOB_ID=ƒ2Abc SLURM_JOB_ID=; do
		rm -f "$work"/in-band/*
		for _ in 1 2; do
			engine=env COALMINE_IN_BAND=$work/in-band \
				runs 2 SLURM_JOB_ID= "$name" "$plain"
		done
		job=${name#*=} want="200 2"
		[ "$job" ] || job=none want="100 2"
		[ "$(sums "$job")" = "$want" ] || fail "$name: $(sums "$job")"
	done
	export COALMINE_JOB=77_1
}
[ "$1" = mpich ] || files

# Fortran's bindings, which are separate libraries; MPICH's mpi_f08 bypasses MPI's
# profiling interface.
fortran() {
	sed "s/USE/use $2/" >"$work/f.f90" <<-END
	program f
	  USE
	  implicit none
	  integer :: rc, rank, n, i
	  double precision :: x(4), y(4)
	  call MPI_Init(rc)
	  call MPI_Comm_rank(MPI_COMM_WORLD, rank, rc)
	  call MPI_Comm_size(MPI_COMM_WORLD, n, rc)
	  x = rank + 1
	  do i = 1, 30
	    call MPI_Allreduce(x, y, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, rc)
	  end do
	  if (y(4) /= 3) error stop 7
	  call MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, rc)
	  if (x(4) /= 3) error stop 8
	  call MPI_Finalize(rc)
	end program
	END
	LD_PRELOAD= "mpifort.$1" -w -fallow-argument-mismatch -o "$work/f" \
		"$work/f.f90" 2>"$work/err" || fail "$2 does not compile"
	rm -f "$work"/in-band/*
	engine=$work/f COALMINE_IN_BAND=$work/in-band engine 2 ||
		[ "$launcher" = mpiexec.hydra ] || fail "$2: exit $?"
	[ "$(cat "$work"/in-band/* | jq -c 'select(.op == "allreduce" and
		.calls == 31 and .bytes == 992)' | wc -l)" = 2 ] ||
		fail "$2: $(cat "$work"/in-band/*)"
}
if command -v "mpifort.$1" >/dev/null && command -v gfortran >/dev/null; then
	fortran "$1" mpi
	[ "$1" = mpich ] || fortran "$1" mpi_f08
fi

runs 2
COALMINE_IN_BAND= runs 2
COALMINE_IN_BAND=$work/nowhere runs 2
COALMINE_IN_BAND=$work/out runs 2
[ ! -s "$work/err" ] || [ "$1" = mpich ] || fail "it says something"

# The cost of a call compared with one that moves nothing, in turns; printed,
# not checked.
unset PLAIN_FINALIZE
for _ in 1 2 3; do
	for how in without with; do
		COALMINE_IN_BAND=$work/in-band PLAIN_ALONE=2000 \
			LD_PRELOAD=$([ $how = without ] || echo "$library") \
			engine 1 || [ "$launcher" = mpiexec.hydra ] || fail "$how"
		echo "$how $(cat "$work/out")"
	done
done | sort | awk '{ if (!($1 in best) || $2 < best[$1]) best[$1] = $2 }
	END { printf "ok: a call takes %.0f ns, counted %.0f ns\n",
		best["without"], best["with"] }'
