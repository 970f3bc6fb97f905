/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss.h - find nodes that lose a few echoes, epoch after epoch: a Bernoulli
 * CUSUM (cumulative sum; Page 1954) of the lost echoes, separate within the
 * leaf and between leaves. An echo is a UDP datagram of the mesh and its
 * answer; an epoch is the time between two orders of the collector to the mesh.
 * Pure.
 *
 * Each lost echo adds log(p1 / p0), each sent one subtracts p1 - p0. p0 is the
 * usual loss, learned from nodes that are not near an alarm; p1 is the loss to
 * detect, at least three times p0. A pair counts at most LOSS_PAIR_MAX losses
 * in an epoch. It counts none if its other end exceeds the limit itself, also
 * in this epoch, or has a case of another kind. When such a case opens, earlier
 * losses with that node are forgotten. If more pairs lose than are listed, a
 * node's losses to the others are the remainder of its total. A node is raised
 * if its two sums together exceed the limit and it recently lost on both sides;
 * not if it loses to only one node of other leaves, since that path may be the
 * cause, and not if many nodes of its leaf lose to other leaves, since then the
 * leaf's uplink is.
 *
 * The lost echoes are also summed for each leaf, over its nodes' losses to
 * other leaves: one bad uplink of several, which loses one datagram in a
 * thousand, hardly affects a single node. A leaf is raised if several of its
 * nodes lose, none of them most of it, in two epochs or more. It is not raised
 * if it loses to only one other leaf: that leaf, or the path between them, may
 * be the cause. Losses on paths to a raised leaf do not count for other leaves.
 * In addition the leaf's own loss must exceed what the own losses of the leaves
 * that it meets and of good leaves explain, since a loss of all leaves is
 * attributed to each of them by half. The own losses are solved from the total
 * losses of all leaves in the last epochs, which separates bad leaves from
 * their partners. With only two leaves this is impossible. A leaf with many
 * nodes that are busy with jobs is skipped, since jobs fill its uplinks.
 *
 * A raised node or leaf has recovered if it loses nothing for LOSS_CLEAN
 * epochs, or if a sum in the other direction (over) exceeds its limit: single
 * losses by chance do not keep its case open. It decides between half of the
 * loss that it had and a third of that half.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_LOSS_H
#define DAEMON_DIAGNOSIS_STATS_LOSS_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/diagnosis/stats/confirm.h"

/* See above: p1; the least p0, since a usual loss of zero would make the first
 * lost echo decide; and the losses of a pair that count in an epoch. */
#define LOSS_P1        1e-3
#define LOSS_P0_MIN    1e-5
#define LOSS_PAIR_MAX  2
#define LOSS_CLEAN     12   /* epochs without a loss that clear a sum */
#define LOSS_LEAF_MANY 3    /* nodes of a leaf that lose: its uplink */
#define LOSS_LEAF_P1   1e-4 /* p1 of a leaf's paths; at least three times p0 */

/* The partner with most of its losses, and by how much more these are than all
 * others (Boyer and Moore 1981). */
struct loss_lead {
	uint32_t with, by, lost;
};

struct loss_sum {
	double of[2], over;  /* within the leaf, between leaves; recovery */
	uint64_t lost, sent; /* since both sums were 0 */
	uint32_t epochs;     /* since both sums were 0 */
	uint32_t clean;      /* records since the last loss; two in an epoch */
	uint8_t raised, aside; /* aside: loss_node.aside of the last epoch */
	struct loss_lead lead; /* of places, between leaves */
};
/* The losses of a leaf to other leaves. */
struct loss_leaf {
	double sum, over;
	uint64_t lost, sent; /* since the sum was 0 */
	uint32_t epochs;     /* epochs with losses since then */
	uint32_t clean;      /* epochs since the last loss */
	uint32_t nodes, losing;
	struct loss_lead lead; /* of leaves */
	uint8_t raised;
};
/* The losses of a leaf to other leaves in the last epochs. */
struct loss_own {
	double lost, sent, share; /* share: the part that is its own */
	double newest;            /* own losses in the newest epoch */
	uint32_t epochs;          /* in a row with losses beyond chance */
};
/* All nodes and leaves. Begins as zeros. */
struct loss_watch {
	struct loss_sum *sums; /* by place */
	size_t count;
	struct loss_leaf *leaves; /* by number */
	struct loss_own *own;     /* by number */
	size_t leaf_count;
	/* Within leaves and between them: totals of the last day; and the
	 * weight of a loss in the newest epoch. */
	double lost[2], sent[2], up[2];
};

/* The nodes of an epoch, and the pairs that lost. */
struct loss_node {
	uint32_t place, leaf; /* SCORE_NO_LEAF: unknown */
	uint64_t sent, lost;  /* lost: to all partners */
	int busy;             /* 1: its link carries a job's traffic */
	int aside;            /* has a case for another reason than losses */
};
struct loss_pair {
	uint32_t a, b, lost; /* a, b: indices into nodes */
};

struct loss_epoch {
	struct loss_node *nodes; /* losses are changed by loss_round */
	size_t count;
	struct loss_pair *pairs; /* pairs are removed by loss_round */
	size_t pair_count;
	int is_cut; /* pairs with fewer or equal losses are not listed */
};

/* Process one epoch within leaves (far 0) or between them (1). */
void loss_round(struct loss_watch *w, int far, struct loss_epoch *e);
/* Forget the losses of a node. */
void loss_forget(struct loss_watch *w, uint32_t place);
/* Return the sums of a node; NULL: no data. */
const struct loss_sum *loss_sum_of(const struct loss_watch *w, uint32_t place);
/* Clear the sums of leaves: a spine was found to be the cause. */
void loss_forget_leaves(struct loss_watch *w);
/* Return the state of a raised leaf; NULL: it is not raised. */
const struct loss_leaf *loss_leaf_raised(const struct loss_watch *w,
    uint32_t leaf);
/* Return 1 if any leaf is raised, 0 if not. */
int loss_leaves_raised(const struct loss_watch *w);
/* Free the lists. */
void loss_clear(struct loss_watch *w);

/* Lost datagrams as a number for a judge: one per cent of loss weighs as 10 %
 * of time, since a stream with this loss runs at a fraction of its rate. */
#define LOSS_WEIGHT 10.0

/* Return the lower end of a one-sided 95 % confidence interval of the lost
 * share (Wilson 1927), so that a few datagrams make no outlier. It is 0 for 0
 * of 0. */
double loss_share(uint64_t lost, uint64_t sent);
/* Convert a share to a logarithm that increases with loss, as score.h needs it,
 * and back. */
double loss_number(double share);
double loss_of_number(double x);
/* Return the finding of the mesh itself for a place or leaf that loses. near:
 * within its leaf; far: between leaves; 1: outlier, 0: not, -1: too few
 * data. */
enum confirm_finding loss_finding(enum judge_kind kind, int near, int far);

#endif
