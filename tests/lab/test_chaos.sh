#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Random faults for two hours, or COALMINE_CHAOS_MINUTES, drawn with
# COALMINE_CHAOS_SEED: kills, stops, cuts, full disks, clocks, certificates,
# versions, during two campaigns that never pause. Afterwards every record
# that was acknowledged to an agent is in the store, once and unchanged. No
# process and no file of a run remains, and memory has not grown.
#
# witness.c, loaded into each program, logs its messages and sets the clocks;
# chaos.py checks the result. With COALMINE_OTHER_BUILD programs change to that
# build and back. With COALMINE_CHAOS_STORE=postgresql the store is a database on
# another host, which is killed and cut off.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
minutes=${COALMINE_CHAOS_MINUTES:-120}
seed=${COALMINE_CHAOS_SEED:-$$}
other=${COALMINE_OTHER_BUILD:-}
database= hosts=4 store_actions="2 fill_store"
case ${COALMINE_CHAOS_STORE:-sqlite} in
postgresql)
	database=node10 hosts=5
	store_actions="2 kill_database
2 cut_database"
	server_find
	;;
sqlite) ;;
*) fail "COALMINE_CHAOS_STORE: expected sqlite or postgresql" ;;
esac
RANDOM=$seed
all_nodes="node1 node2 node3 node4 node5 node6 node7 node8"

# WEIGHT ACTION; act_ACTION returns 1 if there was nothing to do.
actions="
6 kill_agent
2 kill_collector
4 kill_keeper
4 kill_launcher
6 kill_rank
4 stop_agent
2 stop_collector
4 stop_rank
6 cut_host
2 cut_leaf
2 cut_collector
$store_actions
5 fill_spool
5 step_clock
4 renew_certificate
2 revoke_certificate
${other:+6 change_version}"

declare -A stage broken count idle
undo_at=() undo_key=() undo_what=()

# --- faults, and their end ---------------------------------------------------

draw() # COUNT: $drawn, from 0
{
	drawn=$((RANDOM % $1))
}

