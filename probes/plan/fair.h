/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair.h - flows that share resources, each as fast as max-min fairness lets
 * it be.
 *
 * A pipe is a way through some resources; it carries one flow at a time. Rates
 * are those of progressive filling: all flows grow together until a resource
 * is full, which fixes those that pass it, and so on. When flows start or end,
 * only what they can touch through shared resources is computed again.
 *
 * Time is in picoseconds and never goes back. The same calls give the same
 * results, always.
 */
#ifndef PROBES_PLAN_FAIR_H
#define PROBES_PLAN_FAIR_H

#include <stddef.h>
#include <stdint.h>

#define FAIR_NEVER UINT64_MAX

struct fair;

/* capacities_per_s: bytes per second of each resource, copied. */
struct fair *fair_new(const double *capacities_per_s, uint32_t resources);
void fair_free(struct fair *f); /* NULL is allowed */

/* A pipe through count distinct resources, limited to rate_max_per_s unless
 * that is 0; pipes are numbered from 0. One that nothing limits takes no
 * time. */
uint32_t fair_pipe_add(struct fair *f, const uint32_t *resources,
    uint32_t count, double rate_max_per_s);

/* Send bytes through an idle pipe from now on. */
void fair_start(struct fair *f, uint32_t pipe, double bytes, uint64_t now_ps);
/* Find the rates after starts and ends at now. */
void fair_settle(struct fair *f, uint64_t now_ps);
/* When the next flow ends, FAIR_NEVER if none is there; after fair_settle. */
uint64_t fair_next_ps(const struct fair *f);
/* End the first flow that is due by now; its pipe, or -1 when none is. */
int64_t fair_end(struct fair *f, uint64_t now_ps);

/* Rate of a pipe's flow, 0 when idle; after fair_settle. */
double fair_rate_per_s(const struct fair *f, uint32_t pipe);
/* Bytes that started through a resource. */
double fair_bytes(const struct fair *f, uint32_t resource);

#endif
