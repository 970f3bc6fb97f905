/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter.h - how much the medians of the nodes of a record scatter, and which
 * nodes and pairs are slower than this scatter explains. Pure.
 */
#ifndef CTL_LIB_SCATTER_H
#define CTL_LIB_SCATTER_H

#include <jansson.h>

/* The scatter of a record of a canary, of logarithms; larger is slower. */
struct scatter {
	int sign;       /* 1: larger values are worse; -1: smaller ones */
	double middle;  /* of the nodes */
	double samples; /* of a node, in the mean */
	/* How far above the middle a node, and a pair with as many samples, can
	 * be by chance; INFINITY: too few nodes. */
	double node_reach, pair_reach;
};

/* Return the scatter of a record's nodes. sign: of struct scatter. */
struct scatter scatter_of(const json_t *record, int sign);
/* Return 1 if a node with this value, its quartile on the good side, is slower
 * than the scatter of the nodes explains; 0 if not, or if the nodes are too
 * few. */
int scatter_has_node(const struct scatter *s, double value);
/* The same for a pair with this median of n samples. The median of fewer
 * samples than a node has varies more. */
int scatter_has_pair(const struct scatter *s, double value, double n);

#endif
