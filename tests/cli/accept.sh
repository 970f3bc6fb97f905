#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# accept.sh - an acceptance of four nodes by a fake collector: node2 has half of
# its rate, node3 half of its memory bandwidth, node5 is away. It continues after
# an interruption, is signed, and verified from the stored records.
. "$(dirname "$0")/lib.sh"
at=$work/accept
mkdir "$at"

cat >"$at/GET_shares" <<'END'
200
{"nodes": [{"node": "node1", "leaf": "leaf1", "state": "ok", "rate": 11.5e9}, {"node": "node2", "leaf": "leaf1", "state": "ok"}, {"node": "node3", "leaf": "leaf2", "state": "ok"}, {"node": "node4", "leaf": "leaf2", "state": "ok"}, {"node": "node5", "leaf": "leaf2", "state": "lost"}], "leaves": [{"leaf": "leaf1", "share": 1, "rate": 9e9}]}
END
# The second rail of node4 has a smaller MTU.
awk -v rails=', "rails": [{"netdev": "eth0"}, {"netdev": "eth1"}]' 'BEGIN {
	print 200
	for (i = 1; i <= 5; i++)
		printf "%s{\"node\": \"node%d\", \"inventory\": {\"nics\": [{\"name\": \"eth9\", \"mtu\": 9216, \"addrs\": []}, {\"name\": \"eth0\", \"speed_bps\": 100000000000, \"mtu\": 9000, \"addrs\": [\"10.0.0.%d\"]}, {\"name\": \"eth1\", \"mtu\": 1500, \"addrs\": []}]%s}}",
		    (i > 1) ? ", " : "[", i, i, (i == 4) ? rails : ""
	print "]"
}' >"$at/GET_nodes"
printf '200\n[]\n' >"$at/GET_verdicts"
printf '200\n[{"text": "leaf1 node[1-2] rail=0 gbps=100 up=spine1*2@50\\nleaf2 node[3-5] rail=0 gbps=100 up=spine1*2@75\\n"}]\n' \
    >"$at/GET_topology"
# The pairs of a run: 4 nodes in a ring, 312.5 and 1250 MB at 12.5 GB/s, of which
# 96 % are left, after 100 us.
for i in 1 2 3 4 5 6; do
	printf '200\n{"run": "acc-%d"}\n' $i >"$at/POST_campaigns_accept_run-$i"
	printf '200\n{"run": "mem-%d"}\n' $i >"$at/POST_campaigns_self_run-$i"
	printf '200\n{"run": "inc-%d"}\n' $i >"$at/POST_campaigns_group_run-$i"
	for kind in acc mem inc; do
		printf '200\n{"run": "%s-%d", "state": "finished", "cause": "none", "started_unix_ns": 1, "ended_unix_ns": 1}\n' \
		    $kind $i >"$at/GET_runs_$kind-$i"
	done
	awk -v run=$i 'function row(a, b, bytes, r) {
		r = (a == 2 || b == 2) ? 6e9 : 12e9
		r *= 1 + 0.002 * ((run + a) % 3 - 1)
		printf "%s{\"node\": \"node%d\", \"partner\": \"node%d\", \"seconds\": %.9f}",
		    first++ ? ", " : "", a, b, 1e-4 + bytes / r
		printf ", {\"node\": \"node%d\", \"partner\": \"node%d\", \"seconds\": %.9f}",
		    b, a, 1e-4 + bytes / r
	}
	BEGIN {
		print 200
		for (k = 0; k < 2; k++) {
			bytes = k ? 268435456 : 67108864
			printf "%s{\"probe\": \"pairs\", \"of\": \"whole\", \"bytes\": %d, \"nodes\": [", k ? ", " : "[", bytes * 8
			first = 0
			if (run % 2) {
				row(1, 2, bytes)
				row(3, 4, bytes)
			} else {
				row(2, 3, bytes)
				row(4, 1, bytes)
			}
			printf "]}"
		}
		print "]"
	}' >"$at/GET_runs_acc-${i}_records"
	awk -v run=$i 'BEGIN {
		print 200
		printf "[{\"probe\": \"self\", \"of\": \"whole\", \"bytes\": 1, \"nodes\": ["
		for (i = 1; i <= 4; i++)
			printf "%s{\"node\": \"node%d\", \"bandwidth\": %.0f}",
			    (i > 1) ? ", " : "", i,
			    ((i == 3) ? 6e9 : 12e9) * (1 + 0.002 * ((run + i) % 3 - 1))
		print "]}]"
	}' >"$at/GET_runs_mem-${i}_records"
	# Two nodes send to one: 12 GB/s arrive.
	awk -v run=$i 'BEGIN {
		print 200
		for (k = 0; k < 2; k++) {
			bytes = k ? 268435488 : 67108872
			printf "%s{\"probe\": \"group\", \"of\": \"whole\", \"groups\": 3, \"bytes\": %d, \"median_middle\": %.9f}",
			    k ? ", " : "[", bytes, 1e-4 + bytes / 12e9 / (1 + 0.002 * (run % 3 - 1))
		}
		print "]"
	}' >"$at/GET_runs_inc-${i}_records"
