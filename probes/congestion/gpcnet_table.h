/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpcnet_table.h - the results as GPCNeT prints them: microseconds and MiB/s
 * per rank, 99 % on the bad side. Pure.
 */
#ifndef PROBES_CONGESTION_GPCNET_TABLE_H
#define PROBES_CONGESTION_GPCNET_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "schema/names.h"

struct gpcnet_table {
	int ranks, nodes, canaries, kinds;
	int congested; /* 1: the campaign has such a phase */
	struct {
		int known;
		double mean, tail; /* unit of the record; NAN: no number */
	} cells[CANARY_MAX][PHASE_MAX];
	double impact[CANARY_MAX][2]; /* of the mean, of the tail; NAN */
};

void gpcnet_table_init(struct gpcnet_table *t);
/* A canary or impact record; other kinds are left alone. */
void gpcnet_table_take(struct gpcnet_table *t, const json_t *record);
void gpcnet_table_print(const struct gpcnet_table *t, FILE *to);

#endif
