#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first page in a real browser over a made-up cluster: it shows verdict,
# nodes, runs and impact; a run's and a node's page work; the script breaks
# neither itself nor the security policy. Looks are for people.
set -eu

browser=$(command -v chromium || command -v chromium-browser || true)
[ -n "$browser" ] || { echo "skipped: no chromium here"; exit 77; }
tmp=$(mktemp -d)
port=$((20000 + $$ % 12000))
"$COALMINE_BUILD/tests/bench/daemon/serve_page" $port >"$tmp/out" &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server || true; rm -rf "$tmp"' EXIT
for _ in $(seq 100); do
	[ -s "$tmp/out" ] && break
	kill -0 $server 2>/dev/null || { echo "no server"; exit 1; }
	sleep 0.1
done

# look FRAGMENT: what the browser makes of it goes to dom, what it says to log.
look()
{
	timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu \
		--disable-background-networking --user-data-dir="$tmp/user" \
		--enable-logging=stderr --virtual-time-budget=4000 \
		--dump-dom "http://127.0.0.1:$port/$1" \
		>"$tmp/dom" 2>"$tmp/log"
}

# missing PATTERN...: the first one that is not in dom.
missing()
{
	for pattern; do
		grep -q "$pattern" "$tmp/dom" || { echo "$pattern"; return; }
	done
}

# show FRAGMENT PATTERN...: every pattern is there. The browser's clock runs
# ahead of a busy machine, so it may look again.
show()
{
	fragment=$1
	shift
	for _ in 1 2 3 4 5; do
		look "$fragment" || continue
		if grep -E 'CONSOLE.*(Refused|Uncaught|Error)' "$tmp/log"; then
			echo "'$fragment': the page is at fault"
			exit 1
		fi
		[ -n "$(missing "$@")" ] || return 0
	done
	echo "'$fragment' lacks: $(missing "$@")"
	tail -5 "$tmp/log"
	grep -o '<h1>[^<]*' "$tmp/dom" || true
	exit 1
}

show '' '11 of 12 nodes report; congestion costs up to' \
	'node7 is slower than its peers' 'gpcnet-quick-199' \
	'congested, bw-sync, 27 s left' 'Impact over time' 'class="span"'
show '#run=gpcnet-quick-199' 'Canaries' 'Worst pairs' 'area iso' 'area con'
show '#run=gpcnet-quick-195' 'silent for 10 s'
show '#run=none' 'There is no answer'
show '#node=node1' 'Inventory' 'Runs with this node'