done

restart() {
	if [ -n "$standin" ]; then
		kill "$standin"
		wait "$standin" 2>/dev/null
		rm -f "$work/sock"
	fi
	"$build/tests/cli/standin" "$work/sock" "$at" "$work/requests" &
	standin=$!
	until [ -S "$work/sock" ]; do sleep 0.05; done
}

restart
expect accept-promise 0 "$coalctl" promise init
expect accept-promise-gbps 0 "$coalctl" promise init --gbps 200
echo edited >"$work/edited"
expect accept-promise-exists 3 "$coalctl" promise init --out "$work/edited"
check "an edited promise is lost" [ "$(cat "$work/edited")" = edited ]
expect accept-promise-bad 3 "$coalctl" promise init --gbps fast
sed -e 's/^oversubscription.*/oversubscription = 0/' \
    -e 's/^about =.*/about = four nodes of a test/' \
    -e 's/^mtu.*/mtu = 9000/' >"$work/promise" <<END
$("$coalctl" promise init)
[accept]
scatter = 0.002
END
expect accept-plan 0 "$coalctl" accept plan "$work/promise"
expect accept-plan-window 0 "$coalctl" accept plan "$work/promise" \
    --window 22:00-22:01
# Agents without mpi.nics cannot compare rails.
sed 's/^count.*/count = 2/' "$work/promise" >"$work/promise.rails"
expect accept-plan-rails 0 "$coalctl" accept plan "$work/promise.rails"
# Wrong options need no collector to be found.
expect accept-window-bad 3 "$coalctl" --url http://127.0.0.1:9 accept plan \
    "$work/promise" --window 22-6
{
	cat "$work/promise"
	echo 'time = 60s'
} >"$work/promise.long"
expect accept-window-short 3 "$coalctl" accept plan "$work/promise.long" \
    --window 22:00-22:01
expect accept-run 1 "$coalctl" accept run "$work/promise" --all \
    --out "$work/report.json" --html "$work/report.html" -o campaign.mpi=mpich
check "order of pairs: $(cat "$work/requests")" grep -q \
    'campaigns/accept/run {"overrides":{"campaign.nodes":"node\[1-4\]","campaign.nodes_min":"4","measure.time":"1s","campaign.ranks_per_node":"1","pairs.g":"1","pairs.shift":"1","measure.sizes":"67108864,268435456","campaign.mpi":"mpich"}}' \
    "$work/requests"
check "order of memory" grep -q 'campaigns/self/run {"overrides":{"campaign.nodes":"node\[1-4\]","campaign.nodes_min":"4","measure.time":"1s","campaign.mpi":"mpich"}}' \
    "$work/requests"
check "order of incast: $(cat "$work/requests")" grep -q 'campaigns/group/run {"overrides":{"campaign.nodes":"node\[1,3-4\]","campaign.nodes_min":"3","campaign.nodes_max":"3","group.direction":"in","group.g":"1","group.k":"1","measure.time":"1s","campaign.ranks_per_node":"1","measure.sizes":"67108872,268435488","measure.vary":"n 3","campaign.mpi":"mpich"}}' \
    "$work/requests"
check "page without a script or an address" sh -c \
    '! grep -Eq "<script|https?:" "$0"' "$work/report.html"
check "page: results" grep -q \
    '<td>link</td><td class="part">node2</td>' "$work/report.html"
# The example of the guide is this report.
sed -E -e '1i <!-- SPDX-License-Identifier: Apache-2.0 -->' \
    -e 's/(Begun: )[^,]*(, with Coalmine )[0-9.]+/\12026-11-29T00:00:00.000Z\20.1.0/' \
    "$work/report.html" >"$work/example"
example=$here/../../docs/guide/accept-report.html
[ "${EXPECT-}" != write ] || cp "$work/example" "$example"
check "the example of the guide differs: EXPECT=write writes it" \
    diff -u "$example" "$work/example"
check "rates for objectives" jq -e '.nodes[0].rate == 11.5e9 and
    .leaves == [{leaf: "leaf1", rate: 9e9}]' "$work/report.json"
check "page: indicators" grep -q '<td>Jain index</td><td>link</td>' \
    "$work/report.html"
expect accept-show 0 "$coalctl" accept show "$work/report.json"

