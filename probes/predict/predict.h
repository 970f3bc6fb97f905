/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.h - the time of a plan on a described machine, by a flow-level
 * simulation.
 *
 * All bytes from one rank to another in one step of a channel, over one
 * transport, are one flow. Flows share links and NICs max-min fairly
 * (maxmin.c). On every rank, and without any global barrier:
 *
 *   - a step of a channel starts when the rank has completed its last step of
 *     that channel, and costs the rank's processor the step overhead; ranks
 *     start one step at a time;
 *   - its sends then start at once. Flows from one place to another over one
 *     transport follow each other in the order in which they were started:
 *     each first takes the overhead of its messages, then the bytes move;
 *   - they arrive when the bytes have moved and the latency has passed;
 *     receives are posted early and never delay a sender;
 *   - when all transfers of the step have completed on the rank, its local
 *     operations run, one step's after another's;
 *   - then the step is complete.
 *
 * With pace PREDICT_DATA, which models the executor (execute/exec.h), a
 * transfer waits instead for all earlier operations on its two ranks that
 * access the same bytes, and a local operation waits for such operations on its
 * rank. A rank pays the step overhead with its first operation in a step of a
 * channel.
 *
 * With pace PREDICT_STEPS, in addition a rank starts no transfer of a step
 * before all its transfers of earlier steps are complete, in whatever channel,
 * as HiCCL does (its section IV-E).
 *
 * The simulation is deterministic: the same plan and machine give the same
 * picoseconds. Its cost depends on the number of flows, not of transfers or
 * bytes; see tests/bench.
 */
#ifndef PROBES_PREDICT_PREDICT_H
#define PROBES_PREDICT_PREDICT_H

#include <stdint.h>

#include "common/err.h"
#include "probes/plan/plan.h"
#include "probes/topology/machine.h"

/* When an operation may start; see above. */
enum predict_pace {
	PREDICT_CHANNELS,
	PREDICT_STEPS,
	PREDICT_DATA, /* for plans below PREDICT_DATA_MAX */
	PREDICT_PACES
};
extern const char *const predict_paces[PREDICT_PACES];

/* Limit of transfers times ranks for PREDICT_DATA, which follows ranges of
 * bytes on every rank. */
#define PREDICT_DATA_MAX 200000000ULL
/* Return PREDICT_DATA if the plan is small enough, otherwise
 * PREDICT_CHANNELS. */
enum predict_pace predict_pace_for(const struct plan *p);

/* The options of a simulation. */
struct predict_options {
	enum predict_pace pace;
	int times; /* 1: fill transfers and locals of struct predict */
	/* Return where a buffer of a rank is: a vertex of its node
	 * (machine_vertex), or MACHINE_NONE for the rank's device. place NULL:
	 * buffers are on devices and their hosts, as the plan says. */
	uint32_t (*place)(void *arg, uint32_t rank, uint16_t buf);
	void *arg;
};

/* Start and end of one row of the plan, from the start of the plan. */
struct predict_span {
	uint64_t start_ps, end_ps;
};

/* The result of a simulation. */
struct predict {
	uint64_t total_ps; /* time until the last rank is done */
	uint64_t *rank_ps; /* time until each rank is done */
	uint32_t nodes;    /* nodes that the ranks occupy */
	/* Number of resources of these nodes (machine_resources). */
	uint32_t resources;
	/* Bytes per second of each resource; 0: no limit. */
	double *capacity_per_s;
	double *bytes;  /* bytes that passed each resource */
	uint64_t flows; /* flows that were simulated */
	/* Start and end of each row of the plan; NULL if option times is 0. */
	struct predict_span *transfers;
	struct predict_span *locals;
};

/* Simulate a plan, which must be sorted and have passed check_plan. o NULL: the
 * pace is predict_pace_for(p). Return 0, or -EINVAL with the reason in err if
 * the plan does not fit the machine: too many ranks, or a transport that does
 * not connect two of them. The caller frees *ret with predict_clear. */
int predict_plan(const struct plan *p, const struct machine *m,
    const struct predict_options *o, struct predict *ret, struct err *err);
void predict_clear(struct predict *r); /* frees the lists */

#endif
