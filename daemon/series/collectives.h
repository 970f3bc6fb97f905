/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.h - the newest throughput of every collective, by whom it was
 * done, and what share that is of its bound. Pure memory.
 */
#ifndef DAEMON_SERIES_COLLECTIVES_H
#define DAEMON_SERIES_COLLECTIVES_H

#include <jansson.h>
#include <stddef.h>

#include "schema/names.h"
#include "schema/record.h"

#define COLLECTIVES_MAX (NAMES_COLLECTIVES_MAX * NAMES_IMPLS_MAX)

struct collectives_row {
	char name[20]; /* "broadcast" */
	char impl[12]; /* "coalmine", "mpi", "nccl", "rccl" */
	double per_s;  /* of the largest size of its newest run, in bytes */
	double bound_ratio; /* NAN: no bound was measured */
	double bytes;
	char run[RECORD_RUN_MAX + 1];
};

struct collectives {
	struct collectives_row rows[COLLECTIVES_MAX];
	size_t count;
};

/* A record of probe speedup; others of it change nothing. */
void collectives_take(struct collectives *c, const json_t *record);

#endif
