#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# expect.sh - the expected performance of nodes, by the engine and a fake
# collector: node2 reaches half of its rate, the uplinks of leaf3 a quarter. Six
# runs of other nodes were 3 % slower than the machine's description predicts,
# two of them with a node or uplinks that were slow then.
. "$(dirname "$0")/lib.sh"
start_standin
PATH=$build/probes/serial:$PATH
COALMINE_MACHINES=$here/../../etc/machines
export COALMINE_MACHINES

lab() { "$coalctl" expect "$@" --machine lab; }

expect expect-node 0 lab 'node[1-3]' --bytes 2M
expect expect-leaf 0 lab node5,node9,node1,node10 --bytes 2M
expect expect-json 0 lab 'node[1-2]' --bytes 2M --json
expect expect-assumed 0 lab node1,node4 --op alltoall
expect expect-plan 0 lab 'node[1-2]' --plan 'group count=1048576'
expect expect-nobody 3 lab 'node[1-2],node77'
expect expect-nodes 3 lab 'node[1-'
expect expect-op 3 lab node1,node3 --op gather
expect expect-bytes 3 lab node1,node3 --bytes none
expect expect-both 3 lab node1,node3 --op allreduce --plan group
expect expect-no-plan 3 lab node1,node3 --plan nothing
expect expect-machine 3 "$coalctl" expect node1,node3
# Published results of this class, and the site's own, of which a row without a
# GPU fits any machine.
mkdir "$work/reference"
sed -e 's/^\[machine\]/&\ngpu = h100\nfabric = efa/' -e 's/^count = 1$/count = 8/' \
    -e 's/^out = .*/out = 50/' \
    "$COALMINE_MACHINES/lab.conf" >"$work/h100.conf"
cp "$here/../../etc/reference/published.conf" "$work/reference"
cat >"$work/reference/site.conf" <<'END'
source = acceptance of 2026
about = nccl-tests, cable 7 replaced
row = - - - - 2 allreduce 4M 0.0231
row = - - - - 2 allreduce 1M 0.0211
END
COALMINE_REFERENCE=$work/reference
export COALMINE_REFERENCE
expect expect-published 0 "$coalctl" expect 'node[1,3]' \
    --machine "$work/h100.conf" --ranks-per-node 8 --bytes 8G
expect expect-site 0 lab 'node[1,3]' --bytes 2M
printf 'row = h100 efa 400 2 16 allreduce 8G\n' >"$work/reference/bad.conf"
expect expect-bad-reference 3 lab 'node[1,3]' --bytes 2M
rm "$work/reference/bad.conf"
unset COALMINE_REFERENCE
# A job that started while node2 had half of its rate; later the uplinks of
# leaf3 were slow.
expect expect-job 0 "$coalctl" job show 7 --machine lab --bytes 2M
expect expect-job-plain 0 "$coalctl" job show 7
expect expect-job-no-machine 3 "$coalctl" job show 7 --op allreduce
# The other lines name folders of the build.
check "expect --machine nowhere" sh -c '"$0" expect node1 --machine nowhere 2>&1 |
    grep -q "^coalmine-probe: --machine = nowhere: expected a file, or"' \
    "$coalctl"

# A job's own measurements, and the expected time on such nodes: the engine is
# started for these and for the collective with the most time.
mkdir "$work/engine"
printf '#!/bin/sh\necho >>"%s/started"\nexec "%s/probes/serial/coalmine-probe" "$@"\n' \
    "$work" "$build" >"$work/engine/coalmine-probe"
chmod +x "$work/engine/coalmine-probe"
plain=$PATH PATH=$work/engine:$PATH
expect epilog-expected 0 "$coalctl" epilog 4711 --machine lab --bytes 2M
PATH=$plain
check "epilog: starts of the engine" [ "$(wc -l <"$work/started")" = 2 ]

# Fit for a job: all nodes together are slow, without node2 they are fine, and
# node2 with three of them is slow. The elapsed time is not compared.
preflight() {
	"$coalctl" preflight "$@" >"$work/preflight"
	set -- $?
	sed -e 's/ in [0-9.]* s$/ in TIME s/' \
	    -e 's/"took_s": *[0-9.]*/"took_s": TIME/' "$work/preflight"
	return "$1"
}
expect preflight 1 preflight --nodes 'node[1-6]' --within 60s \
    -o campaign.mpi=mpich
check "preflight: wrong order" grep -q 'campaigns/preflight/run {"overrides":{"campaign.nodes":"node\[1,3,5-6\]","campaign.nodes_min":"4",[^}]*"canary.timeout":"[0-9]*s","campaign.mpi":"mpich"}}' \
    "$work/requests"
