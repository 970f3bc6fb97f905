/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck.h - pairs of nodes between which MPI exchanges did not end, over many
 * runs: find whether a node or the path between them is the cause. Pure.
 *
 * A node is named if it was stuck with two other nodes, more than any of these
 * was. For a pair that this does not explain, one node is skipped in runs, so
 * that the other is measured without it, and then the reverse. If both work
 * with other nodes, the path is the cause.
 */
#ifndef DAEMON_DIAGNOSIS_STATS_STUCK_H
#define DAEMON_DIAGNOSIS_STATS_STUCK_H

#include <stddef.h>
#include <stdint.h>

#define STUCK_PAIRS_MAX 64 /* the newest ones */
/* A node is skipped for this long, then tried again. */
#define STUCK_OUT_NS (15 * 60 * 1000000000ULL)

/* Number of records of echoes in a row, without a loss, after which a pair that
 * has lost some is measured again. Each epoch has two, within leaves and
 * between them. */
#define STUCK_CLEAN 6

/* Two nodes between which an exchange did not end. */
struct stuck_pair {
	uint32_t nodes[2];
	uint64_t at_ns;  /* the newest time */
	uint8_t fine[2]; /* measured without the other node since */
	uint8_t lossy;   /* 1: a node of it has lost echoes since */
	uint8_t clean;   /* records in a row without */
	double waited_s;
	char what[16]; /* the test */
};

/* The recent pairs. Begins as zeros. */
struct stuck_watch {
	struct stuck_pair pairs[STUCK_PAIRS_MAX];
	size_t count;
};

/* Add a pair, or its repetition; if the list is full the oldest is removed. */
void stuck_note(struct stuck_watch *w, const struct stuck_pair *p);
/* Return the number of different nodes with which this node was stuck. */
size_t stuck_partners(const struct stuck_watch *w, uint32_t node);
/* Return 1 if this node is named as the cause, 0 if not. */
int stuck_is_named(const struct stuck_watch *w, uint32_t node);
/* Remove the pairs whose nodes were both measured by a run; measured: by
 * node. */
void stuck_measured(struct stuck_watch *w, const uint8_t *measured);
/* Note the lost echoes of an epoch, by node; negative: unknown. Losses may be
 * why an exchange did not end: the pair is removed when they are over, unless
 * one of its nodes is named. */
void stuck_echoes(struct stuck_watch *w, const double *lost);
/* Return the pair for which a node is skipped now, or NULL. */
const struct stuck_pair *stuck_out(const struct stuck_watch *w, uint32_t node,
    uint64_t now_ns);

#endif
