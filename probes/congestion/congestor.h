/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestor.h - congestors at work: warm up, load the network, stop on request.
 *
 * Ranks of a slice work in batches of operations and agree, one batch behind,
 * whether to continue: all stop after the same batch, and the agreement never
 * holds up the traffic. A batch is sized to a few milliseconds under load, so a
 * stop takes a few times that.
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

struct congestor_load {
	const struct world *world;
	const struct settings *settings;
	enum congestor kind;
	int opened; /* 0: idle, alone, or this MPI cannot */
	enum cause cause;
	struct err err;
	int batch; /* operations */
	/* Rates of this rank by batch, B/s; only PHASE_ISOLATED (alone) and
	 * PHASE_CONGESTED. */
	struct hist rates[PHASE_MAX];
	/* By this rank in all batches of a phase, as fabric_sent_bytes; and at
	 * least, for what its operations move. */
	double sent_bytes[PHASE_MAX], wanted_bytes[PHASE_MAX];
	/* Of this rank: the time in batches, and all of it. */
	double busy_ns[PHASE_MAX], span_ns[PHASE_MAX];

	MPI_Comm comm; /* the slice; its rank 0 is the root */
	int rank, size;
	size_t bytes; /* of a message */
	char *send;
	char *recv;
	/* Of both, but that recv is a window where there is one. */
	struct link_memory send_memory, recv_memory;
	MPI_Win win;
	struct link link;
};

struct congestor_load *congestor_new(struct world *w, const struct settings *s);
/* Collective over the kind; NULL is allowed. */
void congestor_free(struct congestor_load *l);
/* One visit to the congested phase. Meets two barriers of the canaries on the
 * control communicator: when the load is warm, and when they are done. */
void congestor_run(struct congestor_load *l);
/* Run alone for span_ns, for the kind's own rate. */
void congestor_run_alone(struct congestor_load *l, uint64_t span_ns);

#endif
