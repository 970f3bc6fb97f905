#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_accept.sh [FAULT...]: coalctl accept in real namespaces, on a cluster that
# keeps its promise and on clusters that miss it: cable (a node at half of its
# rate), leaf (uplinks at 85 %), oversubscription (3:1 where 2:1 was promised).
# Nobody who keeps a promise fails, and nobody who misses it passes. The report
# is signed, verified, and refused after a change.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

hosts=12
promise=$cluster/promise
scores=

# The shapers: 200 Mbit/s a host, twice as much a leaf of 4 hosts. Copies of
# memory by ranks that share cores scatter, so parts hold from 85 %. On a busy
# machine host_mbit=40 measures the loads, but misses the fault leaf: a TCP
# connection that sends in both directions then reaches only half of its rate, and
# uplinks at 85 % carry that.
host_mbit=${host_mbit-200}
write_promise()
{
	in_host collector tee "$promise" >/dev/null <<-END
	[promise]
	about = the emulated cluster
	source = lab up
	[nic]
	rate = $(awk -v mbit="$host_mbit" 'BEGIN { print mbit / 1000 }')
	mtu = 1500
	[leaf]
	oversubscription = 2
	[accept]
	share = ${share-0.92}
	found = ${found-0.8}
	scatter = 0.03
	efficiency = 0.4
	time = ${time-500ms}
	${1-}
	END
}

# accept NAME: the report is in $report, the exit code in $rc.
accept()
{
	ctl accept run $promise --out "$cluster/$1.json" \
		--html "$cluster/$1.html" --all
	rc=$?
	report=$(in_host collector cat "$cluster/$1.json")
}

# states KIND STATE: the parts, with commas between.
states()
{
	jq -r --arg kind "$1" --arg state "$2" '[.results[] |
		select(.kind == $kind and .state == $state) | .part] |
		sort | join(",")' <<<"$report"
}

# judge NAME KIND PART: only that part may fail, or with none no part; failing
# paths to it count as found.
judge()
{
	local wrong
	wrong=$(jq -r --arg kind "$2" --arg part "$3" '[.results[] |
		select(.state == "fails" and (.kind == $kind and
			(.part | test("^(" + $part + ")$")) | not) and
			(.kind == "path" and $part != "" and
			(.part | test($part)) | not)) |
		"\(.kind) \(.part)"] | join(",")' <<<"$report")
	[ -z "$wrong" ] || fail "$1: wrongly failed: $wrong"
	wrong=$(jq -r --arg kind "$2" --arg part "$3" '[.results[] |
		select(.state == "holds" and $part != "" and .kind == $kind and
			(.part | test("^(" + $part + ")$")))] |
		length' <<<"$report")
	[ "$wrong" = 0 ] || fail "$1: wrongly passed"
	say "$1: exit code $rc, $(jq -c .summary <<<"$report")"
	scores+="$1 $(jq -r .summary.state <<<"$report"); "
}

sealed()
{
	local changed=$cluster/changed.json
	ctl accept verify "$cluster/sound.json" --ca $cluster/pki/ca.pem &&
		fail "a report without signature is valid"
	ctl accept sign "$cluster/sound.json" $cluster/pki ||
		fail "not signed"
	ctl accept verify "$cluster/sound.json" --ca $cluster/pki/ca.pem ||
		fail "a signed report is not valid"
	in_host collector sh -c 'sed "s/\"away\": \[\]/\"away\": [\"node1\"]/" \
		"$0" >"$1"' "$cluster/sound.json" "$changed"
	ctl accept verify "$changed" --ca $cluster/pki/ca.pem &&
		fail "a changed report is valid"
	return 0
}

before_start()
{
	in_host collector sh -c "printf '[mesh]\nenabled = no\n' \
		>>$cluster/collector/conf"
	in_host collector sed -i 's/^every/enabled = no\n&/' \
		$cluster/campaigns/watch.conf
}

lab_up --leaves 3 --hosts 4 --rate "$host_mbit"mbit \
	--uplink $((2 * host_mbit))mbit
cluster_up $hosts
# The loads of all nodes, on the sound cluster only. The shapers drop what bursts
# exceed, so congestion has no limit that a sound lab keeps by design.
write_promise "[collective]
names = allreduce,alltoall
share = ${load_share-0.8}
[incast]
senders = 2,8,64
share = ${load_share-0.8}
[congestion]
impact = 1000
loads = 50
[soak]
time = 20s"
ctl accept plan $promise || fail "no plan"
accept sound
judge sound '' ''
# Loads run on the nodes whose links hold, on a busy machine not on all.
sound=$(jq '[.results[] | select(.kind == "link" and .state == "holds")] |
	length' <<<"$report")
[ "$sound" -gt 8 ] ||
	say "loads are not checked: only $sound of $hosts links hold"
for part in allreduce alltoall "2 senders" "8 senders" "lat at 50 % load" \
	"alltoall for 20s"; do
	[ "$sound" -gt 8 ] || break
	jq -e --arg part "$part" '.results[] | select(.part == $part) | .share' \
		<<<"$report" >/dev/null || fail "$part was not measured"
done
sealed
write_promise
for fault; do
	case $fault in
	cable)
		"$lab" degrade node5 rate=$((host_mbit / 2))mbit
		accept cable
		judge cable link node5
		[ $rc = 1 ] || fail "cable: exit code $rc"
		"$lab" heal node5
		;;
	leaf)
		"$lab" degrade leaf2 rate=${leaf_rate-$((host_mbit * 17 / 10))mbit}
		accept leaf
		judge leaf uplinks '10[.]78[.]2[.]0/24'
		"$lab" heal leaf2
		;;
	oversubscription)
		for n in 1 2 3; do
			"$lab" degrade leaf$n rate=$((host_mbit * 4 / 3))mbit
		done
		accept oversubscription
		judge oversubscription uplinks '.*'
		for n in 1 2 3; do "$lab" heal leaf$n; done
		;;
	esac
done
[ -z "${KEEP-}" ] || in_host collector sh -c "cp $cluster/*.json $cluster/*.html '$KEEP'"
say "passed: $scores"
