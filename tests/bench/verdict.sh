#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# verdict.sh - the time to detect faults in simulated clusters, the detection
# rate and the false positives: all scenarios of tests/sim/verdict, one on each
# core.
#
# COALMINE_BENCH_VERDICT_TRIALS: at most this many trials of each scenario.
# COALMINE_BENCH_VERDICT_ROWS: a folder that keeps the row of each scenario;
# those in it are not simulated again.
most=${COALMINE_BENCH_VERDICT_TRIALS-}
rows=${COALMINE_BENCH_VERDICT_ROWS:-$(mktemp -d)}
bench=$COALMINE_BUILD/tests/sim/verdict/bench_verdict
scenarios=$COALMINE_SOURCE/tests/sim/verdict/scenarios
[ -n "${COALMINE_BENCH_VERDICT_ROWS-}" ] || trap 'rm -rf "$rows"' EXIT

row() # FILE
{
	local to
	to=$rows/$(basename "$1" .conf)
	[ ! -s "$to" ] || return 0
	"$bench" ${most:+-t "$most"} "$1" >"$to.new" 2>"$to.err"
	cat "$to.err" >&2
	tail -n +3 "$to.new" >"$to"
	rm "$to.new"
	[ -s "$to" ] # else it was ended
}

export -f row
export most rows bench
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\0' "$scenarios"/*.conf |
	xargs -0 -P "$(nproc)" -I {} bash -c 'row "$1"' row {} || exit 1

cat <<END
${most:+At most $most trials of each scenario. }Detected: all faulty parts have a finding while the fault lasts; named: the finding has the
right kind too. Healthy parts with a warning and false alarms are numbers in a trial. This table is the source of the one in
coalmine-verdict(7).

END
"$bench"
for scenario in "$scenarios"/*.conf; do
	cat "$rows/$(basename "$scenario" .conf)"
done
if grep -h "expected at" "$rows"/*.err; then
	exit 1
fi
