/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h - the installed MPI's own way to do what a neighbor plan does:
 * MPI_Neighbor_allgather, or MPI_Neighbor_allgatherv where sizes differ.
 *
 * Who its neighbours are is read from what the plan promises, so both do the
 * same by construction. Buffers are its own, in memory of the host.
 */
#ifndef PROBES_COMPARE_BASELINE_H
#define PROBES_COMPARE_BASELINE_H

#include "common/err.h"
#include "probes/plan/plan.h"
#include "probes/transport/transport.h"

struct baseline;

/* Collective. p: made by the builder neighbor, the same on all ranks, and
 * outlives the rival. -ENOTSUP and the same why on every rank: a message is
 * too long for an int. The caller ends *ret with baseline_close. */
int baseline_open(const struct transport_team *team, const struct plan *p,
    struct baseline **ret, struct err *err);
void baseline_close(struct baseline *r); /* collective; NULL is allowed */

const char *baseline_name(const struct baseline *r); /* of the MPI function */
double baseline_setup_s(const struct baseline *r);   /* of the communicator */

/* Once; collective among neighbours. */
void baseline_run(struct baseline *r);
/* Fill, run, compare: 0 or -EBADMSG, on every rank the same. */
int baseline_prove(struct baseline *r, uint64_t iteration);

/* What this rank gives, and the first block that src gave it; NULL: none. */
void *baseline_send(struct baseline *r);
const void *baseline_block(const struct baseline *r, uint32_t src);

#endif
