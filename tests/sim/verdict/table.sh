#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# table.sh - the bench of verdicts: a row of each scenario, those that are kept
# are not simulated again, and a missed expectation is an error.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

make_table() {
	COALMINE_SOURCE=$work/source COALMINE_BENCH_VERDICT_ROWS=$work/rows \
	    COALMINE_BENCH_VERDICT_TRIALS=2 \
	    bash "$COALMINE_SOURCE/tests/bench/verdict.sh" >"$work/out" 2>&1
}

to=$work/source/tests/sim/verdict/scenarios
mkdir -p "$to" "$work/rows"
cp "$COALMINE_SOURCE/tests/sim/verdict/scenarios/node.conf" "$to"
echo "| kept | by the folder |" >"$work/rows/spare"
touch "$to/spare.conf"
make_table || fail "$(cat "$work/out")"
grep -q '^| 1 node of 256, 20 % slower | 2 | ' "$work/out" &&
	grep -q '^| kept' "$work/out" || fail "$(cat "$work/out")"

rm "$work/rows/node"
sed -i 's/^detected_within = .*/detected_within = 1/' "$to/node.conf"
! make_table || fail "a missed expectation was accepted"
grep -q 'expected at' "$work/out" || fail "$(cat "$work/out")"
