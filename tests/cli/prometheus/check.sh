#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# check.sh HOST:PORT [FAMILY...] - /metrics there is valid for Prometheus:
# promtool accepts it, and so do additional rules (families in one piece, no
# series twice, buckets cumulative and closed, counters are numbers). A real
# Prometheus scrapes it for some seconds with the target up, and every FAMILY
# has a sample. All started processes are ended.
set -u
here=$(cd "$(dirname "$0")" && pwd)
target=$1
shift
work=$(mktemp -d)
prometheus=

tidy() {
	if [ -n "$prometheus" ]; then
		kill -KILL "$prometheus" && wait "$prometheus"
	fi 2>/dev/null
	rm -rf "$work"
}
trap tidy EXIT
trap 'exit 143' TERM INT

fail() {
	echo "$*"
	exit 1
}

# within SECONDS COMMAND...: wait until the command succeeds.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

ask() {
	curl -sS --max-time 5 "http://$1" 2>"$work/curl"
}

query() {
	curl -sS --max-time 5 --data-urlencode "query=$1" \
	    "http://127.0.0.1:$port/api/v1/query" 2>/dev/null
}

# A port without a listener, for a moment at least.
free_port() {
	local p
	while :; do
		p=$((20000 + RANDOM % 12000))
		ss -Hltn "sport = :$p" | grep -q . || break
	done
	echo $p
}

target_up() {
	[ "$(query up | jq -r '.data.result[0].value[1]' 2>/dev/null)" = 1 ]
}

scraped_often() {
	local n
	n=$(query 'count_over_time(up[1m])' |
	    jq -r '.data.result[0].value[1] // 0' 2>/dev/null)
	[ "${n:-0}" -ge 4 ]
}

scrape() {
	port=$(free_port)
	cat >"$work/prometheus.yml" <<-EOF
	global:
	  scrape_interval: 1s
	scrape_configs:
	  - job_name: coalmine
	    static_configs:
	      - targets: ['$target']
	EOF
	promtool check config "$work/prometheus.yml" >/dev/null ||
	    fail "promtool check config"
	prometheus --config.file="$work/prometheus.yml" \
	    --storage.tsdb.path="$work/tsdb" \
	    --web.listen-address="127.0.0.1:$port" >"$work/log" 2>&1 &
	prometheus=$!
	within 30 target_up ||
	    fail "the target is not up: $(query up; tail -n 5 "$work/log")"
	within 30 scraped_often || fail "not scraped four times"
	query 'min_over_time(up[1m])' |
	    jq -e '.data.result[0].value[1] == "1"' >/dev/null ||
	    fail "the target was down in between"
}

ask "$target/metrics" >"$work/metrics" || fail "$(cat "$work/curl")"
[ "$(tail -c 1 "$work/metrics" | od -An -tx1 | tr -d ' ')" = 0a ] ||
    fail "no newline at the end"
promtool check metrics <"$work/metrics" >"$work/out" 2>&1 ||
    fail "promtool: $(cat "$work/out")"
awk -f "$here/rules.awk" "$work/metrics" || exit 1
scrape
for family; do
	query "$family" | jq -e '.data.result | length > 0' >/dev/null ||
	    fail "$family has no sample"
done
exit 0