expect preflight-open 2 preflight --nodes 'node[1-2]'
expect preflight-alone 2 preflight --nodes node1
expect preflight-none 3 preflight
expect preflight-unseen 3 "$coalctl" preflight --nodes 'node[98-99]'
expect preflight-within 3 preflight --nodes 'node[1-2]' --within 1s
asked=$(wc -l <"$work/requests")
for option in "--bytes 1M" "--op allgather"; do
	"$coalctl" preflight --nodes 'node[1-2]' $option >"$work/said" 2>&1
	check "preflight $option without --machine: exit code $?" [ $? = 3 ]
	check "preflight $option without --machine: $(cat "$work/said")" grep -q \
	    "^coalctl: --bytes and --op select a collective" "$work/said"
done
check "preflight: nothing was asked" [ "$(wc -l <"$work/requests")" = "$asked" ]
# Compared with the expected values, more nodes are found.
kill "$standin"
wait "$standin" 2>/dev/null
rm -f "$work/sock"
start_standin
expect preflight-json 1 preflight --nodes 'node[1-3,5-6]' --within 60s \
    --machine lab --bytes 4M --json
check "preflight: the collective" grep -q 'campaigns/preflight/run {"overrides":{"campaign.nodes":"node\[1-3,5-6\]",.*"collective.name":"allreduce","measure.sizes":"838856"}}' \
    "$work/requests"

