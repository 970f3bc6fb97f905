#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_demo.sh [tour] - lab/demo as a user would run it: the slow cable is named
# and cleared, page and metrics from the machine's own loopback, and nothing left
# after Ctrl-C or kill -9. tour: also congestion and the slow uplink of --tour.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
export COALMINE_DEMO_BUILD=$build_dir
folder=$(mktemp -d "${TMPDIR:-/tmp}/demo-XXXXXX") || exit 1
demo_pid=
trap '[ -z "$demo_pid" ] || kill -KILL $demo_pid; rm -rf "$folder"' EXIT

start_demo()
{
	env --default-signal=INT "$source_dir/lab/demo" --name "$COALMINE_LAB" \
		"$@" >"$folder/out" 2>&1 &
	demo_pid=$!
}

said() # TEXT
{
	grep -q "$1" "$folder/out" || ! kill -0 $demo_pid 2>/dev/null
}

wait_for() # SECONDS TEXT
{
	poll "$1" said "$2"
	grep -q "$2" "$folder/out" || fail "no '$2' in: $(cat "$folder/out")"
}

# The pid namespace of the demo's lab: every process of it is in there.
find_space()
{
	local init
	init=$("$lab" list | awk -v n="$COALMINE_LAB" '$1 == n { print $3 }')
	space=$(readlink "/proc/$init/ns/pid") || fail "no lab of the demo"
}

nothing_left()
{
	! readlink /proc/[0-9]*/ns/pid | grep -qxF "$space" &&
		! "$lab" list | grep -q "^$COALMINE_LAB "
}

start_demo
wait_for 60 'agents are up'
find_space
kill -KILL $demo_pid
wait $demo_pid 2>/dev/null
poll 5 nothing_left || fail "kill -9 leaves processes"
say "nothing left after kill -9"

start_demo ${1:+--tour}
wait_for 300 'the metrics'
find_space
grep -Eq '^    node5: [0-9.]+ times slower than ' "$folder/out" ||
	fail "node5 is not named: $(cat "$folder/out")"
grep -q '] cleared' "$folder/out" || fail "not cleared: $(cat "$folder/out")"
say "the slow cable was named and cleared"
url=$(sed -n 's/^the page *//p' "$folder/out")
curl -sf "$url" | grep -qi '<html' || fail "no page at $url"
curl -sf "${url}metrics" | grep -q '^coalmine_agents{state="ok"} 12' ||
	fail "no agents in ${url}metrics"
if [ -n "${1-}" ]; then
	grep -q 'is finished' "$folder/out" || fail "$(cat "$folder/out")"
	sed -n '/the uplink of/,$p' "$folder/out" |
		grep -Eq '^    .*(leaf2|10\.78\.2\.)' ||
		fail "the uplink is not named: $(cat "$folder/out")"
	grep -q 'impact' "$folder/out" || fail "no impact: $(cat "$folder/out")"
	curl -sf "${url}metrics" | grep -q '^coalmine_congestion_impact{' ||
		fail "no impact in ${url}metrics"
fi
kill -INT $demo_pid
wait $demo_pid
[ $? = 130 ] || fail "status after Ctrl-C"
poll 5 nothing_left || fail "Ctrl-C leaves processes"
demo_pid=
say passed
