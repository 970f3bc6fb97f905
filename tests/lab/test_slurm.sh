#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_slurm.sh [preflight] - campaigns as jobs of a real Slurm: a record from
# a job, idle nodes only, reservations, failed starts, cancelling from both
# sides, and nodes that are drained because they are bad. preflight: a job with
# a slow node is held, or requeued for other nodes, or only gets a warning, and
# the performance of its nodes is reported when it has ended.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/slurm.sh"

# Slurm as if it were another batch system, known by this line only.
submit="/usr/bin/env SLURM_CONF=$slurm/slurm.conf sbatch --wait --chdir=/ "
submit+="--output=/dev/null --nodelist={hosts} --job-name={run} {script}"

# Ranks look for their agent under one path on all nodes.
before_start()
{
	local n
	for n in $(seq "$nodes"); do
		in_host node"$n" sh -eu -c 'mkdir -p /run/coalmine-agent
			mount --bind "$1/run" /run/coalmine-agent
			sed -i "s,^run_dir.*,run_dir = /run/coalmine-agent\nin_band = $4," \
				"$1/conf"
			sed -i "s,^\[children\],&\nslurm_conf = $2\ncommand = $3," \
				"$1/conf"' \
			- "$cluster/node$n" "$slurm/slurm.conf" "$submit" \
			$slurm/in-band ||
			fail "node$n: its files"
	done
	in_host collector mkdir -m 1777 $slurm/in-band
	in_host collector sh -c 'printf "[slurm]\nconf = %s\n[jobs]\nsource = slurm
		interval = 2s\naccounting = no\n" "$1" >>"$0"' \
		$cluster/collector/conf $slurm/slurm.conf
	in_host collector tee $cluster/campaigns/job.conf >/dev/null <<-END
	[campaign]
	launcher = slurm
	nodes_min = 2
	nodes_max = 3
	deadline = 10m
	start_limit = 5m
	[canary]
	tests = lat
	share = 1
	precision = 0.001
	rounds_min = 2
	time = 500ms
	[congestor]
	mix = none
	[phases]
	visits = 1
	END
}

nodes_are() # WORDS
{
	[ "$(run_get '.nodes | join(" ")')" = "$1" ] ||
		fail "ran on $(run_get '.nodes | join(" ")'), not $1"
}

# Slurm's state of the run's job.
job()
{
	sl scontrol -o show job | grep "JobName=coalmine-$run "
}

job_is() # WORD...
{
	local text word
	text=$(job) || fail "no job of run $run: $(sl scontrol show job)"
	for word; do
		[[ $text == *" $word "* ]] || fail "job has no $word: $text"
	done
}

in_queue() # TEXT in the run's text
{
	[[ $(run_get .text) == *"$1"* ]]
}

# MPICH may hang at its end, and is killed then.
finishes() # MPI JOB-STATE
{
	order job --wait -o campaign.mpi="$1"
	expect_finished 5
	check_exactly_once
	records | jq -e 'any(.[]; .probe == "canary" and .n > 0)' >/dev/null ||
		fail "no canary of $run: $(records)"
	poll 20 no_jobs || fail "left: $(slurm_jobs)"
	[[ $(job) =~ \ JobState=($2)\  ]] || fail "$(job)"
	job_is NumNodes=3 OverSubscribe=NO "UserId=$(
		in_host collector bash -c "$(declare -f cluster_user)
			cluster_user")(65534)"
	say "$1: a record from a job"
}

# A user's own srun, up to three times: on a busy machine Open MPI may abandon a
# slow connect, which is not a defect of this program.
user_srun() # COMMAND-THAT-IS-TRUE-AFTERWARDS WORD...
{
	local try said
	for try in 1 2 3; do
		said=$(sl env SLURM_PMIX_FENCE=tree timeout -k 5 120 srun \
			--nodes=3 --ntasks=3 --chdir=/ --time=5 --input=none \
			--kill-on-bad-exit=1 "${@:2}" 2>&1)
		! "$1" || return 0
	done
	fail "srun ${*:2}: $said"
}

# Ranks that Slurm does not wire up are alone, each a rank 0.
by_hand() # MPI TYPE
{
	records=$slurm/by-hand-$1
	user_srun wired_up --mpi="$2" \
		$cluster/stage/libexec/coalmine/"$1"/coalmine-probe run group \
		pattern=rail n=3 g=1 count=4096 --json "$records"
	poll 20 no_jobs || fail "left: $(slurm_jobs)"
	say "$1: srun --mpi=$2 wires up three ranks"
}

