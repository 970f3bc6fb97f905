#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_promise.sh: a cluster is accepted, and the promise stays in force. The
# report of a sound cluster fails nothing. The cost of a slow node is predicted.
# After a restart of the collector with an objective of this report, a node that
# becomes slow spends the budget.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

promise=$cluster/promise
report=$cluster/report.json

before_start()
{
	watch_campaign 5s bw 1s 8 0
}

nodes_have_rates()
{
	ctl_api shares | jq -e --argjson count "$nodes" \
		'[.nodes[] | select(.rate > 0)] | length == $count' >/dev/null
}

# Whether this node has spent the most of the budget.
spends() # NODE
{
	ctl objective list --json | jq -e --arg node "$1" '.[0].parts[0] |
		.subject == $node and .bad_hours > 0' >/dev/null
}

collector_is_gone()
{
	! cluster_collector_up
}

lab_up --leaves 2 --hosts 3 --rate 40mbit --uplink 80mbit
cluster_up 6
poll 60 nodes_have_rates || fail "no rates: $(ctl_api shares)"
say "every node has a rate"

# State the oversubscription, which the collector cannot know here; measure no
# loads of all nodes.
ctl promise init --gbps 0.04 --out $promise || fail "no promise"
in_host collector sed -i 's/^oversubscription = .*/oversubscription = 1.5/
	/^names/d; /^senders/d; s/^rate = 0$/rate = 0.1/
	$ a [accept]\nshare = 0.8\nfound = 0.6' $promise
ctl schedule disable watch >/dev/null || fail "the schedule is not disabled"
ctl accept run $promise --out $report
rc=$?
summary=$(in_host collector jq -c .summary $report)
[ "$(jq .fails <<<"$summary")" = 0 ] && [ "$(jq .holds <<<"$summary")" -gt 6 ] ||
	fail "exit code $rc, $summary"
say "accepted: $summary"

told=$(ctl whatif --machine lab --slow node5=0.5 --nodes 'node[1-6]' \
	--bytes 4M --json) || fail "whatif: $told"
between "$(jq .times <<<"$told")" 1.5 2.5 "whatif, times"

in_host collector tee -a "$cluster/collector/conf" >/dev/null <<-END
[objective]
report = $report
rows = links node 90% 99% 1d promise
END
cluster_signal TERM collector
poll 20 collector_is_gone || fail "the collector does not end"
cluster_start collector coalmined
poll 20 cluster_collector_up || fail_with_log collector "no collector"
poll 20 cluster_agents_up 6 || fail "only $(cluster_agents) agents"
ctl schedule enable watch >/dev/null || fail "the schedule is not enabled"
"$lab" degrade node5 rate=16mbit
poll 120 spends node5 ||
	fail "not spent: $(ctl objective list --json) $(ctl run list)"
say "$(ctl objective list)"
say "passed"
