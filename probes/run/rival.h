/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival.h - the installed MPI's own way to do what a neighbor plan does:
 * MPI_Neighbor_allgather, or MPI_Neighbor_allgatherv where sizes differ.
 *
 * Who its neighbours are is read from what the plan promises, so both do the
 * same by construction. Buffers are its own, in memory of the host.
 */
#ifndef PROBES_RUN_RIVAL_H
#define PROBES_RUN_RIVAL_H

#include "probes/plan/plan.h"
#include "probes/transport/transport.h"

struct rival;

/* Collective. p: made by the builder neighbor, the same on all ranks, and
 * outlives the rival. -ENOTSUP and the same why on every rank: a message is
 * too long for an int. The caller ends *ret with rival_close. */
int rival_open(const struct transport_team *team, const struct plan *p,
    struct rival **ret, char *ret_why, size_t why_bytes);
void rival_close(struct rival *r); /* collective; NULL is allowed */

const char *rival_name(const struct rival *r); /* of the MPI function */
double rival_setup_s(const struct rival *r);   /* of the communicator */

/* Once; collective among neighbours. */
void rival_run(struct rival *r);
/* Fill, run, compare: 0 or -EBADMSG, on every rank the same. */
int rival_prove(struct rival *r, uint64_t iteration);

/* What this rank gives, and the first block that src gave it; NULL: none. */
void *rival_send(struct rival *r);
const void *rival_block(const struct rival *r, uint32_t src);

#endif
