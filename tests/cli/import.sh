#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# import.sh - tables of nccl-tests and OSU in the output of jobs: parsed rows,
# skipped and reported ones, and the comparison with a run.
. "$(dirname "$0")/lib.sh"
start_standin
data=$here/../data/import
cd "$data" || exit 1

for table in all_reduce_perf osu_allreduce osu_bw; do
	expect import-$table 0 "$coalctl" import "$here/tables/$table.txt"
	expect import-$table-osu 0 "$coalctl" import "$here/tables/$table.txt" \
	    --format osu
	# Printed tables are parsed again, to their two digits.
	for format in nccl-tests osu; do
		"$coalctl" import "$here/tables/$table.txt" --format $format \
		    >"$work/$format.txt"
		check "$table as $format" [ "$("$coalctl" import \
		    "$work/$format.txt" --format $format | grep -v '^#')" = \
		    "$(grep -v '^#' "$work/$format.txt")" ]
	done
done
expect import-json 0 "$coalctl" import "$here/tables/osu_bw.txt" --json
cp "$here/tables/"*.txt "$work"
expect import-run 0 "$coalctl" import "$work/osu_allreduce.txt" \
    20261121-co-abcd
expect import-run-none 3 "$coalctl" import "$work/osu_bw.txt" \
    20261121-co-abcd
cp job-lines.txt "$work/none"
expect import-none 3 "$coalctl" import "$work/none"
sed 's/12000.00/fast/' "$here/tables/osu_bw.txt" >"$work/odd"
expect import-odd 3 "$coalctl" import "$work/odd"

# The cases of users: run ag is an allgather of 8 ranks, ar an allreduce of 2.
expect import-block 0 "$coalctl" import osu-allgather.txt 20261122-ag-0008
expect import-block-alone 0 "$coalctl" import osu-allgather.txt
expect import-block-ranks 0 "$coalctl" import osu-allgather.txt --ranks 8
expect import-block-nccl 3 "$coalctl" import osu-allgather.txt \
    --format nccl-tests
expect import-block-json 0 "$coalctl" import osu-allgather.txt --json
expect report-block 0 "$coalctl" report 20261122-ag-0008 --format osu
expect import-reference 0 "$coalctl" import osu-allgather.txt --ranks 8 \
    --format reference
expect import-reference-wrong 0 "$coalctl" import nccl-wrong-values.txt \
    --format reference --ranks 8
expect import-reference-ranks 3 "$coalctl" import osu-allgather.txt \
    --format reference
expect report-reference 0 "$coalctl" report 20261122-ag-0008 \
    --format reference
expect import-two 0 "$coalctl" import nccl-two-tables.txt
expect import-two-run 0 "$coalctl" import nccl-two-tables.txt 20261122-ar-0002
expect import-wrong 0 "$coalctl" import nccl-wrong-values.txt
expect import-wrong-run 0 "$coalctl" import nccl-wrong-values.txt \
    20261122-ar-0002
expect import-tagged 0 "$coalctl" import nccl-tagged-output.txt
expect import-log 0 "$coalctl" import nccl-log-lines.txt
expect import-cuda 0 "$coalctl" import osu-cuda.txt 20261122-ar-0002
expect import-no-op 0 "$coalctl" import nccl-no-operation.txt
expect import-no-op-run 0 "$coalctl" import nccl-no-operation.txt \
    20261122-ar-0002
expect import-no-op-many 3 "$coalctl" import nccl-no-operation.txt \
    20261121-co-abcd
# Its column redop is a sum, which no allgather has.
expect import-no-op-other 3 "$coalctl" import nccl-no-operation.txt \
    20261122-ag-0008
expect import-op 0 "$coalctl" import nccl-no-operation.txt --op reduce-scatter
expect import-op-redop 3 "$coalctl" import nccl-no-operation.txt --op alltoall
expect import-op-named 3 "$coalctl" import osu-cuda.txt --op reduce

