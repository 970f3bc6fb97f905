# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# slurm.sh - Slurm in the lab: one munged for all hosts, slurmctld on the
# collector's, a slurmd on every node's. Its key, its sockets, its state and
# its configuration are the lab's own, and root's of the lab is its SlurmUser.
# Source it after lib.sh.

slurm=/run/coalmine-lab/slurm
# Scripts that run before and after a job if $slurm/preflight.conf exists; none
# with slurm_prolog=.
slurm_prolog="PrologSlurmctld=$slurm/prolog
EpilogSlurmctld=$slurm/prolog"

need_slurm()
{
	local program
	for program in munged slurmctld slurmd srun scontrol; do
		PATH=$PATH:/usr/sbin command -v $program >/dev/null ||
			skip "no $program; apt-get install what tests/packages.txt lists"
	done
	[ -z "$(in_host collector bash -c "$(declare -f cluster_user)
		cluster_user")" ] && skip "Slurm needs real root"
	[ -d /sys/fs/cgroup ] || skip "slurmd needs /sys/fs/cgroup"
}

slurm_files() # NODES
{
	in_host collector bash -eu -s -- "$slurm" "$1" $cluster/stage \
		"$slurm_prolog" <<-'END'
	mkdir -p "$1/state"
	cat >"$1/prolog" <<-PROLOG
	#!/bin/sh
	export CONFIG=$1/preflight.conf SLURM_CONF=$1/slurm.conf
	export COALCTL=$3/bin/coalctl SACCTMGR=$1/sacctmgr
	[ ! -e \$CONFIG ] || exec $3/share/coalmine/slurm/preflight
	PROLOG
	printf '#!/bin/sh\necho "$*" >>%s/told\n' "$1" >"$1/sacctmgr"
	chmod +x "$1/prolog" "$1/sacctmgr"
	(umask 077; head -c 1024 /dev/urandom >"$1/munge.key")
	for n in $(seq "$2"); do
		mkdir -p "$1/node$n"
	done
	cat >"$1/slurm.conf" <<-CONF
	ClusterName=lab
	SlurmctldHost=collector
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	CredType=cred/munge
	AuthInfo=socket=$1/munge.socket,cred_expire=5
	StateSaveLocation=$1/state
	SlurmdSpoolDir=$1/%n
	$4
	TmpFS=$1/%n
	SlurmctldPidFile=$1/slurmctld.pid
	SlurmdPidFile=$1/%n.pid
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	SelectType=select/cons_tres
	SchedulerParameters=sched_interval=5
	KillWait=2
	ReturnToService=2
	NodeName=node[1-$2] CPUs=1 State=UNKNOWN
	PartitionName=lab Nodes=ALL Default=YES State=UP
	PartitionName=shut Nodes=ALL State=DOWN
	CONF
	END
}

# In the background; all of it ends with the lab.
slurm_run() # HOST PROGRAM [ARGUMENTS...]
{
	in_host "$1" env "SLURM_CONF=$slurm/slurm.conf" \
		PATH="$PATH:/usr/sbin:/sbin" \
		sh -c 'exec "$@" >>"$0" 2>&1' "$slurm/$1.log" "${@:2}" &
}

slurm_up() # NODES
{
	local n
	slurm_files "$1" || fail "cannot set up Slurm"
	slurm_run collector munged --foreground --force --num-threads=2 \
		--key-file=$slurm/munge.key --socket=$slurm/munge.socket \
		--seed-file=$slurm/munge.seed --pid-file=$slurm/munge.pid
	poll 20 in_host collector test -S $slurm/munge.socket ||
		fail "no munged: $(slurm_log collector)"
	slurm_run collector slurmctld -D -i
	for n in $(seq "$1"); do
		slurm_run node"$n" slurmd -D -N node"$n"
	done
	poll 40 slurm_idle "$1" ||
		fail "Slurm is not up: $(sl sinfo) $(slurm_log collector)" \
			"$(slurm_log node1)"
}

slurm_log() # HOST
{
	in_host "$1" tail -n 15 "$slurm/$1.log"
}

# A program of Slurm, as its root.
sl()
{
	in_host collector env "SLURM_CONF=$slurm/slurm.conf" "$@" 2>&1
}

slurm_idle() # COUNT
{
	[ "$(sl sinfo -h -p lab -t idle -o %D)" = "$1" ]
}

slurm_node() # NODE: its state and reason
{
	sl sinfo -h -N -p lab -n "$1" -o '%T %E'
}

slurm_jobs()
{
	sl squeue -h -o '%j %T %N'
}

no_jobs()
{
	[ -z "$(slurm_jobs)" ]
}
