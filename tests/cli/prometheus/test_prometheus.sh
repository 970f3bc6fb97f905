#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_prometheus.sh - a collector without agents serves metrics that promtool
# and a real Prometheus accept; and the rules beyond promtool's can fail.
#
# Not covered: metrics of a finished run, which the lab's tests check with the
# same check.sh.
set -u
here=$(cd "$(dirname "$0")" && pwd)
for tool in promtool prometheus jq curl ss; do
	command -v $tool >/dev/null && continue
	echo "skipped: no $tool; see lab/deps"
	exit 77
done
collector=$COALMINE_BUILD/daemon/coalmined
coalctl=$COALMINE_BUILD/ctl/coalctl
work=$(mktemp -d)
daemon=
tidy() {
	if [ -n "$daemon" ]; then
		kill -KILL "$daemon" && wait "$daemon"
	fi 2>/dev/null
	rm -rf "$work"
}
trap tidy EXIT
trap 'exit 143' TERM INT

fail() {
	echo "$*"
	[ ! -f "$work/log" ] || tail -n 20 "$work/log"
	exit 1
}

# refuse TEXT: rules.awk must not accept it.
refuse() {
	printf "$1" | awk -f "$here/rules.awk" >/dev/null &&
	    fail "rules.awk accepts: $1"
}

rules() {
	local h='# TYPE h histogram\n' c='# TYPE c counter\n' g='# TYPE g gauge\n'

	printf "${c}c{a=\"1\"} 1\nc{a=\"2\"} 2\n${g}g NaN\n$h"'h_bucket{le="1"} 1
h_bucket{le="+Inf"} 2\nh_sum 1\nh_count 2\n' |
	    awk -f "$here/rules.awk" || fail "rules.awk refuses good text"
	refuse "${c}c 1\nc 1\n"
	refuse "${c}c 1\n${g}g 1\nc{a=\"1\"} 1\n"
	refuse "${c}c NaN\n"
	refuse "x 1\n"
	refuse "$h"'h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n'
	refuse "$h"'h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\n'
}

start() {
	local port
	"$coalctl" pki init "$work/pki" >"$work/log" 2>&1 || fail "pki init"
	"$coalctl" pki issue "$work/pki" collector --role collector \
	    >>"$work/log" 2>&1 || fail "pki issue"
	mkdir "$work/state" "$work/campaigns"
	for _ in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 12000))
		cat >"$work/coalmined.conf" <<-EOF
		[collector]
		listen = 127.0.0.1:$((port + 1))
		state_dir = $work/state
		campaign_dir = $work/campaigns
		[tls]
		ca = $work/pki/ca.pem
		cert = $work/pki/collector.pem
		key = $work/pki/collector.key
		[http]
		listen = 127.0.0.1:$port
		socket = $work/sock
		EOF
		"$collector" --config "$work/coalmined.conf" \
		    >>"$work/log" 2>&1 &
		daemon=$!
		for ((i = 0; i < 100; i++)); do
			address=127.0.0.1:$port
			curl -s -o "$work/health" "http://$address/healthz" &&
			    return
			kill -0 $daemon 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL $daemon 2>/dev/null
		wait $daemon 2>/dev/null
	done
	fail "the collector does not serve"
}

rules
start
"$here/check.sh" "$address" coalmine_build_info coalmine_agents \
    coalmine_db_writable || fail "see above"
exit 0
