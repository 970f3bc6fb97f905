#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_outlier.sh node|receive|incast|rail|uplink|host|reboot|mesh|preflight: a
# fault in a cluster that is watched by a schedule, without any manual action;
# with preflight, a job checks before it starts. The fault is named, with its
# kind, and cleared after the repair. A newcomer finds the slow node from the
# page alone: the headline names it, and a click leads to its page. With
# PICTURES=DIR screenshots are stored there; those of daemon/guide were made
# this way.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

votes=3 clean=3 rails=1

# Only the agents' mesh, in fast epochs.
mesh_only()
{
	in_host collector sh -c "cat >>$cluster/collector/conf" <<-END
	[verdict]
	votes = $votes
	window = 5
	clean = $clean
	second_pass = no
	[mesh]
	interval = 4s
	round = 200ms
	rate = 400
	target_rate = 200
	END
}

# A round of all nodes at an interval that the test sets.
before_start()
{
	if [ "$mode" = mesh ]; then
		mesh_only
		return
	fi
	watch_campaign "$every" "$tests" "$time" "$rounds" "$warmup"
	in_host collector sh -c "cat >>$cluster/collector/conf" <<-END
	[verdict]
	votes = $votes
	window = 5
	clean = $clean
	second_pass_per_hour = 100
	[mesh]
	enabled = no
	[links]
	interval = 1s
	[alerts]
	webhook = http://127.0.0.1:19093/
	END
	in_host collector "$here/hook.py" 19093 "$cluster/hook" &
}

# An alert about it was sent, in this state.
alerted() # SUBJECT firing|resolved
{
	in_host collector cat "$cluster/hook" 2>/dev/null |
		jq -es --arg of "$1" --arg status "$2" 'any(.[].alerts[];
			.status == $status and (.labels | tostring |
				contains($of)))' >/dev/null
}

verdicts()
{
	ctl_api verdicts
}

rounds()
{
	ctl run list --json --campaign watch --state finished | jq length
}

rounds_are() # COUNT
{
	[ "$(rounds)" -ge "$1" ]
}

verdict_is() # JQ-CONDITION on one verdict
{
	verdicts | jq -e "any(.[]; $1)" >/dev/null
}

# Named within this many rounds of those that began after the fault: one round
# may be half over when it happens, and load on the machine can spoil some.
expect_named() # JQ-CONDITION
{
	local before
	before=$(rounds)
	until verdict_is "$1"; do
		[ "$(rounds)" -le $((before + votes * rails + 8)) ] ||
			fail "not named within $((votes * rails + 8)) rounds:" \
				"$(verdicts) $(ctl node list) $(ctl run list)"
		sleep 1
	done
	say "named after $(($(rounds) - before)) rounds:" \
		"$(verdicts | jq -r '.[].text')"
}

# Other load of the machine may cause a warning, which its confirmation run
# clears.
none_is_named()
{
	[ "$(verdicts)" = "[]" ]
}

# Cleared by exactly this many consecutive clean rounds; load on the machine
# can spoil one of them.
expect_cleared() # SUBJECT
{
	local before count
	before=$(rounds)
	while count=$(verdicts | jq -e --arg of "$1" \
		'.[] | select(.subject == $of) | .clean_rounds'); do
		[ "$count" -lt $clean ] ||
			fail "not cleared by $clean clean rounds: $(verdicts)"
		[ "$(rounds)" -le $((before + clean * rails + 10)) ] ||
			fail "never clean: $(verdicts)"
		sleep 1
	done
	poll 30 history_says "$1" "normal for $clean rounds" ||
		fail "cleared, and: $(ctl verdict history "$1")"
	say "cleared after $(($(rounds) - before)) rounds"
}

history_says() # SUBJECT TEXT
{
	ctl verdict history "$1" | grep -qF "$2"
}

calm() # ROUNDS
{
	poll 120 rounds_are "$1" || fail "only $(rounds) rounds: $(ctl run list)"
	poll 60 none_is_named || fail "nothing is wrong, and: $(verdicts)"
}

metric() # TEXT
{
	in_host collector curl -sf http://127.0.0.1:17701/metrics |
		grep -qF "$1"
}

differs() # NODE SETTING VALUE
{
	ctl diff --json | jq -e --arg node "$1" --arg setting "$2" \
		--arg value "$3" '[.[] | [.node, .setting, .value]] ==
			[[$node, $setting, $value]]' >/dev/null
}

has_event() # SUBJECT KIND TEXT
{
	ctl events --kind "$2" --json | jq -es --arg subject "$1" \
		--arg text "$3" 'flatten | any(.[]; .subject == $subject and
			(.text | contains($text)))' >/dev/null
}

