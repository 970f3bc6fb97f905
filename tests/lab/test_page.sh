#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_page.sh - a newcomer finds the slow node from the page alone: in a lab
# whose node5 is degraded, the headline names it, its evidence is below, and a
# click leads to its page. With PICTURES=DIR the looks are kept there; those of
# daemon/guide were made so.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
command -v chromium >/dev/null || skip "no chromium here"

# A round of all nodes every 12 s.
before_start()
{
	in_host collector tee "$cluster/campaigns/watch.conf" >/dev/null <<-END
	[campaign]
	about = all nodes, every 12 s
	class = background
	nodes_min = 4
	deadline = 60s
	start_limit = 20s
	[schedule]
	every = 12s
	[canary]
	tests = bw
	share = 1
	precision = 0.001
	time = 4s
	rounds_min = 8
	[congestor]
	mix = none
	[phases]
	visits = 1
	END
	in_host collector sh -c "cat >>$cluster/collector/conf" <<-END
	[verdict]
	second_pass_per_hour = 100
	[mesh]
	enabled = no
	END
}

named()
{
	ctl_api verdicts | jq -e 'any(.[]; .subject == "node5" and
		.kind == "node")' >/dev/null
}

lab_up
cluster_up 12
"$lab" degrade node5 rate=20mbit || fail degrade
poll 240 named || fail "not named: $(ctl_api verdicts) $(ctl run list)"
say "named: $(ctl_api verdicts | jq -r ".[].text")"
in_host collector env PYTHONDONTWRITEBYTECODE=1 PICTURES="${PICTURES-}" \
	"$source_dir/tests/browser/find_slow.py" http://127.0.0.1:17701/ node5 ||
	fail "the page does not lead to node5"
say passed
