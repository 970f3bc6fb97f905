/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss.h - nodes that lose a little, epoch after epoch: a Bernoulli CUSUM of
 * the lost echoes (Page 1954), within the leaf and between leaves apart. Pure.
 *
 * Each lost echo adds log(p1 / p0), each one sent takes p1 - p0: p1 is what is
 * looked for, at least three times p0, and p0 what all lose, learned from those
 * that are not near an alarm.
 * Of a pair LOSS_PAIR_MAX count in an epoch, and none where its other end is
 * itself over the limit, in the same epoch already, or has a case of another
 * kind; what was lost before that case is forgotten, where the node had its
 * part in it. Where more pairs lose than are listed, what a node lost to the
 * others is the rest of what it lost in all. A node is raised whose two sums
 * together pass the limit and that lost on both sides lately; not where many of
 * its leaf lose to others, for that is the leaf's uplink.
 *
 * Of each leaf likewise what its nodes lose to other leaves, together: one
 * uplink of several that loses one in a thousand costs each node next to
 * nothing. A leaf is raised where several of its nodes lose and none of them
 * most of it, in two epochs or more, and not to one other leaf only, for then
 * it is that one, or the way between them; what is lost on paths to it counts
 * for nobody else. And by itself it must lose more than what it meets at others
 * and what the good leaves lose likewise explain, for of what all meet each
 * leaf loses its half: what leaves lose in all, of which that is solved, counts
 * every loss of the last epochs, so that several leaves are told from those
 * that meet them. Of two leaves neither is told from the other, and one with
 * many nodes that are busy with jobs is not looked at, for these fill its
 * uplinks.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_LOSS_H
#define DAEMON_DIAGNOSIS_JUDGE_LOSS_H

#include <stddef.h>
#include <stdint.h>

#define LOSS_P1        1e-3
#define LOSS_P0_MIN    1e-5
#define LOSS_PAIR_MAX  2
#define LOSS_CLEAN     12   /* epochs without a loss: as if it never was */
#define LOSS_LEAF_MANY 3    /* of its nodes that lose: its uplink */
#define LOSS_LEAF_P1   1e-4 /* of a leaf's paths, or three times p0 */

struct loss_sum {
	double of[2];          /* within the leaf, between leaves */
	uint64_t lost, sent;   /* since both sums were 0 */
	uint32_t epochs;       /* likewise */
	uint32_t clean;        /* records since the last loss */
	uint8_t raised, aside; /* aside: as it was last heard */
};
/* Of a leaf, between leaves. */
struct loss_leaf {
	double sum;
	uint64_t lost, sent; /* since it was 0 */
	uint32_t epochs;     /* likewise, those in which it lost */
	uint32_t clean;      /* since then */
	uint32_t nodes, losing;
	/* The leaf that it loses most to, and by how much more than to all
	 * others together (Boyer and Moore 1981). */
	uint32_t with, lead;
	uint8_t raised;
};
/* Of a leaf, of the last epochs between leaves; the share that it loses by
 * itself. */
struct loss_own {
	double lost, sent, share;
	double newest;   /* echoes of the newest epoch so lost */
	uint32_t epochs; /* in a row, in which chance did not explain it */
};
struct loss_watch {
	struct loss_sum *sums; /* by place */
	size_t count;
	struct loss_leaf *leaves; /* by number */
	struct loss_own *own;     /* likewise */
	size_t leaf_count;
	/* Within leaves and between them: of all, the last day's; and what a
	 * loss weighed in the newest epoch. */
	double lost[2], sent[2], up[2];
};

/* Who took part in an epoch, and the pairs that lost. */
struct loss_node {
	uint32_t place, leaf; /* SCORE_NO_LEAF: unknown */
	uint64_t sent, lost;  /* lost: to all */
	int busy;             /* with a job's traffic */
	int aside;            /* has a case, and not because of what it loses */
};
struct loss_pair {
	uint32_t a, b; /* of the nodes' list */
	uint32_t lost;
};

struct loss_epoch {
	struct loss_node *nodes; /* their losses and */
	size_t count;
	struct loss_pair *pairs; /* these are fewer after it */
	size_t pair_count;
	int is_cut; /* pairs that lost less, or as much, are not among them */
};

/* One epoch within leaves (far 0) or between them (1). */
void loss_round(struct loss_watch *w, int far, struct loss_epoch *e);
void loss_forget(struct loss_watch *w, uint32_t place);
/* NULL: never seen. */
const struct loss_sum *loss_sum_of(const struct loss_watch *w, uint32_t place);
/* Clears the sums of leaves: a spine was found to be the reason. */
void loss_forget_leaves(struct loss_watch *w);
/* NULL: not raised. */
const struct loss_leaf *loss_leaf_raised(const struct loss_watch *w,
    uint32_t leaf);
int loss_leaves_raised(const struct loss_watch *w);
void loss_clear(struct loss_watch *w);

#endif
