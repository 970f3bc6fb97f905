/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.c - which nodes a run gets, and when.
 *
 * An exclusive run shares its nodes with no other run, in either direction;
 * background runs share with each other. A run does not start on a remnant
 * while others hold what it wants: it waits, and takes what is free only when
 * its patience ends.
 */
#include "daemon/run_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/rng.h"
#include "common/xalloc.h"

struct candidates {
	struct node **nodes; /* wanted and up, in order */
	size_t count;
	size_t wanted;
	size_t free_count;      /* of nodes, not held by others */
	char why[RUN_WHY_MAX];  /* the first that is not up */
	char held[RUN_WHY_MAX]; /* the first that is held */
};

void
admit_hold(struct run *r, struct node *n)
{
	if (r->exclusive)
		n->exclusive = r;
	else
		n->shared++;
}

void
admit_release(struct run *r)
{
	if (r->step == STEP_WAIT)
		return;
	for (size_t i = 0; i < r->node_count; i++) {
		struct node *n = r->nodes[i].node;

		if (!r->exclusive && n->shared > 0)
			n->shared--;
		else if (n->exclusive == r)
			n->exclusive = NULL;
	}
}

static int
is_free(const struct run *r, const struct node *n)
{
	return n->exclusive == NULL && (!r->exclusive || n->shared == 0);
}

static void
consider(const struct run *r, struct candidates *c, struct node *n,
    const char *name)
{
	char why[RUN_WHY_MAX];

	c->wanted++;
	if (n != NULL && roster_is_up(n) &&
	    (!r->exclusive || n->busy == NULL)) {
		c->nodes[c->count++] = n;
		if (is_free(r, n))
			c->free_count++;
		else if (c->held[0] == '\0')
			snprintf(c->held, sizeof(c->held),
			    "%s is held by run %s", n->name,
			    n->exclusive != NULL ? n->exclusive->id
						 : "of class background");
		return;
	}
	if (c->why[0] != '\0')
		return;
	if (n == NULL)
		snprintf(why, sizeof(why), "%s was never seen", name);
	else
		roster_why(n, why, sizeof(why));
	memcpy(c->why, why, sizeof(c->why));
}

/* Every node that the campaign names and that could take part. */
static void
collect(struct run *r, struct candidates *c)
{
	struct roster *roster = r->all->roster;
	const char *text = conf_string(r->conf, "campaign", "nodes");
	struct hostlist hl = { 0 };

	memset(c, 0, sizeof(*c));
	if (strcmp(text, "all") == 0) {
		size_t count = roster_count(roster);

		c->nodes = xcalloc(count + 1, sizeof(c->nodes[0]));
		for (size_t i = 0; i < count; i++) {
			struct node *n = roster_at(roster, i);

			consider(r, c, n, n->name);
		}
		return;
	}
	if (hostlist_parse(text, &hl, NULL, 0) < 0)
		return; /* it was checked when the campaign was read */
	c->nodes = xcalloc(hl.count + 1, sizeof(c->nodes[0]));
	for (size_t i = 0; i < hl.count; i++)
		consider(r, c, roster_find(roster, hl.names[i]), hl.names[i]);
	hostlist_clear(&hl);
}

static int
int_compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* count of the free candidates, drawn by the seed, in their old order. */
static void
take(struct run *r, const struct candidates *c, size_t count)
{
	int *index = xcalloc(c->free_count, sizeof(index[0]));
	size_t n = 0;
	struct rng rng;

	for (size_t i = 0; i < c->count; i++)
		if (is_free(r, c->nodes[i]))
			index[n++] = (int)i;
	rng_seed(&rng, r->seed);
	if (count < n) {
		rng_shuffle(&rng, index, n);
		qsort(index, count, sizeof(index[0]), int_compare);
	}
	r->nodes = xcalloc(count, sizeof(r->nodes[0]));
	r->node_count = count;
	for (size_t i = 0; i < count; i++) {
		r->nodes[i].node = c->nodes[index[i]];
		admit_hold(r, r->nodes[i].node);
	}
	free(index);
}

/* Waited long enough for what it lacks? */
static int
is_patient(const struct run *r, const struct candidates *c, size_t min)
{
	uint64_t now_ns = clk_ns();
	uint64_t from_ns = r->created_ns > r->all->born_ns ? r->created_ns
							   : r->all->born_ns;

	if (c->count < min)
		return now_ns - from_ns < RUN_LACK_NS;
	return now_ns - r->created_ns < r->margin_ns;
}

static void
give_up(struct run *r, const struct candidates *c, size_t min)
{
	char text[SIGN_TEXT_MAX];
	int lack = c->count < min;

	snprintf(text, sizeof(text), "%zu of %zu nodes usable, %zu needed%s%s",
	    lack ? c->count : c->free_count, c->wanted, min,
	    lack && c->why[0] == '\0' ? "" : "; ", lack ? c->why : c->held);
	run_finish(r, RUN_MISSED, lack ? CAUSE_TOO_FEW_NODES : CAUSE_BUSY,
	    text);
	run_step_set(r, STEP_DONE);
}

static void
overdue(struct run *r, const struct candidates *c)
{
	if (r->state == RUN_PENDING &&
	    clk_ns() - r->created_ns >= RUN_OVERDUE_NS)
		run_state_set(r, RUN_OVERDUE, CAUSE_BUSY,
		    c->held[0] != '\0' ? c->held : c->why);
}

void
admit_tick(struct run *r)
{
	size_t min = (size_t)conf_int(r->conf, "campaign", "nodes_min");
	size_t max = (size_t)conf_int(r->conf, "campaign", "nodes_max");
	struct candidates c;
	size_t want;

	if (run_is_final(r)) {
		run_step_set(r, STEP_DONE);
		return;
	}
	collect(r, &c);
	if (max > r->launcher->nodes_max)
		max = r->launcher->nodes_max;
	if (min > max)
		min = max;
	want = c.count < max ? c.count : max;
	if (c.count >= min && want > 0 &&
	    (c.free_count >= want ||
		(!is_patient(r, &c, min) && c.free_count >= min &&
		    c.free_count > 0))) {
		take(r, &c, c.free_count < want ? c.free_count : want);
		launch_prepare(r);
	} else if (!is_patient(r, &c, min > 0 ? min : 1)) {
		give_up(r, &c, min);
	} else {
		overdue(r, &c);
	}
	free(c.nodes);
}

void
admit_restore(struct run *r, const json_t *names)
{
	json_t *name;
	size_t i;

	r->nodes = xcalloc(json_array_size(names) + 1, sizeof(r->nodes[0]));
	json_array_foreach (names, i, name) {
		struct node *n = !json_is_string(name)
		    ? NULL
		    : roster_find(r->all->roster, json_string_value(name));

		if (n == NULL)
			continue;
		r->nodes[r->node_count].node = n;
		r->nodes[r->node_count].ready = READY_YES;
		r->node_count++;
		admit_hold(r, n);
	}
}
