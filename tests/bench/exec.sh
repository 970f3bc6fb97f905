#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# exec.sh - the executor's overhead on transfers, and the gain of copies
# through other processes' memory over messages; 8 ranks on this machine.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
command -v mpirun.openmpi >/dev/null || exit 77
program=$COALMINE_BUILD/tests/bench/bench_exec-openmpi
[ -x "$program" ] || exit 77
mpirun.openmpi -n 8 "$program"
