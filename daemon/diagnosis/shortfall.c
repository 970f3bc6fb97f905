/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortfall.c - nodes and links far below what was predicted of them.
 *
 * Peers cannot tell of what is slow everywhere, a description can. In a run
 * whose probes move bytes between two nodes at a time, and whose machine is
 * described, every node with its one partner has a ratio: what was predicted
 * over what it took. A node's best partner speaks for it, as with quartiles: a
 * slow partner must not accuse it. When most nodes are below, the description
 * is what is wrong, and nobody is accused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "common/member.h"
#include "daemon/cluster/roster.h"
#include "daemon/store/store.h"

#define SHORT_RATIO  0.5 /* far below */
#define MEETINGS_MAX 200000
#define PEERS_MIN    4 /* fewer nodes are no majority */

struct meeting {
	uint32_t node, partner; /* ids */
	double ratio;
};

struct court_promise {
	TAILQ_ENTRY(court_promise) link;
	char run[64], class[DIAGNOSIS_CLASS_MAX], mpi[32], launcher[32];
	json_t *slurm;
	char machine[40];
	struct meeting *list;
	size_t count, cap;
};

/* What one kind of places, nodes or leaves, reached at best. */
struct best {
	double *ratio; /* by index; NAN: not seen */
	uint32_t *met;
	uint32_t count, seen, below;
};

static struct court_promise *
promise_of(struct diagnosis *c, const struct diagnosis_source *from)
{
	struct court_promise *p;

	TAILQ_FOREACH (p, &c->promises, link)
		if (strcmp(p->run, from->run) == 0)
			return p;
	p = xcalloc(1, sizeof(*p));
	snprintf(p->run, sizeof(p->run), "%s", from->run);
	snprintf(p->class, sizeof(p->class), "%s", from->class);
	snprintf(p->mpi, sizeof(p->mpi), "%s", from->mpi);
	snprintf(p->launcher, sizeof(p->launcher), "%s", from->launcher);
	p->slurm = json_incref(from->slurm);
	TAILQ_INSERT_TAIL(&c->promises, p, link);
	return p;
}

static void
promise_free(struct diagnosis *c, struct court_promise *p)
{
	TAILQ_REMOVE(&c->promises, p, link);
	free(p->list);
	json_decref(p->slurm);
	free(p);
}

void
shortfall_free(struct diagnosis *c)
{
	struct court_promise *p;

	while ((p = TAILQ_FIRST(&c->promises)) != NULL)
		promise_free(c, p);
}

static void
meeting_add(struct diagnosis *c, struct court_promise *p, const json_t *o)
{
	const struct node *n = roster_find(c->roster, member_text(o, "node"));
	const struct node *with = roster_find(c->roster,
	    member_text(o, "partner"));
	double ratio = member_number(o, "ratio");

	if (n == NULL || with == NULL || !(ratio > 0) ||
	    p->count == MEETINGS_MAX)
		return;
	if (p->count == p->cap) {
		p->cap = 2 * p->cap + 64;
		p->list = xreallocarray(p->list, p->cap, sizeof(*p->list));
	}
	diagnosis_heard(c, n);
	p->list[p->count++] = (struct meeting){ (uint32_t)n->id,
		(uint32_t)with->id, ratio };
}

void
shortfall_record(struct diagnosis *c, const struct diagnosis_source *from,
    const json_t *record)
{
	const char *machine = member_text(record, "machine");
	struct court_promise *p;
	const json_t *o;
	size_t i;

	if (machine[0] == '\0' ||
	    strcmp(member_text(record, "of"), "whole") != 0)
		return;
	p = promise_of(c, from);
	snprintf(p->machine, sizeof(p->machine), "%s", machine);
	json_array_foreach (json_object_get(record, "nodes"), i, o)
		meeting_add(c, p, o);
}

/* ---- when the run is over ---- */

