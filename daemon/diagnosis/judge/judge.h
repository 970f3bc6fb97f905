/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - which nodes and leaves are outliers, from round to round. Pure: no
 * clock, no names.
 *
 * One judge hears one kind of rounds: one test in one class of campaigns. Of
 * every place and leaf it remembers the last rounds in which it took part. In
 * each a place is voted against that is slower than its peers by effect_min
 * and by more than scatter explains. It becomes an outlier
 *
 *   - after `votes` votes in its last `window` rounds, if
 *   - the mean of these against what is usual for it (usual.h), or against
 *     its rounds just before, in units of how far such means wander over all
 *     places, is among those that Benjamini and Hochberg reject at `fdr` in
 *     JUDGE_FDR_ROUNDS rounds,
 *
 * stays so until `clean` rounds in a row brought no vote, and becomes bad
 * only when a confirmation run (confirm.h) has confirmed it. No data is no
 * evidence, and is said: JUDGE_UNKNOWN. It stays an outlier also while it is
 * slower by half of what made it one. One that a confirmation run lets through
 * is an alarm: tests/bench measures both.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_JUDGE_H
#define DAEMON_DIAGNOSIS_JUDGE_JUDGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "daemon/diagnosis/judge/score.h"

#define JUDGE_WINDOW_MAX 16
/* The fdr of the options is that of so many rounds, since one node in its last
 * rounds is tested again in each. */
#define JUDGE_FDR_ROUNDS 20
/* Of the logarithm: what is farther than that is a fault from its first round
 * on, and never learned as usual. */
#define JUDGE_USUAL_MOST 0.3

/* Section verdict of coalmine.conf(5), where the defaults are. With them a node
 * 20 % slow is named in its third round; what chance alone names, the
 * confirmation run dismisses. 5 clean rounds
 * are more than the window forgets by itself. */
struct judge_options {
	double effect_min; /* share, of the logarithm */
	double fdr;
	int votes, window; /* window <= JUDGE_WINDOW_MAX */
	int clean;         /* rounds */
};
void judge_options_read(const struct conf *c, struct judge_options *ret);
/* The z that the rounds of a node combined must reach for it to be the first
 * outlier among so many nodes. */
double judge_threshold(const struct judge_options *o, size_t tests);

enum judge_state {
	JUDGE_UNKNOWN, /* too little of it was seen */
	JUDGE_OK,
	JUDGE_OUTLIER,
	JUDGE_BAD /* an outlier, and a confirmation run agrees */
};

enum judge_kind {
	JUDGE_NODE,
	JUDGE_LEAF,
	/* Of incidents only, no judge names them: */
	JUDGE_FLEET, /* all together */
	JUDGE_STAGE  /* spines that nothing tells apart */
};

/* What is known of one place or leaf. */
struct judge_track {
	float raw[JUDGE_WINDOW_MAX]; /* a ring: effects, and what was usual */
	uint32_t votes;              /* bit 0: the last round */
	uint32_t host_votes;         /* of those, with a busy host */
	uint16_t known;              /* rounds in the rings */
	uint16_t at;                 /* where the next goes */
	uint16_t clean;              /* rounds since the last vote */
	uint8_t state;               /* enum judge_state */
	uint8_t crowd;   /* of a leaf: most of its nodes are outliers */
	uint32_t rounds; /* with votes since it became an outlier, or before
			    that in the window */
	uint16_t places, slow_places; /* of a leaf, when it was last slow */
	float past;                   /* of a leaf: its usual distance, over */
	uint16_t past_n;              /* so many rounds */
	float usual;                  /* of a node: its usual distance, */
	float usual_var;              /* the variance of its error */
	float scatter;      /* of a leaf: variance of its nodes' rounds, over */
	uint16_t scatter_n; /* so many rounds */
	float scale; /* of a node: its rounds scatter so many times as others */
	float opened;    /* the effect that made it an outlier */
	float dismissed; /* the effect that a confirmation run dismissed, */
	uint16_t hold;   /* and for how many rounds that still counts */
	/* Of an outlier: how far it was off just before, where the step from
	 * there made it one; and the deviation of what did, of the wander. */
	float before, sd;
	double p; /* of its last round; 1: not tested */
};

