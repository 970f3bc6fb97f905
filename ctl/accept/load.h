/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - loads of many nodes at once that a promise covers: collectives,
 * incast, congestion, and a collective for a long time. Campaigns that exist
 * measure them. The functions are pure.
 */
#ifndef CTL_ACCEPT_LOAD_H
#define CTL_ACCEPT_LOAD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"

/* The kinds. */
enum load_kind {
	LOAD_COLLECTIVE,
	LOAD_INCAST,
	LOAD_CONGESTION, /* impact on other nodes, as in GPCNeT */
	LOAD_SOAK,
	LOAD_MAX
};

#define LOAD_PARTS_MAX  32 /* of all kinds together */
#define LOAD_SIZE_TIMES 4  /* between the large and the small message */

/* A promised value. */
struct load {
	enum load_kind kind;
	char name[64];
	char word[32];   /* name of the collective, or test of the canaries */
	unsigned number; /* of senders; percent of the time with congestion */
	unsigned turn;   /* the run of a round that measures it */
};

/* The nodes of a run. */
struct load_nodes {
	size_t nodes, rails;
	/* Time in which each rank sends a block to each rank of another node,
	 * as a multiple of the time of one block at the rate of a NIC. */
	double blocks;
};

/* List the loads of a kind in a promise, for this many nodes and leaves.
 * Return the number, at most LOAD_PARTS_MAX of all kinds. *ret_why is the
 * reason why none, or not all, can be measured, a static text; or NULL. */
size_t load_list(const struct conf *promise, enum load_kind kind, size_t nodes,
    size_t leaves, struct load *ret, const char **ret_why);
/* Return the number of runs of a round with these loads. */
size_t load_turns(const struct load *loads, size_t count);
/* Return the number of rounds before a judgement. */
size_t load_rounds(const struct conf *promise, enum load_kind kind);
/* Return how often at most a kind is judged. */
size_t load_looks(enum load_kind kind);
/* Set {campaign sizes options} of a run: the turn of a round with these loads.
 * bytes: of a message that takes a fraction of a second. Return an estimate of
 * the run's duration in seconds, without its start; 0: the nodes are too few
 * for all of the loads. */
double load_run_set(const struct conf *promise, const struct load *loads,
    size_t count, unsigned turn, const struct load_nodes *n, uint64_t bytes,
    json_t *run);
/* Return the logarithm of the measured over the promised value, larger is
 * better, from the records of a run; NAN: the run did not measure it. */
double load_value(const struct conf *promise, const struct load *l,
    const struct load_nodes *n, const json_t *run, const json_t *records);

#endif
