/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - the numbers behind the figures of CommBench and HiCCL, predicted
 * on the machines of etc/machines. GB/s are 10^9 bytes per second.
 */
#ifndef TESTS_FIGURES_SERIES_H
#define TESTS_FIGURES_SERIES_H

#include <stddef.h>
#include <stdint.h>

/* The throughput of a probe as "collective name=gather ..." on a machine, in
 * GB/s; ends the program when either is wrong. */
double series_gb_per_s(const char *machine, const char *probe);

/* CommBench, Figure 10: bandwidth between two nodes with k active devices,
 * predicted and by the model for the machine's binding. */
struct series_profile {
	const char *machine;
	const char *pattern; /* rail or asymmetric */
	uint32_t devices;
};
#define SERIES_PROFILES 11
extern const struct series_profile series_profiles[SERIES_PROFILES];
double series_profile_gb_per_s(const struct series_profile *p, uint32_t k);
double series_profile_model(const struct series_profile *p, uint32_t k);

/* HiCCL, Figures 8 and 9, on four nodes: shapes of hierarchy. */
struct series_system {
	const char *machine;
	uint32_t ranks, node;    /* all, and of a node */
	const char *tree, *ring; /* options */
	double bound_share;      /* of Table III that the binding allows */
};
#define SERIES_SYSTEMS 4
extern const struct series_system series_systems[SERIES_SYSTEMS];

/* Figure 8: the techniques added, in this order; the ring only for broadcast
 * and reduce (0 for the others). */
enum series_step {
	STEP_DIRECT,
	STEP_TREE,
	STEP_STRIPE,
	STEP_PIPE,
	STEP_RING,
	SERIES_STEPS
};
extern const char *const series_steps[SERIES_STEPS];
#define SERIES_COLLECTIVES 8
extern const char *const series_collectives[SERIES_COLLECTIVES];
double series_collective_gb_per_s(const struct series_system *s,
    const char *collective, enum series_step step);
/* The bound of Table III. */
double series_collective_bound(const struct series_system *s,
    const char *collective);

/* Figure 9: depths 1, 2 ... 128 on four nodes of Perlmutter, buffers of bytes
 * on every rank. */
#define SERIES_DEPTHS 8
struct series_curve {
	const char *collective;
	int ring;
};
#define SERIES_CURVES 4
extern const struct series_curve series_curves[SERIES_CURVES];
double series_depth_gb_per_s(const struct series_curve *c, uint64_t bytes,
    uint32_t depth);

/* Figure 10: all-reduce over nodes of Perlmutter, 2 to 256. */
#define SERIES_SCALES 8
double series_scale_gb_per_s(uint32_t nodes);
double series_scale_bound(uint32_t nodes);

#endif
