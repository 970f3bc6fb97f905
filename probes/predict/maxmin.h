/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maxmin.h - flows that share resources.
 *
 * Rates are max-min fair.
 *
 * A pipe is a path through some resources; it carries one flow at a time. Rates
 * are computed by progressive filling: all flows grow together until a resource
 * is full, which fixes those that pass it, and so on. When flows start or end,
 * only flows connected through shared resources are recomputed.
 *
 * Time is in picoseconds and never goes back. The same calls give the same
 * results, always.
 */
#ifndef PROBES_PREDICT_MAXMIN_H
#define PROBES_PREDICT_MAXMIN_H

#include <stdint.h>

#define MAXMIN_NEVER UINT64_MAX

struct maxmin;

/* capacities_per_s: bytes per second of each resource, copied. */
struct maxmin *maxmin_new(const double *capacities_per_s, uint32_t resources);
void maxmin_free(struct maxmin *f); /* NULL is allowed */

/* A pipe through count distinct resources, limited to rate_max_per_s unless
 * that is 0; pipes are numbered from 0. One that nothing limits takes no
 * time. */
uint32_t maxmin_pipe_add(struct maxmin *f, const uint32_t *resources,
    uint32_t count, double rate_max_per_s);

/* Send bytes through an idle pipe from now on. */
void maxmin_start(struct maxmin *f, uint32_t pipe, double bytes,
    uint64_t now_ps);
/* Find the rates after starts and ends at now. */
void maxmin_settle(struct maxmin *f, uint64_t now_ps);
/* When the next flow ends, MAXMIN_NEVER if none is there; after maxmin_settle.
 */
uint64_t maxmin_next_ps(const struct maxmin *f);
/* End the first flow that is due by now; its pipe, or -1 when none is. */
int64_t maxmin_end(struct maxmin *f, uint64_t now_ps);

/* Bytes that started through a resource. */
double maxmin_bytes(const struct maxmin *f, uint32_t resource);

#endif
