/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - the table of probes, one row each. A new one is its options
 * (schema/patterns.c), its builder, a row here, and, where its records say
 * more than the others', a file of its own beside this.
 */
#ifndef PROBES_COMPARE_PROBE_H
#define PROBES_COMPARE_PROBE_H

#include "probes/compare/compare.h"

extern const struct probe *const probes[]; /* as patterns; ends with NULL */

const struct probe *probe_of(const struct pattern *pt);

/* Rows with files of their own. */
extern const struct probe probe_neighbor;
extern const struct probe probe_stripe;
extern const struct probe probe_binding;

/* spmm.c: a product with a sparse matrix, of a neighbor plan that was made for
 * one. All ranks, once the plan is reported. */
void spmm_measure(struct comparison *c);

#endif
