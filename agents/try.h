/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try.h - start two ranks of one MPI on this node like a run, but without a
 * collector, to test whether this MPI works here, and how it finds its ranks.
 */
#ifndef AGENTS_TRY_H
#define AGENTS_TRY_H

#include "agents/agent.h"

/* Run them in a new folder, which is removed, and print the result. Return the
 * exit status: 0 if they connected and transferred a message with every byte
 * verified. */
int try_mpi(struct agent *ag, const char *mpi);

#endif
