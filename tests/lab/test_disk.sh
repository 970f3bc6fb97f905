#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The collector's disk is full in the middle of a run: an alarm names it, the
# agents and the probes continue, nothing is damaged, and the alarm ends when
# there is space. Then the shared memory of a host is too small for two ranks of
# MPICH, as that of a container may be: the run names the host and the reason.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

before_start()
{
	in_host collector mount -t tmpfs -o size=24m tmpfs \
		$cluster/collector/state || fail "tmpfs"
	in_host collector sh -c 'printf "[store]\nfree_min = 4M\n" >>"$0"' \
		$cluster/collector/conf
}

alarm_is() # 0|1
{
	in_host collector curl -sf http://127.0.0.1:17701/metrics |
		grep -qx "coalmine_db_alarm $1"
}

has_measured()
{
	run_is running && [ "$(run_get .records)" -ge 2 ]
}

lab_up
cluster_up 6
order long
poll 20 has_measured || fail "$(describe)"
in_host collector dd if=/dev/zero of=$cluster/collector/state/fill bs=1M \
	2>/dev/null
poll 20 alarm_is 1 || fail "no alarm: $(cluster_log collector)"
say "the disk is full"
ctl diags | grep -qi disk || fail "no diagnosis: $(ctl diags)"
cluster_agents_up "$nodes" || fail "agents were lost"
[ "$(pids_in node1 coalmine-probe | wc -l)" -ge 1 ] ||
	fail "the probes did not continue: $(describe)"
in_host collector rm $cluster/collector/state/fill
poll 20 alarm_is 0 || fail "the alarm stays"
say "the disk has space"
expect_finished 40
check_exactly_once
ctl db check >/dev/null || fail "db check: $(ctl db check)"
order short --wait
expect_finished 5
check_exactly_once
in_host node2 mount -t tmpfs -o size=4k tmpfs /dev/shm ||
	fail "a small /dev/shm"
order short -o campaign.mpi=mpich -o campaign.ranks_per_node=2
poll 20 run_ended || fail "still not ended: $(describe)"
describe | grep -q "rank [0-9]* on node2 was killed by signal 7 .*/dev/shm may be full" ||
	fail "a small /dev/shm: $(describe)"
say passed