# Slowness while ranks waited for cores is attributed to no node.
kill "$standin"
wait "$standin" 2>/dev/null
rm -f "$work/sock"
mkdir "$work/busy"
cp "$here"/fixtures/*_pf-* "$here"/fixtures/*preflight* \
    "$here/fixtures/GET_shares" "$work/busy"
# It is measured separately twice, because the result of all nodes was not
# certain.
for of in '' _records; do
	cp "$here/fixtures/GET_runs_pf-3$of" "$work/busy/GET_runs_pf-4$of"
done
sed -i -e 's/"node": "node2", "n": 7/"wait_ratio": 0.9, &/' \
    -e 's/"q75": 610000000/"q75": 1500000000/' "$work"/busy/*_records
"$build/tests/cli/standin" "$work/sock" "$work/busy" "$work/requests" &
standin=$!
until [ -S "$work/sock" ]; do sleep 0.05; done
preflight --nodes 'node[1-6]' --within 60s >"$work/said"
rc=$?
check "busy cores: $rc, $(cat "$work/said")" [ $rc = 2 ]
check "busy cores: $(cat "$work/said")" grep -q \
    "^open  node2: undetermined; other processes used its nodes' cores during the measurement" \
    "$work/said"

# coalctl stops waiting for a silent collector at the limit.
kill "$standin"
wait "$standin" 2>/dev/null
rm -f "$work/sock"
mkfifo "$work/busy/GET_runs_mute"
printf '200\n{"run": "mute"}\n' >"$work/busy/POST_campaigns_preflight_run-1"
"$build/tests/cli/standin" "$work/sock" "$work/busy" "$work/requests" &
standin=$!
until [ -S "$work/sock" ]; do sleep 0.05; done
preflight --nodes 'node[1-3,5-6]' --within 5s >"$work/said" 2>&1
rc=$?
check "a mute collector: $rc, $(cat "$work/said")" [ $rc = 2 ]
check "a mute collector: $(cat "$work/said")" grep -q \
    "^open  node.*: undetermined within the time limit" "$work/said"
check "a mute collector: $(cat "$work/preflight")" awk \
    '/ rounds in / { took_s = $4 } END { exit !(took_s > 0 && took_s < 8) }' \
    "$work/preflight"

# All nodes together are slow, both halves are fine, also when repeated: the path
# between the halves is slow.
kill "$standin"
wait "$standin" 2>/dev/null
rm -f "$work/sock"
mkdir "$work/ways"
cp "$here/fixtures/GET_shares" "$here/fixtures/GET_speedups" "$work/ways"
i=0
for s in 2 0.2 0.2 2 0.2 0.2; do
	i=$((i + 1))
	printf '200\n{"run": "way-%d"}\n' $i \
	    >"$work/ways/POST_campaigns_preflight_run-$i"
	printf '200\n{"run": "way-%d", "state": "finished"}\n' $i \
	    >"$work/ways/GET_runs_way-$i"
	printf '200\n[{"probe": "speedup", "of": "collective", "seconds": %s, "baseline_seconds": %s}]\n' \
	    $s $s >"$work/ways/GET_runs_way-${i}_records"
done
"$build/tests/cli/standin" "$work/sock" "$work/ways" "$work/requests" &
standin=$!
until [ -S "$work/sock" ]; do sleep 0.05; done
expect preflight-path 1 preflight --nodes 'node[1-3,5-6]' --within 60s \
    --machine lab

# An engine that does not end is abandoned within the limit.
kill "$standin"
wait "$standin" 2>/dev/null
rm -f "$work/sock" "$work"/ways/*way-[2-6]*
"$build/tests/cli/standin" "$work/sock" "$work/ways" "$work/requests" &
standin=$!
until [ -S "$work/sock" ]; do sleep 0.05; done
printf '#!/bin/sh\nexec sleep 100\n' >"$work/engine/coalmine-probe"
PATH=$work/engine:$PATH
start=$(date +%s)
expect preflight-engine 2 preflight --nodes 'node[1-3,5-6]' --within 5s \
    --machine lab
PATH=$plain
check "preflight waits for an engine" [ $(($(date +%s) - start)) -lt 60 ]

# A run that waits for another one is open, with the name of that run.
kill "$standin"
wait "$standin" 2>/dev/null
rm -f "$work/sock"
printf '200\n{"run": "way-1", "state": "pending", "text": "node5 is reserved for run 20261120-gq-dddd"}\n' \
    >"$work/ways/GET_runs_way-1"
"$build/tests/cli/standin" "$work/sock" "$work/ways" "$work/requests" &
standin=$!
until [ -S "$work/sock" ]; do sleep 0.05; done
expect preflight-waits 2 preflight --nodes 'node[1-3,5-6]' --within 5s

# Runs with node5 do not even start: it is named, although the typical value of
# the job is unknown. This also holds if the collector goes away.
kill "$standin"
wait "$standin" 2>/dev/null
rm -f "$work/sock"
mkdir "$work/dead"
cp "$here/fixtures/GET_shares" "$work/dead"
i=0
for state in failed finished failed finished failed failed finished; do
	i=$((i + 1))
	printf '200\n{"run": "dead-%d"}\n' $i \
	    >"$work/dead/POST_campaigns_preflight_run-$i"
	printf '200\n{"run": "dead-%d", "state": "%s", "text": "%s"}\n' $i \
	    $state "$state here" >"$work/dead/GET_runs_dead-$i"
	printf '200\n[{"probe": "canary", "test": "bw", "unit": "B/s", "nodes": [{"node": "a", "q75": 1e9}, {"node": "b", "q75": 1e9}]}]\n' \
	    >"$work/dead/GET_runs_dead-${i}_records"
done
"$build/tests/cli/standin" "$work/sock" "$work/dead" "$work/requests.dead" &
standin=$!
until [ -S "$work/sock" ]; do sleep 0.05; done
expect preflight-dead 1 preflight --nodes 'node[1-3,5-6]' --within 60s
kill "$standin"
wait "$standin" 2>/dev/null
rm -f "$work/sock" "$work/dead/GET_runs_dead-4"
"$build/tests/cli/standin" "$work/sock" "$work/dead" "$work/requests" &
standin=$!
until [ -S "$work/sock" ]; do sleep 0.05; done
expect preflight-gone 2 preflight --nodes 'node[1-3,5-6]' --within 60s

# A reply for a thousand nodes, from the results of 200 runs of all of them:
# the time limit is for a user on a quiet machine, so the CPU time is printed,
# and the test checks only that all nodes are in it.
cpu_ms() { awk '{ print ($16 + $17) * 10 }' "/proc/$$/stat"; }
kill "$standin"
wait "$standin" 2>/dev/null
mkdir "$work/many"
awk 'BEGIN {
	print 200
	printf "{\"nodes\": ["
	for (i = 1; i <= 1000; i++)
		printf "%s{\"node\": \"n%04d\", \"leaf\": \"leaf%02d\", \"state\": \"ok\", \"share\": 1, \"spread\": 0.02, \"rounds\": 3}",
		    (i > 1) ? ", " : "", i, i / 40
	print "], \"leaves\": []}"
}' >"$work/many/GET_shares"
awk 'BEGIN {
	print 200
	for (i = 1; i <= 200; i++)
		printf "%s{\"collective\": \"allreduce\", \"ranks\": 8000, \"bytes\": 1073741824, \"seconds\": 0.08, \"nodes\": \"n[0001-1000]\"}",
		    (i > 1) ? ", " : "["
	print "]"
}' >"$work/many/GET_speedups"
"$build/tests/cli/standin" "$work/many.sock" "$work/many" "$work/requests" &
standin=$!
until [ -S "$work/many.sock" ]; do sleep 0.05; done
start=$(cpu_ms)
COALMINE_URL=unix:$work/many.sock "$coalctl" expect 'n[0001-1000]' \
    --machine frontier --ranks-per-node 8 --json >"$work/many.json" ||
	check "1000 nodes" false
echo "1000 nodes: $(($(cpu_ms) - start)) ms of cores"
check "1000 nodes: $(cat "$work/many.json")" grep -q \
    '"nodes": *"n\[0001-1000\]", *"ranks": *8000' "$work/many.json"
exit $bad
