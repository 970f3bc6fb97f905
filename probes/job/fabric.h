/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h - before the measurement: which fabric carries bytes between the
 * nodes of this job, and whether it is the one that the campaign requires.
 */
#ifndef PROBES_JOB_FABRIC_H
#define PROBES_JOB_FABRIC_H

#include <jansson.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/job/world.h"

/* The library is asked for its name, and the first ranks of all nodes send a
 * known number of bytes in a ring, between two readings of counters. All ranks
 * together. c: the campaign at rank 0, or NULL; COALMINE_FABRIC and
 * COALMINE_DEVICES of an agent come before it. 0, or -ENOTSUP on every rank
 * and why at rank 0; *ret there becomes the member carried of records. */
int fabric_open(const struct world *w, const struct conf *c, json_t **ret,
    struct err *err);
/* What this rank has sent by the transport that was found, up to now: by its
 * connections of TCP, or for the first rank of a node by its RDMA ports. 0
 * where none was found. It may step back, when a connection ends. */
double fabric_sent_bytes(void);
/* Return the member "carried" of a result: seen_bytes, sent by all ranks
 * together, of wanted_bytes that had to pass between nodes (0: unknown).
 * verdict and text are added if most of them took another fabric than the
 * campaign requires. NULL if nothing is counted. */
json_t *fabric_carried(double seen_bytes, double wanted_bytes);

#endif
