#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# whatif.sh - times after an assumed change, by the engine and a fake collector:
# node2 reaches half of its rate, the uplinks of leaf3 a quarter. Each leaf has
# two cables to each of two spines.
. "$(dirname "$0")/lib.sh"
start_standin
PATH=$build/probes/serial:$PATH
COALMINE_MACHINES=$here/../../etc/machines
export COALMINE_MACHINES

what() { "$coalctl" whatif --machine lab --bytes 2M "$@"; }

# Worked out by hand. A NIC has 23.9 MB/s, the uplinks of a leaf 47.8 MB/s.
# alltoall on 4 nodes of 2 leaves: 3/4 of 2 MiB leave each NIC in 65.81 ms, and
# 2 MiB each leaf in 43.87 ms; 3 hops take 0.285 ms. allreduce on 2 nodes of a
# leaf: 2 MiB in 87.75 ms, 0.15 ms for hops, 0.39 ms for the reduction. The
# fourth word is how much wider the interval is because of routing; the measured
# node2 has an uncertainty of its own.
while read -r op nodes times limit lo_hi change; do
	# shellcheck disable=SC2086 # several words
	got=$(what --op "$op" --nodes "$nodes" $change --json |
	    jq -r '"\(.times) \(.then.limit | gsub(" "; "_")
		) \(.then.interval.hi / .then.interval.lo /
		(.now.interval.hi / .now.interval.lo))"')
	echo "$got" | awk -v t="$times" -v l="$limit" -v w="$lo_hi" '
	    { exit !($1 > t - 0.001 && $1 < t + 0.001 && $2 == l &&
		(w == "-" || ($3 > w - 0.01 && $3 < w + 0.01))) }' || {
		echo "$op on $nodes $change: $got, expected $times $limit $lo_hi"
		bad=1
	}
done <<END
alltoall node[1,3,5-6] 1 node1_n0_out 1 --down leaf1.uplink1
alltoall node[1,3,5-6] 1.3319 leaf1_up 1 --down spine1
alltoall node[1,3,5-6] 1.3319 leaf1_up 1 --down leaf1.uplink1 --down leaf1.uplink2
alltoall node[1,3,5-6] 1.3319 leaf2_up 1 --down leaf2.spine2 --down leaf2.uplink3
alltoall node[1,3,5-6] 1 node1_n0_out 1.3319 --slow leaf2.spine2=0.5
alltoall node[1,3,5-6] 1.7744 leaf1_up 1.4988 --down leaf1.spine1 --slow leaf1.uplink4=0.5
alltoall node[1,3,5-6] 2.6595 leaf1_up 1 --slow leaf1=0.25
alltoall node[1,3,5-6] 1.9957 node3_n0_out 1 --slow node3=0.5
alltoall node[1,3,5-6] 1.9957 node2_n0_out - --down node3
allreduce node[1,3] 3.9816 node1_n0_out 1 --slow node1=0.25
allreduce node[1-2] 0.50155 node1_n0_out - --slow node2=1
allreduce node[1,3] 1 node1_n0_out 1 --down spine1
END

expect whatif-slow 0 what --nodes 'node[1,3,5-6]' --op alltoall \
    --slow leaf2.spine2=0.1
expect whatif-down 0 what --nodes 'node[1,3,5-6]' --down node3
expect whatif-cut 0 what --nodes 'node[1,3,5-6]' \
    --down leaf1.spine1 --down leaf1.spine2
expect whatif-drain 0 what --nodes 'node[1-3]' --drain node2 --for 12h
expect whatif-drain-leaf 0 what --job 7 --drain leaf3 --for 12h
expect whatif-json 0 what --nodes 'node[1-2]' --drain node2 --json
expect whatif-all 0 what --slow node5=0.5
expect whatif-plan 0 "$coalctl" whatif --machine lab --nodes 'node[1-2]' \
    --plan 'group count=1048576' --slow node2=1
expect whatif-none 3 what --nodes 'node[1-2]'
expect whatif-unknown 3 what --nodes 'node[1-2]' --down leaf1.uplink5
expect whatif-share 3 what --nodes 'node[1-2]' --slow node1=2
expect whatif-no-share 3 what --nodes 'node[1-2]' --slow node1
expect whatif-drain-cable 3 what --nodes 'node[1-2]' --drain leaf1.spine1
expect whatif-both 3 what --nodes 'node[1-2]' --job 7 --down node1
expect whatif-nobody 3 what --down 'node[1-6,9-10]'
expect whatif-for 3 what --down node1 --for never

exit "$bad"
