/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestor.h - the operations that load the network.
 *
 * One row per kind of schema/names.h; an operation is that of GPCNeT (section
 * 3.2) on the slice communicator, whose rank 0 is the root of incasts and
 * broadcasts. Order of calls: open (collective), any number of once, close.
 */
#ifndef PROBES_CONGESTION_CONGESTOR_H
#define PROBES_CONGESTION_CONGESTOR_H

#include <mpi.h>
#include <stddef.h>

#include "common/err.h"
#include "schema/names.h"

struct congestor_state {
	MPI_Comm comm;
	int rank, size;
	size_t bytes; /* of a message */
	char *send;
	char *recv;
	MPI_Win win;
	MPI_Request *reqs; /* size of them, where the kind needs them */
};

struct congestor_ops {
	int onesided;
	int rooted; /* 1: rank 0 serves, and its own rate is no number */
	/* Messages' worth of room wanted by rank 0, or by any rank. */
	size_t (*recv_bytes)(const struct congestor_state *c);
	void (*once)(struct congestor_state *c);
	/* Bytes that a rank moves in one operation. */
	double (*moved_bytes)(const struct congestor_state *c);
};
extern const struct congestor_ops congestor_ops[CONGESTOR_MAX];

/* bytes: of a message. -ENOTSUP, on all ranks of the slice, when this MPI
 * cannot do it. */
int congestor_open(struct congestor_state *c, enum congestor kind,
    MPI_Comm slice, size_t bytes, struct err *err);
void congestor_close(struct congestor_state *c);

#endif
