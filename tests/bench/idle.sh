#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# idle.sh - the cost of an idle Coalmine: memory of the collector with 12 agents
# and of an agent, and their CPU time over a minute.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lab/lib.sh
. "$here/../lab/lib.sh"
span_s=60

# Resident KiB and processor time in ticks of every process of NAME.
costs() # NAME
{
	in_host collector bash -c 'for p in $(pgrep -x "$1"); do
		rss=$(awk "/^VmRSS/ { print \$2 }" /proc/$p/status)
		echo $p $rss $(cut -d" " -f14,15 /proc/$p/stat | tr " " +)
	done' - "$1" | while read -r pid rss ticks; do
		echo "$pid $rss $((ticks))"
	done
}

# The largest memory and the largest share of a core between two readings.
compare_costs() # NAME BEFORE AFTER
{
	join <(sort <<<"$2") <(sort <<<"$3") | awk -v name="$1" -v s=$span_s \
	    -v hz="$(getconf CLK_TCK)" '
		$4 > rss { rss = $4 }
		($5 - $3) > ticks { ticks = $5 - $3 }
		{ sum += $5 - $3 }
		END { printf "| %s | %d | %.1f | %.3f | %.3f |\n", name, NR,
			rss / 1024, 100 * ticks / hz / s,
			100 * sum / NR / hz / s }'
}

lab_up
cluster_up 12
set -e -o pipefail
sleep 5
agents=$(costs coalmine-agent)
[ "$(wc -l <<<"$agents")" = 12 ] || fail "agents: $agents"
collector=$(costs coalmined)
sleep $span_s
echo "| program | processes | resident MiB | % of a core, most | mean |"
echo "|---|---:|---:|---:|---:|"
compare_costs coalmine-agent "$agents" "$(costs coalmine-agent)"
compare_costs coalmined "$collector" "$(costs coalmined)"
