/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpcnet_table.h - print the results as GPCNeT does: microseconds and MiB/s per
 * rank, and the 99 % tail on the bad side. The functions are pure, except for
 * the printing.
 */
#ifndef PROBES_CONGESTION_GPCNET_TABLE_H
#define PROBES_CONGESTION_GPCNET_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "schema/names_probe.h"

/* The columns of each phase. All are printed if the loop counts are GPCNeT's,
 * as by its build with -DVERBOSE; otherwise Avg and 99%. */
enum gpcnet_column {
	GPCNET_MIN,
	GPCNET_MAX,
	GPCNET_AVG,
	GPCNET_WORST,
	GPCNET_99,
	GPCNET_999,
	GPCNET_COLUMNS
};

/* The contents of the table. */
struct gpcnet_table {
	int ranks, nodes, canaries, kinds;
	int congested; /* 1: the campaign has a congested phase */
	int exact;     /* 1: all columns are printed */
	/* The device whose memory is used, and its transport; "": host
	 * memory. */
	char memory[200];
	struct {
		int known;
		/* Values in the unit of the record; NAN: none. */
		double column[GPCNET_COLUMNS];
	} cells[CANARY_MAX][PHASE_MAX];
	/* Impacts on the mean and on the tail: value and interval; NAN:
	 * none. */
	struct {
		double value, lo, hi;
	} impact[CANARY_MAX][2];
};

/* Begin an empty table. */
void gpcnet_table_init(struct gpcnet_table *t);
/* Take the values of a record of probe begin, canary or impact. Other records
 * are ignored. */
void gpcnet_table_take(struct gpcnet_table *t, const json_t *record);
/* Print the table. */
void gpcnet_table_print(const struct gpcnet_table *t, FILE *to);

#endif
