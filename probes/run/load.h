/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - congestors at work: warm up, load the network, stop when told.
 *
 * Ranks of a slice work in batches of operations and agree, one batch behind,
 * whether to go on: all stop after the same batch, and the agreement never
 * holds up the traffic. A batch is sized to a few milliseconds under load, so
 * a stop takes a few times that.
 *
 * load_run meets two barriers of the canaries on the control communicator: one
 * when the load is warm, one when the canaries are done.
 */
#ifndef PROBES_RUN_LOAD_H
#define PROBES_RUN_LOAD_H

#include "common/hist.h"
#include "probes/run/congestor.h"
#include "probes/run/settings.h"
#include "probes/run/world.h"

#define LOAD_WHY_BYTES 256

struct load {
	const struct world *world;
	const struct settings *settings;
	enum congestor kind;
	struct congestor_state state;
	int opened; /* 0: idle, alone, or this MPI cannot */
	enum cause cause;
	char why[LOAD_WHY_BYTES];
	int batch; /* operations */
	/* Rates of this rank by batch, B/s; only PHASE_ISOLATED (alone) and
	 * PHASE_CONGESTED. */
	struct hist rates[PHASE_MAX];
};

struct load *load_new(const struct world *w, const struct settings *s);
void load_free(struct load *l); /* collective over the kind; NULL allowed */
/* One visit to the congested phase. */
void load_run(struct load *l);
/* Run alone for span_ns, for the kind's own rate. */
void load_run_alone(struct load *l, uint64_t span_ns);

#endif
