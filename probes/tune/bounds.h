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
	BOUNDS_BOTH_WAYS, /* likewise */
	BOUNDS_PAIRS,     /* of all nodes: whose link is slow? */
	BOUNDS_SHIFTED,   /* and with the other neighbour */
	BOUNDS_PROBES
};

struct bounds {
	uint32_t ranks, per_node;
	double one_way_per_s; /* of a node's ranks together; 0: not known */
	double each_way_per_s;
};

/* The options of a probe, "group pattern=rail ..."; each rank moves so many
 * bytes. The caller frees. */
char *bounds_words(const struct bounds *b, enum bounds_probe which,
    uint64_t bytes, const char *via);
/* How many bytes each rank of a node moves for blocks of so many. */
uint64_t bounds_bytes(const struct bounds *b, uint64_t block_bytes);
/* What its fastest two ranks took, in seconds. The best of all counts: two
 * messages that cross can hold each other up in an MPI over TCP, where what
 * lets one go on queues behind the other's bytes. */
void bounds_learn(struct bounds *b, enum bounds_probe which, uint64_t bytes,
    double s);
/* Throughput p d / t that the collective cannot exceed; 0: no bound. */
double bounds_per_s(const struct bounds *b, const char *collective);

#endif