draw_of() # WORD...: $drawn
{
	drawn=$((RANDOM % $# + 1))
	drawn=${!drawn}
}

# Mark KEY for 1 to SECONDS, then COMMAND ends it. Return 1 if it is marked.
break_for() # SECONDS KEY COMMAND...
{
	local span=$((RANDOM % $1 + 1)) key=$2
	shift 2
	[ -z "${broken[$key]:-}" ] || return 1
	broken[$key]=1
	undo_at+=($((SECONDS + span)))
	undo_key+=("$key")
	undo_what+=("$*")
}

undo_due() # SECOND
{
	local i
	for i in "${!undo_at[@]}"; do
		[ "${undo_at[$i]}" -le "$1" ] || continue
		${undo_what[$i]}
		unset "broken[${undo_key[$i]}]" "undo_at[$i]" "undo_key[$i]" \
			"undo_what[$i]"
	done
}

is() # WHAT HOST
{
	[ -n "${broken[$1 $2]:-}" ]
}

signal_pid() # SIGNAL PID, which may be gone
{
	in_host collector kill -s "$1" "$2" 2>/dev/null
}

# Read a host's program from its file pid, which is missing while this test
# starts it.
signal_host() # SIGNAL HOST
{
	cluster_signal "$1" "$2" 2>/dev/null
}

program_of() # HOST
{
	[ "$1" = collector ] && echo coalmined || echo coalmine-agent
}

# As cluster.sh has it, with the witness and of the stage that the host has.
cluster_start() # HOST PROGRAM
{
	in_host "$1" sh -c 'echo $$ >"$0/pid"; export LISTEN_PID=$$
		export LD_PRELOAD="$1" COALMINE_CLOCK="$2" $3
		shift 3; exec "$@" >>"$0/log" 2>&1' "$cluster/$1" \
		"$build_dir/tests/lab/libwitness.so" $cluster/clock/"$1" \
		"$([ "$1" = collector ] ||
			echo "COALMINE_WITNESS=$cluster/witness")" \
		"$cluster/${stage[$1]:-stage}/sbin/$2" --config \
		"$cluster/$1/conf" &
}

start() # HOST
{
	cluster_start "$1" "$(program_of "$1")"
}

# Does it handle SIGHUP already? Otherwise SIGHUP would end it.
hears() # HOST
{
	local mask
	mask=$(in_host "$1" sh -c 'sed -n "s/^SigCgt:[[:blank:]]*//p" \
		"/proc/$(cat "$0/pid")/status"' "$cluster/$1" 2>/dev/null)
	[ -n "$mask" ] && ((0x$mask & 1))
}

reload() # HOST
{
	hears "$1" && signal_host HUP "$1"
}

# --- actions ----------------------------------------------------------------

# In the last two fifths no process is ended: growth is evidence of a leak only
# after the caches of a process are full.
may_end()
{
	[ $SECONDS -lt $last_end ]
}

kill_host() # HOST
{
	may_end && ! is dead "$1" && signal_host KILL "$1" || return
	in_host "$1" rm -f $cluster/"$1"/pid
	break_for 10 "dead $1" start "$1"
}

act_kill_agent()
{
	draw_of $all_nodes
	kill_host "$drawn"
}

act_kill_collector()
{
	kill_host collector
}

# One of the processes of that name, anywhere: $drawn.
draw_process() # NAMES
{
	local pids
	pids=$(in_host collector pgrep -x "$1" 2>/dev/null)
	[ -n "$pids" ] && draw_of $pids
}

act_kill_keeper()
{
	draw_process coalmine-keeper && signal_pid KILL "$drawn"
}

act_kill_launcher()
{
	draw_process coalmine-pmix &&
		signal_pid KILL "$drawn"
}

act_kill_rank()
{
	draw_process coalmine-probe && signal_pid KILL "$drawn"
}

stop_host() # HOST
{
	! is dead "$1" && break_for 15 "stopped $1" signal_host CONT "$1" &&
		signal_host STOP "$1"
}

act_stop_agent()
{
	draw_of $all_nodes
	stop_host "$drawn"
}

act_stop_collector()
{
	stop_host collector
}

act_stop_rank()
{
	draw_process coalmine-probe &&
		break_for 15 "stopped $drawn" signal_pid CONT "$drawn" &&
		signal_pid STOP "$drawn"
}

cut() # HOST|leafN
{
	break_for 20 "cut $1" "$lab" heal "$1" && "$lab" cut "$1"
}

act_cut_host()
{
	draw_of $all_nodes
	cut "$drawn"
}

act_cut_leaf()
{
	draw_of leaf1 leaf2
	cut "$drawn"
}

act_cut_collector()
{
	cut collector
}

act_cut_database()
{
	cut $database
}

act_kill_database()
{
	break_for 10 "dead database" server_start $database || return
	server_signal QUIT $database
	poll 20 server_is_gone || fail "the database server does not end"
}

server_is_gone()
{
	! in_host $database test -e $cluster/$database/data/postmaster.pid
}

fill() # HOST
{
	break_for 30 "full $1" in_host "$1" rm -f $cluster/"$1"/state/fill &&
		in_host "$1" sh -c 'dd if=/dev/zero of="$0" bs=16k' \
			$cluster/"$1"/state/fill 2>/dev/null
	return 0
}

act_fill_store()
{
	fill collector
}

act_fill_spool()
{
	draw_of $all_nodes
	fill "$drawn"
}

# The file is mapped: it is overwritten, not created again.
set_clock() # HOST SECONDS
{
	in_host "$1" sh -c 'printf "%-31s\n" "$1" 1<>"$0"' \
		$cluster/clock/"$1" "$2"
}

act_step_clock()
{
	local host
	draw_of collector collector $all_nodes
	host=$drawn
	draw_of -86400 -3600 -90 -2 2 90 3600 86400
	break_for 40 "clock $host" set_clock "$host" 0 &&
		set_clock "$host" "$drawn"
}

pki() # VERB NAME [OPTION...]
{
	local verb=$1
	shift
	in_host collector $cluster/stage/bin/coalctl pki "$verb" $cluster/pki \
		"$@" >/dev/null || fail "pki $verb $*"
}

act_renew_certificate()
{
	draw_of collector $all_nodes
	! is revoked "$drawn" || return
	pki renew "$drawn"
	reload "$drawn"
	return 0
}

# A thief's copy of the key: the node's agent continues until it is rejected,
# and reconnects with a new one.
act_revoke_certificate()
{
	draw_of $all_nodes
	break_for 30 "revoked $drawn" reload "$drawn" || return
	pki revoke "$drawn"
	reload collector
	pki issue "$drawn" --role agent
}

# The collector starts with the other build and is upgraded once: a store cannot
# be downgraded.
act_change_version()
{
	local host
	draw_of collector collector $all_nodes
	host=$drawn
	may_end && ! is dead "$host" && ! is stopped "$host" &&
		hears "$host" || return
	[ "$host" != collector ] || [ -n "${stage[collector]:-}" ] || return
	[ -n "${stage[$host]:-}" ] && stage[$host]= ||
		stage[$host]=stage-other
	signal_host TERM "$host"
	poll 20 is_gone "$host" || fail_with_log "$host" "$host does not end"
	in_host "$host" sed -i "s,^libexec = .*,libexec = \
$cluster/${stage[$host]:-stage}/libexec/coalmine," $cluster/"$host"/conf
	[ "$host" != collector ] || use_stage_of_collector
	start "$host"
}

# A build from before lists of revoked certificates does not know the key. An
# API has one version, so that its coalctl is used.
use_stage_of_collector()
{
	in_host collector sed -i "s,^#*crl = ,${stage[collector]:+#}crl = ," \
		$cluster/collector/conf
	in_host collector ln -sfn $cluster/"${stage[collector]:-stage}"/bin \
		/run/coalmine-lab/bin
}

is_gone() # HOST
{
	! signal_host 0 "$1"
}

# --- the hours --------------------------------------------------------------

act()
{
	local weight name sum=0
	while read -r weight name; do
		sum=$((sum + ${weight:-0}))
	done <<<"$actions"
	draw $sum
	while read -r weight name; do
		drawn=$((drawn - ${weight:-0}))
		[ $drawn -ge 0 ] || break
	done <<<"$actions"
	if "act_$name"; then
		count[$name]=$((${count[$name]:-0} + 1))
		echo "$SECONDS $name ${drawn}" >&"$journal"
	else
		idle[$name]=$((${idle[$name]:-0} + 1))
	fi
}

# Print a line for chaos.py for each program, and the programs that died
# without being killed by this test. No store can be opened on a full disk, or
# without its database or with a wrong clock: it is restarted, as systemd would
# do.
look()
{
	local host
	in_host collector ps -C coalmined,coalmine-agent -o \
		comm=,pid=,etimes=,rss= | sed "s/^/$SECONDS /" >&"$samples"
	for host in collector $all_nodes; do
		! is dead "$host" && has_pid_of_none "$host" || continue
		cluster_log "$host" | tail -n 2 | grep -q 'disk is full\|store\.url: ' ||
			fail_with_log "$host" "seed $seed: $host has died"
		in_host "$host" rm $cluster/"$host"/pid
		break_for 10 "dead $host" start "$host"
		count[start_again]=$((${count[start_again]:-0} + 1))
	done
}

has_pid_of_none() # HOST
{
	in_host "$1" sh -c 'test -s "$0/pid" &&
		! test -d "/proc/$(cat "$0/pid")"' $cluster/"$1"
}

hours()
{
	local until=$((SECONDS + minutes * 60)) next_act=0 next_look=0
	last_end=$((SECONDS + minutes * 36))
	while [ $SECONDS -lt $until ]; do
		undo_due $SECONDS
		if [ $SECONDS -ge $next_act ]; then
			act
			next_act=$((SECONDS + 1 + RANDOM % 7))
		fi
		if [ $SECONDS -ge $next_look ]; then
			look
			next_look=$((SECONDS + 5))
		fi
		sleep 0.3
	done
}

before_start()
{
	local n
	in_host collector mkdir $cluster/clock $cluster/witness
	for n in collector $all_nodes; do
		set_clock "$n" 0
	done
	pki issue thief --role agent
	pki revoke thief
	in_host collector sh -c 'printf "[store]\nfree_min = 4M\n" >>"$0"
		sed -i "s,^\[tls\],&\ncrl = $1/crl.pem," "$0"' \
		$cluster/collector/conf $cluster/pki
	in_host collector mount -t tmpfs -o size=256m tmpfs \
		$cluster/collector/state || fail "tmpfs"
	for n in $all_nodes; do
		in_host "$n" mount -t tmpfs -o size=4m tmpfs \
			$cluster/"$n"/state || fail "tmpfs"
		# The other build may have fewer keys.
		[ -z "$other" ] || in_host "$n" sed -i '/^fabric = /d' \
			$cluster/"$n"/conf
	done
	[ -z "$other" ] || in_host collector cmake --install "$other" \
		--prefix $cluster/stage-other >/dev/null ||
		fail "the other build cannot be installed"
	if [ -n "$database" ]; then
		server_make $database
		in_host collector sh -c 'echo "url = \
postgresql://coalmine@$1/coalmine" >>"$0"' $cluster/collector/conf $database
	fi
	[ -z "$other" ] || stage[collector]=stage-other
	use_stage_of_collector
}

# Each ends within seconds and reports every round. They share a node, for which
# they wait alternately.
write_campaigns()
{
	in_host collector sh -c 'rm -f "$0"/*.conf' $cluster/campaigns
	write_small east openmpi exclusive incast 'node[1-4]'
	write_small west mpich background none 'node[4-8]'
}

write_small() # NAME MPI CLASS CONGESTORS NODES
{
	in_host collector tee "$cluster/campaigns/$1.conf" >/dev/null <<-END
	[campaign]
	about = never pauses
	class = $3
	mpi = $2
	nodes = $5
	nodes_min = 2
	deadline = 3m
	start_limit = 1m
	[schedule]
	every = 10s
	[canary]
	tests = lat,allreduce
	share = 0.5
	rounds_min = 2
	precision = 0.001
	time = 2s
	raw = yes
	iterations = 100
	[congestor]
	mix = $4
	[phases]
	visits = 1
	END
}

# --- afterwards -------------------------------------------------------------

no_run_lives()
{
	[ "$(ctl run list --json --limit 200 | jq '[.[] | select(.state |
		IN("pending", "preparing", "starting", "running", "ending"))] |
		length')" = 0 ]
}

