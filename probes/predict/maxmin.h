/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maxmin.h - the rates of flows that share resources; rates are max-min fair.
 *
 * A pipe is a path through some resources; it carries one flow at a time. Rates
 * are computed by progressive filling (Bertsekas and Gallager, "Data Networks",
 * 1992, section 6.5.2): the rates of all flows grow together
 * until a resource is full, which fixes the rates of the flows that pass it;
 * the others grow further. When flows start or end, only flows that are
 * connected through shared resources are recomputed.
 *
 * Time is in picoseconds and never goes back. The same calls always give the
 * same results.
 */
#ifndef PROBES_PREDICT_MAXMIN_H
#define PROBES_PREDICT_MAXMIN_H

#include <stdint.h>

#define MAXMIN_NEVER UINT64_MAX /* no flow is active */

struct maxmin;

/* Return an empty network, which the caller frees. capacities_per_s: bytes per
 * second of each resource; they are copied. */
struct maxmin *maxmin_new(const double *capacities_per_s, uint32_t resources);
void maxmin_free(struct maxmin *f); /* f can be NULL */

/* Add a pipe through count distinct resources, and return its number; numbers
 * begin at 0. rate_max_per_s: a limit in bytes per second, or 0. A flow through
 * a pipe without any limit takes no time. */
uint32_t maxmin_pipe_add(struct maxmin *f, const uint32_t *resources,
    uint32_t count, double rate_max_per_s);

/* Start a flow of this many bytes through an idle pipe. */
void maxmin_start(struct maxmin *f, uint32_t pipe, double bytes,
    uint64_t now_ps);
/* Compute the rates after flows have started or ended at this time. */
void maxmin_settle(struct maxmin *f, uint64_t now_ps);
/* Return the time at which the next flow ends, or MAXMIN_NEVER. Call
 * maxmin_settle first. */
uint64_t maxmin_next_ps(const struct maxmin *f);
/* End the first flow that is due by now. Return its pipe, or -1 if no flow is
 * due. */
int64_t maxmin_end(struct maxmin *f, uint64_t now_ps);

/* Return the bytes of all flows that have started through a resource. */
double maxmin_bytes(const struct maxmin *f, uint32_t resource);

#endif
