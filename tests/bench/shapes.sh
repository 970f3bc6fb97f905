#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# shapes.sh - short collectives on the default lab: the shapes that tune=auto
# measures first, compositions in turns with exchanges in rounds of pairs.
#
# COALMINE_BENCH_TURNS (7) turns of COALMINE_BENCH_ITERATIONS (3) runs,
# COALMINE_BENCH_SIZES (1K 4K 16K 64K) of a rank's buffer, COALMINE_BENCH_RANKS
# (24 48), COALMINE_BENCH_LIMIT (900 s) for one of these.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/lib/mpi.sh
. "$here/lib/mpi.sh"

turns=${COALMINE_BENCH_TURNS:-7}
iterations=${COALMINE_BENCH_ITERATIONS:-3}
read -ra sizes <<<"${COALMINE_BENCH_SIZES:-1K 4K 16K 64K}"
read -ra ranks <<<"${COALMINE_BENCH_RANKS:-24 48}"
limit_s=${COALMINE_BENCH_LIMIT:-900}
engine=$COALMINE_BUILD/probes/serial/coalmine-probe
program=$COALMINE_BUILD/tests/bench/bench_shapes-openmpi
hosts=12
# Ranks of a node communicate through shared memory, the default of this MPI.
mpi_btl=tcp,self,vader

# The best two compositions in the default form, the best in each other form,
# and the best of each exchange, as predicted.
candidates() # NAME SIZE RANKS
{
	local words
	words="collective name=$1 count=$(($(numfmt --from=iec "$2") / 4 / $3))"
	# shellcheck disable=SC2086
	"$engine" predict $words tune=auto --ranks "$3" \
		--machine "$root/etc/machines/lab.conf" |
		awk -v name="$1 $2 $3" -v words="$words" '
		tried {
			sub(/ +[0-9.]+ [a-z]+$/, "")
			kind = ""
			if (match($0, /(exchange|form)=[a-z.-]+/))
				kind = substr($0, RSTART, RLENGTH)
			if (seen[kind]++ < 1 + (kind == ""))
				print name "|" words " " $0
		}
		$1 == "tried" { tried = 1 }'
}

# Rows of bench_shapes as JSON: the fastest of each side by its median.
read -rd '' table <<'END2' || :
	[inputs | split("|") | {case: (.[0] | split(" ")), words: .[1],
		seconds: (.[2] | tonumber),
		exchange: (.[1] | contains("exchange="))}] |
	group_by(.case)[] | {case: .[0].case,
		old: (map(select(.exchange | not)) | min_by(.seconds)),
		new: (map(select(.exchange)) | min_by(.seconds))} |
	.ratio = .old.seconds / .new.seconds
END2

mpi_lab
echo "Lab: 3 leaves with 4 hosts each, 200 Mbit/s, uplinks 400 Mbit/s. Open MPI with"
echo "btl=$mpi_btl. Median of $turns turns of $iterations runs; all shapes of a case take turns."
echo "Ratio: the fastest composition over the fastest exchange. Best of both: over the"
echo "faster one of the two, chosen after the measurement."
echo
echo "| collective | buffer | ranks | composition ms | exchange ms | ratio |" \
	"composition | exchange |"
echo "|---|---|---:|---:|---:|---:|---|---|"
: >"$work/all"
for n in "${ranks[@]}"; do
	list=
	for h in $(seq $hosts); do
		list+=${list:+,}node$h:$((n / hosts))
	done
	for size in "${sizes[@]}"; do
		for which in broadcast reduce gather scatter allgather \
			reduce-scatter allreduce; do
			candidates "$which" "$size" "$n"
		done >"$work/shapes"
		mpi_on "$list" "$limit_s" "$program" "$work/shapes" "$turns" \
			"$iterations" >"$work/rows" || exit 1
		jq -nRc "$table" "$work/rows" >"$work/one"
		jq -r 'def ms: . * 1e5 | round / 100;
			def short: sub("collective name=[a-z-]+ count=[0-9]+ ";
			""); "| \(.case | join(" | ")) | \(.old.seconds | ms)" +
			" | \(.new.seconds | ms) | " +
			"\(.ratio * 100 | round / 100) | \(.old.words | short)" +
			" | \(.new.words | short) |"' "$work/one"
		cat "$work/one" >>"$work/all"
	done
done
echo
jq -rs 'def mean: map(log) | add / length | exp * 100 | round / 100;
	group_by(.case[2])[] | "\(.[0].case[2]) ranks: geometric mean of " +
	"ratios \(map(.ratio) | mean); best of both " +
	"\(map([.ratio, 1] | max) | mean); exchanges are faster in " +
	"\(map(select(.ratio > 1)) | length) of \(length) cases, there " +
	"by \(map(.ratio | select(. > 1)) | mean)."' "$work/all"