wired_up()
{
	in_host node1 cat "$records" | jq -es '
		(map(select(.probe == "begin")) | length == 1 and
			(.[0].ranks == 3 and (.[0].nodes | length) == 3)) and
		any(.[]; .probe == "group" and .n > 0) and
		any(.[]; .probe == "end" and .status == "ok")' >/dev/null
}

# The counts of a user's program are shown with its job.
in_band()
{
	user_srun has_counted --mpi=pmix --job-name=solver env \
		COALMINE_IN_BAND=$slurm/in-band PLAIN_FINALIZE=yes \
		LD_PRELOAD=$cluster/stage/libexec/coalmine/openmpi/libcoalmine-pmpi.so \
		OMPI_MCA_osc=^ucx "$build_dir/tests/mpi/plain-openmpi"
	poll 90 in_band_is_shown || fail "$(in_host node1 ls $slurm/in-band) $(
		ctl job list --json)"
	say "what a job has measured is shown with it"
}

has_counted()
{
	poll 20 no_jobs # it is completing for a moment
	sl scontrol -o show job | grep "JobName=solver " |
		grep -q "JobState=COMPLETED "
}

in_band_is_shown()
{
	local id
	id=$(ctl job list --json | jq -r '[.[] | select(.name == "solver" and
		.state == "COMPLETED")][0].job // empty')
	[ -n "$id" ] && ctl job show "$id" --json | jq -es 'flatten |
		.[0].in_band | any(.[]; .op == "allreduce" and .ranks == 3 and
			.nodes == 3 and .bytes == 8 and .calls == 150 and
			.least_s > 0 and .source == "pmpi")' >/dev/null
}

# Its script starts the ranks through the agents, from within the job.
by_command() # MPI
{
	order job --wait -o campaign.launcher=command -o campaign.mpi="$1"
	expect_finished 5
	check_exactly_once
	poll 20 no_jobs || fail "left: $(slurm_jobs)"
	sl scontrol -o show job | grep -q "JobName=$run .* NumNodes=3 " ||
		fail "no job: $(sl scontrol -o show job)"
	say "$1: a record from a job of a command"
}

# One node is drained and one is taken: two are left, and then reserved.
only_idle()
{
	sl scontrol update nodename=node1 state=drain reason="broken fan" ||
		fail "scontrol"
	sl srun -w node3 --chdir=/ -t 5 sleep 300 >/dev/null &
	poll 20 has_job node3 || fail "no job: $(sl squeue) $(sl sinfo)"
	say "drained and taken"
	sleep 6 # what Slurm said before is old then
	order job --wait -o campaign.nodes_max=2
	expect_finished 5
	nodes_are "node2 node4"
	say "idle nodes only"
	sl scontrol create reservation=mine starttime=now duration=60 \
		users=nobody nodes=node2,node4 >/dev/null ||
		fail "scontrol create reservation"
	sleep 6
	order job --wait -o slurm.reservation=mine
	expect_finished 5
	nodes_are "node2 node4"
	job_is NodeList=node[2,4]
	order job -o campaign.nodes_max=2
	sleep 1
	run_is pending || fail "it did not wait: $(describe)"
	ctl run cancel "$run" >/dev/null || fail "cancel"
	order job --wait -o campaign.nodes=node[1-2]
	run_is missed && in_queue "node1 is drained in Slurm: broken fan" ||
		fail "$(describe)"
	say "a reservation"
	sl scontrol update nodename=node1 state=resume
	sl scontrol delete reservation=mine
	sl scancel -u root
	poll 20 slurm_idle 4 || fail "not idle again: $(sl sinfo)"
	sleep 6
}

has_job() # NODE
{
	slurm_jobs | grep -q " RUNNING $1\$"
}

does_not_start()
{
	order job --wait -o slurm.partition=shut -o campaign.start_limit=8s
	run_is nonstart && in_queue PartitionDown || fail "$(describe)"
	poll 10 no_jobs || fail "left: $(slurm_jobs)"
	order job -o slurm.partition=shut
	poll 20 in_queue PartitionDown || fail "no reason given it waits"
	ctl run cancel "$run" >/dev/null || fail "cancel"
	poll 10 no_jobs || fail "left: $(slurm_jobs)"
	order job --wait -o slurm.partition=nosuch
	run_is missed && in_queue "partition nosuch" || fail "$(describe)"
	expect_nothing_runs 10
	say "a run that cannot start shows the reason, and leaves no job"
}