none_differs()
{
	[ "$(ctl diff --json)" = "[]" ]
}

# While agents run, a setting of one node is changed, and changed back.
setting_test()
{
	local usual
	usual=$(in_host node7 cat /proc/sys/net/ipv4/tcp_ecn)
	poll 60 none_differs || fail "all nodes are alike, and: $(ctl diff)"
	in_host node7 sysctl -q -w net.ipv4.tcp_ecn=0
	poll 60 differs node7 tcp_ecn 0 || fail "not listed: $(ctl diff)"
	ctl diff
	[ $? = 1 ] || fail "coalctl diff: exit code of a warning expected"
	poll 20 has_event node7 setting "tcp_ecn: $usual before, now 0" ||
		fail "no event: $(ctl events --kind setting)"
	in_host node7 sysctl -q -w net.ipv4.tcp_ecn="$usual"
	poll 60 none_differs || fail "still listed: $(ctl diff)"
	say "a changed setting is listed, and an event"
}

node_test()
{
	calm 2
	"$lab" degrade node5 rate=50mbit
	expect_named '.subject == "node5" and .kind == "node"'
	metric 'coalmine_node_verdict{node="node5"' || fail "no metric"
	poll 60 alerted node5 firing || fail "no alert"
	ctl verdict list
	[ $? -ge 1 ] || fail "coalctl verdict list: all is well?"
	poll 200 verdict_is '.subject == "node5" and .verdict == "bad" and
		.what == "node"' || fail "not confirmed: $(verdicts) $(ctl run list)"
	say "confirmed: $(verdicts | jq -r '.[].text')"
	ctl node show node5 | grep -q 'slower than' || fail "no evidence shown"
	page_leads_to node5
	verdicts | jq -e 'all(.[]; .subject == "node5")' >/dev/null ||
		fail "others are named: $(verdicts)"
	"$lab" heal node5
	expect_cleared node5
	metric 'coalmine_node_verdict{node="node5"' && fail "metric stays"
	poll 60 alerted node5 resolved || fail "the alert stays"
	ctl verdict history node5 | grep -q '^bad' || fail "no history"
}

all_covered()
{
	ctl coverage --json | jq -e '.links == {exercised: 24, all: 24} and
		.links_missing == []' >/dev/null
}

# Three rails take turns, and one of node5 has a fifth of the rate: it is that
# rail, and no other; each rail of each node is a link with coverage.
rail_test()
{
	calm $rails
	# a round that could not run may have skipped a rail
	poll 60 all_covered ||
		fail "not all rails were exercised: $(ctl coverage)"
	run=$(ctl run list --json --campaign watch --state finished |
		jq -r '.[0].run')
	records | jq -e 'map(select(.probe == "canary")) | length > 0 and
		all(.[]; .carried.devices | length == 1 and
			(.[0] | test("^eth[123]$")))' >/dev/null ||
		fail "records do not say over which rail: $(records |
			jq -c '[.[] | .carried]')"
	"$lab" degrade node5.eth2 rate=20mbit
	expect_named '.subject == "node5"'
	# A host whose cores are used by others is reported as such first.
	verdicts | jq -e 'all(.[]; .subject == "node5" and (.what == "host" or
		(.what == "rail" and .rail == "eth2")))' >/dev/null ||
		fail "not as that rail: $(verdicts)"
	poll 200 verdict_is '.subject == "node5" and .verdict == "bad" and
		.what == "rail" and .rail == "eth2" and
		(.text | startswith("node node5, rail eth2: "))' ||
		fail "not confirmed: $(verdicts) $(ctl run list)"
	say "confirmed: $(verdicts | jq -r '.[].text')"
	verdicts | jq -e 'all(.[]; .subject == "node5")' >/dev/null ||
		fail "others are named: $(verdicts)"
	"$lab" heal node5.eth2
	expect_cleared node5
}

# Traffic to node5 is slow, traffic from it is not.
receive_test()
{
	calm 2
	"$lab" degrade node5 rate-in=20mbit
	expect_named '.subject == "node5" and .kind == "node"'
	poll 300 verdict_is '.subject == "node5" and .verdict == "bad" and
		.what == "node" and .confirmation.direction == "receive" and
		(.text | contains("the node is slow, not its leaf, only when it receives"))' ||
		fail "no direction: $(verdicts) $(ctl run list)"
	say "confirmed: $(verdicts | jq -r '.[].text')"
	verdicts | jq -e 'all(.[]; .subject == "node5")' >/dev/null ||
		fail "others are named: $(verdicts)"
}