# Signed, verified; not with another authority, nor after a change.
pki=$work/pki
"$coalctl" pki init "$pki" >/dev/null && "$coalctl" pki init "$pki.other" >/dev/null
expect accept-unsigned 3 "$coalctl" accept verify "$work/report.json" \
    --ca "$pki/ca.pem"
expect accept-sign 0 "$coalctl" accept sign "$work/report.json" "$pki"
restart
expect accept-verify 0 "$coalctl" accept verify "$work/report.json" \
    --ca "$pki/ca.pem"
expect accept-other 3 "$coalctl" accept verify "$work/report.json" \
    --ca "$pki.other/ca.pem"
sed 's/"state": "fails"/"state": "holds"/' "$work/report.json" >"$work/changed"
"$coalctl" accept verify "$work/changed" --ca "$pki/ca.pem" 2>"$work/said"
rc=$?
check "a changed report: $rc" [ $rc = 3 ]
check "a changed report: $(cat "$work/said")" grep -q \
    "the report was changed: SHA-256 of the report is" "$work/said"
jq '.version = 9' "$work/report.json" >"$work/new"
expect accept-version 3 "$coalctl" accept show "$work/new"
jq '.published = [{op: "allreduce", bytes: 1e9, gpu: "h100", ranks: 16,
    busbw_bytes_per_s: 4e11, source: "https://example.org/"}] |
    .results = [] | .kpis = [] | .detects = [] | .not_covered = []' \
    "$work/report.json" >"$work/published"
expect accept-published 0 "$coalctl" accept show "$work/published" \
    --html "$work/published.html"
check "page: published results" grep -q '<td>h100</td>' "$work/published.html"
# Its author can sign anything, but not other records.
"$coalctl" accept sign "$work/changed" "$pki"
restart
expect accept-forged 3 "$coalctl" accept verify "$work/changed" \
    --ca "$pki/ca.pem"
cp "$at/GET_runs_acc-2_records" "$work/kept"
sed -i 's/0\.00/0.01/' "$at/GET_runs_acc-2_records"
restart
expect accept-records 3 "$coalctl" accept verify "$work/report.json" \
    --ca "$pki/ca.pem"
mv "$work/kept" "$at/GET_runs_acc-2_records"

# A run that had no time to start is not measured: it is ordered again.
at=$work/late
cp -r "$work/accept" "$at"
for n in 6 5 4 3 2 1; do
	mv "$at/POST_campaigns_accept_run-$n" \
	    "$at/POST_campaigns_accept_run-$((n + 1))"
done
printf '200\n{"run": "late-1"}\n' >"$at/POST_campaigns_accept_run-1"
printf '200\n{"run": "late-1", "state": "missed", "cause": "budget", "text": "budget.bytes: used", "created_unix_ns": 1, "ended_unix_ns": 900000000001}\n' \
    >"$at/GET_runs_late-1"
: >"$work/requests"
restart
"$coalctl" accept run "$work/promise" --out "$work/late.json" \
    --window "$(date -u -d -2hours +%H:00)-$(date -u -d +3hours +%H:00)" \
    >/dev/null 2>"$work/said"
rc=$?
check "late: $rc, $(cat "$work/said")" [ $rc = 1 ]
check "late: $(cat "$work/said")" grep -q \
    '^run late-1 missed: budget: budget.bytes: used' "$work/said"
