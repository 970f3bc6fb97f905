#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# reading.sh - every verb that reads: tables, JSON, exit codes. The collector is
# a fake; the tests of the lab check the answers of the real one.
. "$(dirname "$0")/lib.sh"
start_standin

expect node-list 0 "$coalctl" node list
expect node-list-some 0 "$coalctl" node list 'node[1-2,77]' --json
expect node-list-state 0 "$coalctl" node list --state lost
expect node-list-fold 0 "$coalctl" node list --fold
expect node-list-software 0 "$coalctl" node list --software
expect node-upgrade 1 "$coalctl" node upgrade-check
expect node-list-bad 3 "$coalctl" node list 'node[1-'
expect node-show 0 "$coalctl" node show node1
expect node-show-json 0 "$coalctl" node show node1 -j
# Names that were never seen give an error.
expect node-list-never 3 "$coalctl" node list 'node[77-78]'
expect node-upgrade-never 3 "$coalctl" node upgrade-check node77
expect node-show-hosts 3 "$coalctl" node show 'node[1-2]'
expect node-show-nope 3 "$coalctl" node show nope
expect node-show-path 3 "$coalctl" node show ../runs
expect campaign-list 1 "$coalctl" campaign list
expect campaign-list-json 1 "$coalctl" campaign list --json
expect campaign-show 0 "$coalctl" campaign show canary
expect epilog 0 "$coalctl" epilog 4711
expect epilog-unknown 0 "$coalctl" epilog 4712
expect advice-json 0 "$coalctl" advice --json
expect advice-since 3 "$coalctl" advice --since never
check "advice" "$coalctl" advice --out "$work/advice"
# All but the time, for the shell.
expect advice 0 sed 's/coalctl, [0-9T:.-]*Z/coalctl, TIME/' \
    "$work/advice"
check "advice: no shell" sh -n "$work/advice"
expect run-list 0 "$coalctl" run list
expect run-list-json 0 "$coalctl" run list --json --campaign gpcnet-quick
expect run-list-state 3 "$coalctl" run list --state broken
expect run-list-limit 3 "$coalctl" run list --limit 0
expect run-show 0 "$coalctl" run show 20261118-gq-a
expect run-show-last 0 "$coalctl" run show last --json
expect run-show-many 3 "$coalctl" run show 20261118
expect run-show-nope 3 "$coalctl" run show x
expect compare-nope 3 "$coalctl" compare last nosuch
expect run-watch-failed 2 "$coalctl" run watch last:gpcnet-quick
expect report 0 "$coalctl" report 20261118-gq-aaaa
expect report-ascii 0 env LC_ALL=C "$coalctl" report 20261118-gq-b
expect report-csv 0 sh -c '"$0" report 20261118-gq-aaaa --csv &&
    "$0" report 20261121-co-abcd --csv' "$coalctl"
# The engine's own output, without a collector: an array, and lines of which the
# last is incomplete.
sed 1d "$here/fixtures/GET_runs_20261118-gq-aaaa_records" >"$work/run.json"
expect report-file 0 "$coalctl" --url unix:/nonexistent report "$work/run.json"
cat >"$work/lines" <<'EOT'
{"run":"r-1","seq":1,"probe":"begin","mpi":"openmpi","ranks":2,"nodes":["n1","n2"],"seed":7,"options":{}}
{"run":"r-1","seq":2,"probe":"round","test":"lat"}
{"run":"r-1","seq":3,"probe":"group","of":"whole","plan":"group g=1 bytes=1M","pattern":"fan","bytes":1048576,"unit":"s","n":5,"median_middle":0.1,"interval":null,"stopped_by":"time","bandwidth":{"median_middle":10485760},"carried":{"transport":"tcp","devices":["eth0","eth1"]}}
EOT
{
	cat "$work/lines"
	echo '{"run":"r-1","seq":4,"probe":"end","records":4,"status":"ok"}'
	printf '{"run":"r-1","seq":5'
} >"$work/run.jsonl"
expect report-file-csv 0 "$coalctl" report --csv "$work/run.jsonl"
# With the loop counts of GPCNeT, and one of four nodes slow.
cat >"$work/exact.jsonl" <<'EOT'
{"run":"r-2","seq":1,"probe":"begin","mpi":"openmpi","ranks":4,"nodes":["n1","n2","n3","n4"],"seed":7,"options":{}}
{"run":"r-2","seq":2,"probe":"canary","test":"lat","phase":"isolated","unit":"s","carried":{"transport":"tcp","devices":["eth0","eth1"]},"bytes":8,"n":1000,"mean":2e-5,"p50":1.1e-5,"p99":9e-5,"p999":9.5e-5,"interval":{"of":"p99","level":0.95,"lo":8e-5,"hi":9.2e-5},"rings":{"n":30,"min":1e-6,"max":1e-4,"avg":2e-5,"avg_worst":4e-5,"p001":1e-6},"nodes":[{"node":"n1","n":9,"p50":1e-5,"p99":2e-5,"q25":1e-5,"q75":1.1e-5},{"node":"n2","n":9,"p50":1.1e-5,"p99":2e-5,"q25":1.1e-5,"q75":1.2e-5},{"node":"n3","n":9,"p50":1.2e-5,"p99":2e-5,"q25":1.2e-5,"q75":9e-5},{"node":"n4","n":9,"p50":9e-5,"p99":9e-5,"q25":9e-5,"q75":9e-5}],"pairs":[{"a":"n3","b":"n4","n":3,"p50":9e-5},{"a":"n1","b":"n2","n":3,"p50":1.1e-5}]}
{"run":"r-2","seq":3,"probe":"end","records":3,"status":"ok"}
EOT
expect report-exact 0 "$coalctl" report "$work/exact.jsonl" --ascii
expect report-file-open 2 sh -c '"$0" report --csv - <"$1"' "$coalctl" \
    "$work/lines"
