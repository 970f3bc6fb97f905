#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Two versions during a rollout: half of the agents are of another build, then
# the collector is. Campaigns over the nodes of the collector's version finish,
# and each record is stored once. Nodes of the other version, which start ranks
# differently, keep their sessions and are named.
#
# The other build is COALMINE_OTHER_BUILD, or a build of the last commit with
# the previous protocol, which is built here.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
commit=9448351
other=${COALMINE_OTHER_BUILD:-}
old_nodes="node[1-6]" new_nodes="node[7-12]"

build_other()
{
	local tree
	tree=$(mktemp -d)
	git -C "$source_dir" archive $commit 2>/dev/null |
		tar -xC "$tree" 2>/dev/null || skip "commit $commit is not here"
	other=$tree/build
	{ cmake -S "$tree" -B "$other" -G Ninja -DCMAKE_BUILD_TYPE=Release &&
		cmake --build "$other"; } >"$tree/log" 2>&1 ||
		fail "$commit: $(tail -n 5 "$tree/log")"
}

# Restart HOST's PROGRAM from an installation: stage, or stage-other, which has
# no keys that the lab writes since.
replace() # HOST PROGRAM STAGE
{
	cluster_signal TERM "$1"
	poll 20 gone "$1" || fail "$1 does not end"
	in_host "$1" sed -i "s,^libexec = .*,libexec = $cluster/$3/libexec/coalmine,
		/^fabric = /d" "$cluster/$1/conf"
	in_host "$1" sh -c 'echo $$ >"$0/pid"; exec "$@" >>"$0/log" 2>&1' \
		"$cluster/$1" "$cluster/$3/sbin/$2" --config \
		"$cluster/$1/conf" &
}

gone() # HOST
{
	! in_host "$1" sh -c 'kill -0 "$(cat "$0/pid")"' "$cluster/$1" \
		2>/dev/null
}

check_half() # NODES WHAT
{
	order short -o "campaign.nodes=$1" -o campaign.nodes_min=6
	expect_finished 120
	check_exactly_once
	say "$2: $1, $(run_get .records) records"
}

check_left_out() # NODES WHAT TEXT
{
	order short -o "campaign.nodes=$1" -o campaign.nodes_min=6
	poll 120 run_ended || fail "$2: still not ended: $(describe)"
	run_is 'missed|failed' && [[ $(run_get .text) == *"$3"* ]] ||
		fail "$2: $(describe)"
	say "$2: $(describe)"
}

[ -n "$other" ] || build_other
lab_up
cluster_up 12
in_host collector cmake --install "$other" --prefix $cluster/stage-other \
	>/dev/null || fail "the other build cannot be installed"
for n in 1 2 3 4 5 6; do
	replace node$n coalmine-agent stage-other
done
poll 30 cluster_agents_up 12 || fail_with_log node1 "agents of another build"
check_left_out "$old_nodes" "agents of another build" "is older than"
check_half "$new_nodes" "agents of this one"
ctl node upgrade-check || fail "not to be upgraded"

# An older collector accepts only a store of its version, such as the copy that a
# newer one makes before a migration (coalmined(8)).
cluster_signal TERM collector
poll 20 gone collector || fail "the collector does not end"
in_host collector sh -c "mv $cluster/collector/state $cluster/collector/newer &&
	mkdir $cluster/collector/state"
replace collector coalmined stage-other
# Its coalctl too: an API has one version.
in_host collector ln -sfn $cluster/stage-other/bin /run/coalmine-lab/bin
poll 30 cluster_agents_up 12 ||
	fail_with_log collector "a collector of another build"
check_half "$old_nodes" "collector and agents of another build"
check_left_out "$new_nodes" "collector of another build, agents of this one" \
	"does not have this launcher"