check "late: a run that was missed is in the report" \
    [ "$(grep -c '"run": "late-' "$work/late.json")" = 0 ]
check "late: not as many runs" \
    [ "$(grep -c '"run": "acc-' "$work/late.json")" = 4 ]
check "late: the collector does not know the window" \
    grep -q '"schedule.blackout":"[0-2]' "$work/requests"
# Eight times: the user is asked to continue later.
cp "$at/POST_campaigns_accept_run-1" "$at/POST_campaigns_accept_run"
restart
"$coalctl" accept run "$work/promise" --out "$work/never.json" >/dev/null \
    2>"$work/said"
rc=$?
check "never: $rc, $(cat "$work/said")" [ $rc = 3 ]
check "never: $(cat "$work/said")" grep -q 'could not start 8 times' \
    "$work/said"
sed -i 's/900000000001/2/' "$at/GET_runs_late-1"
restart
"$coalctl" accept run "$work/promise" >/dev/null 2>"$work/said"
rc=$?
check "beyond the budget: $rc, $(cat "$work/said")" [ $rc = 3 ]
check "beyond the budget: $(cat "$work/said")" grep -q \
    'more than the budget of a whole hour' "$work/said"
# Outside of its window it orders nothing.
: >"$work/requests"
"$coalctl" accept run "$work/promise" \
    --window "$(date -u -d +2hours +%H:00)-$(date -u -d +3hours +%H:00)" \
    >/dev/null 2>"$work/said" &
waits=$!
for _ in $(seq 600); do
	grep -q 'waiting until' "$work/said" && break
	sleep 0.1
done
check "waits: $(cat "$work/said")" grep -q 'waiting until' "$work/said"
check "waits: an order" [ "$(grep -c ^POST "$work/requests")" = 0 ]
kill $waits
wait $waits 2>/dev/null
# A node with which no run starts is excluded as soon as its verdict says so,
# although its agent is lost then; it fails, and the others are measured.
at=$work/hole
cp -r "$work/accept" "$at"
sed 's/"lost"/"ok"/' "$at/GET_shares" >"$at/GET_shares-1"
mv "$at/GET_shares" "$at/GET_shares-2"
for n in 6 5 4 3 2 1; do
	mv "$at/POST_campaigns_accept_run-$n" \
	    "$at/POST_campaigns_accept_run-$((n + 1))"
done
printf '200\n{"run": "hole-1"}\n' >"$at/POST_campaigns_accept_run-1"
printf '200\n{"run": "hole-1", "state": "nonstart", "cause": "launch", "text": "no record", "created_unix_ns": 1, "ended_unix_ns": 2}\n' \
    >"$at/GET_runs_hole-1"
printf '200\n[]\n' >"$at/GET_runs_hole-1_records"
mv "$at/GET_verdicts" "$at/GET_verdicts-1"
printf '200\n[{"subject": "node5", "kind": "node", "what": "mtu"}, {"subject": "node9", "kind": "node", "what": "mtu"}, {"subject": "node4", "kind": "node", "what": "loss"}]\n' \
    >"$at/GET_verdicts-2"
restart
expect accept-excluded 1 "$coalctl" accept run "$work/promise" \
    --out "$work/hole.json"
check "excluded: $(jq -c .excluded "$work/hole.json")" jq -e '
    [.excluded[].subject] == ["node5"] and (.nodes | length) == 4 and
    ([.runs[].run] | any(. == "hole-1") | not)' "$work/hole.json"
# Without a verdict the user is asked to repair the cause.
rm "$at/GET_verdicts-2"
cp "$at/POST_campaigns_accept_run-1" "$at/POST_campaigns_accept_run"
restart
expect accept-in-vain 3 "$coalctl" accept run "$work/promise" \
    --out "$work/vain.json"
at=$work/accept

# On standard output the report is printed once.
restart
"$coalctl" accept run "$work/promise" --out - >"$work/one" 2>/dev/null
check "--out -: one report with results" jq -es \
    'length == 1 and .[0].summary.fails == 3' "$work/one"

# Interrupted: a run that cannot be ordered ends it, and it continues with the
# next one.
mv "$at/POST_campaigns_accept_run-4" "$work/later"
printf '400\n{"error": "not now"}\n' >"$at/POST_campaigns_accept_run-4"
restart
"$coalctl" accept run "$work/promise" --out "$work/part.json" >/dev/null \
    2>"$work/said"
rc=$?
check "interrupted: $rc, $(cat "$work/said")" [ $rc = 3 ]
check "interrupted: three runs are stored" \
    [ "$(grep -c '"run": "acc-' "$work/part.json")" = 3 ]
expect accept-unended 3 "$coalctl" accept sign "$work/part.json" "$pki"
"$coalctl" accept show "$work/part.json" >/dev/null 2>"$work/said"
rc=$?
check "shown without results: $rc, $(cat "$work/said")" [ $rc = 3 ]
check "shown without results: $(cat "$work/said")" grep -q \
    'the acceptance has not ended and has no results' "$work/said"
mv "$work/later" "$at/POST_campaigns_accept_run-1"
restart
"$coalctl" accept run "$work/promise" --out "$work/part.json" \
    >"$work/part" 2>&1
rc=$?
check "continued: $rc, $(cat "$work/part")" [ $rc = 1 ]
for n in 1 2 3 4; do
	check "continued: acc-$n" \
	    [ "$(grep -c "\"run\": \"acc-$n\"" "$work/part.json")" = 1 ]
done

# Wrong files.
echo '[nic]' >"$work/empty"
expect accept-no-rate 3 "$coalctl" accept plan "$work/empty"
echo '{"kind": "x"}' >"$work/strange"
expect accept-strange 3 "$coalctl" accept show "$work/strange"
cp "$work/promise" "$work/promise.2"
echo 'time = 2s' >>"$work/promise.2"
expect accept-another 3 "$coalctl" accept run "$work/promise.2" \
    --out "$work/part.json"
exit $bad