echo '{"a":1}' >"$work/no.json"
expect report-file-none 3 "$coalctl" report "$work/no.json"
printf '{"a":\n{"probe":"end"}\n' >"$work/no.json"
expect report-file-bad 3 "$coalctl" report "$work/no.json"
expect report-file-missing 3 "$coalctl" report ./nosuch
expect report-failed 2 "$coalctl" report last --ascii
expect report-pending 3 "$coalctl" report 20261121-pe-abcd
expect report-neighbor 0 "$coalctl" report 20261121-nb-eeee --ascii
expect report-collectives 0 "$coalctl" report 20261121-co-abcd --ascii
expect tuning 0 "$coalctl" tuning 20261121-co-abcd
expect tuning-json 0 "$coalctl" tuning 20261118-gq-aaaa --json
expect report-binding 0 "$coalctl" report 20261121-bd-ffff --ascii
# Real records of a GPU; bw was changed to a failed measurement.
expect report-gpu 0 "$coalctl" report 20261127-gpu-abcd --ascii
expect report-forms 3 "$coalctl" report last --csv --json
expect report-nccl 0 "$coalctl" report 20261121-co-abcd --format nccl-tests
expect report-osu 0 "$coalctl" report 20261121-co-abcd --format osu
expect report-format 3 "$coalctl" report 20261121-co-abcd --format table
expect report-format-none 3 "$coalctl" report 20261118-gq-aaaa --format osu
# The run before them is the last of GET_canaries.
expect compare-periods 1 "$coalctl" compare 2026-11-01..2026-11-08 7d..now
expect compare 1 "$coalctl" compare 20261118-gq-a 20261118-gq-b
expect compare-back 0 "$coalctl" compare 20261118-gq-b 20261118-gq-a
expect compare-same 0 "$coalctl" compare 20261118-gq-a 20261118-gq-a \
    --margin 20%
expect compare-json 1 "$coalctl" compare 20261118-gq-a 20261118-gq-b -j
expect compare-margin 3 "$coalctl" compare last last --margin 200%
expect compare-period-bad 3 "$coalctl" compare 2026-11-31x..now 7d..now
expect compare-period-back 3 "$coalctl" compare 7d..8d 1d..now
expect compare-unlike 3 "$coalctl" compare 20261118-gq-a 20261127-gpu-abcd
expect compare-nothing 3 "$coalctl" compare 20261121-co-abcd 20261121-co-abcd
expect matrix 0 "$coalctl" matrix matrix
expect matrix-json 0 "$coalctl" matrix matrix --json
expect matrix-none 3 "$coalctl" matrix canary
expect baseline-pin 0 "$coalctl" baseline pin ship 20261118-gq-a
expect baseline-list 0 "$coalctl" baseline show
expect baseline-show 0 "$coalctl" baseline show ship
expect baseline-diff 1 "$coalctl" baseline diff ship 20261118-gq-b
expect baseline-same 0 "$coalctl" baseline diff ship 20261118-gq-a \
    --margin 20%
