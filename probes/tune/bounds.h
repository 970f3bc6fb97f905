/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds.h - what two nodes exchange, as a bound for collectives. HiCCL's
 * empirical bounds (section VI-C5): gather and scatter are held by their root,
 * which sends or receives only; all others do both at once. The rate of a node,
 * one way or each of both ways, takes the place of the rated one in Table III
 * (predict/model.h). Pure.
 */
#ifndef PROBES_TUNE_BOUNDS_H
#define PROBES_TUNE_BOUNDS_H

#include <stdint.h>

enum bounds_probe {
	BOUNDS_ONE_WAY,   /* group, between the first two nodes */
	BOUNDS_BOTH_WAYS, /* in both directions */
	BOUNDS_PAIRS,     /* of all nodes: whose link is slow? */
	BOUNDS_SHIFTED,   /* and with the other neighbour */
	BOUNDS_PROBES
};

struct bounds {
	uint32_t ranks, per_node;
	double one_way_per_s; /* of a node's ranks together; 0: not known */
	double each_way_per_s;
};

/* Return the options of a probe, "group pattern=rail ...", for this many bytes
 * per rank. The caller frees. */
char *bounds_words(const struct bounds *b, enum bounds_probe which,
    uint64_t bytes, const char *via);
/* Return the bytes that each rank of a node moves for blocks of this size. */
uint64_t bounds_bytes(const struct bounds *b, uint64_t block_bytes);
/* Learn from the time of the two fastest ranks, in seconds. The minimum over
 * all counts: two messages in opposite directions can delay each other in an
 * MPI over TCP, where the control message of one queues behind the data of the
 * other. */
void bounds_learn(struct bounds *b, enum bounds_probe which, uint64_t bytes,
    double s);
/* Throughput p d / t that the collective cannot exceed; 0: no bound. */
double bounds_per_s(const struct bounds *b, const char *collective);

#endif
