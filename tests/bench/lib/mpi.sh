# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# mpi.sh - run an MPI program of this build on hosts of a separate lab. Source
# it, then call mpi_lab, then mpi_on any number of times. A failure ends the
# bench, in a pipe as well.
set -eu -o pipefail
root=$COALMINE_SOURCE
work=$(mktemp -d)
name=bench-$$
trap '"$root/lab/lab" down --name $name >/dev/null 2>&1 || :; rm -rf "$work"' EXIT

# mpi_lab [options of lab up]: instead of the one before.
mpi_lab()
{
	"$root/lab/lab" down --name $name >/dev/null 2>&1 || :
	"$root/lab/lab" up --name $name "$@" >"$work/lab" 2>&1 ||
		{ echo "skipped: $(tail -1 "$work/lab")" >&2; exit 77; }
	# mpirun's remote shell: the words are meant for a shell.
	cat >"$work/rsh" <<-EOF
	#!/bin/sh
	host=\$1
	shift
	exec "$root/lab/lab" exec --name $name "\$host" sh -c "\$*"
	EOF
	chmod +x "$work/rsh"
}

# mpi_on HOST:RANKS,... LIMIT_S PROGRAM [ARGUMENTS]: Open MPI, started on the
# first host. Waiting ranks yield, since hosts share this machine's cores, and
# ask the kernel for those connections that have something, where by default
# every look goes through all of them. With mpi_btl=self,vader,tcp ranks of a
# host meet in its memory.
mpi_on()
{
	local hosts=$1 limit_s=$2 program=$3 ranks
	shift 3
	[ -x "$program" ] || { echo "skipped: no Open MPI" >&2; exit 77; }
	ranks=$(tr ',' '\n' <<<"$hosts" | awk -F: '{ n += $2 } END { print n }')
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
	OMPI_MCA_plm_rsh_agent=$work/rsh \
	OMPI_MCA_plm_rsh_pass_environ_mca_params=0 \
	OMPI_MCA_pml=ob1 OMPI_MCA_btl=${mpi_btl:-tcp,self} \
	OMPI_MCA_osc=^ucx \
	OMPI_MCA_mpi_yield_when_idle=1 \
	OMPI_MCA_opal_event_include=epoll \
	OMPI_MCA_btl_tcp_if_include=10.78.0.0/16 \
	OMPI_MCA_oob_tcp_if_include=10.78.0.0/16 \
	OMPI_MCA_hwloc_base_binding_policy=none \
	"$root/lab/lab" exec --name $name "${hosts%%:*}" timeout "$limit_s" \
		mpirun.openmpi --host "$hosts" -n "$ranks" "$program" "$@" \
		</dev/null 2>"$work/err" || { cat "$work/err" >&2; return 1; }
}
