/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objective_feed.h - rows of shares: made after rounds of bandwidth, stored,
 * and passed to the objectives, also those that an earlier collector stored.
 */
#ifndef DAEMON_OBJECTIVE_FEED_H
#define DAEMON_OBJECTIVE_FEED_H

#include <jansson.h>

#include "daemon/objective/objectives.h"
#include "daemon/objective/promised.h"

struct objective_feed;
struct roster;
struct store;

struct objective_feed_options {
	struct store *store; /* this and roster outlive the feed */
	struct roster *roster;
	const struct objective *list;
	size_t count;
	const struct promised *promised; /* outlives the feed; NULL: none */
	int has_jobs; /* jobs are compared with rows of shares */
	/* Return the bandwidth of nodes and leaves, as diagnosis_shares does.
	 */
	json_t *(*shares)(void *arg);
	void *arg;
};

/* Return NULL without objectives and jobs: then no rows are needed. */
struct objective_feed *objective_feed_new(
    const struct objective_feed_options *o);
/* In the functions below f can be NULL. */
void objective_feed_free(struct objective_feed *f);
/* Load stored rows; on a standby also the new ones, periodically. */
void objective_feed_load(struct objective_feed *f);
/* Note that a round of bandwidth has arrived. */
void objective_feed_round(struct objective_feed *f);
/* Make a row if a round has arrived, and update the objectives; call it about
 * once a second. */
void objective_feed_tick(struct objective_feed *f);
struct objectives *objective_feed_objectives(const struct objective_feed *f);

#endif
