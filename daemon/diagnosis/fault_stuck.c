/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_stuck.c - a node with which exchanges of MPI do not end. It cannot be
 * measured, so this outranks being slow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"
#include "daemon/store/store.h"

/* Exchanges with it did not end, with two other nodes or more, or do so again.
 * from: of the run, NULL at its end. */
static void
fault_stuck_open(struct diagnosis *d, uint32_t node,
    const struct diagnosis_source *from)
{
	struct incident *k = incident_find(d, JUDGE_NODE, node);
	struct diagnosis_series *s;
	int is_new = k == NULL || k->fault != &fault_stuck;

	if (!stuck_is_named(&d->stuck, node)) {
		if (!is_new)
			incident_end(d, k, VERDICT_OK,
			    "exchanges with this node complete again");
		return;
	}
	s = series_fact(d, WHAT_STUCK);
	if (s == NULL || from == NULL ||
	    (is_new && k != NULL && k->fault->is_certain &&
		k->verdict == VERDICT_BAD))
		return; /* a slow port or an MTU explains it already */
	k = incident_take(d, k, &fault_stuck, JUDGE_NODE, node);
	incident_show_from(d, k, s, is_new ? from : NULL);
}

/* Neither node is named: report the pair once. */
static void
fault_stuck_tell(struct diagnosis *d, const struct diagnosis_source *from,
    const struct diagnosis_stuck *s)
{
	struct err err;

	if (stuck_is_named(&d->stuck, (uint32_t)s->a->id) ||
	    stuck_is_named(&d->stuck, (uint32_t)s->b->id))
		return;
	err_say(&err,
	    "an exchange of %.80s with %.80s did not end within %.0f s "
	    "(%s, run %s): one of these nodes, or the path between them, is "
	    "faulty",
	    s->a->name, s->b->name, s->waited_s, s->test, from->run);
	log_warnx("%s", err.text);
	store_put_event(d->store, "alarm", s->a->name, err.text);
}

void
diagnosis_stuck(struct diagnosis *d, const struct diagnosis_source *from,
    const struct diagnosis_stuck *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct stuck_pair p = { { (uint32_t)pairs[i].a->id,
					    (uint32_t)pairs[i].b->id },
			.at_ns = clk_ns(), .waited_s = pairs[i].waited_s };

		snprintf(p.what, sizeof(p.what), "%.15s", pairs[i].test);
		stuck_note(&d->stuck, &p);
	}
	/* Whether a node explains most pairs is known after the last one. */
	for (size_t i = 0; i < count; i++) {
		fault_stuck_tell(d, from, &pairs[i]);
		fault_stuck_open(d, (uint32_t)pairs[i].a->id, from);
		fault_stuck_open(d, (uint32_t)pairs[i].b->id, from);
	}
}

int
diagnosis_avoid(const struct diagnosis *d, const struct node *n,
    struct err *err)
{
	const struct stuck_pair *p = stuck_out(&d->stuck, (uint32_t)n->id,
	    clk_ns());
	const struct incident *k;

	TAILQ_FOREACH (k, &d->incidents, link)
		if (k->fault->stops_runs && !k->over &&
		    ((k->kind == JUDGE_NODE && k->index == n->id) ||
			(k->kind == JUDGE_LEAF &&
			    strcmp(k->subject, n->leaf) == 0)))
			return err_set(err, 1, "%.80s: %s", k->subject,
			    names_whats[k->what].text);
	if (p == NULL)
		return 0;
	return err_set(err, 1, "an exchange of %.80s with %.80s did not end",
	    n->name,
	    roster_by_id(d->roster, p->nodes[p->nodes[0] == n->id])->name);
}

/* A run has ended: nodes that it measured are not stuck. */
static void
fault_stuck_run_over(struct diagnosis *d, const char *run)
{
	uint8_t *measured;
	struct incident *k, *next;
	struct err err;

	if (d->stuck.count == 0)
		return;
	measured = xcalloc(roster_ids(d->roster) + d->node_count + 1, 1);
	for (size_t i = 0; i < d->node_count; i++)
		measured[i] = strcmp(d->nodes[i].canary_run, run) == 0;
	for (size_t i = 0; i < d->stuck.count; i++) {
		const struct stuck_pair *p = &d->stuck.pairs[i];
		const uint32_t *of = p->nodes;

		/* The second node works without the first one, as the first one
		 * does without it. */
		if (p->fine[0] + p->fine[1] != 1 ||
		    measured[of[0]] == measured[of[1]] ||
		    !measured[of[p->fine[0]]])
			continue;
		err_say(&err,
		    "%.80s and %.80s exchange messages with other nodes "
		    "normally, but not with each other: the path between them "
		    "is faulty",
		    roster_by_id(d->roster, of[0])->name,
		    roster_by_id(d->roster, of[1])->name);
		log_warnx("%s", err.text);
		store_put_event(d->store, "alarm",
		    roster_by_id(d->roster, of[0])->name, err.text);
	}
	stuck_measured(&d->stuck, measured);
	free(measured);
	for (k = TAILQ_FIRST(&d->incidents); k != NULL; k = next) {
		next = TAILQ_NEXT(k, link);
		if (k->fault == &fault_stuck)
			fault_stuck_open(d, k->index, NULL);
	}
}

/* ---- an open case ---- */

/* Write the newest pair, and the name of another partner. */
static void
fault_stuck_text(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	const struct stuck_pair *newest = NULL;
	const char *whom[2] = { "", "" };
	size_t partners = 0;

	for (size_t i = 0; i < d->stuck.count; i++) {
		const struct stuck_pair *p = &d->stuck.pairs[i];
		uint32_t other = p->nodes[p->nodes[0] == k->index];

		if (p->nodes[0] != k->index && p->nodes[1] != k->index)
			continue;
		newest = p;
		whom[++partners > 1] = roster_by_id(d->roster, other)->name;
	}
	if (newest == NULL)
		return;
	fault_text_add(text,
	    "%s: exchanges with %zu nodes, %.60s and %.60s among them, did not "
	    "end within %.0f s (%s); further runs skip this node",
	    k->subject, partners, whom[0], whom[1], newest->waited_s,
	    newest->what);
}

static void
fault_stuck_json(const struct diagnosis *d, const struct incident *k, json_t *o)
{
	(void)d;
	(void)k;
	json_object_set_new(o, "rounds", json_integer(0));
}

const struct fault_kind fault_stuck = {
	.what = WHAT_STUCK,
	.about = 1 << JUDGE_NODE,
	.severity = VERDICT_BAD,
	.source = FAULT_FACT,
	.is_certain = 1,
	.is_volatile = 1,
	.run_over = fault_stuck_run_over,
	.text = fault_stuck_text,
	.json = fault_stuck_json,
};
