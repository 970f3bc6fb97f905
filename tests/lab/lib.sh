# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# lib.sh - common to the tests in the lab. Source it, then call lab_up, and
# cluster_up for a collector and agents.
#
# The lab is a child of the test: however the test ends, the lab ends too.
set -u

source_dir=${COALMINE_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build_dir=${COALMINE_BUILD:-$source_dir/build/dev}
lab=$source_dir/lab/lab
netload=$build_dir/tests/lab/netload
export COALMINE_LAB=test-$$
started_s=$SECONDS
# No test depends on how soon an event happens: other users of the machine
# would decide the result.
poll_factor=6
. "$source_dir/lab/cluster.sh"

skip()
{
	echo "skipped: $*"
	exit 77
}

fail()
{
	echo "FAILED after $((SECONDS - started_s)) s: $*" >&2
	exit 1
}

say()
{
	echo "[$((SECONDS - started_s)) s] $*"
}

# lab_up [options of lab up]
lab_up()
{
	local line
	unshare --mount --net --pid --fork true 2>/dev/null ||
		unshare --user --map-root-user --mount --net --pid --fork \
			true 2>/dev/null ||
		skip "this kernel lets us make no namespaces"
	exec {lab_fd}< <(exec "$lab" up --foreground "$@" 2>&1)
	read -r line <&"$lab_fd"
	[[ $line == *"is up:"* ]] || fail "lab up: $line"
	trap '"$lab" down' EXIT
	COALMINE_LAB_PID=$(pgrep -f "^coalmine-lab-init .* __init $COALMINE_LAB ")
	export COALMINE_LAB_PID
}

# not_named PREFLIGHT WHAT: its JSON output has the reason why no node could be
# named on this machine; fails without a reason.
not_named()
{
	jq -e '[.groups[].text | strings] |
		any(startswith("other processes used its nodes"))' \
		>/dev/null <<<"$1" &&
		skip "$2: others have the cores of this machine"
	fail "$2: $1"
}

# between VALUE LOW HIGH [WHAT]
between()
{
	awk -v v="$1" -v l="$2" -v h="$3" 'BEGIN { exit !(l <= v && v <= h) }' ||
		fail "${4:-value}: $1 is not in $2 to $3"
}

# --- a cluster in the lab ---------------------------------------------------

engines="coalmine-(probe|keeper|pmix)"

# cluster_up COUNT: start a collector and the agents of the first COUNT nodes,
# with the campaigns of these tests. before_start, if a test defines it, is
# called when all files exist. Ranks may start slowly, within the time of a run.
cluster_up()
{
	local n
	nodes=$1
	cluster_prepare "$build_dir" "$source_dir" "$nodes" ||
		fail "cannot set up the cluster"
	in_host collector sh -c 'sed -i "s,^\[campaign\],&\nstart_limit = 4m," \
		$(grep -LE "^(deadline = [1-4]m|start_limit)" "$0"/*.conf)' $cluster/campaigns
	# Its load on the network would disturb other measurements.
	in_host collector sed -i 's/^every/enabled = no\n&/' \
		$cluster/campaigns/watch-bw.conf \
		$cluster/campaigns/watch-incast.conf
	write_campaigns
	! declare -F before_start >/dev/null || before_start
	cluster_start collector coalmined
	poll 10 cluster_collector_up || fail_with_log collector "no collector"
	for n in $(seq "$nodes"); do
		cluster_start node"$n" coalmine-agent
	done
	poll 20 cluster_agents_up "$nodes" ||
		fail_with_log node1 "only $(cluster_agents) agents"
}

fail_with_log() # HOST TEXT
{
	cluster_log "$1" >&2
	shift
	fail "$@"
}

# Canaries use their whole time, because no interval is narrow enough: "short"
# takes 3 s, "long" 16 s, under an isolated and a congested network.
write_campaigns()
{
	write_campaign short lat,allreduce 750ms
	write_campaign long lat 12s
}

write_campaign() # NAME TESTS TIME
{
	in_host collector tee "$cluster/campaigns/$1.conf" >/dev/null <<-END
	[campaign]
	about = of the tests in the lab
	nodes_min = $nodes
	deadline = 10m
	start_limit = 5m
	[canary]
	tests = $2
	share = 0.34
	precision = 0.001
	rounds_min = 2
	time = $3
	[congestor]
	mix = alltoall,incast
	[phases]
	visits = 1
	END
}

# watch_campaign EVERY TESTS TIME ROUNDS WARMUP: a scheduled round of all nodes.
watch_campaign()
{
	in_host collector tee "$cluster/campaigns/watch.conf" >/dev/null <<-END
	[campaign]
	about = of the tests in the lab
	class = background
	nodes_min = 4
	deadline = 10m
	start_limit = 5m
	[schedule]
	every = $1
	[canary]
	tests = $2
	share = 1
	partners = match
	precision = 0.001
	time = $3
	rounds_min = $4
	warmup = $5
	[congestor]
	mix = none
	[phases]
	visits = 1
	[mpi]
	rails = turns
	END
}

# Order a run; its id in $run.
order() # CAMPAIGN [options of coalctl campaign run]
{
	run=$(ctl campaign run "$@" --json | jq -r .run)
	[[ $run == ?*-?* ]] || fail "$1: no run id but '$run'"
}

run_get() # JQ-EXPRESSION
{
	ctl run show "$run" --json 2>/dev/null | jq -r "$1"
}

run_is() # STATE|STATE...
{
	[[ "|$1|" == *"|$(run_get .state)|"* ]]
}

run_ended()
{
	run_is 'finished|failed|timed-out|cancelled|missed|nonstart'
}

describe()
{
	run_get '"run \(.run): \(.state), \(.cause): \(.text)"'
}

expect_finished() # SECONDS
{
	poll "$1" run_ended || fail "still not ended: $(describe)"
	run_is finished || fail "$(describe)"
}

# The records of the run in the store, as an array.
records()
{
	ctl_api "runs/$run/records"
}

ctl_api() # PATH
{
	in_host collector curl -sf --max-time 5 --unix-socket \
		/run/coalmine/coalmined.sock "http://collector/api/v1/$1"
}

# All mesh records of this day, as an array: without input jq would succeed.
mesh_records()
{
	local id
	id=$(ctl_api 'runs?campaign=mesh' | jq -r '.[0].run')
	if [[ $id == mesh-* ]]; then
		ctl_api "runs/$id/records"
	else
		echo '[]'
	fi
}

# Numbers 1, 2, 3 ... without gap or repetition, as many as the run counts.
check_exactly_once()
{
	records | jq -e --argjson count "$(run_get .records)" \
		'[.[].seq] == [range(1; $count + 1)]' >/dev/null ||
		fail "run $run: records $(records | jq -c '[.[].seq]')," \
			"of $(run_get .records)"
}

# Process ids of NAME in one host: the hosts share their process namespace.
pids_in() # HOST NAME
{
	in_host "$1" bash -c 'for p in $(pgrep -x "$1"); do
		[ /proc/$p/ns/net -ef /proc/self/ns/net ] && echo $p
	done' - "$2"
}

nothing_runs()
{
	! in_host collector ps -eo stat=,comm= | grep -v '^Z' |
		grep -Eq "($engines)\$"
}

expect_nothing_runs() # SECONDS
{
	poll "$1" nothing_runs || fail "left of run $run:" \
		"$(in_host collector ps -eo stat=,args= | grep -E "$engines")"
}

# --- limits for the CPU time of a host ---------------------------------------

# A new group, of version 1 or 2; its folder is printed.
cpu_group()
{
	local at=/sys/fs/cgroup/cpu
	[ -e $at/cpu.cfs_quota_us ] || at=/sys/fs/cgroup
	group=$at/coalmine-lab-$$
	mkdir "$group" 2>/dev/null || return
	cpu_group_limit 8000 "8000 100000" 2>/dev/null ||
		{ rmdir "$group"; return 1; }
	echo "$group"
}

cpu_group_limit() # VERSION-1 VERSION-2
{
	if [ -e "$group/cpu.cfs_quota_us" ]; then
		echo "$1" >"$group/cpu.cfs_quota_us"
	else
		echo "$2" >"$group/cpu.max"
	fi
}

# Start an agent, by its number here, not the lab's; other labs have a node of
# that name too. Its child processes follow.
cpu_group_take() # N
{
	local pid init taken=1
	init=$("$lab" list | awk -v name="$COALMINE_LAB" '$1 == name {
		print $3 }')
	for pid in $(pgrep -f "coalmine-agent --config $cluster/node$1/conf"); do
		[ "/proc/$pid/ns/pid" -ef "/proc/$init/ns/pid" ] || continue
		echo "$pid" >"$group/cgroup.procs" && taken=0
	done
	[ $taken = 0 ] || fail "node$1 has no agent"
}

# --- a PostgreSQL server on a host of the lab --------------------------------

server_find() # sets $bin, or skips
{
	[ "$(id -u)" = 0 ] || skip "a server refuses to be root"
	bin=$(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null |
		tail -n 1)
	[ -x "$bin/postgres" ] || skip "PostgreSQL not found"
}

# A new server with database coalmine.
server_make() # HOST
{
	server "$1" initdb -U admin -A trust -E UTF8 --locale=C.UTF-8 -N ||
		fail "$1: initdb"
	in_host "$1" sh -c 'echo "host all,replication all 10.78.0.0/16 trust" \
		>>"$0"/data/pg_hba.conf' $cluster/"$1"
	server_start "$1"
	sql "$1" "CREATE ROLE coalmine LOGIN" &&
		sql "$1" "CREATE DATABASE coalmine OWNER coalmine" ||
		fail "no database"
}

# Run a program of the server, which refuses to run as root.
server() # HOST PROGRAM [OPTION...]
{
	local host=$1 program=$2
	shift 2
	in_host "$host" sh -c 'mkdir -p "$0" && chown nobody:nogroup "$0" &&
		exec setpriv --reuid nobody --regid nogroup --clear-groups "$@"' \
		$cluster/"$host" "$bin/$program" -D $cluster/"$host"/data "$@" \
		>/dev/null
}

server_start() # HOST
{
	server "$1" postgres -k $cluster/"$1" -c listen_addresses='*' \
		2>/dev/null &
	poll 20 in_host "$1" "$bin/pg_isready" -q -h $cluster/"$1" ||
		fail "$1: the server does not start"
}

server_signal() # SIGNAL HOST
{
	in_host "$2" sh -c 'kill -s "$1" "$(head -n 1 \
		"$0/data/postmaster.pid")"' $cluster/"$2" "$1" 2>/dev/null
}

sql() # HOST TEXT [DATABASE]
{
	in_host "$1" "$bin/psql" -XAtq -h $cluster/"$1" -U admin \
		-d "${3:-postgres}" -c "$2"
}