expect baseline-none 3 "$coalctl" baseline diff nope
expect baseline-drop-none 3 "$coalctl" baseline drop nope
expect baseline-drop 0 "$coalctl" baseline drop ship
expect verdict-list 2 "$coalctl" verdict list
expect verdict-all 2 "$coalctl" verdict list --all
expect verdict-json 2 "$coalctl" verdict list --json
# Nodes that were not measured give an error; an empty selection does not.
expect verdict-unknown 3 "$coalctl" verdict list --where 'subject=node[78]'
expect verdict-unknown-json 3 "$coalctl" verdict list --json \
    --where 'subject=node[78]'
expect verdict-where 0 "$coalctl" verdict list --where what=port
expect verdict-recheck 2 "$coalctl" verdict recheck node2
expect verdict-recheck-none 3 "$coalctl" verdict recheck node77
expect verdict-history 0 "$coalctl" verdict history
expect schedule-list 0 "$coalctl" schedule list
expect schedule-forecast 1 "$coalctl" schedule forecast
expect schedule-forecast-all 1 "$coalctl" schedule forecast --hours 24
expect schedule-hours 3 "$coalctl" schedule forecast --days 3
expect coverage 0 "$coalctl" coverage
expect coverage-identifiable 0 "$coalctl" coverage --identifiable
expect objective-list 2 "$coalctl" objective list
expect objective-json 1 "$coalctl" objective list --json \
    --where state=undetermined
expect diff 1 "$coalctl" diff
expect diff-nodes 0 "$coalctl" diff 'node[10-12]'
expect diff-bad 3 "$coalctl" diff 'node['
expect diff-json 1 "$coalctl" diff --json --where 'setting=kernel'
expect link-list 1 "$coalctl" link list
expect link-show 1 "$coalctl" link show node2
expect link-show-port 0 "$coalctl" link show node2 0000:1a:00.0
expect link-show-none 3 "$coalctl" link show node2 eth7
expect link-show-where 0 "$coalctl" link show node2 --where 'named!=yes'
expect arrange 0 "$coalctl" node list --where 'node=node*' \
    --where 'inventory.cores>1' --sort -node
# Only node10 has a run: a member that no lost node has is still valid.
expect arrange-later 0 "$coalctl" node list --where state=lost \
    --where 'run=2026*'
expect arrange-none 3 "$coalctl" run list --sort colour
# Reported before any request: no collector is there.
expect arrange-clause 3 sh -c 'for clause in node =x node! "node!x" "errors<=5" \
    "errors>5k" "node=n[1-" "load==" ""; do
	"$0" --url http://127.0.0.1:1 link list --where node=n1 \
	    --where "$clause" && exit; rc=$?
    done; "$0" --url http://127.0.0.1:1 link list --sort - && exit; exit $rc' "$coalctl"
expect arrange-number 3 "$coalctl" link list --where 'errs<5'
expect arrange-json 0 "$coalctl" link list --json --where 'errors<100' \
    --where 'kind!=corr*'
expect arrange-follow 3 "$coalctl" events --follow --where 'kind=run'
expect link-list-json 1 "$coalctl" link list --json
expect coverage-json 0 "$coalctl" coverage --json
expect db-check 2 "$coalctl" db check
expect diags 1 "$coalctl" diags
expect events-all 0 "$coalctl" events --all
expect events 0 sh -c '"$0" events && "$0" events --where kind=none' "$coalctl"
expect version 0 "$coalctl" version
expect version-json 0 "$coalctl" version --json

# An array of records, the same objects as the collector's.
"$coalctl" report 20261118-gq-aaaa --json | jq -S . >"$work/a"
sed 1d "$here/fixtures/GET_runs_20261118-gq-aaaa_records" | jq -S . >"$work/b"
check "report --json changes records" cmp "$work/a" "$work/b"

# A single file with the data and the code that draws them; tests/browser checks
# the result.
for run in 20261118-gq-aaaa 20261121-nb-eeee; do
	"$coalctl" report $run --html "$work/r.html" ||
	    check "report --html of $run" false
	"$coalctl" report $run --html - | cmp - "$work/r.html" ||
	    check "report --html - of $run differs" false
	check "report --html wants something from outside" sh -c \
	    "! grep -Eq '<script[^>]* src|<link|url\\(|@import|^import' '$work/r.html'"
	"$coalctl" report $run --json | jq -S . >"$work/a"
	sed -n 's|.*<script id="data"[^>]*>\(.*\)</script>.*|\1|p' "$work/r.html" |
	    jq -S .records >"$work/b"
	check "report --html of $run lacks records" cmp "$work/a" "$work/b"
