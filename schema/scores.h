/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scores.h - the scores of all nodes in the record of a canary. The score of a
 * node is a quartile of the results of its pairs, on the good side: q25 of
 * times, q75 of rates.
 *
 * If a test has up to RECORD_ROWS_MAX nodes, the member "nodes" has a row for
 * each, and its score is in this row. With more nodes, "nodes" has rows for the
 * worst nodes only, and the member "scores" has the scores of all nodes:
 *
 *   {"hosts": "n[00001-10000]", "q25": [1.234e-05, null, ...]}
 *
 * Thus no node is missing, and the record is not longer than a line may be.
 */
#ifndef SCHEMA_SCORES_H
#define SCHEMA_SCORES_H

#include <jansson.h>
#include <stddef.h>

#include "common/hostlist.h"

#define RECORD_ROWS_MAX   2500 /* with more nodes, "scores" is written */
#define RECORD_ROWS_WORST 1000 /* rows of "nodes" if there are more nodes */

/* The score of one node: q in s or B/s, as the record's unit says. The name is
 * valid until record_scores_clear, and as long as the record lives. */
struct record_score {
	const char *node;
	double q;
};
/* The scores of all nodes of a record. */
struct record_scores {
	struct record_score *list;
	size_t count;
	struct hostlist hosts; /* owns the names, or is empty */
};

/* Read the scores of a record into *ret, which the caller clears. key: "q25" or
 * "q75". Nodes without a score are skipped. */
void record_scores_read(const json_t *record, const char *key,
    struct record_scores *ret);
/* Free what *s owns, and empty it. */
void record_scores_clear(struct record_scores *s);
/* Return the member "scores" for count nodes: a new reference. Numbers have
 * four digits; NAN becomes null. key: "q25" or "q75". */
json_t *record_scores_make(const char *const *names, const double *q,
    size_t count, const char *key);
/* Return 1 if v is a valid member "scores", 0 if not. */
int record_scores_check(const json_t *v);

#endif