struct judge_change {
	enum judge_kind kind;
	uint32_t index;
	enum judge_state from, to;
};

struct judge;

/* What was measured of the fleet, to be stored: numbers that mean something to
 * judge_fleet_restore() alone. */
#define JUDGE_FLEET_NUMBERS (3 * (JUDGE_WINDOW_MAX + 4))
struct judge_fleet {
	double number[JUDGE_FLEET_NUMBERS];
};

struct judge *judge_new(const struct judge_options *o);
void judge_free(struct judge *j); /* NULL is allowed */
/* What is slow at all in the rounds that follow, where effect_min is less. */
void judge_set_least(struct judge *j, double effect);
double judge_least(const struct judge *j); /* or effect_min */
/* One round. obs is scored in place. busy: by observation, 1 where the host
 * itself was in trouble meanwhile; NULL: nobody. *ret_changes is good until
 * the next call. */
size_t judge_round(struct judge *j, struct score_obs *obs, size_t count,
    const uint8_t *busy, const struct judge_change **ret_changes);
/* The result of a confirmation run: bad, or cleared, after which a judge must
 * name it again from the start. */
void judge_confirm(struct judge *j, enum judge_kind kind, uint32_t index,
    int confirmed);
/* One more round of one node or leaf, which was measured among few others on
 * purpose: how much slower it is than what is usual for it. It votes and clears
 * as any round does. */
void judge_extra(struct judge *j, enum judge_kind kind, uint32_t index,
    double effect);
/* As an earlier life left it, or as a confirmation run on another found it. */
void judge_restore(struct judge *j, enum judge_kind kind, uint32_t index,
    enum judge_state state);
/* It was away, or another took its name: what was known of it is void. */
void judge_forget(struct judge *j, enum judge_kind kind, uint32_t index);

/* NULL: never seen. */
const struct judge_track *judge_track(const struct judge *j,
    enum judge_kind kind, uint32_t index);
uint32_t judge_count(const struct judge *j, enum judge_kind kind);
/* Of these, those that are named. */
uint32_t judge_outliers(const struct judge *j, enum judge_kind kind);
/* Median effect of the rounds that voted against it; 0 without one. */
double judge_effect(const struct judge *j, const struct judge_track *t);
/* The mean effect of its last m rounds, or of those that are known; 0. */
double judge_mean(const struct judge *j, const struct judge_track *t, int m);
/* Is its newest round so slow that no wander explains it, and its host does not
 * either? Never of one that is an outlier already. */
int judge_is_large(const struct judge *j, enum judge_kind kind, uint32_t index);
/* Of an outlier: was what made it one as large? */
int judge_was_large(const struct judge_track *t);
/* Rounds of the window that voted against it. */
int judge_votes(const struct judge_track *t);
/* The effect of the round that was m < known rounds ago. */
double judge_newest(const struct judge *j, const struct judge_track *t, int m);
/* How much farther a node is than its peers when it is well, its leaf
 * included, as far as it is known; 0. Of an outlier: as it was when it was
 * well, by what made it one. */
double judge_node_usual(const struct judge *j, uint32_t node);
/* How much farther a leaf is when it is well, as far as it is known; 0. */
double judge_leaf_past(const struct judge *j, uint32_t leaf);
/* The same with the rounds that it was learned in, to be stored. */
void judge_leaf_restore(struct judge *j, uint32_t leaf, double past,
    uint32_t rounds);
/* A confirmation run has dismissed that effect, which counts for so many more
 * rounds. */
void judge_hold_restore(struct judge *j, enum judge_kind kind, uint32_t index,
    double effect, uint32_t rounds);
void judge_fleet(const struct judge *j, struct judge_fleet *ret);
void judge_fleet_restore(struct judge *j, const struct judge_fleet *f);
/* slow_min of confirm_judge(). */
double judge_slow_min(const struct judge *j, const struct judge_track *t);
/* Most of its last votes came while its host was in trouble. */
int judge_is_host(const struct judge *j, const struct judge_track *t);

#endif
