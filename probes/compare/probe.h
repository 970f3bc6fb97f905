/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - the table of probes that are more than a plan to time, one row
 * each. A new probe is its options (schema/patterns.c) and its builder with a
 * line in probes/pattern/builders.h; if it has a baseline, or its records say
 * more than the others', a row here.
 */
#ifndef PROBES_COMPARE_PROBE_H
#define PROBES_COMPARE_PROBE_H

#include "probes/compare/compare.h"

/* Never NULL: a probe without a row is proven and timed alone. */
const struct probe *probe_of(const struct pattern *pt);

/* Rows with files of their own. */
extern const struct probe probe_neighbor;
extern const struct probe probe_stripe;
extern const struct probe probe_binding;

/* spmm.c: a product with a sparse matrix, of a neighbor plan that was made for
 * one. All ranks, once the plan is reported. */
void spmm_measure(struct comparison *c);

#endif
