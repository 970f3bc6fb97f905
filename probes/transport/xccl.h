/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl.h - NCCL and RCCL among the ranks of an MPI job: how these meet, and a
 * collective of the library's own, on memory of GPUs.
 *
 * A collective that the library has is one call; gather, scatter and all-to-all
 * are a group of sends and receives, as its manual has them. Buffers and
 * communicator are its own, made once and used again.
 */
#ifndef PROBES_TRANSPORT_XCCL_H
#define PROBES_TRANSPORT_XCCL_H

#include "common/err.h"
#include "probes/transport/transport.h"
#include "probes/transport/xccl_lib.h"

/* From the root to all, to make a communicator with; collective over team. The
 * root's result on all ranks. lib may be NULL but at the root. */
int xccl_share_id(const struct transport_team *team, const struct xccl_lib *lib,
    int root, struct xccl_id *ret);

/* Two ranks of a node with one GPU: NCCL refuses them as "duplicate GPU",
 * unless it is told that they are on different hosts. 0, or -ENOTSUP and why.
 */
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
