/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measured_machine.h - a machine with measured rates: the times of a few plans
 * become the rates of a struct machine with known wiring.
 *
 * A missing time is NAN, a missing rate 0. Seconds, bytes per second. Pure.
 */
#ifndef PROBES_TUNE_MEASURED_MACHINE_H
#define PROBES_TUNE_MEASURED_MACHINE_H

#include <jansson.h>
#include <stdint.h>

#include "probes/topology/machine.h"
#include "schema/machines.h"

/* From one rank to another by one transport. */
struct measured_machine_way {
	double s;          /* one byte; NAN: cannot be used here */
	double one_per_s;  /* one such pair at a time */
	double many_per_s; /* all pairs of a node, or of two nodes, together */
};

struct measured_machine {
	uint32_t ranks, nodes;
	uint32_t per_node; /* consecutive ranks; 1: they are dealt otherwise */
	struct measured_machine_way
	    near[MACHINES_VIA_MAX]; /* ranks of one node */
	struct measured_machine_way far[MACHINES_VIA_MAX]; /* of two nodes */
	double step_s;       /* what another step of a pipeline costs */
	double memory_per_s; /* what each copies while all do */
};

/* Return the rate of bytes in s seconds, which include short_s of fixed cost; 0
 * if it was not timed. */
double measured_machine_per_s(double bytes, double s, double short_s);
/* Return the cost of a step from the times of one step and of many. */
double measured_machine_step_s(double one_s, double many_s, uint32_t steps);

/* Into a machine of machine_discover, which is rated then. Of links inside a
 * node the nearest carry what one pair exchanges, others less in proportion.
 */
void measured_machine_set(const struct measured_machine *r, struct machine *m);

/* "this machine as measured: 8 ranks on 4 nodes, 22.6M/s and 71 us between
 * nodes, ..."; the caller frees. */
char *measured_machine_text(const struct measured_machine *r);
/* Record "machine"; the caller decrefs it. */
json_t *measured_machine_record(const struct measured_machine *r,
    const char *name);

#endif