long() # order one, and wait until it runs
{
	order job -o canary.time=60s
	poll 30 running_or_ended && run_is running ||
		fail_with_log node1 "$(describe)"
	poll 10 job_runs || fail "no running job: $(slurm_jobs)"
}

running_or_ended()
{
	run_is running || run_ended
}

job_runs()
{
	slurm_jobs | grep -q "^coalmine-$run RUNNING"
}

cancelled_by_us()
{
	long
	ctl run cancel "$run" >/dev/null || fail "cancel"
	poll 10 no_jobs || fail "left: $(slurm_jobs)"
	run_is cancelled || fail "$(describe)"
	expect_nothing_runs 10
	say "cancelled by us"
}

cancelled_by_slurm()
{
	long
	sl scancel --name="coalmine-$run" || fail "scancel"
	poll 20 run_ended || fail "$(describe)"
	run_is cancelled || fail "$(describe)"
	expect_nothing_runs 10
	say "cancelled by Slurm: $(run_get .text)"
}

# Restart the collector with stored verdicts on nodes 1 to 3, and run a canary
# that shows that all of them are alive.
verdicts_are() # VERDICT [LINE of its configuration]
{
	local n
	cluster_signal TERM collector
	poll 20 collector_gone || fail "the collector does not end"
	in_host collector sh -c 'printf "%s\n" "$1" >>"$0"' \
		$cluster/collector/conf "${2-}"
	for n in node1 node2 node3; do
		echo "INSERT INTO verdict
			(at_unix_ns, kind, subject, verdict, body) VALUES
			(1, 'node', '$n', '$1', '{\"kind\": \"node\",
			\"subject\": \"$n\", \"verdict\": \"$1\",
			\"what\": \"node\", \"class\": \"exclusive\",
			\"test\": \"lat\", \"text\": \"$n: slow\"}');"
	done | in_host collector sqlite3 -bail \
		$cluster/collector/state/coalmine.db || fail "no verdicts"
	cluster_start collector coalmined
	poll 20 cluster_collector_up || fail_with_log collector "no collector"
	poll 40 cluster_agents_up 4 || fail "only $(cluster_agents) agents"
	order job --wait -o campaign.launcher=agents -o campaign.nodes_max=4
	expect_finished 5
}

collector_gone()
{
	! cluster_collector_up && [ -z "$(pids_in collector coalmined)" ]
}

reacted() # NODE TEXT
{
	ctl events --kind reaction --json |
		jq -es --arg node "$1" --arg text "$2" 'flatten | any(.[];
			.subject == $node and (.text | contains($text)))' \
			>/dev/null
}

slurm_has() # NODE STATE-AND-REASON
{
	[[ $(slurm_node "$1") == "$2"* ]]
}

# Another user has drained node 2 before, and drains node 3 meanwhile.
reacts()
{
	local n
	poll 20 slurm_idle 4 || fail "not idle: $(sl sinfo)"
	sl scontrol update nodename=node2 state=drain reason="broken fan" ||
		fail "scontrol"
	verdicts_are bad "[verdict]
second_pass = no
[reaction]
action = slurm-drain
share_per_hour = 1"
	for n in 1 2 3; do
		poll 30 reacted node$n "dry run, would act" ||
			fail "node$n: $(ctl events --kind reaction)"
	done
	slurm_has node1 idle || fail "a dry run: $(slurm_node node1)"
	verdicts_are bad "dry_run = no"
	for n in 1 3; do
		poll 30 slurm_has node$n "drained coalmine: bad, node$n: " ||
			fail "node$n: $(slurm_node node$n)"
	done
	poll 30 reacted node2 "skipped: its state in Slurm is drained|broken fan" ||
		fail "$(ctl events --kind reaction)"
	sl scontrol update nodename=node3 reason="new disk" || fail "scontrol"
	verdicts_are ok
	poll 30 slurm_has node1 idle || fail "$(slurm_node node1)"
	poll 30 reacted node3 "skipped: its state in Slurm is drained|new disk" ||
		fail "$(ctl events --kind reaction)"
	slurm_has node2 "drained broken fan" && slurm_has node3 "drained new" ||
		fail "another's: $(slurm_node node2), $(slurm_node node3)"
	say "bad nodes are drained, and only these resumed"
}

