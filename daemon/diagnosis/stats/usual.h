/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usual.h - the usual distance of a healthy node from its peers, and how far
 * means of a few rounds wander from it over the fleet. Pure.
 *
 * The learned distance of a node is shrunk towards the usual distance of its
 * leaf, as in ridge regression: a new node is taken to be like its peers, an
 * old one like its own past. A node is suspected by the mean of its last rounds
 * relative to this, in units of the measured wander of such means over all
 * nodes. A wander computed from the scatter of one round would assume
 * independent rounds, but a node that is off by chance stays so for an hour.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_USUAL_H
#define DAEMON_DIAGNOSIS_STATS_USUAL_H

#include <stddef.h>
#include <stdint.h>

/* The standard deviation of one kind of value over the fleet, pooled over
 * rounds: in a small fleet one round is not exact enough. */
struct wander {
	double var;
	uint32_t rounds; /* number of rounds */
	double nodes;    /* mean number of nodes in a round */
};

/* Add one round: x of all nodes, which is reordered. is_hour: x are means of an
 * hour, in which the noise of single rounds is negligible. */
void wander_hear(struct wander *w, double *x, size_t n, int is_hour);
/* Return the standard deviation, at least `least`. */
double wander_sd(const struct wander *w, double least);
/* Return how many values it was measured from, as degrees of freedom for
 * score_normal(). */
size_t wander_size(const struct wander *w);

/* Standard deviations that are known before a node's own rounds. */
struct usual_prior {
	double between; /* between nodes of a kind, permanent */
	double noise;   /* of the distance in one round */
	double wander;  /* of a mean of a few rounds (struct wander) */
};

/* Return the usual offset of a node from its mean of n rounds and the usual
 * offset `leaf` of its leaf; and the variance of its error. */
double usual_offset(const struct usual_prior *p, double leaf, double mean,
    uint32_t n);
double usual_variance(const struct usual_prior *p, uint32_t n);

/* Return the standard deviation of healthy nodes from x, which is reordered.
 * With 16 nodes or more the slow side counts up to an eighth, so that nodes of
 * a different kind do not become outliers. */
double usual_between(double *x, size_t n);

#endif