spools_are_empty()
{
	local n
	for n in $all_nodes; do
		[ -z "$(in_host "$n" find $cluster/"$n"/state/spool \
			-name '*.spool*' -size +0)" ] || return
	done
}

# It may have ended without its database, after the last look.
collector_is_back()
{
	cluster_collector_up && return
	look
	undo_due 999999999
	return 1
}

settle()
{
	undo_due 999999999
	poll 30 collector_is_back || fail_with_log collector "no collector"
	for n in $all_nodes; do
		poll 10 reload "$n" || fail_with_log "$n" "$n does not listen"
	done
	ctl schedule disable east >/dev/null && ctl schedule disable west \
		>/dev/null || fail "the schedule cannot be disabled"
	poll 60 cluster_agents_up 8 || fail "$(cluster_agents) of 8 agents:" \
		"$(ctl node list; ctl diags)"
	poll 60 no_run_lives || fail "runs continue: $(ctl run list)"
	poll 30 spools_are_empty || fail "spools: $(for n in $all_nodes; do
		in_host $n find $cluster/$n/state/spool -type f -ls; done)"
	expect_nothing_runs 30
	ctl run list --json --limit 10000 | jq -r '.[].state' | sort |
		uniq -c | sed 's/^/runs /'
	order_works
}

# The system has recovered. The checks after this are made in any case.
order_works()
{
	local host
	order east
	poll 60 run_ended
	if run_is finished; then
		check_exactly_once
	else
		bad="the last run"
		describe
		for host in $(run_get '.text' | grep -o 'node[0-9]*'); do
			cluster_log "$host"
		done
	fi
	poll 30 spools_are_empty || fail "the last run's records wait"
	for n in collector $all_nodes; do
		signal_host TERM "$n"
	done
	for n in collector $all_nodes; do
		poll 20 is_gone "$n" || fail_with_log "$n" "$n does not end"
	done
}

