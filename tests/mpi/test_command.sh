#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_command.sh MPI [program]: the application canary. The program reports a
# fixed time in each phase, so its impact is known. With "program" only this
# case.
. "$(dirname "$0")/lib.sh"
need "$1"

# campaign PROGRAM [LINE of section command]...
campaign() {
	cat >"$work/campaign.conf" <<-END
	[campaign]
	seed = 7
	[canary]
	tests = lat,command
	share = 0.5
	rounds_min = 2
	time = 200ms
	[congestor]
	mix = alltoall
	[phases]
	visits = 2
	[command]
	run = $1 a  b
	repetitions = 3
	END
	shift
	printf '%s\n' "$@" >>"$work/campaign.conf"
}

# program TEXT: with it as a shell script.
program() {
	printf '#!/bin/sh\n%s\n' "$1" >"$work/program"
	chmod +x "$work/program"
}

run() {
	engine 6 run "$work/campaign.conf" --json "$work/records" --quiet
	complete "$1"
}

# Three times as long under congestors, plus the machine's delay of each run: the
# impact must agree with the recorded times.
program '[ $# = 2 ] || exit 9
env | grep -qE "^(OMPI_|PMI|PMIX_|HYD|MPI)" && exit 8
[ "$COALMINE_PHASE" = isolated ] && sleep 0.2 || sleep 0.6
echo "$COALMINE_PHASE $COALMINE_VISIT $COALMINE_HOSTS" >>"${0%/*}/log"'
campaign "$work/program"
run "a program"
[ "$(count '.probe == "command" and .verdict == "ok" and .seconds >= 0.2')" = 12 ] ||
	fail "runs: $(grep '"command"' "$work/records")"
[ "$(count '.probe == "canary" and .test == "command" and .n == 6 and
	.rounds == 6 and .stopped_by == "count" and .unit == "s"')" = 2 ] ||
	fail "canary records: $(grep canary "$work/records")"
jq -se 'def mean(p): [.[] | select(.probe == "command" and .phase == p) |
		.seconds] | add / length;
	(mean("congested") / mean("isolated")) as $want |
	[.[] | select(.probe == "impact" and .test == "command" and
		.of == "mean")] | length == 1 and (.[0] |
	.value > 1 and .value > $want * 0.9 and .value < $want * 1.1 and
	.interval.lo < .value and .value < .interval.hi)' "$work/records" ||
	fail "impact: $(grep -E "impact|command" "$work/records")"
hosts=$(jq -r 'select(.probe == "begin") | .roles.canary' "$work/records")
[ "$(sort "$work/log" | uniq -c | awk '{ print $1, $2, $3 }' | tr '\n' ,)" = \
	"3 congested 1,3 congested 2,3 isolated 1,3 isolated 2," ] ||
	fail "log: $(cat "$work/log")"
[ "$(awk '{ print gsub(",", ",", $3) }' "$work/log" | sort -u)" = 2 ] ||
	fail "not three hosts ($hosts): $(cat "$work/log")"

[ "${2-}" != program ] || exit 0

# On all nodes at once: each has separate times.
program 'sleep 0.1'
campaign "$work/program" "on = each"
run "on each"
[ "$(count '.probe == "canary" and .test == "command" and .n == 18 and
	(.nodes | length) == 3')" = 2 ] || fail "each: $(grep canary "$work/records")"

# A failure has no time, ends the test, and has a reason; other tests are
# measured.
program 'echo first >&2; echo "no licence" >&2; exit 3'
campaign "$work/program"
run "a failure"
[ "$(count '.probe == "command" and .verdict == "bad" and .status == 3 and
	.seconds == null and .cause == "command" and
	(.text | endswith("exited with status 3: first no licence"))')" = 2 ] ||
	fail "failed runs: $(grep '"command"' "$work/records")"
[ "$(count '.probe == "impact" and .test == "command" and .value == null and
	.cause == "command"')" = 2 ] || fail "impact of a failure"
[ "$(count '.probe == "impact" and .test == "lat" and (.value > 0 or
	(.of == "p99" and .cause == "too-few-samples"))')" = 2 ] ||
	fail "the other test"

# A program that exceeds its limit is killed with all its children.
program 'sleep 31.25 & sleep 31.25'
campaign "$work/program" "timeout = 300ms"
run "a timeout"
[ "$(count '.probe == "command" and .cause == "timeout" and
	.verdict == "bad"')" = 2 ] || fail "timeout: $(grep '"command"' "$work/records")"
! pgrep -f "^sleep 31.25" >/dev/null || fail "the program is left"

# Programs that cannot be started, and incomplete campaigns.
campaign "$work/nothing"
run "no program"
[ "$(count '.probe == "command" and .status == 127 and
	(.text | contains("No such file"))')" = 2 ] || fail "no program"
for wrong in command.run= canary.tests=lat canary.exact=gpcnet \
	command.repetitions=0 command.on=all; do
	engine 2 run "$work/campaign.conf" -o "$wrong" --json "$work/records"
	[ "$(count '.probe == "end" and .cause == "config"')" = 1 ] ||
		fail "$wrong was taken: $(cat "$work/records")"
done
