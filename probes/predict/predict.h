/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.h - the time of a plan on a described machine.
 *
 * A flow-level simulation. All bytes from one rank to another in one step of a
 * channel, over one transport, are a flow; flows share links and NICs max-min
 * fairly (maxmin.c). On every rank, and without any global barrier:
 *
 *   - a step of a channel starts when the rank has completed its last step of
 *     that channel, and costs the rank's processor the step overhead; ranks
 *     start one step at a time;
 *   - its sends then go out at once. Flows from one place to another over one
 *     transport follow each other in the order in which they were started:
 *     each first takes the overhead of its messages, then the bytes move;
 *   - they arrive when the bytes have moved and the latency has passed;
 *     receives are posted early and never delay a sender;
 *   - when all transfers of the step have completed on the rank, its local
 *     operations run, one step's after another's;
 *   - then the step is complete.
 *
 * With pace PREDICT_DATA, which models the executor (execute/exec.h), a
 * transfer waits instead for all earlier operations on its two ranks that touch
 * the same bytes, and a local operation for those on its rank. A rank pays the
 * step overhead with its first operation in a step of a channel.
 *
 * With pace PREDICT_STEPS a rank in addition starts no transfer of a step
 * before all its transfers of earlier steps are complete, whatever their
 * channel, as HiCCL does (its section IV-E).
 *
 * Deterministic: the same plan and machine give the same picoseconds. Cost: by
 * flows, not transfers or bytes; see tests/bench.
 */
#ifndef PROBES_PREDICT_PREDICT_H
#define PROBES_PREDICT_PREDICT_H

#include <stdint.h>

#include "common/err.h"
#include "probes/plan/plan.h"
#include "probes/topology/machine.h"

enum predict_pace {
	PREDICT_CHANNELS,
	PREDICT_STEPS,
	PREDICT_DATA, /* for plans below PREDICT_DATA_MAX, see there */
	PREDICT_PACES
};
extern const char *const predict_paces[PREDICT_PACES];

/* Ranges of bytes are followed rank by rank: transfers times ranks. */
#define PREDICT_DATA_MAX 200000000ULL
/* PREDICT_DATA where the plan is small enough, else PREDICT_CHANNELS. */
enum predict_pace predict_pace_for(const struct plan *p);

struct predict_options {
	enum predict_pace pace;
	int times; /* fill transfer_ps and local_ps */
	/* Where a buffer of a rank lies: a vertex of its node
	 * (machine_vertex), or MACHINE_NONE for the rank's device. NULL: as
	 * the plan has it, on devices and their hosts. */
	uint32_t (*place)(void *arg, uint32_t rank, uint16_t buf);
	void *arg;
};

/* Start and end of one row, from the start of the plan. */
struct predict_span {
	uint64_t start_ps, end_ps;
};

struct predict {
	uint64_t total_ps;              /* until the last rank is done */
	uint64_t *rank_ps;              /* until each rank is done */
	uint32_t nodes;                 /* that the ranks take */
	uint32_t resources;             /* machine_resources of as many nodes */
	double *capacity_per_s;         /* of each resource; 0: no limit */
	double *bytes;                  /* that passed each resource */
	uint64_t flows;                 /* that were simulated */
	struct predict_span *transfers; /* by row of the plan; NULL */
	struct predict_span *locals;
};

/* The plan must be sorted and have passed check_plan. o may be NULL: the pace
 * is then predict_pace_for. -EINVAL
 * and why when the plan does not fit the machine: too
 * many ranks, or a transport that does not reach. The caller ends *ret with
 * predict_clear. */
int predict_plan(const struct plan *p, const struct machine *m,
    const struct predict_options *o, struct predict *ret, struct err *err);
void predict_clear(struct predict *r); /* frees */

#endif