# same TEXT FILE [LINES]: FILE has the tables of nccl-two-tables.txt, and that
# many lines of other output.
"$coalctl" import nccl-two-tables.txt >"$work/want"
same() {
	"$coalctl" import "$2" >"$work/out" 2>"$work/err" || {
		echo "$1: exit code $?"
		cat "$work/err"
		bad=1
	}
	diff "$work/want" "$work/out" >"$work/diff" || {
		echo "$1: other tables"
		cat "$work/diff" "$work/err"
		bad=1
	}
	lines=$(sed -n 's/.*skipped \([0-9]*\) .*/\1/p' "$work/err")
	check "$1: skipped ${lines:-0} lines, not ${3:-0}" \
	    [ "${lines:-0}" = "${3:-0}" ]
}

# What launchers and log readers put before each line.
# Each ends with "$".
while IFS= read -r tag; do
	TAG=${tag%\$} awk '{ print ENVIRON["TAG"] $0 }' nccl-two-tables.txt \
	    >"$work/tagged"
	same "tag $tag" "$work/tagged"
done <<'END'
[1,0]<stdout>:$
[1,0]<stdout>: $
[prterun-node1-4711@1,0]<stdout>: $
[1,0][node1:4711]<stdout>: $
Thu Nov 26 22:28:43 2026<stdout>:$
Thu Nov 26 22:28:43 2026[1,0]<stdout>:$
0: $
[0] $
[pod/nccl-launcher-x7k2p/launcher] $
[pod/nccl-launcher-x7k2p/launcher] 2026-11-26T22:28:43.123456789Z [1,0]<stdout>:$
2026-11-26T22:28:43.123456789Z stdout F $
2026-11-26 22:28:43,123 $
launcher-1  | $
nccl-launcher-x7k2p launcher $
node1: $
Nov 26 22:28:43 node1 batch[4711]: $
END
sed 's/^/  0: /' nccl-two-tables.txt >"$work/tagged"
same "srun -l of 1000 ranks" "$work/tagged"
sed 's/$/  /' nccl-two-tables.txt >"$work/tagged"
same "blanks at the end of lines, as nccl-tests prints them" "$work/tagged"
sed 's/$/\r/' nccl-two-tables.txt >"$work/tagged"
same "lines that end with a carriage return" "$work/tagged"
awk '{ print "\033[32m" $0 "\033[0m" }' nccl-two-tables.txt >"$work/tagged"
same "colours" "$work/tagged"
# Two programs at the same time, line by line.
"$coalctl" import nccl-log-lines.txt --json 2>/dev/null >"$work/one"
cat "$work/one" "$work/one" >"$work/both"
sed 's/^/0: /' nccl-log-lines.txt >"$work/a"
sed 's/^/1: /' nccl-log-lines.txt >"$work/b"
paste -d '\n' "$work/a" "$work/b" >"$work/ab"
check "two programs at the same time" \
    [ "$("$coalctl" import "$work/ab" --json 2>/dev/null)" = \
    "$(cat "$work/both")" ]

# Lines of others before, between and behind the rows.
awk '/^ +1048576/ { while ((getline line <"job-lines.txt") > 0) print line
	close("job-lines.txt") } { print }' nccl-two-tables.txt >"$work/log"
cat job-lines.txt >>"$work/log"
same "lines of jobs" "$work/log" $(($(grep -c . job-lines.txt) * 3))
# A repetition of the sizes is a separate table (nccl-tests -N).
awk '{ print } /^ +[0-9]/ { rows = rows $0 "\n" }
    / 4194304 / { printf "%s", rows }' nccl-log-lines.txt >"$work/cycles"
check "cycles" [ "$("$coalctl" import "$work/cycles" 2>/dev/null |
    grep -c 'Collective test')" = 2 ]

