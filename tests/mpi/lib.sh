# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# lib.sh - start the engine under a launcher on this machine alone.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checker=$COALMINE_BUILD/tests/mpi/check_records
export COALMINE_FAKE_NODES=rank
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_osc=${OMPI_MCA_osc-^ucx} OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
# the same two for Open MPI 5
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export PRTE_MCA_hwloc_default_binding_policy=none
export UCX_TLS=tcp,self UCX_NET_DEVICES=lo

skip() {
	echo "skipped: $*"
	exit 77
}

fail() {
	echo "FAILED: $*" >&2
	[ -f "$work/err" ] && tail -20 "$work/err" >&2
	exit 1
}

# need MPI: its launcher and its engine, or skip.
need() {
	case $1 in
	openmpi) launcher=mpirun.openmpi ;;
	mpich) launcher=mpiexec.hydra ;;
	esac
	engine=$COALMINE_BUILD/probes/$1/coalmine-probe
	command -v $launcher >/dev/null || skip "no $launcher"
	[ -x "$engine" ] || skip "no engine for $1"
}

# engine RANKS ARGUMENT...: exit status of the launcher.
engine() {
	local ranks=$1
	shift
	timeout -k 2 "${limit_s:-300}" $launcher -n "$ranks" "$engine" "$@" \
		>"$work/out" 2>"$work/err" </dev/null
}

# complete: the records are from a finished run. An MPI that cannot exit by
# MPI_Finalize (MPICH over TCP) may end with any status: only the records count.
complete() {
	"$checker" "$work/records" ok || fail "$1: records"
}

# wholes WORD...: the number of plans of these words, one a value of vary.
wholes() {
	local word values=(one)
	for word; do
		[[ $word != vary=* ]] || read -ra values <<<"${word#vary=* }"
	done
	echo ${#values[@]}
}

# count FILTER: records that pass.
count() {
	jq -c "select($1)" "$work/records" | wc -l
}
