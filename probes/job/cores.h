/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.h - did this rank get the processor when it wanted it? A host that
 * others load is as slow as a bad link, and only its ranks know why.
 *
 * The kernel counts for every thread how long it was on a core, and how long
 * it was runnable without one; what a quota of its control group kept from it
 * is among the latter.
 */
#ifndef PROBES_JOB_CORES_H
#define PROBES_JOB_CORES_H

#include <stdint.h>

struct cores {
	uint64_t run_ns, wait_ns;
};

/* Of the calling thread, since it began; zeros where the kernel does not
 * say. */
void cores_look(struct cores *ret);
/* Add what has passed since a look. */
void cores_add_since(struct cores *sum, const struct cores *since);
/* The share of the time a core was wanted in which there was none; NAN where
 * so little was wanted that it means nothing, or nothing is known. */
double cores_wait_ratio(double run_s, double wait_s);

#endif
