/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - find outliers among nodes and leaves, from round to round. Pure: no
 * clock, no names.
 *
 * One judge processes one kind of rounds: one test in one class of campaigns.
 * It remembers the last rounds of every place (a node, or one rail of it) and
 * of every leaf. A distance or effect is the logarithm of the factor by which a
 * place is slower than its peers (score.h). A round is a vote
 * against a place that is slower than its peers by effect_min and by more than
 * scatter explains. A place becomes an outlier
 *
 *   - after `votes` votes in its last `window` rounds, if
 *   - the mean of these rounds, relative to its usual distance (usual.h) or
 *     to the rounds just before, in units of the wander (usual.h) of such means
 * over all places, is among those that the procedure of Benjamini and Hochberg
 *     rejects at `fdr` in JUDGE_FDR_ROUNDS rounds.
 *
 * It stays an outlier until `clean` rounds in a row brought no vote, and while
 * it is slower by half of the effect that made it one. It becomes bad only
 * after a confirmation run (confirm.h). Without data the state is
 * JUDGE_UNKNOWN. An outlier that a confirmation run wrongly confirms is a false
 * alarm: tests/bench measures the rates of both.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_JUDGE_H
#define DAEMON_DIAGNOSIS_STATS_JUDGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "daemon/diagnosis/stats/score.h"
#include "daemon/diagnosis/stats/track.h"

/* Option fdr (the false discovery rate) is for this number of rounds, since the
 * last rounds of a node are tested again in each round. */
#define JUDGE_FDR_ROUNDS 20
/* A distance, as a logarithm. A larger distance is a fault from the first round
 * on, and never learned as usual. */
#define JUDGE_USUAL_MOST 0.3

/* Section verdict of coalmine.conf(5), which has the defaults. With the
 * defaults a node that is 20 % slow becomes an outlier in its third round; the
 * confirmation run dismisses outliers that are due to chance. 5 clean rounds
 * are more than the window needs to forget. */
struct judge_options {
	double effect_min; /* share, of the logarithm */
	double fdr;
	int votes, window; /* window <= TRACK_ROUNDS */
	int clean;         /* rounds */
};
/* Read section verdict. */
void judge_options_read(const struct conf *c, struct judge_options *ret);
/* Return the z that the combined rounds of a node must reach to be the first
 * outlier among this many nodes. */
double judge_threshold(const struct judge_options *o, size_t tests);

enum judge_kind {
	JUDGE_NODE,
	JUDGE_LEAF,
	/* Only incidents have the following kinds; no judge reports them. */
	JUDGE_FLEET, /* all nodes together */
	JUDGE_STAGE  /* spines that measurements cannot distinguish */
};

/* A change of state, by a round. */
struct judge_change {
	enum judge_kind kind;
	uint32_t index;
	enum judge_state from, to;
};

struct judge;

/* The measured wander of the fleet, to be stored; only judge_fleet_restore()
 * reads these numbers. */
#define JUDGE_FLEET_NUMBERS (3 * (TRACK_ROUNDS + 4))
struct judge_fleet {
	double number[JUDGE_FLEET_NUMBERS];
};

/* Return a judge without data, which the caller frees. */
struct judge *judge_new(const struct judge_options *o);
void judge_free(struct judge *j); /* NULL is allowed */
/* Set the smallest effect that counts as slow in the following rounds, if it
 * exceeds effect_min. */
void judge_set_least(struct judge *j, double effect);
/* Return the smallest effect that counts as slow: at least effect_min. */
double judge_least(const struct judge *j);
/* Process one round. obs is scored in place. busy: by observation, 1 if the
 * host had contention; NULL: none had. *ret_changes is valid until the next
 * call. */
size_t judge_round(struct judge *j, struct score_obs *obs, size_t count,
    const uint8_t *busy, const struct judge_change **ret_changes);
/* Apply the result of a confirmation run: bad, or cleared, after which the
 * place needs new votes to become an outlier. */
void judge_confirm(struct judge *j, enum judge_kind kind, uint32_t index,
    int confirmed);
/* Add a round of one node or leaf that was measured among few others on
 * purpose. effect: its slowness relative to its usual distance. It counts as
 * any other round. */
void judge_extra(struct judge *j, enum judge_kind kind, uint32_t index,
    double effect);
/* Make a place an outlier that its rounds do not name yet. */
void judge_name(struct judge *j, enum judge_kind kind, uint32_t index);
/* Restore a state that was stored before a restart, or found by a confirmation
 * run on another subject. */
void judge_restore(struct judge *j, enum judge_kind kind, uint32_t index,
    enum judge_state state);
/* Forget the state: the node was away, or another node has its name. */
void judge_forget(struct judge *j, enum judge_kind kind, uint32_t index);

/* Return the state of a node or leaf; NULL: no data. */
const struct track *judge_track(const struct judge *j, enum judge_kind kind,
    uint32_t index);
/* Return the number of nodes or leaves that the judge knows. */
uint32_t judge_count(const struct judge *j, enum judge_kind kind);
/* Return how many nodes or leaves are outliers or bad. */
uint32_t judge_outliers(const struct judge *j, enum judge_kind kind);
/* Return 1 if a place or its leaf is an outlier or bad. */
int judge_is_slow(const struct judge *j, uint32_t place, uint32_t leaf);
/* Return 1 if the newest round of a node or leaf is slower than wander or host
 * contention explain, 0 if not. Always 0 for an outlier. */
int judge_is_large(const struct judge *j, enum judge_kind kind, uint32_t index);
/* Return 1 if an outlier became one by a large effect, as judge_is_large
 * reports it; 0 if not. */
int judge_was_large(const struct track *t);
/* Return the usual distance of a node from its peers, including the distance of
 * its leaf, as far as known; else 0. For an outlier: before it became one. */
double judge_node_usual(const struct judge *j, uint32_t node);
/* Return the usual distance of a leaf, as far as known; else 0. */
double judge_leaf_past(const struct judge *j, uint32_t leaf);
/* Restore the usual distance of a leaf and the number of rounds from which it
 * was learned. */
void judge_leaf_restore(struct judge *j, uint32_t leaf, double past,
    uint32_t rounds);
/* Restore an effect that a confirmation run dismissed, and for how many more
 * rounds this counts. */
void judge_hold_restore(struct judge *j, enum judge_kind kind, uint32_t index,
    double effect, uint32_t rounds);
/* Store or restore the measured wander of the fleet. */
void judge_fleet(const struct judge *j, struct judge_fleet *ret);
void judge_fleet_restore(struct judge *j, const struct judge_fleet *f);
/* Return slow_min for confirm_judge(). */
double judge_slow_min(const struct judge *j, const struct track *t);
/* Return 1 if most of the last votes against the node came during contention on
 * its host, 0 if not. */
int judge_is_host(const struct judge *j, const struct track *t);

#endif
