#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Hosts with only IPv6 addresses: sessions, mesh and campaigns of both MPIs.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
hosts=4

before_start()
{
	local host i=0
	for host in collector $(seq -f "node%g" $hosts); do
		i=$((i + 1))
		in_host "$host" sh -ec "
			sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0
			ip -6 addr add fd78::$i/64 dev eth0 nodad
			ip -4 addr flush dev eth0" || skip "no IPv6 here"
		in_host collector sh -ec "
			sed -e '/[[:space:]]$host\(\$\|[[:space:]]\)/d' /etc/hosts \
				>$cluster/hosts
			echo 'fd78::$i $host' >>$cluster/hosts
			cat $cluster/hosts >/etc/hosts"
	done
	in_host collector sed -i "s,^\[collector\],&\nlisten = [::]:17700," \
		$cluster/collector/conf
	in_host collector sed -i "/^net = /d" \
		$(seq -f "$cluster/node%g/conf" $hosts)
}

lab_up --leaves 1 --hosts $hosts
cluster_up $hosts
for mpi in openmpi mpich; do
	order short --wait -o "campaign.mpi=$mpi" -o congestor.mix=none
	expect_finished 60
	records | jq -e '[.[] | select(.probe == "begin")] | .[0] |
		.networks == ["fd78::/64"] and .carried.transport == "tcp" and
		.carried.seen_bytes >= .carried.wanted_bytes / 2' >/dev/null ||
		fail "$mpi: $(records | jq -c '.[0] | {networks, carried}')"
	say "$mpi: $(describe) over fd78::/64"
done
[ "$(ctl node list --json | jq '[.[] | select(.addr | contains(":"))] | length')" = $hosts ] ||
	fail "addresses: $(ctl node list --json | jq -c '[.[].addr]')"
say passed
