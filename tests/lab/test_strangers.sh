#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Unauthorized clients: no certificate, a foreign one, the wrong role, a port
# scan, thousands of idle connections, frames of a GiB, garbage. Their
# connections end; agents are not affected, and memory does not grow.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
port=17700

rss_kib()
{
	in_host collector awk '/^VmRSS/ { print $2 }' \
		"/proc/$(in_host collector cat $cluster/collector/pid)/status"
}

# Speak TLS to the collector, with the certificate of DIR/NAME if given. Our
# end stays open, so only the collector can end this.
speak() # [DIR/NAME], input: the data to send
{
	local fd pid
	exec {fd}> >(exec "$lab" exec node1 timeout 100 openssl s_client \
		-quiet -verify_quiet -no_ign_eof -connect collector:$port \
		${1:+-cert "$cluster/$1.pem" -key "$cluster/$1.key"} \
		>/dev/null 2>&1)
	pid=$!
	cat >&$fd 2>/dev/null
	poll 15 eval "! kill -0 $pid 2>/dev/null" ||
		fail "$what: the connection stays open"
	exec {fd}>&-
}

hello() # NODE: a frame that only an agent may send
{
	local body="{\"type\":\"hello\",\"node\":\"$1\"}"
	printf 'CM\1\0\0\0\0%b%s' "\\x$(printf %x ${#body})" "$body"
}

# After each attack: the agents are connected, and a new session is accepted.
all_is_well()
{
	cluster_agents_up "$nodes" || fail "$what: an agent was lost"
	say "$what: $(rss_kib) KiB"
}

# A valid client must be accepted, as a control for the rejected ones.
accepted()
{
	local pid
	exec {fd}> >(exec "$lab" exec node1 openssl s_client -quiet \
		-verify_quiet -connect collector:$port -cert \
		$cluster/pki/stranger.pem -key $cluster/pki/stranger.key \
		>/dev/null 2>&1)
	pid=$!
	sleep 1
	kill -0 $pid 2>/dev/null || fail "a true certificate is turned away"
	exec {fd}>&-
	kill $pid
}

certificates()
{
	what="no certificate"
	speak </dev/null
	all_is_well
	what="a foreign certificate"
	speak foreign/node1 < <(hello node1)
	all_is_well
	what="the wrong role"
	speak pki/someone < <(hello node1)
	all_is_well
	what="another node's name"
	speak pki/stranger < <(hello node2)
	all_is_well
}

bytes()
{
	what="a frame of 1 GiB"
	speak pki/stranger < <(printf 'CM\1\0\x40\0\0\0{')
	all_is_well
	what="garbage inside TLS"
	speak pki/stranger < <(head -c 300000 /dev/urandom)
	all_is_well
	what="garbage instead of TLS"
	in_host node1 bash -c "for i in \$(seq 20); do
		head -c 100000 /dev/urandom >/dev/tcp/collector/$port
	done" 2>/dev/null
	all_is_well
	what="a port scan"
	in_host node1 bash -c "for i in \$(seq 500); do
		: </dev/tcp/collector/$port
	done"
	all_is_well
}

crowd()
{
	what="10000 idle connections"
	exec {fd}< <(exec "$lab" exec node1 "$netload" idle collector $port \
		10000 300)
	local pid=$! opened=
	read -r -t 300 opened <&"$fd"
	[ "$opened" = 10000 ] || fail "$what: opened '$opened'"
	cluster_signal KILL node3
	cluster_start node3 coalmine-agent
	sleep 3
	poll 20 cluster_agents_up "$nodes" || fail "$what: no agent can come"
	all_is_well
	[ "$(rss_kib)" -lt 65536 ] || fail "$what: $(rss_kib) KiB"
	kill $pid
}

lab_up
cluster_up 4
before_kib=$(rss_kib)
ctl pki init $cluster/foreign >/dev/null || fail "pki"
ctl pki issue $cluster/foreign node1 --role agent >/dev/null
ctl pki issue $cluster/pki someone --role reader >/dev/null
ctl pki issue $cluster/pki stranger --role agent >/dev/null
accepted
certificates
bytes
certificates
bytes
crowd
grown_kib=$(($(rss_kib) - before_kib))
[ $grown_kib -lt 12288 ] || fail "memory grew by $grown_kib KiB"
order short --wait -o congestor.mix=none
expect_finished 5
say passed
