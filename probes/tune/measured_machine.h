/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measured_machine.h - a machine with measured rates: the measured times of a
 * few plans become the rates of a struct machine with known wiring.
 *
 * A missing time is NAN, a missing rate is 0. Times are in seconds, rates in
 * bytes per second. The functions are pure.
 */
#ifndef PROBES_TUNE_MEASURED_MACHINE_H
#define PROBES_TUNE_MEASURED_MACHINE_H

#include <jansson.h>
#include <stdint.h>

#include "probes/topology/machine.h"
#include "schema/machines.h"

/* Results for one transport from one rank to another. */
struct measured_machine_way {
	/* Time of one byte; NAN: the transport cannot be used here. */
	double s;
	double one_per_s;  /* one pair of ranks at a time */
	double many_per_s; /* all pairs of a node, or of two nodes, together */
};

/* The measurements. */
struct measured_machine {
	uint32_t ranks, nodes;
	/* Consecutive ranks on a node; 1: ranks are distributed otherwise. */
	uint32_t per_node;
	struct measured_machine_way
	    near[MACHINES_VIA_MAX]; /* between ranks of one node */
	/* Between ranks of two nodes. */
	struct measured_machine_way far[MACHINES_VIA_MAX];
	double step_s;       /* cost of one more step of a pipeline */
	double memory_per_s; /* rate at which each rank copies while all copy */
};

/* Return the rate of bytes in s seconds, of which short_s are fixed cost; 0 if
 * it was not measured. */
double measured_machine_per_s(double bytes, double s, double short_s);
/* Return the cost in seconds of a step, from the times of one step and of
 * many. */
double measured_machine_step_s(double one_s, double many_s, uint32_t steps);

/* Set the rates of m, which machine_discover made; m is rated afterwards. The
 * nearest links inside a node get the rate of one pair, the others less in
 * proportion. */
void measured_machine_set(const struct measured_machine *r, struct machine *m);

/* Return a description, which the caller frees: "this machine as measured: 8
 * ranks on 4 nodes, 22.6M/s and 71 us between nodes, ...". */
char *measured_machine_text(const struct measured_machine *r);
/* Return a record of probe "machine", which the caller decrefs. */
json_t *measured_machine_record(const struct measured_machine *r,
    const char *name);

#endif
