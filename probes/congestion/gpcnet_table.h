/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpcnet_table.h - the results as GPCNeT prints them: microseconds and MiB/s
 * per rank, 99 % on the bad side. Pure.
 */
#ifndef PROBES_CONGESTION_GPCNET_TABLE_H
#define PROBES_CONGESTION_GPCNET_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "schema/names_probe.h"

/* Of each phase; all of them if the loop counts are GPCNeT's, as printed by its
 * build with -DVERBOSE, else Avg and 99%. */
enum gpcnet_column {
	GPCNET_MIN,
	GPCNET_MAX,
	GPCNET_AVG,
	GPCNET_WORST,
	GPCNET_99,
	GPCNET_999,
	GPCNET_COLUMNS
};

struct gpcnet_table {
	int ranks, nodes, canaries, kinds;
	int congested;    /* 1: the campaign has such a phase */
	int exact;        /* 1: all columns */
	char memory[200]; /* of a device, and by what; "": the host's */
	struct {
		int known;
		double column[GPCNET_COLUMNS]; /* unit of the record; or NAN */
	} cells[CANARY_MAX][PHASE_MAX];
	/* Of the mean, of the tail; value and interval, NAN: none. */
	struct {
		double value, lo, hi;
	} impact[CANARY_MAX][2];
};

void gpcnet_table_init(struct gpcnet_table *t);
/* A begin, canary or impact record; other kinds are left alone. */
void gpcnet_table_take(struct gpcnet_table *t, const json_t *record);
void gpcnet_table_print(const struct gpcnet_table *t, FILE *to);

#endif
