/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck.h - pairs of nodes between which exchanges of MPI did not end, of many
 * runs: one node's fault, or that of the path between them. Pure.
 *
 * A node is named once it was stuck with two others, more than any of these
 * was. Of a pair that this does not explain one is left out of runs, so that
 * the other one is measured without it, then the other way round: both are well
 * with others, and it is the path.
 */
#ifndef DAEMON_DIAGNOSIS_JUDGE_STUCK_H
#define DAEMON_DIAGNOSIS_JUDGE_STUCK_H

#include <stddef.h>
#include <stdint.h>

#define STUCK_PAIRS_MAX 64
/* Left out for so long; then it is tried. */
#define STUCK_OUT_NS (15 * 60 * 1000000000ULL)

struct stuck_pair {
	uint32_t nodes[2];
	uint64_t at_ns;  /* the newest time */
	uint8_t fine[2]; /* measured without the other one since */
	double waited_s;
	char what[16]; /* the test */
};

struct stuck_watch {
	struct stuck_pair pairs[STUCK_PAIRS_MAX];
	size_t count;
};

/* Once more, or for the first time; of too many the oldest goes. */
void stuck_note(struct stuck_watch *w, const struct stuck_pair *p);
/* With how many different nodes. */
size_t stuck_partners(const struct stuck_watch *w, uint32_t node);
int stuck_is_named(const struct stuck_watch *w, uint32_t node);
/* A run has measured these, by node: its pairs are over. */
void stuck_measured(struct stuck_watch *w, const uint8_t *measured);
/* The pair for which a node is left out now, or NULL. */
const struct stuck_pair *stuck_out(const struct stuck_watch *w, uint32_t node,
    uint64_t now_ns);

#endif
