/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.h - how long this rank waited for a CPU core. A host that is loaded by
 * other programs is as slow as a bad link, and only its ranks can distinguish
 * the two.
 *
 * The kernel counts for every thread how long it was on a core, and how long it
 * was runnable without a core. The latter includes throttling by the quota of
 * its control group.
 */
#ifndef PROBES_JOB_CORES_H
#define PROBES_JOB_CORES_H

#include <stdint.h>

/* Time on a core, and time of waiting for one. */
struct cores {
	uint64_t run_ns, wait_ns;
};

/* Read the times of the calling thread since its start; zeros if the kernel
 * does not report them. */
void cores_look(struct cores *ret);
/* Add to *sum the time since an earlier reading. */
void cores_add_since(struct cores *sum, const struct cores *since);
/* Return the share of its runnable time in which the rank had no core. NAN if
 * the time is too short to be meaningful, or unknown. */
double cores_wait_ratio(double run_s, double wait_s);

#endif
