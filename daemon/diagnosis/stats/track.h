/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.h - the memory of a judge for one place (a node, or one rail of it) or
 * leaf: its last rounds, its state, and its usual distance. Pure.
 *
 * A distance or effect is the logarithm of the factor by which it is slower
 * than its peers (score.h); an effect is relative to the usual distance.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_TRACK_H
#define DAEMON_DIAGNOSIS_STATS_TRACK_H

#include <stdint.h>

#define TRACK_ROUNDS 16 /* rounds that are remembered; at least an hour */

enum judge_state {
	JUDGE_UNKNOWN, /* not enough data */
	JUDGE_OK,
	JUDGE_OUTLIER,
	JUDGE_BAD /* an outlier, confirmed by a confirmation run */
};

/* State of one place or leaf. */
struct track {
	float raw[TRACK_ROUNDS]; /* ring of effects plus usual */
	uint32_t votes;          /* bit 0: the last round */
	uint32_t host_votes;     /* votes with host contention */
	uint16_t known;          /* rounds in the ring */
	uint16_t at;             /* next index in the ring */
	uint16_t clean;          /* rounds since the last vote */
	uint8_t state;           /* enum judge_state */
	uint8_t crowd;           /* of a leaf: most of its nodes are outliers */
	uint32_t rounds; /* rounds with votes since it became an outlier; before
			  * that, in the window */
	uint16_t places, slow_places; /* of a leaf, when it was last slow */
	float past;                   /* of a leaf: mean usual distance, */
	uint16_t past_n;              /* over this many rounds */
	float usual;                  /* of a node: its usual distance */
	float usual_var;              /* the variance of its error */
	float scatter;      /* of a leaf: variance of its nodes' rounds, */
	uint16_t scatter_n; /* over this many rounds */
	float scale;  /* of a node: scatter of its rounds, relative to others */
	float opened; /* the effect that made it an outlier */
	/* Its peers' typical x before it became an outlier: a mean of
	 * level_n rounds. */
	float level;
	uint8_t level_n;
	float dismissed; /* the effect that a confirmation run dismissed */
	uint16_t hold;   /* for how many more rounds the dismissal counts */
	/* Only for an outlier: its distance just before, if a step from that
	 * distance made it an outlier; and the standard deviation of the
	 * decisive mean. */
	float before, sd;
	double p; /* p-value of its last round; 1: not tested */
};

/* Forget the rounds and the state, but not the usual distance. */
void track_clear(struct track *t);
/* Add a round: its distance from peers without the usual one; whether it is a
 * vote; and whether the host had contention. window: rounds in which votes
 * count. */
void track_add(struct track *t, double effect, int is_vote, int is_busy,
    int window);
/* Return the effect of the round that was m rounds ago; m < known. */
double track_effect_at(const struct track *t, int m);
/* Return the mean effect of m rounds; the newest was `from` rounds ago. Each
 * counts at most `most`. */
double track_mean_of(const struct track *t, int from, int m, double most);
/* Return the mean effect of the last m rounds, or of all its rounds if it has
 * fewer; 0 without any. */
double track_mean(const struct track *t, int m);
/* Return the median effect of the rounds with a vote; 0 without such a
 * round. */
double track_effect(const struct track *t);
/* Return the number of votes in the window. */
int track_votes(const struct track *t);

#endif
