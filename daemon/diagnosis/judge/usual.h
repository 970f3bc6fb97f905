/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usual.h - how far a node is from its peers when it is well, and how far means
 * of a few rounds wander from that over the fleet. Pure.
 *
 * What was learned of a node is shrunk towards what is usual for its leaf, as
 * ridge regression does: a young node is like its peers, an old one like
 * itself. A node is suspected by the mean of its last rounds against that, in
 * units of how far such means of all nodes have wandered, which is measured.
 * A wander computed from the scatter of one round would take rounds for
 * independent, and a node that is off by chance stays so for an hour.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_USUAL_H
#define DAEMON_DIAGNOSIS_JUDGE_USUAL_H

#include <stddef.h>
#include <stdint.h>

/* The standard deviation of one kind of number over the fleet, pooled over
 * rounds: of a small fleet one round tells little. */
struct wander {
	double var;
	uint32_t rounds; /* pooled, up to a limit */
	double nodes;    /* mean number in a round */
};

/* Add one round: x of all nodes, which is reordered. is_hour: x are means of an
 * hour, in which the noise of single rounds no longer counts. */
void wander_hear(struct wander *w, double *x, size_t n, int is_hour);
double wander_sd(const struct wander *w, double least);
/* The numbers that it was measured from, as degrees of freedom: for
 * score_normal(). */
size_t wander_size(const struct wander *w);

/* What is known before a node's own rounds, as standard deviations. */
struct usual_prior {
	double between; /* of nodes of a kind, for good */
	double noise;   /* of one round */
	double wander;  /* of a mean of few rounds */
};

/* The offset of a node with that mean of n rounds, whose leaf is usually at
 * `leaf`; and the variance of its error. */
double usual_offset(const struct usual_prior *p, double leaf, double mean,
    uint32_t n);
double usual_variance(const struct usual_prior *p, uint32_t n);

/* The standard deviation of healthy nodes from x, reordered: of 16 or more the
 * slow side counts up to an eighth, as a kind of nodes of its own is no outlier
 * of another. */
double usual_between(double *x, size_t n);

#endif