done
# No text of a record can end the script element with the data.
check "report --html: the data hold a tag" test \
    "$(grep -c '</script>' "$work/r.html")" = 2
touch "$work/none"
expect report-unwritable 3 "$coalctl" report 20261118-gq-aaaa \
    --html "$work/none/r.html"

# Once without a terminal; the newest impact, the worst node first.
"$coalctl" top >"$work/top" || check "top" false
check "top lacks the nodes" grep -q '4 nodes: 3 ok, 0 busy, 0 late, 1 lost' \
    "$work/top"
check "top lacks the slow node" sh -c \
    "grep -A 2 'SLOWEST' '$work/top' | grep -q 'node2 .* 4.7 #### slow$'"
# The score of one round is not a verdict: top shows the collector's verdicts.
check "top calls a node slow that the verdict does not" sh -c \
    "grep -A 1 'SLOWEST' '$work/top' | grep -q 'node10 .* 6.0 ######$'"
check "top does not mark undetermined values" sh -c "! grep -q nan '$work/top' &&
    grep -q 'bw-sync  *4.00  (undetermined)' '$work/top' &&
    grep -q 'allreduce  *-  undetermined' '$work/top'"
check "top lacks the newest impact" grep -q 'lat  *27.50  (23.10 to 33.20)' \
    "$work/top"
check "status: $("$coalctl" status | head -n 1)" sh -c \
    "'$coalctl' status >'$work/top'; [ \$? = 2 ] &&
    grep -q '4 nodes: 3 ok' '$work/top' && grep -q '^bad .*eth0 counted' '$work/top' &&
    ! grep -q SLOWEST '$work/top'"
expect top-every 3 "$coalctl" top --every 0
"$coalctl" top --json >"$work/top"
check "top --json" python3 -c 'import json, sys
top = json.load(open(sys.argv[1]))
assert {"nodes", "verdicts", "diags", "impacts", "runs"} == set(top)
assert len(top["nodes"]) == 4' "$work/top"
# On a terminal a verdict is wrapped, and bad ones are red; q is not read: a
# signal ends it.
env -u NO_COLOR TERM=xterm script -qefc \
    "stty cols 60; timeout -s INT 1 $coalctl top" "$work/tty" </dev/null \
    >/dev/null
check "top cuts a verdict" sh -c \
    "tr -d '\r' <'$work/tty' | grep -q 'eth0 counted drops: 12'"
check "top has no colour" grep -q "$(printf '\033')\[31mbad" "$work/tty"

# The filters reach the collector.
check "run list --campaign is not sent" grep -q \
    '^GET /runs?campaign=gpcnet-quick&limit=20 ' "$work/requests"

kill "$standin"
wait "$standin" 2>/dev/null
# A list that the collector answers in parts: all of it is read, and not beyond
# the limit; a part that is not older than the last one ends the list.
mkdir "$work/parts"
for i in 1 2 3 4; do
	printf '200 %s\n[{"run":"r%s","campaign":"c","state":"finished"}]' \
	    "$((100 - (i < 4 ? i : 3)))" "$i" >"$work/parts/GET_runs-$i"
done
rm -f "$work/sock"
"$build/tests/cli/standin" "$work/sock" "$work/parts" "$work/parts.log" &
standin=$!
until [ -S "$work/sock" ]; do
	kill -0 "$standin" 2>/dev/null || exit 1
	sleep 0.05
done
printf '200\n{"name": "n", "run": "recent", "records": 2}' \
    >"$work/parts/POST_baselines_n"
printf '200\n{"body": {"records": [{"probe": "canary", "n": 2}]}}' \
    >"$work/parts/GET_baselines_recent"
expect run-list-parts 0 sh -c '"$0" run list --limit 2 && cat "$1" &&
    "$0" run list --json' "$coalctl" "$work/parts.log"
expect baseline-few 1 "$coalctl" baseline pin n recent
kill "$standin"
wait "$standin" 2>/dev/null
expect gone 3 "$coalctl" node list
expect gone-version 1 "$coalctl" version
exit $bad
