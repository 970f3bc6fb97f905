# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# cluster.sh - a collector and agents in the hosts of a lab, for lab/demo and
# tests/lab. The lab is the one that COALMINE_LAB names, and is up.
#
# Programs, certificates, configuration, state and logs of all programs are in
# the lab's memory, under $cluster, where the probes' unprivileged user can read
# its files: cluster/stage is an installation, cluster/HOST has conf, log, pid,
# state and run.

cluster=/run/coalmine-lab/cluster
cluster_lab=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")")/lab
cluster_net=10.78.0.0/16
# Interfaces of the ranks of a node, where its hosts have several.
cluster_nics=${cluster_nics-}
# agent.user; empty: agents are one process.
cluster_agent_user=${cluster_agent_user-}

in_host()
{
	"$cluster_lab" exec "$@"
}

# bin/ is on the PATH of lab exec.
ctl()
{
	in_host collector coalctl "$@"
}

# Wait until the command succeeds. A busy machine gets poll_factor times as
# long, and most of the time goes to the awaited program: after each look the
# pause is three times its length.
poll() # SECONDS COMMAND...
{
	local until=$((SECONDS + $1 * ${poll_factor-1})) began_us
	shift
	while began_us=${EPOCHREALTIME/[.,]/}; ! "$@"; do
		[ $SECONDS -lt $until ] || return 1
		sleep "$((3 * (${EPOCHREALTIME/[.,]/} - began_us) + 100000))e-6"
	done
}

# Install BUILD, or copy an installation, and write everyone's certificate and
# configuration.
cluster_prepare() # BUILD|INSTALLATION SOURCE NODES
{
	in_host collector bash -eu -s -- "$1" "$2" "$3" >/dev/null <<<"
		$(declare -p cluster cluster_net cluster_nics \
			cluster_agent_user)
		$(declare -f cluster_user write_tls write_collector write_agent)
		if [ -x \"\$1/bin/coalctl\" ]; then
			mkdir -p $cluster && cp -r \"\$1\" $cluster/stage
		else
			cmake --install \"\$1\" --prefix $cluster/stage
		fi
		ln -sfn $cluster/stage/bin /run/coalmine-lab/bin
		coalctl pki init $cluster/pki
		coalctl pki issue $cluster/pki collector --role collector
		coalctl pki issue $cluster/pki \"node[1-\$3]\" --role agent
		write_collector \"\$2\"
		for n in \$(seq \"\$3\"); do
			write_agent node\$n
		done"
}

# Print the user of probes. Without real root the lab has only one user.
cluster_user()
{
	local count
	read -r _ _ count </proc/self/uid_map
	[ "$count" = 1 ] || echo nobody
}

write_tls() # NAME
{
	printf '[tls]\nca = %s\ncert = %s\nkey = %s\n' \
		"$cluster/pki/ca.pem" "$cluster/pki/$1.pem" \
		"$cluster/pki/$1.key"
}

write_collector() # SOURCE
{
	mkdir -p $cluster/collector/state /run/coalmine
	cp -r "$1/etc/campaigns" $cluster/campaigns
	{
		echo "[collector]"
		echo "state_dir = $cluster/collector/state"
		echo "campaign_dir = $cluster/campaigns"
		write_tls collector
	} >$cluster/collector/conf
}

write_agent() # NODE
{
	mkdir -p "$cluster/$1/state" "$cluster/$1/run"
	{
		printf '[agent]\nuser = %s\nstate_dir = %s\nrun_dir = %s\n' \
			"$cluster_agent_user" "$cluster/$1/state" \
			"$cluster/$1/run"
		write_tls "$1"
		# Hosts have only the jobs of the tests.
		printf '[idle]\ncheck = always\n'
		printf '[children]\nuser = %s\nlibexec = %s\n' \
			"$(cluster_user)" $cluster/stage/libexec/coalmine
		[ -n "$(cluster_user)" ] || echo "allow_root = yes"
		# UCX is there too, and takes more of the few cores.
		printf '[mpi]\nnet = %s\nfabric = tcp\nucx_tls = tcp,self\n' \
			$cluster_net
		printf 'nics = %s\n' "$cluster_nics"
		# All hosts share the machine's cores, which no rank can see:
		# one that waits has to let the others run.
		echo "mca = mpi_yield_when_idle=1"
	} >"$cluster/$1/conf"
}

# Start a program in HOST, in the background; its process id and its output
# go to files.
cluster_start() # HOST PROGRAM
{
	in_host "$1" sh -c 'echo $$ >"$0/pid"; export LISTEN_PID=$$
		exec "$@" >>"$0/log" 2>&1' "$cluster/$1" \
		"$cluster/stage/sbin/$2" --config "$cluster/$1/conf" &
}

cluster_signal() # SIGNAL HOST
{
	in_host "$2" sh -c 'kill -s "$1" "$(cat "$0/pid")"' "$cluster/$2" "$1"
}

cluster_log() # HOST
{
	in_host "$1" tail -n 25 "$cluster/$1/log"
}

cluster_collector_up()
{
	ctl version >/dev/null 2>&1
}

# How many agents are in state ok.
cluster_agents()
{
	ctl node list --json 2>/dev/null |
		jq '[.[] | select(.state == "ok")] | length' 2>/dev/null
}

cluster_agents_up() # COUNT
{
	[ "$(cluster_agents)" = "$1" ]
}
