/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h - determine, before the measurement, which fabric carries bytes
 * between the nodes of this job, and whether it is the one that the campaign
 * requires.
 */
#ifndef PROBES_JOB_FABRIC_H
#define PROBES_JOB_FABRIC_H

#include <jansson.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/job/world.h"

/* Determine the fabric: the library is queried for its name, and the first
 * ranks of all nodes send a known number of bytes in a ring, between two
 * readings of counters. Collective over all ranks. c: the campaign at rank 0,
 * or NULL; COALMINE_FABRIC and COALMINE_DEVICES, which an agent sets, take
 * precedence. Return 0, or -ENOTSUP on every rank, with the reason in err at
 * rank 0. At rank 0 *ret becomes the member "carried" of records. */
int fabric_open(const struct world *w, const struct conf *c, json_t **ret,
    struct err *err);
/* Return the bytes that this rank has sent so far by the transport that was
 * found: by its TCP connections, or for the first rank of a node by its RDMA
 * ports. Return 0 if none was found. The value can decrease when a connection
 * ends. */
double fabric_sent_bytes(void);
/* Return the member "carried" of a result: a new reference. seen_bytes: sent by
 * all ranks together. wanted_bytes: had to pass between nodes; 0: unknown.
 * Members verdict and text are added if most of the bytes took another fabric
 * than the campaign requires. Return NULL if nothing is counted. */
json_t *fabric_carried(double seen_bytes, double wanted_bytes);

#endif
