#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The fabric that carries the bytes: Open MPI's own choice (fabric = auto) is
# UCX if its site allows UCX on Ethernet, and ob1 if a campaign requires TCP.
# Records have the fabric, with consistent bytes. A fabric that a node lacks, or
# that an MPI did not use, is rejected.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# A site whose users' jobs run over UCX; without InfiniBand Open MPI must be
# configured to prefer UCX. And an MPI under another prefix, as registered by
# coalmine-build-probe.
before_start()
{
	in_host collector sh -eu -s $cluster <<-'END'
		mkdir -p $1/opt/bin $1/probes.d
		ln -s "$(command -v mpirun.openmpi)" $1/opt/bin/
		cp $1/stage/libexec/coalmine/openmpi/coalmine-probe $1/opt/engine
		printf '[probe]\nmpi = openmpi\nengine = %s\nbin = %s\n' \
			$1/opt/engine $1/opt/bin >$1/probes.d/ompi-1.0.conf
		sed -i "s,^libexec = .*,&\nprobes = $1/probes.d," $1/node*/conf
	END
	in_host collector sh -eu -c 'for conf; do
		sed -i "s/^fabric = .*/env = UCX_NET_DEVICES=eth0/
			s/^mca = /&pml_ucx_tls=any,pml_ucx_devices=any,/" "$conf"
	done' - $(seq -f "$cluster/node%g/conf" "$nodes")
}

# A canary, and a plan of 16 MiB between nodes.
write_campaigns()
{
	in_host collector tee "$cluster/campaigns/short.conf" >/dev/null <<-END
	[campaign]
	nodes_min = 2
	nodes_max = 2
	start_limit = 4m
	[canary]
	tests = lat
	share = 1
	time = 500ms
	[congestor]
	mix = none
	[phases]
	visits = 1
	END
	in_host collector tee "$cluster/campaigns/plan.conf" >/dev/null <<-END
	[campaign]
	nodes_min = 2
	nodes_max = 2
	start_limit = 4m
	[measure]
	iterations = 3
	[group]
	pattern = rail
	count = 4194304
	END
}

# carried NAME LIBRARY [options of coalctl campaign run]
carried()
{
	local name=$1 library=$2
	shift 2
	say "$name $* over $library"
	order "$name" "$@" --wait
	expect_finished 5
	records | jq -e --arg library "$library" '
		[.[] | select(.carried) | .carried] as $c |
		($c | length >= 2 and all(.library == $library and
			.transport == "tcp" and .devices == ["eth0"])) and
		($c[0] | .wanted_bytes == 524288) and
		([.[] | select(.probe == "begin" or .probe == "group") |
			.carried] | all(.seen_bytes / .wanted_bytes |
				. > 0.98 and . < 1.02)) and
		([.[] | select(.probe == "canary") | .carried] |
			all(.seen_bytes > .wanted_bytes))' \
		>/dev/null || fail "$(records |
			jq -c '.[] | [.probe, .carried] | select(.[1])')"
}

# refused STATE CAUSE TEXT [options]: without a record of a result.
refused()
{
	local state=$1 cause=$2 text=$3
	shift 3
	say "$*: refused"
	order short "$@" --wait
	poll 60 run_ended || fail "still not ended: $(describe)"
	[[ $(run_get '"\(.state) \(.cause) \(.text)"') == \
		"$state $cause "*"$text"* ]] || fail "$(describe)"
	[ "$(records | jq '[.[] | select(.probe == "canary")] | length')" = 0 ] ||
		fail "$*: it has measured"
}

# bound CORES [options]: cores of every rank, in the first record and in one
# line.
bound()
{
	local cores=$1
	shift
	order short "$@" --wait
	expect_finished 5
	records | jq -e --arg cores "$cores" '.[] | select(.probe == "begin") |
		.affinity | length == 1 and (.[0] | .nodes == "node[1-2]" and
			.local == 0 and (.cores | test($cores)))' >/dev/null ||
		fail "$* $(records | jq -c '.[] | .affinity // empty')"
	ctl run show "$run" | grep -qE "^affinity +node\[1-2\]: rank 0 on cores" ||
		fail "$(ctl run show "$run")"
}

lab_up --leaves 1 --hosts 2
cluster_up 2
carried short ucx
carried plan ucx
carried plan ob1 -o mpi.fabric=tcp
carried short ob1 -o campaign.mpi=ompi-1.0 -o mpi.fabric=tcp
ctl node show node1 --json | jq -e --arg at "$cluster/opt/" '.inventory.mpi[] |
	select(.name == "ompi-1.0") | (.engine == $at + "engine") and
	(.launcher == $at + "bin/mpirun.openmpi") and (.version | test("^[45]\\."))' \
	>/dev/null || fail "$(ctl node show node1 --json | jq -c .inventory.mpi)"
refused missed unsupported 'unsupported: unknown MPI ompi-2.0' -o campaign.mpi=ompi-2.0
carried short ucx -o mpi.fabric=ucx -o mpi.devices=eth0 \
	-o 'mpi.env=UCX_TCP_CM_REUSEADDR=y UCX_TLS="tcp,self"'
if [ "$(nproc)" -gt 1 ]; then
	bound '[-,]'
	bound '^[0-9]+$' -o mpi.bind=core -o mpi.fabric=tcp
fi
refused missed no-device 'node1 has no network device mlx5_0; it has eth0' \
	-o mpi.fabric=ucx -o mpi.devices=mlx5_0
refused missed no-device 'node1 has no device for mpi.fabric = psm, Omni-Path' \
	-o mpi.fabric=psm
refused failed launch 'mpi.env: LD_PRELOAD may not be set by a campaign' \
	-o mpi.env=LD_PRELOAD=/tmp/x.so
if in_host node1 test -x $cluster/stage/libexec/coalmine/mpich/coalmine-probe
then
	refused failed wrong-network \
		'fabric = ofi was required, but this MPI used ucx' \
		-o campaign.mpi=mpich -o mpi.fabric=ofi
	[ "$(nproc)" -eq 1 ] ||
		bound '^[0-9]+$' -o campaign.mpi=mpich -o mpi.bind=core
fi
expect_nothing_runs 20
say passed
