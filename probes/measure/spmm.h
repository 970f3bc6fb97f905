/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spmm.h - a product with a sparse matrix, of a neighbor plan that was made
 * for one. All ranks, once the plan is reported.
 */
#ifndef PROBES_MEASURE_SPMM_H
#define PROBES_MEASURE_SPMM_H

#include "probes/measure/measure.h"

void spmm_measure(struct measurement *c);

#endif
