/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closed_form.h - the time of an MPI collective on the nodes of a described
 * machine, computed from the bytes that each link has to carry, without a
 * simulation.
 */
#ifndef PROBES_PREDICT_CLOSED_FORM_H
#define PROBES_PREDICT_CLOSED_FORM_H

#include <stdint.h>

#include "common/err.h"
#include "probes/topology/machine.h"

#define CLOSED_FORM_NODES_MAX 65536
#define CLOSED_FORM_EACH_MAX  512 /* ranks of an alltoall */

/* The result. */
struct closed_form {
	double time_s;
	/* The link that is busy longest; "": none. */
	char limit[MACHINE_NAME_MAX];
	/* Time that this link needs, and its rate in bytes per second. */
	double limit_s, limit_per_s;
};

/* Compute the time of a collective. name: as in option collective.name. bytes:
 * the size of a block of every rank, all blocks together. ranks: they must fill
 * their nodes. Return 0; -EINVAL for another name or number of ranks;
 * -EOPNOTSUPP if the machine's MPI does not connect the ranks. err has the
 * reason. */
int closed_form(const struct machine *m, const char *name, double bytes,
    uint32_t ranks, struct closed_form *ret, struct err *err);

#endif