# A host can send half of the rate that it may receive, which one partner never
# exceeds, but many do: node5 receives little more than one host sends.
incast_test()
{
	local n
	for n in $(seq 8); do
		"$lab" degrade "node$n" rate-out=100mbit
	done
	calm 2
	"$lab" degrade node5 rate-in=110mbit
	expect_named '.subject == "node5" and .test == "incast"'
	poll 300 verdict_is '.subject == "node5" and .verdict == "bad" and
		.what == "node" and .confirmation.direction == "receive" and
		(.text | contains("the node is slow, not its leaf, measured as receiver of many senders"))' ||
		fail "not confirmed: $(verdicts) $(ctl run list)"
	say "confirmed: $(verdicts | jq -r '.[].text')"
	verdicts | jq -e 'all(.[]; .subject == "node5" and
		.test == "incast")' >/dev/null ||
		fail "others, or what two do: $(verdicts)"
	"$lab" heal node5
	expect_cleared node5
}

page_leads_to() # NODE
{
	command -v chromium >/dev/null ||
		{ say "no chromium: the page is not looked at"; return; }
	in_host collector env PYTHONDONTWRITEBYTECODE=1 \
		PICTURES="${PICTURES-}" "$source_dir/tests/browser/find_slow.py" \
		http://127.0.0.1:17701/ "$1" || fail "the page does not lead to $1"
}

# 100 of 400 Mbit, shared by the nodes of the leaf. With 4 leaves of 3 a node
# has 2 of its 11 partners inside: a quarter of its partners would hide the
# fault.
uplink_test()
{
	calm 2
	"$lab" degrade leaf2 rate=100mbit
	expect_named '.kind == "leaf" and (.subject | test("10[.]78[.]2[.]0"))'
	poll 200 verdict_is '.kind == "leaf" and .verdict == "bad" and
		(.what == "link" or .what == "leaf")' ||
		fail "not confirmed: $(verdicts) $(ctl run list)"
	say "confirmed: $(verdicts | jq -r '.[].text')"
	verdicts | jq -e 'all(.[]; .kind == "leaf")' >/dev/null ||
		fail "nodes are named: $(verdicts)"
	"$lab" heal leaf2
	expect_cleared "$(verdicts | jq -r '.[0].subject')"
}

# Other programs use the cores of node5: it has a twelfth of a core, shared with
# programs that would use all of it. The hosts share this machine, so a control
# group defines which tasks belong to the host.
host_test()
{
	local n
	hogs=
	group=$(cpu_group) || skip "no control group of cpu time can be made"
	trap '[ -z "$hogs" ] || kill $hogs; "$lab" down; poll 5 rmdir "$group" 2>/dev/null' EXIT
	calm 2
	cpu_group_take 5
	for n in 1 2 3; do
		sh -c 'echo $$ >"$0/cgroup.procs"
			exec timeout 500 sh -c "while :; do :; done"' \
			"$group" &
		hogs="$hogs $!"
	done
	expect_named '.subject == "node5" and .what == "host"'
	verdict_is '.text | contains("its ranks'"'"' wait for a core ")' ||
		fail "not by what its ranks waited: $(verdicts)"
	verdicts | jq -e 'all(.[]; .subject == "node5")' >/dev/null ||
		fail "others are named: $(verdicts)"
	[ "$(ctl run list --json --campaign confirmation | jq length)" = 0 ] ||
		fail "a confirmation run was made"
	cpu_group_limit -1 max
	kill $hogs
	hogs=
	expect_cleared node5
}

# A restarted agent is measured before it is green.
reboot_test()
{
	local state
	calm 2
	ctl_api nodes/node7 | jq -e '.verdict == "ok"' >/dev/null ||
		fail "node7: $(ctl_api nodes/node7 | jq -c .verdict)"
	ctl schedule disable watch >/dev/null || fail "schedule disable"
	poll 60 nothing_runs || fail "runs continue"
	cluster_signal KILL node7
	poll 30 node7_is unknown || fail "killed, and $(ctl_api nodes/node7)"
	cluster_start node7 coalmine-agent
	poll 30 node7_is_back || fail "not back: $(ctl_api nodes/node7)"
	for state in 1 2 3 4 5; do
		node7_is unknown || fail "green without being measured"
		sleep 1
	done
	metric 'coalmine_nodes{verdict="unknown"} 1' || fail "no metric"
	ctl schedule enable watch >/dev/null || fail "schedule enable"
	poll 90 node7_is ok || fail "measured, and not ok"
	flapping_port
	setting_test
}

