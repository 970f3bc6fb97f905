#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_grafana.sh - every query of every dashboard finds something in a real
# Prometheus that scraped a collector in the lab after a campaign; rules and
# alerts are loaded there too, and none fires that should not.
#
# Metrics of a probe may be absent if it did not run.
here=$(cd "$(dirname "$0")" && pwd)
# eth0 is for management; each of a node's two ranks has a rail.
cluster_nics=eth1,eth2
. "$here/lib.sh"
for tool in promtool prometheus; do
	command -v $tool >/dev/null || skip "no $tool; see lab/deps"
done
work=$(mktemp -d)
# Campaigns of plans on two nodes, for dashboards with their metrics.
makers=(collectives group self stripe)

# An enabled schedule that is not due during this test.
before_start()
{
	# A p99 impact needs 1,000 samples of lat in each phase.
	write_campaign all lat,bw-sync,allreduce 3s
	in_host collector tee "$cluster/campaigns/hourly.conf" >/dev/null <<-END
	[campaign]
	nodes_min = $nodes
	[canary]
	tests = lat
	[schedule]
	every = 12h
	offset = 6h
	END
	in_host collector sh -c "cat >>$cluster/collector/conf" <<-END
	[links]
	interval = 1s
	END
}

has_p99()
{
	in_host collector curl -sf http://127.0.0.1:17701/metrics |
		grep -q '^coalmine_congestion_impact{.*of="p99"'
}

prometheus_up()
{
	cp "$source_dir"/etc/prometheus/coalmine.*.yml "$work"
	cat >"$work/prometheus.yml" <<-END
	global: {scrape_interval: 1s, evaluation_interval: 2s}
	rule_files: [coalmine.rules.yml, coalmine.alerts.yml]
	scrape_configs:
	  - job_name: coalmine
	    static_configs: [{targets: ['127.0.0.1:17701']}]
	  - job_name: node
	    http_sd_configs:
	      - url: http://127.0.0.1:17701/api/v1/sd/prometheus?port=9100
	END
	in_host collector prometheus --config.file="$work/prometheus.yml" \
		--storage.tsdb.path="$work/tsdb" \
		--web.listen-address=127.0.0.1:19090 >"$work/log" 2>&1 &
	poll 30 ask up || fail "Prometheus: $(tail -n 5 "$work/log")"
}

prometheus_api() # PATH [curl options]
{
	local path=$1
	shift
	in_host collector curl -sS --max-time 10 "$@" \
		"http://127.0.0.1:19090/api/v1/$path"
}

ask() # EXPR: it has a sample that is a number
{
	prometheus_api query --data-urlencode "query=$1" 2>/dev/null |
		jq -e '.status == "success" and (.data.result | length > 0)' \
		>/dev/null 2>&1
}

# Print the lines of $work/queries whose query has no result, after up to 20 s of
# retries. One program sends all queries: a call of curl for each took a minute.
empty_queries()
{
	in_host collector python3 - "$work/queries" <<-'END'
	import json, re, sys, time, urllib.parse, urllib.request
	URL = "http://127.0.0.1:19090/api/v1/query?query="
	def found(expr):
	    # Queries that select only bad ones are sent for all.
	    expr = re.sub(r" (==|<) [0-9.]+$", "", expr)
	    with urllib.request.urlopen(URL + urllib.parse.quote(expr),
	                                timeout=10) as reply:
	        return json.load(reply)["data"]["result"]
	lines = open(sys.argv[1]).read().splitlines()
	until = time.monotonic() + 20
	while lines and time.monotonic() < until:
	    lines = [l for l in lines if not found(l.split("\t")[2])]
	    time.sleep(1)
	print("\n".join(lines))
	END
}

# The campaign that makes a metric, by its name's beginning.
maker_of() # EXPR
{
	case $1 in
	*coalmine_stripe_*) echo stripe ;;
	*coalmine_group_*) echo group ;;
	*coalmine_self_*) echo self ;;
	*coalmine_rail_*) echo stripe ;;
	*coalmine_collective_*) echo collectives ;;
	esac
}

may_be_absent() # EXPR
{
	local maker
	maker=$(maker_of "$1")
	if [[ $1 == *_verdict\{* ]]; then
		# There are series of open cases only.
		! ctl_api verdicts 2>/dev/null | jq -e 'length > 0' >/dev/null
	elif [[ $1 =~ coalmine_(neighbor|sparse|multipath)_speedup ]]; then
		true # of probes that no campaign of this test runs
	elif [[ $1 == *coalmine_objective_* ]]; then
		true # the collector of this test has no objective
	elif [[ $1 == *coalmine_link_worst_errors* ]]; then
		true # no port counts any
	elif [[ $1 == *coalmine_node_bandwidth_ratio* ]]; then
		true # interfaces of namespaces state no rate
	elif [[ $1 == *coalmine_outliers* || $1 == *coalmine_nodes* ]]; then
		! ctl_api verdicts >/dev/null 2>&1
	else
		[ -n "$maker" ] && ! ctl run list --json | jq -e --arg m "$maker" \
			'any(.[]; .campaign == $m and .state == "finished")' \
			>/dev/null
	fi
}

check_queries()
{
	local board title expr asked absent=0
	asked=$(wc -l <"$work/queries")
	[ "$asked" -ge 30 ] || fail "only $asked queries"
	empty_queries >"$work/empty" || fail "the queries were not asked"
	while IFS=$'\t' read -r board title expr; do
		[ -n "$board" ] || continue
		may_be_absent "$expr" ||
			fail "$board, $title: nothing for $expr"
		absent=$((absent + 1))
		say "no data, as expected: $board, $title"
	done <"$work/empty"
	say "$asked queries, $absent of them without data as expected"
}

check_discovery()
{
	prometheus_api targets | jq -e '[.data.activeTargets[] |
		select(.labels.job == "node") | .scrapeUrl] | sort ==
		([range(1; 13) | "http://node\(.):9100/metrics"] | sort)' \
		>/dev/null || fail "discovery: $(prometheus_api targets)"
}

check_alerts()
{
	local firing
	prometheus_api rules | jq -e '[.data.groups[].rules[] |
		select(.health == "err")] == []' >/dev/null ||
		fail "rules with errors: $(prometheus_api rules)"
	firing=$(prometheus_api alerts | jq -r '.data.alerts[] |
		select(.state == "firing") | .labels.alertname')
	[ -z "$firing" ] || fail "alerts on a healthy cluster: $firing"
}

COALMINE_SOURCE=$source_dir python3 -B \
	"$source_dir/tests/grafana/test_dashboards.py" --queries \
	>"$work/queries" || fail "no queries"
lab_up --rails 3
trap '"$lab" down; rm -rf "$work"' EXIT
cluster_up 12
prometheus_up
# A busy machine takes longer for as many samples.
for time in 3s 12s 48s; do
	order all --wait -o canary.time=$time
	expect_finished 5
	! has_p99 || break
done
for maker in "${makers[@]}"; do
	order "$maker" --wait -o campaign.nodes_max=2 \
		-o measure.time=400ms -o measure.sizes=4K
	expect_finished 5
done
check_queries
check_discovery
check_alerts
say passed
