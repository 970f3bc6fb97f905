#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# exact.sh - does exact = gpcnet do what the paper describes? Its operations
# and a loop written by hand from the paper take turns in one run; exact.md has
# the rest of the comparison in words.
. "$COALMINE_SOURCE/tests/bench/lib/mpi.sh"
mpi_lab
echo "The paper's loop and the engine with exact = gpcnet, ring by ring in turns with the"
echo "same neighbours; MPI calls counted by its profiling interface, medians of the rings"
echo "for the times. Open MPI, 3 hosts on 3 leaves of the lab, 2 cores. What the engine"
echo "does on a ring beyond the paper are operations after a look at the clock, which are"
echo "not in its samples."
echo
mpi_on node1:1,node5:1,node9:1 500 "$COALMINE_BUILD/tests/bench/bench_exact-openmpi"
