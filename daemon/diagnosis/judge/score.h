/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.h - one round: how far everyone is from his peers. Pure.
 *
 * A place is what is judged: a node, or one rail of it. Its number in a round
 * is the quartile of its pairs on the good side, as a logarithm that grows
 * with trouble (seconds as they are, rates negated), so that a share counts
 * the same for fast and slow tests, and a place with good partners is
 * no outlier. It is compared with the places of the same peers number only.
 *
 * Where two thirds of a leaf are slow together, the leaf is named and its
 * places are compared with each other: a slow uplink is not a rack of slow
 * nodes.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_SCORE_H
#define DAEMON_DIAGNOSIS_JUDGE_SCORE_H

#include <stddef.h>
#include <stdint.h>

#define SCORE_PEERS_MIN 3 /* fewer have no typical one among them */
#define SCORE_NO_LEAF   UINT32_MAX
/* Of the logarithm. 2 % is the resolution of the histograms, so places whose
 * numbers are equal never score. */
#define SCORE_SIGMA_MIN 0.02
/* Where more than this share of the places is aside, the others have met busy
 * partners by chance, more than a few in every round. */
#define SCORE_ASIDE_MANY 0.25

struct score_obs {
	uint32_t place;
	uint32_t peers; /* small numbers from 0 */
	uint32_t leaf;  /* small numbers from 0, or SCORE_NO_LEAF */
	double x;
	/* What was learned of it: its mean distance from its peers, its
	 * variance, and of how many rounds. is_mixed: its peers are of other
	 * kinds too. */
	double mean, var; /* var: of a round */
	uint32_t mean_n;
	uint8_t is_mixed;
	/* 1: its link carries a job's traffic. It is not typical, and slow it
	 * says nothing: then it is not scored. */
	uint8_t aside;
	uint32_t peer_count; /* filled by score_round; 0: not compared */
	/* filled by score_round; NAN: too few peers, or aside and slow */
	double level; /* its peers' typical x */
	/* What its leaf explains and is not in the effect; after judge_round
	 * what is becoming usual of a young leaf. */
	double excuse;
	double effect; /* x over its peers' typical x; 0.18 is 20 % slower */
	double z;      /* the same in standard deviations of a normal */
	/* filled by judge_round: what is usual for it, and the error */
	double usual, usual_var;
};

struct score_leaf {
	uint32_t leaf;
	uint32_t places, slow; /* how many, and how many of them are slow */
	int apart;             /* its places are slow together */
	double effect;         /* median of its places against their peers */
	double z;              /* of that median */
	double raw;            /* the effect with what is usual in it */
};

struct score;

struct score *score_new(void);
void score_free(struct score *s); /* NULL is allowed */
/* Fill effect and z of all. *ret_leaves (valid until the next call): those
 * with at least two scored places. effect_min: what is not slow at all. */
size_t score_round(struct score *s, struct score_obs *obs, size_t count,
    double effect_min, const struct score_leaf **ret_leaves);

/* The q quantile of x, which is reordered: linear in time. */
double score_quantile(double *x, size_t n, double q);

/* P(Z > z) of a standard normal. */
double score_tail(double z);
/* A robust z of n places as the normal deviate of the same tail: the median
 * deviation of few places is itself uncertain, as Student's t with 0.37 (n - 1)
 * degrees (its efficiency is 37 %), by the approximation of Wallace (1959). */
double score_normal(double t, size_t n);
/* Its inverse. */
double score_student(double z, size_t n);

/* Benjamini and Hochberg (1995): of tests hypotheses the rejected ones, with
 * at most a share q of them wrongly. p: the candidates, those that are
 * missing being 1. Returns the largest p that is rejected, or -1 for none.
 * Sorts p. */
double score_fdr(double *p, size_t count, size_t tests, double q);

#endif
