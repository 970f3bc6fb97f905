#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The effect of each congestor on each canary: the shipped campaign matrix once
# for each of two kinds, and the output of coalctl.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

short=(-o canary.tests=lat,allreduce -o canary.time=1s -o phases.visits=4)

one() # KIND
{
	say "matrix with $1"
	order matrix --wait -o congestor.mix="$1" "${short[@]}"
	expect_finished 5
}

lab_up --leaves 2 --hosts 5
cluster_up 10
one alltoall
one incast
table=$(ctl matrix matrix) || fail "coalctl matrix: $table"
echo "$table"
for word in alltoall incast lat allreduce 'bytes sent'; do
	grep -q "$word" <<<"$table" || fail "no $word in it"
done
# At least one value shows an impact: more than twice as slow, the interval above
# one.
ctl matrix matrix --json | jq -e '
	any(.[]; .value > 2 and .interval.lo > 1)' >/dev/null ||
	fail "no impact: $(ctl matrix matrix --json)"
ctl matrix matrix --json | jq -e '[.[].mix] | unique == ["alltoall",
	"incast"]' >/dev/null || fail "kinds: $(ctl matrix matrix --json)"
say passed
