/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try.h - start two ranks of an MPI on this node, like a run but without a
 * collector, to test whether this MPI works here, and how its ranks find each
 * other.
 */
#ifndef AGENTS_TRY_H
#define AGENTS_TRY_H

#include "agents/agent.h"

/* Run the two ranks in a new folder, which is removed afterwards, and print the
 * result. Return the exit status of the agent: 0 if the ranks connected and
 * transferred a message with every byte verified. */
int try_mpi(struct agent *ag, const char *mpi);

#endif
