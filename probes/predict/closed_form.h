/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closed_form.h - any collective of MPI on the nodes of a machine.
 */
#ifndef PROBES_PREDICT_CLOSED_FORM_H
#define PROBES_PREDICT_CLOSED_FORM_H

#include <stdint.h>

#include "common/err.h"
#include "probes/topology/machine.h"

#define CLOSED_FORM_NODES_MAX 65536
#define CLOSED_FORM_EACH_MAX  512 /* of alltoall */

struct closed_form {
	double time_s;
	char limit[MACHINE_NAME_MAX]; /* the link that is busy longest; "" */
	double limit_s, limit_per_s;  /* time and rate of the limit */
};

/* As collective.name has it, of a block for every rank, bytes in all. -EINVAL
 * for another name or number of ranks, which fill their nodes; -EOPNOTSUPP
 * where the MPI does not reach. */
int closed_form(const struct machine *m, const char *name, double bytes,
    uint32_t ranks, struct closed_form *ret, struct err *err);

#endif
