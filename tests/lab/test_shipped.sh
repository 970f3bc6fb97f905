#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_shipped.sh [once] SEED...: time to a verdict with the shipped campaigns and
# their schedules, on 12 hosts without manual action. For each seed, the cable of
# a node drops to a tenth of its bandwidth at a random time, and is repaired as
# soon as the node is bad. Medians: a warning within 5 minutes, bad within 10,
# clear within 15 after the repair. No other node may be named.
#
# once: the fault begins at once, and the trial ends when the node is bad, however
# long that takes, since other tests may run at the same time.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
readonly nodes=12 every_s=360
folder=$(mktemp -d "${TMPDIR:-/tmp}/shipped-XXXXXX") || exit 1

start()
{
	local n
	lab_up --leaves 3 --hosts 4 --rate 200mbit --uplink 400mbit
	trap '"$lab" down; rm -rf "$folder"' EXIT
	cluster_prepare "$build_dir" "$source_dir" $nodes ||
		fail "cannot set up the cluster"
	cluster_start collector coalmined
	poll 10 cluster_collector_up || fail_with_log collector "no collector"
	for n in $(seq $nodes); do
		cluster_start node"$n" coalmine-agent
	done
	poll 20 cluster_agents_up $nodes ||
		fail_with_log node1 "only $(cluster_agents) agents"
}

rounds()
{
	[ "$(ctl run list --json --campaign watch --state finished |
		jq length)" -gt 0 ]
}

verdict_is() # JQ
{
	ctl_api verdicts | jq -e --arg node "$node" "$1" >/dev/null
}

# The time until the condition holds, in $took; the limit if it never does.
within() # SECONDS JQ
{
	local since=$SECONDS
	until verdict_is "$2"; do
		[ $((SECONDS - since)) -lt "$1" ] || break
		sleep 1
	done
	took=$((SECONDS - since))
}

# Other subjects of verdicts since FROM.
innocents() # FROM
{
	ctl_api 'verdicts/history?limit=500' | jq -r --argjson from "$1" \
		--arg node "$node" '[.[] | select(.at_unix_ns >= $from * 1e9 and
			.subject != $node) | "\(.subject) \(.verdict)"] |
			unique | join(", ")'
}

trial() # SEED
{
	local node from warned bad cleared others
	RANDOM=$1
	node=node$((RANDOM % nodes + 1))
	within 1200 'length == 0'
	[ -n "$once" ] || sleep $((RANDOM % every_s))
	from=$(date +%s)
	"$lab" degrade "$node" rate=20mbit || fail "cannot slow $node"
	within 1200 'any(.[]; .subject == $node)'
	warned=$took
	within 1200 'any(.[]; .subject == $node and .verdict == "bad")'
	bad=$((warned + took))
	others=$(innocents "$from")
	if [ -n "$once" ]; then
		say "seed $1: $node warn after $warned s, bad after $bad s," \
			"others named: ${others:-none}"
		verdict_is 'any(.[]; .subject == $node and .verdict == "bad")' ||
			fail "$node is not bad: $(ctl verdict list)"
		[ -z "$others" ] || fail "others were named: $others"
		return
	fi
	"$lab" heal "$node" || fail "cannot repair $node"
	within 1800 'length == 0'
	cleared=$took
	others=$(innocents "$from")
	say "seed $1: $node warn after $warned s, bad after $bad s," \
		"clear $cleared s after the repair, others named: ${others:-none}"
	echo "$warned $bad $cleared ${others:+others}" >>"$folder/trials"
}

median() # COLUMN
{
	awk -v c="$1" '{ print $c }' "$folder/trials" | sort -n | awk '
		{ v[NR] = $1 }
		END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

once=
[ "${1:-}" != once ] || { once=yes && shift; }
[ $# -gt 0 ] || fail "usage: test_shipped.sh [once] SEED..."
start
poll 600 rounds || fail "no round: $(ctl run list)"
for seed; do
	trial "$seed"
done
[ -z "$once" ] || exit 0
say "medians of $# trials: warn $(median 1) s, bad $(median 2) s," \
	"clear $(median 3) s after the repair"
between "$(median 1)" 0 300 "seconds until the warning"
between "$(median 2)" 0 600 "seconds until bad"
between "$(median 3)" 0 900 "seconds until clear"
! grep -q others "$folder/trials" || fail "others were named"
