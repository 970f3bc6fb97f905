/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try.h - two ranks of one MPI on this node, started as a run starts them but
 * without a collector: does this MPI work here, and how it finds its ranks.
 */
#ifndef AGENTS_TRY_H
#define AGENTS_TRY_H

#include "agents/agent.h"

/* Run them in a new folder, which is removed, and print how it went. Return the
 * exit status: 0 when they met and moved a message, each byte of it proven. */
int try_mpi(struct agent *ag, const char *mpi);

#endif
