#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_equal.sh [RUNS]: RUNS runs, 40 by default, of one campaign in a network
# without changes. Of the comparisons of two of them, for which there is a past
# of 8 runs, at most one in twenty may find a difference: each run with the
# next, and with those 3 and 10 later. A machine with other users changes from
# run to run, and compare must learn that from the earlier runs.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

past=8

before_start()
{
	in_host collector sh -c "cat >>$cluster/collector/conf" <<-END
	[mesh]
	enabled = no
	END
}

# Rows with worse or better, and all rows with a result.
compare_pair() # RUN RUN
{
	local said
	said=$(ctl compare "$1" "$2" --json)
	[ -n "$said" ] || fail "no comparison of $1 and $2"
	jq -r '[.[] | .verdict] | [
		(map(select(. == "worse" or . == "better")) | length),
		(map(select(. != "unknown")) | length)] | @tsv' <<<"$said"
}

# The most of n comparisons that differ by a chance of 5 %, in 99 of 100 cases.
most_by_chance() # N
{
	awk -v n="$1" 'BEGIN {
		p = exp(n * log(0.95))
		for (sum = p; sum < 0.99; sum += p) {
			p *= (n - k) / (k + 1) * 0.05 / 0.95
			k++
		}
		print k + 0 }'
}

# All pairs of runs at this distance.
compare_apart() # RUNS-BETWEEN
{
	local i found said pairs=0 differ=0 rows=0 rows_differ=0
	for ((i = past; i + $1 < ${#runs[@]}; i++)); do
		read -r found said < <(compare_pair "${runs[i]}" \
			"${runs[i + $1]}")
		pairs=$((pairs + 1)) rows=$((rows + said))
		rows_differ=$((rows_differ + found))
		[ "$found" = 0 ] || differ=$((differ + 1))
	done
	say "$1 apart: $differ of $pairs pairs differ," \
		"$rows_differ of $rows rows"
	[ $rows -ge $pairs ] || fail "most rows are unknown"
	all=$((all + pairs)) all_differ=$((all_differ + differ))
}

count=${1:-40}
[ "$count" -gt $((past + 11)) ] || fail "$count runs are too few"
lab_up --leaves 2 --hosts 3 --rate 100mbit
cluster_up 6
runs=()
while [ ${#runs[@]} -lt "$count" ]; do
	order short
	expect_finished 100
	runs+=("$run")
done
say "$count runs"
all=0 all_differ=0
for apart in 1 3 10; do
	compare_apart $apart
done
say "$all_differ of $all comparisons differ; at most" \
	"$(most_by_chance $all) by chance"
[ $all_differ -le "$(most_by_chance $all)" ] || fail "equal runs differ"
