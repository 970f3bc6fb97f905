#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_accept.sh [-n COUNT] KIND...: coalctl accept in real namespaces, on clusters
# that keep their promise: sound; loads, where all nodes are loaded too, and the
# report is signed, verified, and refused after a change; and on clusters that miss
# it: cable (a node at half of its rate), leaf (uplinks at 85 %), oversubscription
# (3:1 where 2:1 was promised), mtu (a port drops large frames). A part that keeps
# its promise does not fail, and one that misses it does not pass. All hosts share
# one memory, so no node can have a slow one.
#
# -n COUNT: the number of reports for each KIND, with different nodes or leaves. At
# most 5 % may be wrong, and 10 % undetermined. leaves=6: 24 hosts.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

count=1
while getopts n: option; do
	case $option in
	n) count=$OPTARG ;;
	*) fail "usage: test_accept.sh [-n COUNT] KIND..." ;;
	esac
done
shift $((OPTIND - 1))
leaves=${leaves-3}
hosts=$((leaves * 4))
promise=$cluster/promise

# The shapers: 40 Mbit/s a host, which two cores serve, and twice as much a leaf of
# 4 hosts. All hosts share one memory and the cores, so copies scatter, and little
# is promised.
host_mbit=${host_mbit-40}
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
	[memory]
	rate = ${memory_rate-0.1}
	[accept]
	share = ${share-0.92}
	found = ${found-0.8}
	scatter = 0.03
	efficiency = 0.4
	time = ${time-1s}
	${1-}
	END
}

# accept NAME: the report is in $report, the exit code in $rc.
accept()
{
	local since=$SECONDS
	in_host collector rm -f "$cluster/$1.json" # else it is continued
	ctl accept run $promise --out "$cluster/$1.json" \
		--html "$cluster/$1.html" -o campaign.start_limit=1m
	rc=$?
	took=$((SECONDS - since))
	report=$(in_host collector cat "$cluster/$1.json")
}

# Parts that have the state and should not. Paths to the faulty part may fail too:
# those with its name, and PATHS.
wrong() # STATE KIND PART PATHS
{
	jq -r --arg state "$1" --arg kind "$2" --arg part "$3" \
		--arg paths "$3${4:+|$4}" '
		def is_faulty: $part != "" and
			(.kind | test("^(" + $kind + ")$")) and
			(.part | test("^(" + $part + ")$"));
		def leads_to_it: .kind == "path" and $part != "" and
			(.part | test("\\b(" + $paths + ")\\b"));
		[.results[] | select(.state == $state and
			(if $state == "holds" then is_faulty
			else (is_faulty or leads_to_it | not) end)) |
			"\(.kind) \(.part)"] | join(",")' <<<"$report"
}

# Whether a part of that kind and name fails.
is_named() # KIND PART
{
	jq -e --arg kind "^($1)\$" --arg part "^($2)\$" 'any(.results[];
		.state == "fails" and (.kind | test($kind)) and
		(.part | test($part)))' <<<"$report" >/dev/null
}

# Count and print one report: right, wrong or undetermined. All uplinks that are
# equally slow fail as paths: each of the leaves could be the cause.
judge() # NAME KIND PART [PATHS]
{
	local failed passed state
	failed=$(wrong fails "$2" "$3" "${4-}")
	passed=$(wrong holds "$2" "$3" "${4-}")
	state=$(jq -r .summary.state <<<"$report")
	if [ -n "$3" ] && [ "$3" != '.*' ] && ! is_named "$2" "$3"; then
		state=undetermined
	fi
	if [ -n "$failed$passed" ]; then
		state="wrong:${passed:+ passed $passed}${failed:+ failed $failed}"
		wrongs=$((wrongs + 1))
	elif [ "$state" = undetermined ]; then
		unknowns=$((unknowns + 1))
	fi
	say "$1${3:+ $2 $3}: $state after $took s, exit code $rc," \
		"$(jq -c .summary <<<"$report")"
}

