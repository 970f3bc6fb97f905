#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# rails.sh - two hosts with two NICs of 100 Mbit/s each: the detected binding of
# ranks to NICs, the rate of groups, and the overhead of striping over its
# steps.
#
# COALMINE_BENCH_TIME (1s) for each measurement.
# shellcheck source=tests/bench/lib/mpi.sh
. "$COALMINE_SOURCE/tests/bench/lib/mpi.sh"

engine=$COALMINE_BUILD/probes/openmpi/coalmine-probe
time=${COALMINE_BENCH_TIME:-1s}
shaped_per_s=12500000 # of a NIC, with headers
keep=${COALMINE_BENCH_RECORDS:-$work}

export OMPI_MCA_mca_base_env_list=COALMINE_NICS

# measure RANKS WORD...: records of a probe on both hosts.
measure()
{
	local ranks=$1
	shift
	mpi_on node1:"$ranks",node2:"$ranks" 100 "$engine" run "$@" \
		time="$time" --quiet --json "$keep/$1-$ranks" || exit 1
}

binding() # NICS
{
	export COALMINE_NICS=$1
	measure 4 binding g=4 bytes=2M
	jq -r --arg nics "$1" --argjson shaped $shaped_per_s '
		select(.probe == "fit") | "| \($nics) | \(.pattern) | " +
		"\(.binding) | \(.p // .r // "-") | " +
		"\((.nic_bytes_per_s // 0) / $shaped * 1000 | round / 10) %" +
		" | \(.residual * 1000 | round / 10) % |"' "$keep/binding-4"
}

group() # PATTERN DIRECTION PIECE
{
	measure 2 group pattern="$1" direction="$2" g=2 k=2 count=524288 \
		piece="$3"
	jq -r --arg d "$2" --arg piece "$3" --argjson shaped $shaped_per_s '
		select(.probe == "group") |
		($shaped * 2 * (if $d == "bi" or $d == "omni" then 2 else 1
			end)) as $all |
		"| \(.pattern) | \($d) | \($piece) | \(.n) | " +
		"\(.bandwidth.median_middle / $all * 1000 | round / 10) % | " +
		"\(.bandwidth.max / $all * 1000 | round / 10) % |"' \
		"$keep/group-2"
}

stripe()
{
	measure 2 stripe g=2 bytes=2M via="$1" iterations=20
	jq -rs --arg via "$1" '
		def cut: . * 1000 | round / 1000;
		def over(b): [.[] | select(.probe == "speedup" and
			.baseline == b)][0];
		over("direct") as $d | over("synchronous") as $s |
		"| \($via) | \($d.seconds / $d.steps_seconds | cut) | " +
		"\($d.value | cut) | \($d.efficiency | cut) | " +
		"\($s.value | cut) " + (if $s.interval == null then "" else
		"[\($s.interval.lo | cut), \($s.interval.hi | cut)] " end) +
		"|"' "$keep/stripe-2"
}

mpi_lab --leaves 1 --hosts 2 --rails 3 --rate 100mbit
cat <<END
Four ranks a node, bound by \`COALMINE_NICS\`. f is a share of the shaped rate;
headers take 4.4 % of it.

| NICs of the ranks | profile | found | p or r | f | residual |
|---|---|---|---:|---:|---:|
END
binding eth1,eth1,eth2,eth2
binding eth1,eth2
export COALMINE_NICS=eth1,eth2
cat <<END

Groups (2, 2, 2), 2 MiB a rank; share of the shaped rate of both NICs. With
traffic in both directions, Open MPI's answer to a request to send can wait in
the socket behind data of the same direction. Then the two directions alternate.
Messages in pieces of 60K need no answer.

| pattern | direction | piece | n | median | best |
|---|---|---:|---:|---:|---:|
END
for pattern in rail symmetric asymmetric; do
	for row in out=0 in=0 bi=0 bi=60K omni=0 omni=60K; do
		[ $pattern-${row%%=*} = asymmetric-omni ] ||
			group $pattern ${row%%=*} ${row#*=}
	done
done
cat <<END

Striping 2 MiB over both NICs, 20 turns. Over steps: end-to-end time over the sum
of the steps' separate times. Over direct: speed-up over the direct transfer. Over
synchronous: speed-up over a barrier between steps, with its 95 % interval.

| via | over steps | over direct | efficiency | over synchronous |
|---|---:|---:|---:|---:|
END
stripe ipc,mpi,ipc
stripe mpi
