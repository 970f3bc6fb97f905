#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Campaigns without mpi.net, on typical hosts: with bridges of Docker and
# libvirt, which have the same address on all hosts, one of them with carrier,
# and with a second network on only half of the hosts; and with a firewall in
# front of a host, which the run names.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
bridges=$(seq 12) second="1 2 3 4 5 6"

before_start()
{
	local n
	in_host collector sed -i "/^net = /d" \
		$(seq -f "$cluster/node%g/conf" "$nodes")
	for n in $bridges; do
		in_host "node$n" sh -ec '
			ip link add docker0 type bridge
			ip addr add 172.17.0.1/16 dev docker0
			ip link add c0 type veth peer name c1
			ip link set c0 master docker0
			ip link set c0 up
			ip link set c1 up
			ip link add virbr0 type bridge
			ip addr add 192.168.122.1/24 dev virbr0
			ip link set docker0 up
			ip link set virbr0 up' || fail "bridges of node$n"
	done
	for n in $second; do
		in_host "node$n" sh -ec "ip link add two0 type veth peer name two1
			ip addr add 10.99.0.$n/16 dev two0
			ip link set two0 up
			ip link set two1 up" || fail "second network of node$n"
	done
}

check() # MPI WANTED [options of coalctl campaign run]
{
	local mpi=$1 want=$2
	shift 2
	order short --wait -o "campaign.mpi=$mpi" "$@"
	expect_finished 60
	records | jq -e --argjson want "$want" '[.[] | select(.probe == "begin")] |
		.[0].networks == $want' >/dev/null ||
		fail "$mpi: networks: $(records | jq -c '.[0].networks')"
	say "$mpi: $(describe) over $want"
}

lab_up
cluster_up 12
for mpi in openmpi mpich; do
	check $mpi '["10.78.0.0/16"]'
done
# The network of Docker on a single host is avoided, because it is not shared.
in_host collector true
for n in $(seq 2 12); do
	in_host "node$n" ip link del docker0
	cluster_signal TERM "node$n"
done
poll 30 cluster_agents_up 1
for n in $(seq 2 12); do
	cluster_start "node$n" coalmine-agent
done
poll 30 cluster_agents_up 12 || fail "agents came back: $(cluster_agents)"
check openmpi '["10.78.0.0/16"]'
# Half of the hosts share two networks. The choice is ambiguous: the run names
# both.
order short -o campaign.nodes="node[1-6]" -o campaign.nodes_min=6
poll 20 run_is 'starting|running|finished|failed'
in_host collector grep -q "share 2 networks: 10.78.0.0/16, 10.99.0.0/16; mpi.net" \
	$cluster/collector/log || fail "two networks: not named"
ctl run cancel "$run" >/dev/null
poll 20 run_ended || fail "not cancelled: $(describe)"
# A firewall on node11 drops, or rejects, new connections of other nodes.
if ! command -v nft >/dev/null; then
	say "not tried: a firewall, no nft"
else
	# The rule, and the MPI.
	for rule in drop:openmpi "reject with tcp reset:openmpi" reject:mpich; do
		in_host node11 nft -f - <<-END
		table ip firewall
		delete table ip firewall
		table ip firewall {
			chain in {
				type filter hook input priority 0;
				iifname eth0 tcp flags & (syn | ack) == syn ${rule%:*}
			}
		}
		END
		order short --wait -o campaign.mpi=${rule#*:} -o campaign.start_limit=20s \
			-o campaign.nodes="node[9-12]" -o campaign.nodes_min=4
		[[ $(run_get .text) =~ " cannot connect to node11 (10.78.3.3), TCP port " ]] ||
			fail "a firewall: $(describe)"
		[[ $rule = drop:* || $(run_get .text) =~ "refused by a firewall" ]] ||
			fail "a firewall that rejects: $(describe)"
		say "$(describe)"
	done
fi
say passed