sealed() # NAME
{
	local report=$cluster/$1.json
	local changed=$cluster/changed.json
	ctl accept verify "$report" --ca $cluster/pki/ca.pem &&
		fail "a report without signature is valid"
	ctl accept sign "$report" $cluster/pki ||
		fail "not signed"
	ctl accept verify "$report" --ca $cluster/pki/ca.pem ||
		fail "a signed report is not valid"
	in_host collector sh -c 'sed "s/\"away\": \[\]/\"away\": [\"node1\"]/" \
		"$0" >"$1"' "$report" "$changed"
	ctl accept verify "$changed" --ca $cluster/pki/ca.pem &&
		fail "a changed report is valid"
	return 0
}

before_start()
{
	in_host collector tee -a "$cluster/collector/conf" >/dev/null <<-END
	[mesh]
	interval = 10s
	round = 100ms
	rate = 400
	target_rate = 200
	[verdict]
	second_pass = no
	END
	in_host collector sed -i 's/^every/enabled = no\n&/' \
		$cluster/campaigns/watch.conf
}

nobody_is_named()
{
	[ "$(ctl_api verdicts)" = '[]' ]
}

node_of() # TRIAL
{
	echo node$((($1 * 5 + 1) % hosts + 1))
}

trial_sound() # TRIAL
{
	accept sound
	judge sound '' ''
}

trial_cable()
{
	local node
	node=$(node_of "$1")
	"$lab" degrade "$node" rate=$((host_mbit / 2))mbit
	accept cable
	judge cable link "$node"
}

# Two pairs of neighbouring nodes fill the uplinks of a leaf between them.
trial_leaf()
{
	local n=$(($1 % leaves + 1))
	local first=$((4 * n - 3)) last=$((4 * n))
	"$lab" degrade leaf$n rate=${leaf_rate-$((host_mbit * 17 / 10))mbit}
	accept leaf
	judge leaf uplinks "10[.]78[.]${n}[.]0/24" \
		"node$(((first + hosts - 2) % hosts + 1)) to node$first|node$last to node$((last % hosts + 1))"
}

trial_oversubscription()
{
	local n
	for n in $(seq "$leaves"); do
		"$lab" degrade leaf$n rate=$((host_mbit * 4 / 3))mbit
	done
	accept oversubscription
	judge oversubscription uplinks '.*'
}

trial_mtu()
{
	local node
	node=$(node_of "$1")
	"$lab" degrade "$node" mtu=1400
	accept mtu
	judge mtu 'mtu|link' "$node"
}

# The loads of all nodes. The shapers drop what bursts exceed, so congestion has
# no limit that a sound lab keeps by design.
trial_loads()
{
	local part
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
	accept loads
	judge loads '' ''
	write_promise
	# Loads run on the nodes whose links hold, on a busy machine not on all.
	if [ "$(jq '[.results[] | select(.kind == "link" and
		.state == "holds")] | length' <<<"$report")" -le 8 ]; then
		say "loads are not checked: too few links hold"
		return
	fi
	for part in allreduce alltoall "2 senders" "8 senders" \
		"lat at 50 % load" "alltoall for 20s"; do
		jq -e --arg part "$part" '.results[] |
			select(.part == $part) | .share' <<<"$report" \
			>/dev/null || fail "$part was not measured"
	done
	sealed loads
}

lab_up --leaves "$leaves" --hosts 4 --rate "$host_mbit"mbit \
	--uplink $((2 * host_mbit))mbit
cluster_up $hosts
write_promise
failed=
for fault; do
	wrongs=0 unknowns=0
	for i in $(seq "$count"); do
		"trial_$fault" "$i"
		"$lab" heal all
		poll 120 nobody_is_named ||
			fail "still named: $(ctl_api verdicts)"
	done
	say "$fault: $count reports, $wrongs wrong, $unknowns undetermined"
	[ $((wrongs * 20)) -le "$count" ] && [ $((unknowns * 10)) -le "$count" ] ||
		failed="$failed $fault"
done
[ -z "${KEEP-}" ] || in_host collector sh -c "cp $cluster/*.json $cluster/*.html '$KEEP'"
[ -z "$failed" ] || fail "too often wrong or undetermined:$failed"
say "passed"
