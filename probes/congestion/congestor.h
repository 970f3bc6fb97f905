/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestor.h - congestors: warm up, load the network, stop on request.
 *
 * The ranks of a slice (job/world.h) work in batches of operations. They agree,
 * one batch behind, whether to continue: all stop after the same batch, and the
 * agreement never delays the traffic. A batch takes a few milliseconds under
 * load, so a stop takes a few times that.
 */
#ifndef PROBES_CONGESTION_CONGESTOR_H
#define PROBES_CONGESTION_CONGESTOR_H

#include <mpi.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hist.h"
#include "probes/congestion/link.h"
#include "probes/job/settings.h"
#include "probes/job/world.h"
#include "schema/names_probe.h"
#include "schema/names_run.h"

/* A congestor on one rank. */
struct congestor_load {
	const struct world *world;
	const struct settings *settings;
	enum congestor kind;
	/* 0: the congestor is idle, the rank is alone, or the MPI does not
	 * support it. */
	int opened;
	enum cause cause;
	struct err err;
	int batch; /* operations of a batch */
	/* Rates of this rank in B/s, by batch. Only PHASE_ISOLATED (the
	 * congestor alone) and PHASE_CONGESTED are used. */
	struct hist rates[PHASE_MAX];
	/* Bytes that this rank sent in all batches of a phase, as
	 * fabric_sent_bytes; and the least that its operations must have
	 * sent. */
	double sent_bytes[PHASE_MAX], wanted_bytes[PHASE_MAX];
	/* Time of this rank in batches, and its whole time in the phase. */
	double busy_ns[PHASE_MAX], span_ns[PHASE_MAX];

	MPI_Comm comm; /* communicator of the slice; its rank 0 is the root */
	int rank, size;
	size_t bytes; /* bytes of a message */
	char *send;
	char *recv;
	/* Memory of send and recv; recv is an MPI window for one-sided
	 * congestors. */
	struct link_memory send_memory, recv_memory;
	MPI_Win win;
	struct link link;
};

/* Return the congestor of this rank, which the caller frees. Collective over
 * all congestors of the same kind. w and s must live as long. */
struct congestor_load *congestor_new(struct world *w, const struct settings *s);
/* Free a congestor; collective over all congestors of its kind. l can be NULL.
 */
void congestor_free(struct congestor_load *l);
/* Take part in one visit to the congested phase. It enters two barriers with
 * the canaries on the control communicator: one when the load is warm, and one
 * when the canaries are done. */
void congestor_run(struct congestor_load *l);
/* Run alone for this time, to measure the congestor's own rate. */
void congestor_run_alone(struct congestor_load *l, uint64_t span_ns);

#endif
