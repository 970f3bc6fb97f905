/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl.h - NCCL and RCCL as a transport.
 */
#ifndef PROBES_TRANSPORT_XCCL_H
#define PROBES_TRANSPORT_XCCL_H

#include "common/err.h"
#include "probes/transport/transport.h"

/* Check whether two ranks of a node share a GPU, which NCCL rejects as
 * "duplicate GPU" unless NCCL_HOSTID claims different hosts. Return 0, or
 * -ENOTSUP with the reason in err. */
int xccl_shares_gpu(const struct transport_team *team, struct err *err);

#endif
