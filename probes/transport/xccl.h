/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl.h - NCCL and RCCL among the ranks of an MPI job: how these meet, and a
 * collective of the library's own, on memory of GPUs.
 *
 * A collective that the library has is one call; gather, scatter and all-to-all
 * are a group of sends and receives, as its manual has them. Buffers and
 * communicator are made once and used again.
 */
#ifndef PROBES_TRANSPORT_XCCL_H
#define PROBES_TRANSPORT_XCCL_H

#include <sys/queue.h>

#include "common/err.h"
#include "probes/transport/transport.h"
#include "probes/transport/xccl_lib.h"

/* ---- communicators: xccl_comm.c ---- */

struct xccl_comm {
	SLIST_ENTRY(xccl_comm) next;
	const struct transport_team *team;
	const struct xccl_lib *lib; /* NULL: this rank has none to ask */
	void *native;               /* NULL: this rank is not in it */
	int *numbers; /* by rank of the team: in the communicator, -1 */
	int members, taken;
};

/* Take a communicator of these ranks, numbers[rank] or -1, that no plan uses;
 * it is created if none is free. Collective over the team, including ranks that
 * are not in it: return 0, or the same -errno and reason on every rank. Return
 * it with give, broken on all ranks or none; it ends with the team. */
int xccl_comm_take(const struct transport_team *team,
    const struct xccl_lib *lib, const int *numbers, struct xccl_comm **ret,
    struct err *err);
void xccl_comm_give(struct xccl_comm *c, int broken); /* NULL is allowed */
void xccl_comms_end(const struct transport_team *team);

/* One of all ranks of comm, which no plan shares; collective over comm: 0, or
 * -errno and why. The caller ends *ret with xccl_comm_end, collective too. */
int xccl_comm_of(const struct transport_team *team, MPI_Comm comm,
    struct xccl_comm **ret, struct err *err);
void xccl_comm_end(struct xccl_comm *c); /* NULL is allowed */

/* Make a call that waits for other ranks, in a separate thread. Return 0 and
 * its result, or -ETIMEDOUT: the thread then keeps arg for ever. */
int xccl_within(const struct transport_team *team, int (*call)(void *arg),
    void *arg, int *ret_result, struct err *err);

/* Check for two ranks of a node with one GPU: NCCL rejects them as "duplicate
 * GPU", unless NCCL_HOSTID claims different hosts. Return 0, or -ENOTSUP and
 * the reason. */
int xccl_shares_gpu(const struct transport_team *team, struct err *err);

/* ---- a collective: xccl_coll.c ---- */

struct xccl_coll;

struct xccl_coll_ask {
	const char *of; /* "broadcast" */
	enum plan_type type;
	enum plan_op op;
	uint64_t count; /* elements of a block */
	uint64_t all;   /* of a block for every rank */
	int root;
	uint64_t send_bytes, recv_bytes; /* buffers of this rank */
};

/* Collective, every rank asks for the same. -ENOTSUP ... and the same why on
 * every rank: no library for this device, no such reduction, ranks that share
 * a GPU. The caller ends *ret with xccl_coll_close. */
int xccl_coll_open(const struct transport_team *team,
    const struct xccl_coll_ask *ask, struct xccl_coll **ret, struct err *err);
void xccl_coll_close(struct xccl_coll *c); /* NULL is allowed */

const char *xccl_coll_name(const struct xccl_coll *c); /* "ncclBroadcast" */
const char *xccl_coll_impl(const struct xccl_coll *c); /* "nccl", "rccl" */

/* Once, until this rank's part is done; collective. The job ends where that
 * fails. */
void xccl_coll_run(struct xccl_coll *c);
/* With data of the device in send: is want in recv afterwards? 0 or -EBADMSG.
 */
int xccl_coll_prove(struct xccl_coll *c, const void *send, const void *want);

#endif
