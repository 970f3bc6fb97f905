/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round.h - a record as evidence: its numbers, and the nodes of the roster that
 * they belong to. The collector reads each record into a round once, when it is
 * committed; diagnosis and jobs see no JSON of it.
 *
 * Rows that name a node without an agent are skipped. A number that the record
 * lacks is NAN, a count 0, a text "".
 */
#ifndef DAEMON_EVIDENCE_ROUND_H
#define DAEMON_EVIDENCE_ROUND_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/names_probe.h"

struct node;
struct roster;

/* A row of "nodes". */
struct round_row {
	const struct node *node;
	double wait_ratio; /* share of its ranks' time without a core */
	uint32_t partners, slow_partners;
	double n, lost; /* datagrams: answered and lost */
	double good_lost, good_sent;
	const struct node *partner; /* to which ratio applies; NULL: none */
	double ratio;               /* prediction over measurement */
	double rounds; /* number of rounds that the row sums up; at least 1 */
};

/* The good quartile of a node's pairs: q25 of times, q75 of rates. */
struct round_score {
	const struct node *node;
	double q; /* above 0 */
};

/* A row of "pairs", of two different nodes. */
struct round_pair {
	const struct node *a, *b;
	double p50, forth, back, lost;
};

/* A record as evidence. */
struct round {
	/* Texts live as long as the record. */
	const char *run, *test, *phase, *machine;
	const char *device; /* device of the memory; "": the host */
	uint32_t bytes;     /* size of a message; 0: the size of the test */
	int is_canary;
	int canary; /* index in names_tests; negative: another test */
	int mesh;   /* enum mesh_class; negative: no class */
	int is_congested;
	int is_whole; /* 1: record of a whole plan, not of one of its steps */
	int is_rate;  /* unit B/s */
	int is_unplaced;        /* the machine describes other nodes */
	enum partners partners; /* a ring if the record does not have it */
	double p50, mean;
	struct round_row *rows;
	size_t row_count;
	struct round_score *scores;
	size_t score_count;
	struct round_pair *pairs;
	size_t pair_count;
	/* All pairs of up to RECORD_GRID_MAX nodes; nodes may be NULL.
	 * grid[i * grid_count + k], k < i: their median, NAN: not measured. */
	const struct node **grid_nodes;
	size_t grid_count;
	double *grid;
};

/* Read a record that was checked; names are looked up in the roster. */
void round_read(const struct roster *roster, const json_t *record,
    struct round *ret);
/* Return 1 if its nodes were measured in rings, in which all have the pace of
 * the slowest one. An incast has its own partners. */
int round_is_ring(const struct round *r);
/* Free the lists of a round. */
void round_clear(struct round *r);

#endif
