/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objectives.h - the state of all objectives in memory. Rows of shares update
 * it, when they are made and at the start from the store. Pure: no clock, no
 * store.
 */
#ifndef DAEMON_OBJECTIVE_OBJECTIVES_H
#define DAEMON_OBJECTIVE_OBJECTIVES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/objective/objective.h"

struct objectives_ops {
	/* Return the leaf of a node today, or "". */
	const char *(*leaf_of)(void *arg, const char *node);
	/* Called when another alert of an objective fires, or none any more.
	 * state and text as in objectives_json. */
	void (*changed)(void *arg, const char *name, const char *state,
	    const char *text);
	void *arg;
};

/* The objectives and their hours until now. */
struct objectives;
/* Return objectives without hours, which the caller frees; copies list. Without
 * objectives_load nothing is counted. */
struct objectives *objectives_new(const struct objective *list, size_t count,
    const struct objectives_ops *ops);
void objectives_free(struct objectives *os); /* NULL is allowed */

/* Load rows of the store in slices of time, the oldest first. Return 0 after
 * the slice that ends with the present; else write the next slice, from
 * included and to excluded. With again the present is read again, for a
 * standby. */
int objectives_slice(struct objectives *os, int again, uint64_t now_unix_ns,
    uint64_t *ret_from_unix_ns, uint64_t *ret_to_unix_ns);
/* Process the rows of the slice, [{at_unix_ns known slow promise?}], newest
 * first. */
void objectives_load(struct objectives *os, const json_t *rows,
    uint64_t now_unix_ns);

/* Process a new row; rows that arrive before the end of the load wait. */
void objectives_row(struct objectives *os, json_t *row);
/* Note that a round of bandwidth has arrived, to measure the interval of
 * rounds. */
void objectives_round(struct objectives *os, uint64_t now_ns);
/* Count the time until now and decide which alerts fire; call it
 * periodically. */
void objectives_tick(struct objectives *os, uint64_t now_unix_ns);

/* Return all states, which the caller decrefs: [{name class of share target
 * window_s state text measured_hours needed_hours good_hours bad_hours good
 * budget burn {fast slow lasting {long_s short_s long_rate short_rate limit
 * fires}} parts [{subject bad_hours share?}]}]. state: undetermined, ok, spent,
 * or the alert that fires; parts: the worst first; share: of a part that is bad
 * now. An unknown number is null. */
json_t *objectives_json(struct objectives *os, uint64_t now_unix_ns);

/* One objective, for metrics and alerts. */
struct objectives_view {
	const char *name;
	const char *of; /* the reference of shares: peers or promise */
	double target;
	const char *state_name;
	struct objective_state state;
	char text[400]; /* one sentence, without the name */
};
size_t objectives_count(const struct objectives *os); /* 0: os is NULL */
void objectives_look(struct objectives *os, size_t at, uint64_t now_unix_ns,
    struct objectives_view *ret);

#endif