a_job_is() # STATE [PRIORITY]
{
	[[ $(sl scontrol -o show job "$its") == *" Priority=${2-}"*" JobState=$1 "* ]]
}

# Before a job starts its nodes measure one another; node3 is slow.
job_of() # ACTION NODES
{
	in_host collector sh -c 'printf "%s\n" "$@" >"$0"' \
		$slurm/preflight.conf ACTION="$1" WITHIN=300s
	poll 20 slurm_idle 4 || fail "not idle: $(sl sinfo)"
	"$lab" degrade node3 rate=20mbit # beyond what busy cores explain
	its=$(sl sbatch --parsable --chdir=/ -o /dev/null -N "$2" \
		--wrap "sleep 5")
	[[ $its =~ ^[0-9]+$ ]] || fail "sbatch: $its"
}

# No node was named: does preflight report a reason on this machine?
not_told() # WHAT
{
	not_named "$(ctl preflight --nodes 'node[1-4]' --within 60s --json)" \
		"$1: $(sl scontrol -o show job "$its") $(ctl run list \
			--campaign preflight) $(slurm_log collector)"
}

is_held()
{
	a_job_is PENDING "0 "
}

is_told()
{
	job_says "preflight: node3: "
}

is_told_or_over()
{
	is_told || a_job_is COMPLETED
}

is_decided()
{
	is_held || a_job_is COMPLETED
}

its_end() # WHAT IT SHOWS
{
	poll 60 a_job_is COMPLETED ||
		fail "$1, and: $(sl scontrol -o show job "$its")" \
			"$(ctl run list --campaign preflight)"
	# This Slurm has no accounting: a fake sacctmgr gets the commands.
	poll 20 in_host collector grep "jobid=$its set comment=coalmine: job $its: " \
		$slurm/told || fail "no comment: $(slurm_log collector)"
	say "$1"
}

# Other load may slow a healthy node, so that the job is held again.
is_released()
{
	a_job_is COMPLETED && return
	a_job_is PENDING "0 " && sl scontrol release "$its"
	return 1
}

holds()
{
	job_of hold 4
	poll 60 is_decided && is_held || not_told "not held"
	poll 20 is_told ||
		fail "no reason given: $(sl scontrol -o show job "$its")"
	say "held: $(sl scontrol -o show job "$its" | grep -o "Comment=.*")"
	"$lab" heal node3
	poll 100 is_released ||
		fail "held for ever: $(sl scontrol -o show job "$its")" \
			"$(ctl run list --campaign preflight)"
	its_end "a job with a slow node is held until it is well"
}

# Slurm gives the first nodes that are idle.
requeues()
{
	job_of requeue 3
	its_end "queued again"
	[[ $(sl scontrol -o show job "$its") == *" NodeList=node[1-2,4] "* ]] ||
		not_told "not for others"
}

tells()
{
	job_of tell 4
	poll 60 is_told_or_over && is_told || not_told "not told"
	its_end "told"
	[[ $(sl scontrol -o show job "$its") == *" Restarts=0 "* ]] ||
		fail "not at once: $(sl scontrol -o show job "$its")"
	"$lab" heal node3
}

job_says() # TEXT
{
	[[ $(sl scontrol -o show job "$its") == *" Comment=coalmine: $1"* ]]
}

# Campaigns in jobs, jobs of users, and the effects of verdicts.
runs()
{
	by_hand openmpi pmix
	by_hand mpich pmi2
	in_band
	finishes openmpi COMPLETED
	finishes mpich "COMPLETED|CANCELLED"
	by_command openmpi
	by_command mpich
	only_idle
	does_not_start
	cancelled_by_us
	cancelled_by_slurm
	reacts
}

preflight()
{
	holds
	requeues
	tells
}

lab_up --leaves 1 --hosts 4
# As in the packages: the agents' network processes are not root.
[ -z "$(in_host collector bash -c "$(declare -f cluster_user)
	cluster_user")" ] || cluster_agent_user=daemon
need_slurm
slurm_up 4
cluster_up 4
say "Slurm, collector and agents are up"
"${1:-runs}"
say passed
