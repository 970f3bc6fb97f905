/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl.h - NCCL and RCCL among the ranks of an MPI job: communicators, and the
 * libraries' own collectives, on memory of GPUs.
 *
 * A collective that the library has is one call. Gather, scatter and all-to-all
 * are a group of sends and receives, as the library's manual describes them.
 * Buffers and communicators are created once and reused.
 */
#ifndef PROBES_TRANSPORT_XCCL_H
#define PROBES_TRANSPORT_XCCL_H

#include <sys/queue.h>

#include "common/err.h"
#include "probes/transport/transport.h"
#include "probes/transport/xccl_lib.h"

/* ---- communicators: xccl_comm.c ---- */

/* A communicator of the library. */
struct xccl_comm {
	SLIST_ENTRY(xccl_comm) next;
	const struct transport_team *team;
	const struct xccl_lib *lib; /* NULL: no library on this rank */
	void *native;               /* NULL: this rank is not a member */
	/* By rank of the team: its number in the communicator, or -1. */
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

/* Check whether two ranks of a node share a GPU, which NCCL rejects as
 * "duplicate GPU" unless NCCL_HOSTID claims different hosts. Return 0, or
 * -ENOTSUP with the reason in err. */
int xccl_shares_gpu(const struct transport_team *team, struct err *err);

/* ---- a collective: xccl_coll.c ---- */

struct xccl_coll;

/* The description of a collective. */
struct xccl_coll_ask {
	const char *of; /* its name, "broadcast" */
	enum plan_type type;
	enum plan_op op;
	uint64_t count; /* number of elements of a block */
	/* Number of elements of the blocks of all ranks together. */
	uint64_t all;
	int root;
	uint64_t send_bytes, recv_bytes; /* sizes of this rank's buffers */
};

/* Prepare a collective; all ranks call it with the same description. Return 0,
 * or -ENOTSUP or another error, with the same reason in err on every rank: no
 * library for this device, no such reduction, ranks that share a GPU. The
 * caller frees *ret with xccl_coll_close. */
int xccl_coll_open(const struct transport_team *team,
    const struct xccl_coll_ask *ask, struct xccl_coll **ret, struct err *err);
void xccl_coll_close(struct xccl_coll *c); /* NULL is allowed */

/* Return the name of the library's call, and the name of the library. */
const char *xccl_coll_name(const struct xccl_coll *c); /* "ncclBroadcast" */
const char *xccl_coll_impl(const struct xccl_coll *c); /* "nccl", "rccl" */

/* Run the collective once, until this rank's part is complete. Collective. The
 * job ends if it fails. */
void xccl_coll_run(struct xccl_coll *c);
/* Run it with the device's data `send`, and compare recv with `want`. Return 0
 * or -EBADMSG. */
int xccl_coll_prove(struct xccl_coll *c, const void *send, const void *want);

#endif
