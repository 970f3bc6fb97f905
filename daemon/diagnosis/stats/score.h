/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.h - one round: the distance of each place from its peers. Pure.
 *
 * A place is a node, or one rail of it. Its value in a round is the quartile of
 * its pairs on the good side, as a logarithm that increases with slowness
 * (seconds unchanged, rates negated), so that a share counts the same in fast
 * and slow tests, and a place with good partners is no outlier. It is compared
 * only with its peers: the places with the same number in member peers of
 * struct score_obs, which means the same kind of hardware.
 *
 * If two thirds of a leaf are slow together, the leaf is named and its places
 * are compared with each other: a slow uplink does not make all nodes of the
 * leaf slow.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_SCORE_H
#define DAEMON_DIAGNOSIS_STATS_SCORE_H

#include <stddef.h>
#include <stdint.h>

#define SCORE_PEERS_MIN 3          /* fewer have no typical place */
#define SCORE_NO_LEAF   UINT32_MAX /* the leaf of a node without one */
/* Least standard deviation of a logarithm. 2 % is the resolution of the
 * histograms, so places with equal values never score. */
#define SCORE_SIGMA_MIN 0.02
/* If more than this share of the places is aside (busy with a job), many other
 * places have busy partners by chance, in every round, and are slow for that
 * reason. The scatter of the others is then taken to be wider, and the judge
 * requires more of an outlier. */
#define SCORE_ASIDE_MANY 0.25

/* One place in a round: an observation. */
struct score_obs {
	uint32_t place;
	uint32_t peers; /* number of its group of peers, from 0 */
	uint32_t leaf;  /* number of its leaf, from 0, or SCORE_NO_LEAF */
	double x;
	/* Learned: its mean distance from its peers, the variance, and the
	 * number of rounds. is_mixed: its peers include other kinds. */
	double mean, var; /* var: variance of one round's distance */
	uint32_t mean_n;
	uint8_t is_mixed;
	/* 1: its link carries a job's traffic. It is not typical, and it is not
	 * scored if it is slow, since the traffic explains that. */
	uint8_t aside;
	/* Filled by score_round: the number of its peers; 0: not compared. */
	uint32_t peer_count;
	/* filled by score_round; NAN: too few peers, or aside and slow */
	double level; /* its peers' typical x */
	/* The part that its leaf explains, which is not in effect; after
	 * judge_round the part that is being learned as usual of a young
	 * leaf. */
	double excuse;
	double effect; /* x less its peers' typical x; 0.18 is 20 % slower */
	double z;      /* effect in standard deviations of a normal */
	/* filled by judge_round: the usual distance, and its error */
	double usual, usual_var;
};

/* A leaf in a round. */
struct score_leaf {
	uint32_t leaf;
	uint32_t places, slow; /* how many, and how many of them are slow */
	int apart;             /* 1: its places are slow together */
	double effect;         /* median of its places against their peers */
	double z;              /* z of that median */
	double raw;            /* effect including the usual distance */
	double level;          /* typical x of the peers of one of its places */
};

struct score;

/* Return a scratch buffer for rounds, which the caller frees. */
struct score *score_new(void);
void score_free(struct score *s); /* NULL is allowed */
/* Fill effect and z of all. *ret_leaves (valid until the next call): leaves
 * with at least two scored places. effect_min: smaller effects are not slow. */
size_t score_round(struct score *s, struct score_obs *obs, size_t count,
    double effect_min, const struct score_leaf **ret_leaves);

/* Return the q quantile of x, which is reordered, in linear time. */
double score_quantile(double *x, size_t n, double q);

/* Return P(Z > z) of a standard normal distribution. */
double score_tail(double z);
/* Return a robust z of n places as the normal deviate of the same tail. The
 * median deviation of few places is itself uncertain, as Student's t with 0.37
 * (n - 1) degrees of freedom (its efficiency is 37 %), by the approximation of
 * Wallace (1959). */
double score_normal(double t, size_t n);
/* Return the inverse of score_normal. */
double score_student(double z, size_t n);

/* Benjamini and Hochberg (1995): reject hypotheses, with at most a share q
 * wrongly rejected. p: the candidates; the others of `tests` have p 1. Return
 * the largest rejected p, or -1 for none. Sorts p. */
double score_fdr(double *p, size_t count, size_t tests, double q);

#endif
