/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spmm.h - a product C = A B of a sparse and a dense matrix, both in blocks of
 * rows (csr.h): each rank gets the rows of B that it needs from its
 * neighbours, by the plan or by the MPI's own collective, and multiplies.
 *
 * B holds small whole numbers that follow from row and column, so that any
 * rank can tell any element of C: where A holds whole numbers too, exactly
 * and in whatever order it is summed.
 */
#ifndef PROBES_COMPARE_SPMM_H
#define PROBES_COMPARE_SPMM_H

#include "common/err.h"
#include "probes/neighbor/csr.h"
#include "probes/compare/neighbor_run.h"

struct spmm;

/* Collective; m is wanted at rank 0 only and is not kept. n is open, with a
 * rival and memory that the processor reaches, else -ENOTSUP and why. */
int spmm_open(struct neighbor_run *n, const struct csr *m, uint32_t columns,
    struct spmm **ret, struct err *err);
void spmm_close(struct spmm *s); /* NULL is allowed */

/* Collective. Both sides turn by turn, proven before and after: 0, or
 * -EBADMSG on every rank and which side it was in why. */
int spmm_time(struct spmm *s, const struct trial_ask *ask, struct err *err);

/* Rank 0. plan_s: what it took to plan; the rest of set-up is in r. */
json_t *spmm_report(const struct plan_report *r, const struct spmm *s,
    double plan_s);
json_t *spmm_refusal(const struct plan_report *r, enum cause cause,
    const char *why);
void spmm_text(const struct plan_report *r, const struct spmm *s, double plan_s,
    char *ret, size_t cap_bytes);

#endif
