#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_jobs.sh expect|whatif|ledger|preflight COUNT [FILE]: the predictions for
# jobs, compared with their measurements. COUNT allocations whose collective is
# predicted and then measured, with whatif before a part of each class of link
# becomes slow or is cut; COUNT schedules of real Slurm jobs, one kind of
# which slows the others down or none; COUNT preflights of 8 and of 12 nodes,
# one of them slow. Each appends a line to FILE, and numbers in FILE are not
# repeated: with PIECE_S a part ends after this many seconds, and several may
# run at once, each in a separate lab. The numbers are the seeds.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/slurm.sh"

piece_s=${PIECE_S:-100000}

# Take the next number that is not started; after an abort its folder must be
# removed. Return 1 after the last number, or without time for LASTS seconds.
number=0
next() # LASTS
{
	[ $((SECONDS - started_s + $1)) -lt "$piece_s" ] || return 1
	while [ $((number += 1)) -le "$count" ]; do
		mkdir "$file.begun/$number" 2>/dev/null || continue
		RANDOM=$number
		return
	done
	return 1
}

# Draw this many of the words, in their order: $drawn.
draw() # COUNT WORD...
{
	local at keep=$1
	shift
	drawn=("$@")
	while [ ${#drawn[@]} -gt "$keep" ]; do
		at=$((RANDOM % ${#drawn[@]}))
		drawn=("${drawn[@]:0:at}" "${drawn[@]:at + 1}")
	done
}

joined()
{
	local IFS=,
	echo "$*"
}

# Disable the schedules of the shipped campaigns.
before_start()
{
	in_host collector sh -c 'sed -i "s/^every/enabled = no\n&/" \
			$(grep -L "^enabled" "$0"/*.conf)
		cat >>"$1"' $cluster/campaigns $cluster/collector/conf
} < <("conf_$mode")

# --- expect ------------------------------------------------------------------

# Shares of nodes are stored if a job source is configured, even without jobs.
conf_expect()
{
	printf '[mesh]\nenabled = no\n[verdict]\nsecond_pass = no\n'
	printf '[jobs]\nsource = command\ncommand = true\ninterval = 10s\n'
}

conf_preflight()
{
	conf_expect
}

# With several collectives, OPS are all measured. NODES may be folded only if
# RANKS is their number.
measure() # OPS NODES BYTES [RANKS]
{
	local list=${2//,/ } ranks
	read -r -a list <<<"$list"
	ranks=${4-${#list[@]}}
	order collectives --wait -o campaign.nodes="$2" \
		-o campaign.nodes_min="$ranks" -o campaign.ranks_per_node=1 \
		-o collective.name="${1%% *}" -o measure.vary="name $1" \
		-o measure.sizes=$(($3 / ranks / 8 * 8)) \
		-o measure.bounds=no -o measure.machine=lab
	expect_finished 5
}

# The current rates of nodes and uplinks.
look_at_bandwidths()
{
	local n
	for n in 1 2 3; do
		order watch-bw --wait
		expect_finished 5
	done
}

ops="allreduce allgather alltoall"
sizes=(262144 524288 1048576)
all_nodes=(node{1..12})

# No fault, a slow node, or a slow uplink of a leaf; five allocations each.
state_set() # EPISODE
{
	local share=$((30 + RANDOM % 40)) leaf=$((RANDOM % 3 + 1))
	"$lab" heal all
	case $(($1 % 4)) in
	1)
		broken=node$((RANDOM % 12 + 1))
		"$lab" degrade "$broken" rate=$((2 * share))mbit
		;;
	3)
		broken=leaf$leaf
		"$lab" degrade "$broken" rate=$((4 * share))mbit
		;;
	*) broken=none share=100 ;;
	esac
	state="$broken $share"
	look_at_bandwidths
}

# Half of the samples from a time with a slow node contain that node.
allocation()
{
	local size=$((2 + RANDOM % 7)) words
	read -r -a words <<<"$ops"
	draw 1 "${words[@]}"
	op=${drawn[*]}
	draw 1 "${sizes[@]}"
	bytes=${drawn[*]}
	draw "$size" "${all_nodes[@]}"
	[[ $broken != node* || $((RANDOM % 2)) = 0 ||
		" ${drawn[*]} " == *" $broken "* ]] || drawn[0]=$broken
	bytes=$((bytes / size / 8 * 8 * size))
	nodes_of_it=$(joined "${drawn[@]}")
}

expect_mode()
{
	local n episode=none told got broken state op bytes nodes_of_it
	lab_up
	cluster_up 12
	RANDOM=1000
	broken=none
	for n in 1 2 3 4 5 6; do
		allocation
		measure "$ops" "$nodes_of_it" "${sizes[1]}"
	done
	say "six runs that expectations rest on"
	while next 40; do
		if [ $episode != $(((number - 1) / 5)) ]; then
			episode=$(((number - 1) / 5))
			RANDOM=$((100 + episode))
			state_set $episode
			RANDOM=$number
		fi
		allocation
		told=$(ctl expect "$nodes_of_it" --machine lab --op "$op" \
			--bytes "$bytes" --json) || fail "expect: $told"
		measure "$op" "$nodes_of_it" "$bytes"
		got=$(records | jq -c '[.[] | select(.probe == "speedup")][0] |
			[.seconds, .baseline_seconds]')
		jq -rn --argjson told "$told" --argjson got "$got" --arg row \
			"$number $state $op $bytes $nodes_of_it" '
			def is_in(o; s): if o == null then "-" elif
				o.interval.lo <= s and s <= o.interval.hi
				then "in" else "out" end;
			"\($row) \($told.interval.lo) \($got[0]
			) \($told.interval.hi) \(is_in($told; $got[0])
			) mpi \(is_in($told.mpi; $got[1])
			) \($told.compared) \($told.limit)"' >>"$file"
		tail -n 1 "$file"
	done
	[ -z "${KEEP-}" ] || ctl_api "speedups?limit=1000" >"$KEEP.$$.speedups"
}

expect_judge()
{
	awk '{ n++; is_in += $10 == "in"; mpi += $12 == "in"; of += $12 != "-" }
		END { printf "%d of %d within the interval; of the MPI %d of %d\n",
			is_in, n, mpi, of
		exit !(n > 0 && is_in >= 0.9 * n) }' "$file"
}

# --- whatif ------------------------------------------------------------------
#
# Each leaf has four cables, two to each of two spines: they are one link of the
# lab, whose rate becomes that of the cables that are left.

conf_whatif()
{
	for n in 1 2 3; do
		echo "leaf$n node[$((4 * n - 3))-$((4 * n))] up=spine[1-2]*2@0.1"
	done | in_host collector tee $cluster/collector/leaves >/dev/null
	conf_expect
	printf '[topology]\nleaves = %s\n' $cluster/collector/leaves
}

# Draw a change of the next class of link: the options of whatif, and the hosts
# or leaves with their rate in Mbit/s.
change_draw()
{
	local share=$((30 + RANDOM % 50)) host=${drawn[RANDOM % ${#drawn[@]}]}
	local leaf=leaf$(((${host#node} + 3) / 4))
	class=${classes[number % ${#classes[@]}]}
	case $class in
	node) change="--slow $host=0.$share" degraded="$host=$((2 * share))" ;;
	leaf) change="--slow $leaf=0.$share" degraded="$leaf=$((4 * share))" ;;
	cable) change="--down $leaf.uplink$((RANDOM % 4 + 1))"
		degraded=$leaf=300 ;;
	slow-cable) change="--slow $leaf.uplink2=0.$share"
		degraded=$leaf=$((300 + share)) ;; # adaptive routes
	fixed-routes) change="--slow $leaf.uplink2=0.$share"
		degraded=$leaf=$((4 * share)) ;;
	bundle) change="--down $leaf.spine$((RANDOM % 2 + 1))"
		degraded=$leaf=200 ;;
	spine) change="--down spine2"
		degraded="leaf1=200 leaf2=200 leaf3=200" ;;
	gone) change="--down $host" degraded="$host=60" ;;
	esac
}

classes=(node leaf cable slow-cable fixed-routes bundle spine gone)

# All cases are predicted before any is measured: the collector does not know
# that parts are slow in these measurements, and later predictions would rest on
# them.
whatif_predict()
{
	for number in $(seq "$count"); do
		RANDOM=$number
		allocation
		change_draw
		# shellcheck disable=SC2086 # several words
		told[$number]=$(ctl whatif --nodes "$nodes_of_it" \
			--machine lab --op "$op" --bytes "$bytes" $change \
			--json) || fail "whatif: ${told[$number]}"
		asked[$number]="$class $op $bytes $nodes_of_it"
		slowed[$number]=$degraded
	done
	number=0
}

whatif_mode()
{
	local n got broken=none op bytes nodes_of_it class change degraded part
	local told=() asked=() slowed=() names
	local sizes=(2097152 4194304 8388608) # longer than ranks wait for cores
	lab_up
	cluster_up 12
	RANDOM=1000
	look_at_bandwidths
	for n in 1 2 3 4 5 6 7 8 9 10; do
		allocation
		measure "$ops" "$nodes_of_it" "$bytes"
	done
	say "ten runs that predictions rest on"
	whatif_predict
	say "$count predictions"
	while next 40; do
		read -r -a names <<<"${slowed[$number]}"
		for part in "${names[@]}"; do
			"$lab" degrade "${part%=*}" rate="${part#*=}mbit"
		done
		read -r class op bytes nodes_of_it <<<"${asked[$number]}"
		measure "$op" "$(jq -r .then.nodes <<<"${told[$number]}")" \
			"$bytes" "$(jq .then.ranks <<<"${told[$number]}")"
		"$lab" heal all
		got=$(records | jq -c '[.[] | select(.probe == "speedup")][0] |
			.seconds')
		jq -rn --argjson told "${told[$number]}" --argjson got "$got" \
			--arg row "$number ${asked[$number]}" '$told.then |
			"\($row) \(.interval.lo) \($got) \(.interval.hi) \(
			if .interval.lo <= $got and $got <= .interval.hi then
			"in" else "out" end) \($told.times) \(.compared) \(.limit)"
			' >>"$file"
		tail -n 1 "$file"
	done
}

whatif_judge()
{
	awk '{ n[$2]++; is_in[$2] += $9 == "in"; all++; ins += $9 == "in" }
		END { for (c in n) printf "%s %d of %d, ", c, is_in[c], n[c]
		printf "%d of %d within the interval\n", ins, all
		exit !(all > 0 && ins >= 0.9 * all) }' "$file"
}

# --- preflight ---------------------------------------------------------------

preflight_mode()
{
	local size slow rc told since
	lab_up
	cluster_up 12
	while next 60; do
		for size in 8 12; do
			slow=node$((RANDOM % size + 1))
			"$lab" degrade "$slow" rate=60mbit
			since=$(date +%s%N)
			told=$(ctl preflight --nodes "node[1-$size]" \
				--within 20s --json)
			rc=$?
			echo "$number $size $slow $rc" \
				$((($(date +%s%N) - since) / 1000000)) \
				"$(jq -r '"\([.slow[].node] | join(",") |
				if . == "" then "-" else . end
				) \(.rounds) open=\(.open)"' <<<"$told")" \
				>>"$file"
			tail -n 1 "$file"
			"$lab" heal "$slow"
			expect_nothing_runs 10
		done
	done
}

# The limit holds, and a named node is slow.
preflight_judge()
{
	awk '{ n++; late += $5 > 21000; right += $6 == $3
		wrong += $6 != $3 && $6 != "-" }
		END { printf "%d of %d named alone, %d late, %d wrong\n", right,
			n, late, wrong
		exit !(n > 0 && late + wrong == 0) }' "$file"
}

# --- ledger ------------------------------------------------------------------
#
# Six leaves of two hosts, and uplinks that one job can fill. The first host of
# each leaf has a part of the victim, the second is for jobs of three kinds. Jobs
# of one kind, the aggressor, use the whole uplink, except in every third
# schedule; the others use a tenth to a quarter. Start, place and duration are
# random.

epoch_s=2

conf_ledger()
{
	cat <<-END
	[mesh]
	interval = ${epoch_s}s
	round = 100ms
	leaf_targets = 0
	spine_targets = 5
	rate = 1000
	target_rate = 500
	[slurm]
	conf = $slurm/slurm.conf
	[jobs]
	source = slurm
	interval = 8s
	accounting = no
	[verdict]
	second_pass = no
	END
}

# The application next to the jobs: on every leaf a part that measures round
# trips to all others, as long as the lab is up.
victim_start()
{
	local n hosts="node1 node3 node5 node7 node9 node11"
	for n in $(seq 12); do
		in_host node"$n" "$netload" serve 9000 &
	done
	in_host collector tee $slurm/victim >/dev/null <<-END
	#!/bin/sh
	srun --chdir=/ sh -c 'h=\$(uname -n)
		exec $netload echo 9000 5000 \$(printf "%s\n" $hosts |
			grep -vx \$h) >$slurm/victim-\$h'
	END
	sl sbatch --chdir=/ -o $slurm/victim.out -J victim -N 6 \
		-w "${hosts// /,}" $slurm/victim >/dev/null || fail "sbatch"
	poll 30 in_host collector sh -c 'cat "$0"-node11 | grep -q .' \
		$slurm/victim || fail "no victim: $(in_host collector cat \
			$slurm/victim.out)"
}

job_start() # NAME MBIT
{
	local lasts=$((12 + RANDOM % 7)) flow
	draw 2 2 4 6 8 10 12
	flow="$netload both node${drawn[1]} 9000 $lasts $2"
	[ "$2" != 0 ] || flow="$flow & $flow"
	sl sbatch --chdir=/ -o /dev/null -J "$1" -t 5 -N 2 \
		-w "node${drawn[0]},node${drawn[1]}" --wrap "$flow; wait" \
		>/dev/null || fail "sbatch"
}

schedule() # NUMBER
{
	local kinds=(a b c) deck=() kind at rate quiet=0
	aggressor=none
	[ $(($1 % 3)) = 0 ] || aggressor=${kinds[RANDOM % 3]}
	for kind in "${kinds[@]}"; do
		deck+=("$kind" "$kind" "$kind")
		[ "$kind" != $aggressor ] || deck+=("$kind" "$kind")
	done
	from=$(date +%s)
	while [ ${#deck[@]} -gt 0 ]; do
		at=$((RANDOM % ${#deck[@]}))
		kind=${deck[at]}
		rate=$((10 + RANDOM % 16))
		if [ "$kind" = $aggressor ]; then
			rate=0
			# Two concurrent ones count as one: others go first.
			if [ $((SECONDS - quiet)) -lt 0 ]; then
				[ "${deck[*]//[ $kind]/}" ] || sleep 1
				continue
			fi
			quiet=$((SECONDS + 19 + 4 * epoch_s))
		fi
		deck=("${deck[@]:0:at}" "${deck[@]:at + 1}")
		job_start "s$1-$kind" $rate
		sleep $((8 + RANDOM % 8))
	done
	poll 60 schedule_over "$1" || fail "left: $(slurm_jobs)"
}

schedule_over() # NUMBER
{
	! slurm_jobs | grep -q "^s$1-.*\(RUNNING\|PENDING\|COMPLETING\)"
}

# The victim's loss while jobs of a name ran: for each job and pair of the
# victim's parts that shares a leaf's uplink with it, the seconds in which no
# other such job shares one, over those without any: {ratio, of the mean
# logarithm, less one, and us, the difference}, or null.
loss() # NAME FROM TO
{
	in_host collector sh -c 'cd "$0" && grep -H . victim-node*' $slurm |
		jq -Rn --argjson jobs "$(ctl_api "jobs?name=$1&limit=1000")" \
		--argjson from "$2" --argjson to "$3" '
		def leaf: ltrimstr("node") | (tonumber + 1) / 2 | floor;
		def median: sort | .[length / 2 | floor];
		[$jobs[] | {from: (.start_unix_ns / 1e9), leaves: (.nodes |
			[scan("[0-9]+")] | map("node" + . | leaf)),
			to: ((.end_unix_ns // 9e18) / 1e9)}] as $jobs |
		[inputs | capture("victim-(?<a>\\S+):(?<t>\\d+) (?<b>\\S+) (?<us>\\S+)")
			| {leaves: [(.a | leaf), (.b | leaf)], t: (.t | tonumber),
				us: (.us | tonumber)} |
			select(.t >= $from and .t < $to)] |
		group_by(.leaves) | map(.[0].leaves as $pair |
			[$jobs[] | select(any(.leaves[]; IN($pair[])))] as $mine |
			[.[] | .t as $t | .jobs = [range($mine | length) |
				select($mine[.].from - 1 <= $t and
					$t <= $mine[.].to + 1)] |
				.sure = (.jobs | all(. as $k |
					$mine[$k].from + 2 <= $t and
					$t <= $mine[$k].to - 2))] |
			[.[] | select(.jobs == [])] as $off |
			[range($mine | length) as $k | [.[] | select(.sure and
				.jobs == [$k])] | select(length >= 3 and
				($off | length) >= 5) | (map(.us) | median) as $on |
				($off | map(.us) | median) | {us: ($on - .),
				log: (($on | log) - log)}]) | add |
		if length == 0 then null else {us: (map(.us) | add / length),
			ratio: ((map(.log) | add / length | exp) - 1)} end'
}

# It is reported after the time behind the last step was evaluated.
ledger_row() # NUMBER AGGRESSOR FROM TO
{
	local costs loss=null
	costs=$(ctl_api "jobs/costs?from_unix_ns=${3}000000000&to_unix_ns=$(($4 +
		2))000000000") || fail "no costs"
	[ "$2" = none ] || loss=$(loss "s$1-$2" "$3" "$4")
	jq -rn --argjson costs "$costs" --argjson loss "$loss" --arg n "$1" \
		--arg aggressor "$2" '
		def near(told; had): if had == null or told == null then "-" elif
			((told - had) | fabs) <= 0.2 * had
			then "near" else "far" end;
		[$costs[] | select(.name | startswith("s\($n)-"))] as $mine |
		($mine | map(select(.name == "s\($n)-\($aggressor)"))[0]) as $its |
		"\($n) \($aggressor) blamed=\([$mine[] | select(.blamed) | .name |
			ltrimstr("s\($n)-")] | join(",")
		) cost=\($its.cost) lo=\($its.lo) hi=\($its.hi
		) loss=\($loss.ratio) \(near($its.cost; $loss.ratio)) jobs=\($its.jobs) steps=\([$mine[].steps] | add
		) confounded=\([$mine[].steps_confounded] | add
		) moments=\([$mine[].placebos] | add) cost_us=\($its.cost_s |
			if . == null then . else 1e6 * . end
		) quiet_us=\($its.quiet_s | if . == null then . else 1e6 * . end
		) loss_us=\($loss.us) \(near($its.cost_s; $loss.us |
			if . == null then . else . / 1e6 end))"' >>"$file"
	tail -n 1 "$file"
}

ledger_mode()
{
	local aggressor from before=
	slurm_prolog= # it would begin late
	lab_up --leaves 6 --hosts 2 --rate 200mbit --uplink 100mbit
	need_slurm
	slurm_up 12
	cluster_up 12
	victim_start
	sleep $((8 * epoch_s)) # something for random moments
	while next 190; do
		schedule "$number"
		# shellcheck disable=SC2086
		[ -z "$before" ] || ledger_row $before
		before="$number $aggressor $from $(date +%s)"
		sleep $((4 * epoch_s)) # separates it from the next schedule
	done
	sleep $((4 * epoch_s + 20))
	# shellcheck disable=SC2086
	[ -z "$before" ] || ledger_row $before
	[ -z "${KEEP-}" ] || keep "$KEEP.$$"
}

# The sources of the rows, for debugging.
keep() # FILES
{
	in_host collector cat $cluster/collector/log >"$1.log"
	ctl_api "jobs?limit=1000" >"$1.jobs"
	ctl_api "jobs/costs?by=job" >"$1.costs"
	mesh_records | jq -c '.[] | select(.test == "spine")' >"$1.mesh"
	in_host collector sh -c 'cd "$0" && grep -H . victim-node*' $slurm \
		>"$1.victim"
}

ledger_judge()
{
	awk '{ with += $2 != "none"; without += $2 == "none"
		right += $2 != "none" && $3 == "blamed=" $2
		blamed += $2 == "none" && $3 != "blamed="
		near += $8 == "near"; told += $8 != "-"
		near_s += $16 == "near"; told_s += $16 != "-" }
		END { printf "aggressor right in %d of %d, a job blamed " \
			"without one in %d of %d, loss within 20 %% in %d of %d," \
			" its seconds in %d of %d\n", right, with, blamed,
			without, near, told, near_s, told_s
		exit !(with > 0 && right >= 0.95 * with &&
			blamed <= 0.01 * without && near_s >= 0.8 * told_s) }' "$file"
}

mode=${1:?} count=${2:?} file=${3:-/tmp/coalmine-jobs-$$}
mkdir -p "$file.begun"
: >>"$file"
"${mode}_mode"
"${mode}_judge" || fail "$mode"
say passed
