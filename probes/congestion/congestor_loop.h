/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestor_loop.h - congestors at work: warm up, load the network, stop when
 * told.
 *
 * Ranks of a slice work in batches of operations and agree, one batch behind,
 * whether to go on: all stop after the same batch, and the agreement never
 * holds up the traffic. A batch is sized to a few milliseconds under load, so
 * a stop takes a few times that.
 *
 * congestor_loop_run meets two barriers of the canaries on the control
 * communicator: one when the load is warm, one when the canaries are done.
 */
#ifndef PROBES_CONGESTION_CONGESTOR_LOOP_H
#define PROBES_CONGESTION_CONGESTOR_LOOP_H

#include "common/hist.h"
#include "probes/congestion/congestor.h"
#include "probes/job/settings.h"
#include "probes/job/world.h"

struct congestor_loop {
	const struct world *world;
	const struct settings *settings;
	enum congestor kind;
	struct congestor_state state;
	int opened; /* 0: idle, alone, or this MPI cannot */
	enum cause cause;
	struct err err;
	int batch; /* operations */
	/* Rates of this rank by batch, B/s; only PHASE_ISOLATED (alone) and
	 * PHASE_CONGESTED. */
	struct hist rates[PHASE_MAX];
};

struct congestor_loop *congestor_loop_new(const struct world *w,
    const struct settings *s);
void congestor_loop_free(
    struct congestor_loop *l); /* collective over the kind; NULL allowed */
/* One visit to the congested phase. */
void congestor_loop_run(struct congestor_loop *l);
/* Run alone for span_ns, for the kind's own rate. */
void congestor_loop_run_alone(struct congestor_loop *l, uint64_t span_ns);

#endif