# cut TEXT LINE FILE: FILE is refused, with the line.
cut_off() {
	"$coalctl" import "$3" >"$work/out" 2>"$work/err"
	rc=$?
	check "$1: exit code $rc" [ $rc = 3 ]
	grep -q "$3:$2: " "$work/err" || {
		echo "$1: line $2 is not named"
		cat "$work/err"
		bad=1
	}
}
row='     2097152        524288     float     sum      -1   150.00   13.98'
n=${#row}
for at in 12 13 26 30 40 50 59 60 $((n - 3)) $n; do
	part=$(printf "%.${at}s" "$row")
	for end in '' '    gpu1:4711:4730 [0] NCCL INFO Connected all rings'; do
		sed "14s|.*|$part$end|" nccl-log-lines.txt >"$work/cut"
		cut_off "row of $at bytes$end" 14 "$work/cut"
	done
done
sed '14s/  *0$//' nccl-log-lines.txt >"$work/cut"
cut_off 'row without its last column' 14 "$work/cut"
sed '14s/ *2097152  *524288//' nccl-log-lines.txt >"$work/cut"
cut_off 'row without its beginning' 14 "$work/cut"
head -c -40 osu-cuda.txt >"$work/cut"
cut_off 'end of a file' 3 "$work/cut"

# Times of something other than the operation.
sed 's/   time/cputime/g' nccl-log-lines.txt >"$work/cputime"
expect import-cputime 3 "$coalctl" import "$work/cputime"
cat "$work/cputime" nccl-log-lines.txt >"$work/mixed"
expect import-cputime-mixed 0 "$coalctl" import "$work/mixed"
sed '/#.*(us)/s/(us)/(ms)/g' nccl-log-lines.txt >"$work/units"
cut_off 'unknown units' 2 "$work/units"
sed 's/630.58/nan/' osu-cuda.txt >"$work/nan"
echo '2097152  700.00  600.00  800.00  100' >>"$work/nan"
check 'a time that is no number' [ "$("$coalctl" import "$work/nan" 2>&1 |
    grep -c 'no time for 1048576 bytes\|^ *2097152 ')" = 2 ]
expect import-barrier 3 "$coalctl" import osu-barrier.txt
expect import-suite-alone 0 "$coalctl" import osu-suite.txt --ranks 8
expect import-suite 0 "$coalctl" import osu-suite.txt 20261122-ag-0008
sed '/ 1048576 /s/   0 *$/  64/; s/: 0 OK/: 64 FAILED/' nccl-log-lines.txt \
    >"$work/in-place"
expect import-wrong-in-place 0 "$coalctl" import "$work/in-place"
expect import-validation 0 "$coalctl" import osu-validation.txt \
    20261122-ar-0002

# osu WANT TITLE: the bytes that 1048576 in such a table are, with 8 ranks.
osu() {
	printf '# OSU %s Test v7.5\n# Size       Avg Latency(us)\n%s\n' "$2" \
	    '1048576                 805.00' >"$work/osu"
	got=$("$coalctl" import "$work/osu" --ranks 8 --json 2>"$work/err" |
	    sed -n 's/.*"bytes": \([0-9]*\).*/\1/p')
	check "$2: $got bytes, not $1" [ "$got" = "$1" ]
}
for name in Allgather Allgatherv Gather Gatherv Scatter Scatterv \
    'All-to-All Personalized Exchange' 'All-to-Allv Personalized Exchange' \
    'All-to-Allw Personalized Exchange' 'Non-blocking Allgather' \
    'Non-blocking All-to-All' 'Allgather Persistent'; do
	for library in MPI MPI-CUDA MPI-ROCM MPI-OPENACC MPI-SYCL \
	    'MPI-CUDA MANAGED' NCCL; do
		osu 8388608 "$library $name Latency"
	done
done
for name in Allreduce Broadcast Reduce Reduce_scatter Reduce_scatter_block \
    'Neighborhood Allgather'; do
	osu 1048576 "MPI-CUDA $name Latency"
done
exit $bad