static void
best_make(struct best *b, size_t count)
{
	b->count = (uint32_t)count;
	b->ratio = xcalloc(count + 1, sizeof(*b->ratio));
	b->met = xcalloc(count + 1, sizeof(*b->met));
	for (size_t i = 0; i < count; i++)
		b->ratio[i] = NAN;
}

static void
best_clear(struct best *b)
{
	free(b->ratio);
	free(b->met);
}

static void
best_take(struct best *b, uint32_t at, double ratio)
{
	b->ratio[at] = fmax(b->ratio[at], ratio); /* fmax passes NAN over */
	b->met[at]++;
}

static void
best_count(struct best *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		b->seen += !isnan(b->ratio[i]);
		b->below += b->ratio[i] < SHORT_RATIO;
	}
}

static uint32_t
leaf_of(struct diagnosis *c, uint32_t node)
{
	return diagnosis_leaf(c, roster_by_id(c->roster, node)->leaf);
}

/* Between leaves, of nodes that are not to blame themselves. */
static void
take_crossings(struct diagnosis *c, const struct court_promise *p,
    const struct best *nodes, struct best *ret)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct meeting *m = &p->list[i];
		uint32_t a = leaf_of(c, m->node), b = leaf_of(c, m->partner);

		if (a == b || a == SCORE_NO_LEAF || b == SCORE_NO_LEAF ||
		    nodes->ratio[m->node] < SHORT_RATIO ||
		    nodes->ratio[m->partner] < SHORT_RATIO)
			continue;
		best_take(ret, a, m->ratio);
	}
}

static void
tell(struct diagnosis *c, const struct court_promise *p, enum judge_kind kind,
    const struct best *b)
{
	struct diagnosis_source from = { p->run, "", p->class, p->mpi,
		p->launcher, p->slurm };

	for (uint32_t i = 0; i < b->count; i++) {
		struct shortfall_expected seen = { b->ratio[i], b->met[i], "" };

		snprintf(seen.machine, sizeof(seen.machine), "%s", p->machine);
		if (b->ratio[i] < SHORT_RATIO)
			incident_promise(c, kind, i, &from, &seen);
		else if (!isnan(b->ratio[i]))
			incident_kept(c, kind, i);
	}
}

static void
doubt(struct diagnosis *c, const struct court_promise *p, const struct best *b)
{
	char text[200];

	snprintf(text, sizeof(text),
	    "%u of %u nodes are far below the prediction for machine %s: is "
	    "its description right?",
	    b->below, b->seen, p->machine);
	log_warnx("run %s: %s", p->run, text);
	store_put_event(c->store, "alarm", p->run, text);
}

static void
judge_promise(struct diagnosis *c, const struct court_promise *p)
{
	struct best nodes = { 0 }, leaves = { 0 };

	best_make(&nodes, roster_count(c->roster));
	for (size_t i = 0; i < p->count; i++)
		best_take(&nodes, p->list[i].node, p->list[i].ratio);
	best_count(&nodes);
	if (nodes.seen >= PEERS_MIN && 2 * nodes.below > nodes.seen) {
		doubt(c, p, &nodes);
		best_clear(&nodes);
		return;
	}
	/* leaf_of() may be the first to number a leaf */
	for (size_t i = 0; i < p->count; i++)
		(void)leaf_of(c, p->list[i].node);
	best_make(&leaves, c->leaf_count);
	take_crossings(c, p, &nodes, &leaves);
	tell(c, p, JUDGE_NODE, &nodes);
	tell(c, p, JUDGE_LEAF, &leaves);
	best_clear(&nodes);
	best_clear(&leaves);
}

void
shortfall_over(struct diagnosis *c, const char *run)
{
	struct court_promise *p;

	TAILQ_FOREACH (p, &c->promises, link)
		if (strcmp(p->run, run) == 0)
			break;
	if (p == NULL)
		return;
	judge_promise(c, p);
	promise_free(c, p);
}
