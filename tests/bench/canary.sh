#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# canary.sh - the engine's overhead on the operations that it measures, on 3
# hosts of the lab, one behind each leaf: the mean must be within 3 % of a
# plain loop's.
. "$COALMINE_SOURCE/tests/bench/lib/mpi.sh"
mpi_lab
echo "Turns of a plain loop and of the engine alternate in pairs; the result is the"
echo "median of the pairs' ratios. Open MPI over the lab's shaped links, 3 hosts on 3"
echo "leaves and 2 cores."
echo
mpi_on node1:1,node5:1,node9:1 300 "$COALMINE_BUILD/tests/bench/bench_canary-openmpi"
