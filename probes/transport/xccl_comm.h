/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl_comm.h - communicators of NCCL and RCCL among the ranks of an MPI job.
 * They are created once and reused.
 */
#ifndef PROBES_TRANSPORT_XCCL_COMM_H
#define PROBES_TRANSPORT_XCCL_COMM_H

#include <sys/queue.h>

#include "common/err.h"
#include "probes/transport/transport.h"
#include "probes/transport/xccl_lib.h"

/* A communicator of the library. */
struct xccl_comm {
	SLIST_ENTRY(xccl_comm) next;
	const struct transport_team *team;
	const struct xccl_lib *lib; /* NULL: no library on this rank */
	void *native;               /* NULL: this rank is not a member */
	/* Number of each rank of the team in the communicator, or -1. */
	int *numbers;
	int members, taken;
};

/* Take a communicator that no other plan uses; it is created if none is free.
 * numbers: by rank, its number in the communicator or -1. Collective over the
 * team, including ranks that are not members. Return 0, or the same -errno and
 * reason in err on every rank. Give it back with xccl_comm_give. broken: 1 if
 * it failed, on all ranks or none; it is then not reused. xccl_comms_end frees
 * all communicators of a team. */
int xccl_comm_take(const struct transport_team *team,
    const struct xccl_lib *lib, const int *numbers, struct xccl_comm **ret,
    struct err *err);
void xccl_comm_give(struct xccl_comm *c, int broken); /* NULL is allowed */
void xccl_comms_end(const struct transport_team *team);

/* Create a communicator of all ranks of comm, which no plan shares. Collective
 * over comm. Return 0, or -errno with the reason in err. The caller frees it
 * with xccl_comm_end, which is collective too. */
int xccl_comm_of(const struct transport_team *team, MPI_Comm comm,
    struct xccl_comm **ret, struct err *err);
void xccl_comm_end(struct xccl_comm *c); /* NULL is allowed */

/* Make a call that waits for other ranks, in a separate thread with a time
 * limit. Return 0 and its result in *ret_result. Return -ETIMEDOUT at the
 * limit; the thread then keeps using arg, which must never be freed. */
int xccl_within(const struct transport_team *team, int (*call)(void *arg),
    void *arg, int *ret_result, struct err *err);

#endif
