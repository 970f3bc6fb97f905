#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A port that silently drops large frames: the mesh's large datagrams name its
# node, and for an uplink its leaf, and no other, until it is repaired. The
# mesh is on a separate network; with the leaf the agents' sessions lose large
# packets, too. An agent behind such a port connects nevertheless.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

before_start()
{
	in_host collector tee -a "$cluster/collector/conf" >/dev/null <<-END
	[mesh]
	net = 10.79.0.0/16
	interval = 10s
	round = 100ms
	rate = 400
	target_rate = 200
	[verdict]
	second_pass = no
	END
}

# Large datagrams have the MTU of eth1 less 28 bytes of headers.
large_pass()
{
	mesh_records | jq -e 'any(.[].pairs[].large; .bytes == 1472 and .n > 3)
		' >/dev/null
}

mtu_verdicts()
{
	ctl_api verdicts | jq -c '[.[] | select(.what == "mtu")]' | grep . ||
		echo null
}

is_named() # KIND SUBJECT
{
	mtu_verdicts | jq -e --arg kind "$1" --arg subject "$2" 'length == 1 and
		.[0].kind == $kind and .[0].subject == $subject and
		.[0].mtu == 1500' >/dev/null
}

nobody_is_named()
{
	[ "$(mtu_verdicts)" = '[]' ]
}

last_epoch()
{
	mesh_records | jq '[.[].epoch] | max'
}

# break_it KIND SUBJECT LINK TEXT: only SUBJECT is named, with TEXT, and cleared
# after the repair.
break_it()
{
	local from text
	from=$(last_epoch)
	"$lab" degrade "$3" mtu=1400
	poll 60 is_named "$1" "$2" ||
		fail "$2 is not named: $(ctl_api verdicts)"
	text=$(mtu_verdicts | jq -r '.[0].text')
	say "named after $(($(last_epoch) - from)) epochs: $text"
	grep -Eq "$4" <<<"$text" || fail "in other words: $text"
	"$lab" heal "$3"
	poll 120 nobody_is_named || fail "$2 is still named: $(mtu_verdicts)"
}

# The agent's inventory is larger than the packets that pass.
agent_connects() # NODE
{
	local since
	"$lab" degrade "$1".eth0 mtu=1400
	cluster_signal TERM "$1"
	poll 20 cluster_agents_up 11 || fail "$1 is still connected"
	cluster_start "$1" coalmine-agent
	poll 20 cluster_agents_up 12 || fail_with_log "$1" "$1 does not connect"
	since=$(ctl_api nodes/"$1" | jq .since_unix_ns)
	sleep 15 # longer than an agent may be silent
	[ "$(ctl_api nodes/"$1" | jq -c '[.state, .since_unix_ns]')" = \
		"[\"ok\",$since]" ] ||
		fail_with_log "$1" "$1 does not stay connected"
	"$lab" heal "$1".eth0
	say "an agent connects over a path that drops large packets"
}

lab_up --rails 2
cluster_up 12
poll 60 large_pass || fail "no large ones: $(mesh_records | cut -c 1-2000)"
nobody_is_named || fail "false finding: $(mtu_verdicts)"
agent_connects node9
# Some paths may have carried large ones before the fault in that epoch.
break_it node node7 node7.eth1 \
	'lost on [0-9]+ of [0-9]+ paths while .* an MTU below 1500 on its link'
break_it leaf 10.78.2.0/24 leaf2 \
	'paths to other leaves .* an MTU below 1500 on its uplink'
ctl_api 'verdicts/history?limit=100' | jq -e '
	[.[] | select(.what == "mtu") | .subject] | unique ==
	["10.78.2.0/24", "node7"]' >/dev/null ||
	fail "others were named: $(ctl_api 'verdicts/history?limit=100')"
say passed