# A port of node6 without measurements loses its carrier now and then: it is
# reported by its counter, or by the one of its other end, and no other node
# is.
flapping_port()
{
	in_host node6 sh -ec 'ip link add ib7 type veth peer name switch7
		ip link set ib7 up
		while sleep 0.5; do
			ip link set switch7 up
			ip link set switch7 down
		done' &
	poll 90 verdict_is '.subject == "node6" and .what == "link-errors" and
		.verdict == "warn" and
		(.text | test("port (ib|switch)7 has counted carrier_changes"))' ||
		fail "no verdict on a flapping port: $(verdicts)"
	verdicts | jq -e 'all(.[]; .subject == "node6")' >/dev/null ||
		fail "others were named: $(verdicts)"
	ctl link list | grep -Eq '^node6 .*ib7 +carrier_changes ' ||
		fail "not in the list: $(ctl link list)"
}

# Without campaigns the echoes of the agents name it. They are few and small, so
# only a very slow link slows them; MPI would not start over it.
mesh_test()
{
	poll 60 node7_is ok || fail "not measured by the mesh: $(ctl_api nodes)"
	"$lab" degrade node5 rate=150kbit
	poll 120 verdict_is '.subject == "node5" and .class == "mesh" and
		(.test | startswith("echo-"))' ||
		fail "not named: $(verdicts) $(ctl_api \
			runs/$(ctl_api 'runs?campaign=mesh' |
				jq -r '.[0].run')/records | jq -c \
			'[.[-2:][] | {test, nodes: [.nodes[] |
				{node, q25, good_lost, good_sent}]}]')"
	say "named: $(verdicts | jq -r '.[].text')"
	"$lab" heal node5
	poll 120 node5_is_clear || fail "not cleared: $(verdicts)"
}

# It answers within its limit, which is long because of other load. The job's
# other nodes are fit, with and without the slow one.
preflight_test()
{
	local at rc out
	out=$(ctl preflight --nodes 'node[1-8]' --within 120s --json)
	rc=$?
	say "sound: $out"
	[ $rc = 0 ] || fail "sound nodes are not fit: exit code $rc, $out"
	jq -e '.groups | all(has("seconds") | not)' <<<"$out" >/dev/null ||
		fail "a collective without history has an expected time"
	"$lab" degrade node5 rate=20mbit # beyond what busy cores explain
	at=$SECONDS
	out=$(ctl preflight --nodes 'node[1-8]' --within 240s --json)
	rc=$?
	say "node5 is slow: $out"
	[ $rc = 1 ] || not_named "$out" "node5 is not named"
	[ $((SECONDS - at)) -le 300 ] || fail "not within its limit"
	echo "$out" | jq -e '.slow[0].node == "node5" and (.slow | length == 1)
		and .paths == [] and .fit == "node[1-4,6-8]" and .open == ""' \
		>/dev/null || fail "not node5 alone"
	"$lab" heal node5
	expect_nothing_runs 10
	# Ranks that share two cores are slower than the machine's description.
	out=$(ctl preflight --nodes 'node[1-4]' --machine lab --bytes 256K \
		--within 120s --json)
	say "and a collective: $out"
	echo "$out" | jq -e '.groups[0] | .state == "finished" and
		.seconds > 0 and .expected_seconds > 0' >/dev/null ||
		fail "no collective"
	expect_nothing_runs 10
}

node5_is_clear()
{
	! verdict_is '.subject == "node5"'
}

node7_is() # VERDICT
{
	[ "$(ctl_api nodes/node7 | jq -r .verdict)" = "$1" ]
}

node7_is_back()
{
	[ "$(ctl_api nodes/node7 | jq -r .state)" = ok ]
}

mode=${1:?}
every=5s time=1s rounds=5 warmup=0 leaves=2 hosts=8
case $mode in
node | receive) tests=bw ;;
incast) tests=bw,incast ;;
rail) tests=bw rails=3 ;;
uplink) tests=bw every=10s time=4s rounds=16 warmup=1 leaves=4 hosts=12 ;;
host) tests=bw rounds=10 ;;
mesh) tests=lat leaves=3 hosts=12 ;;
preflight) tests=bw every=0 ;; # nothing else is on the network
*) tests=lat ;;
esac
# eth0 is for everything else
[ $rails = 1 ] || cluster_nics=eth1,eth2,eth3
lab_up --leaves $leaves --hosts $((hosts / leaves)) \
	--rails $((rails == 1 ? 1 : rails + 1))
cluster_up $hosts
"${mode}_test"