# Processes outside of the lab.
nothing_is_left()
{
	local n left
	left=$(in_host collector ps -eo stat=,comm=,args= | awk '$1 !~ /^Z/ &&
		$2 !~ /^(bash|sh|sleep|ps|awk|setpriv|unshare)$/')
	[ -z "$left" ] || fail "processes are left: $left"
	for n in $all_nodes; do
		left=$(in_host "$n" sh -c 'find "$0/run" -mindepth 1 ! -name \
			verdict; find "$0/state" -type f ! -name crl.pem
			find "$TMPDIR" -mindepth 1; find /dev/shm -mindepth 1' $cluster/"$n")
		[ -z "$left" ] || fail "files are left on $n: $left"
	done
}

tell()
{
	local weight name
	printf '%-22s %6s %s\n' action times "nothing to do"
	printf '%-22s %6d\n' "start on a full disk" "${count[start_again]:-0}"
	while read -r weight name; do
		[ -z "$name" ] || printf '%-22s %6d %d\n' "$name" \
			"${count[$name]:-0}" "${idle[$name]:-0}"
	done <<<"$actions"
}

# The store for chaos.py: a file.
store_of()
{
	if [ -z "$database" ]; then
		echo $cluster/collector/state/coalmine.db
		return
	fi
	sql $database "SELECT json_build_array(run.run, record.seq, record.body)
		FROM coalmine.record JOIN coalmine.run
		ON run.id = record.run_id" coalmine |
		in_host collector tee $cluster/records >/dev/null
	server_signal INT $database
	poll 60 server_is_gone || fail "the database server does not end"
	echo $cluster/records
}

say "seed $seed, $minutes minutes, store ${COALMINE_CHAOS_STORE:-sqlite}"
[ -n "$other" ] || say "no COALMINE_OTHER_BUILD: versions are not changed"
lab_up --leaves 2 --hosts $hosts
cluster_up 8
[ "$(ctl schedule list --json | jq length)" = 2 ] ||
	fail "campaigns: $(ctl campaign list)"
exec {samples}> >(in_host collector tee $cluster/samples >/dev/null)
exec {journal}> >(in_host collector tee $cluster/journal >/dev/null)
hours
say "the end of chaos"
bad=
settle
exec {samples}>&- {journal}>&-
tell
in_host collector /usr/bin/python3 "$here/chaos.py" acks $cluster/witness \
	"$(store_of)" || bad="$bad records"
in_host collector /usr/bin/python3 "$here/chaos.py" memory $cluster/samples ||
	bad="$bad memory"
nothing_is_left
[ -z "$bad" ] || fail "seed $seed: $bad"
say passed
