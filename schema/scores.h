/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scores.h - the scores of all nodes in a canary's record: the quartile of a
 * node's pairs on the good side.
 *
 * Of up to RECORD_ROWS_MAX nodes the rows in "nodes" hold it. With more nodes,
 * rows exist for the worst ones only, and "scores" has all of them in short:
 *
 *   {"hosts": "n[00001-10000]", "q25": [1.234e-05, null, ...]}
 *
 * so that no node is missing and the record fits into its line.
 */
#ifndef SCHEMA_SCORES_H
#define SCHEMA_SCORES_H

#include <jansson.h>
#include <stddef.h>

#include "common/hostlist.h"

#define RECORD_ROWS_MAX   2500
#define RECORD_ROWS_WORST 1000 /* listed, where there are more */

struct record_score {
	const char *node; /* as long as scores and record live */
	double q;
};
struct record_scores {
	struct record_score *list;
	size_t count;
	struct hostlist hosts; /* behind the names, or empty */
};

/* key: "q25" or "q75". Nodes without a number are skipped. */
void record_scores_read(const json_t *record, const char *key,
    struct record_scores *ret);
void record_scores_clear(struct record_scores *s);
/* The member "scores" of count nodes with four digits each; NAN becomes null.
 * New reference. */
json_t *record_scores_make(const char *const *names, const double *q,
    size_t count, const char *key);
/* 1 when v is such a member. */
int record_scores_check(const json_t *v);

#endif
