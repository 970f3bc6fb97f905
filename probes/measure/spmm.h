/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spmm.h - time a product of a sparse and a dense matrix (SpMM), with a
 * neighbor plan that was made for it.
 */
#ifndef PROBES_MEASURE_SPMM_H
#define PROBES_MEASURE_SPMM_H

#include "probes/measure/measure.h"

/* Measure and report the product. All ranks call it, after the plan was
 * reported. */
void spmm_measure(struct measurement *c);

#endif
