/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds.h - bounds for collectives, from what pairs of nodes exchange. These
 * are HiCCL's empirical bounds (section VI-C5). A gather or scatter is limited
 * by its root, which only sends or only receives; in all other collectives
 * nodes do both at once. The measured rate of a node, one way or each of both
 * ways, replaces the rated one in Table III (predict/model.h). The functions
 * are pure.
 */
#ifndef PROBES_TUNE_BOUNDS_H
#define PROBES_TUNE_BOUNDS_H

#include <stdint.h>

/* The measurements. */
enum bounds_probe {
	BOUNDS_ONE_WAY,   /* group, between the first two nodes */
	BOUNDS_BOTH_WAYS, /* group, in both directions at once */
	/* Pairs of neighbours among all nodes, to find a slow link. */
	BOUNDS_PAIRS,
	BOUNDS_SHIFTED, /* pairs of each node with its other neighbour */
	BOUNDS_PROBES
};

/* The measured rates. */
struct bounds {
	uint32_t ranks, per_node;
	/* Rate of a node's ranks together, in bytes per second; 0: not
	 * measured. */
	double one_way_per_s;
	/* Rate in each direction when both are used, in bytes per second; 0:
	 * not measured. */
	double each_way_per_s;
};

/* Return the options of a measurement, "group pattern=rail ...", for this many
 * bytes per rank; the caller frees them. */
char *bounds_words(const struct bounds *b, enum bounds_probe which,
    uint64_t bytes, const char *via);
/* Return the bytes that each rank of a node moves if blocks have this size. */
uint64_t bounds_bytes(const struct bounds *b, uint64_t block_bytes);
/* Record a measurement: bytes per rank, and the time in seconds of the two
 * fastest ranks. The highest rate counts, because two messages in opposite
 * directions can delay each other in an MPI over TCP, where the control message
 * of one queues behind the data of the other. */
void bounds_learn(struct bounds *b, enum bounds_probe which, uint64_t bytes,
    double s);
/* Return the throughput that the collective cannot exceed, in bytes per second:
 * p d / t as in model_bound_per_s (predict/model.h); 0: no bound. */
double bounds_per_s(const struct bounds *b, const char *collective);

#endif
