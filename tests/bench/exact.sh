#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# exact.sh - compare exact = gpcnet with the paper: its operations and a loop
# written from the paper alternate in one run. exact.md describes the other
# differences.
. "$COALMINE_SOURCE/tests/bench/lib/mpi.sh"
mpi_lab
echo "The paper's loop and the engine with exact = gpcnet alternate on each ring, with"
echo "the same neighbours. MPI calls are counted with MPI's profiling interface; times"
echo "are medians over rings. Open MPI, 3 hosts on 3 leaves of the lab, 2 cores. The"
echo "engine's additional operations on a ring follow its checks of the clock; its"
echo "samples do not contain them."
echo
mpi_on node1:1,node5:1,node9:1 500 "$COALMINE_BUILD/tests/bench/bench_exact-openmpi"
