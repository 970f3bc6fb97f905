/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl_coll.h - the collectives of NCCL and RCCL on memory of GPUs.
 *
 * A collective that the library has is one call. Gather, scatter and all-to-all
 * are a group of sends and receives, as the library's manual describes them.
 * Buffers are created once and reused.
 */
#ifndef PROBES_TRANSPORT_XCCL_COLL_H
#define PROBES_TRANSPORT_XCCL_COLL_H

#include "common/err.h"
#include "probes/transport/transport.h"
#include "probes/transport/xccl_lib.h"

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
