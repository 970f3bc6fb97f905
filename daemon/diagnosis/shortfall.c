/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortfall.c - nodes and links far below their prediction.
 *
 * A comparison with peers cannot show that all are slow; a description of the
 * machine can. In a run whose probes move bytes between two nodes at a time,
 * and whose machine is described, every node has a ratio with each partner:
 * predicted time over measured time. The best ratio of a node counts, as with
 * quartiles, so that a slow partner does not count against it. If most nodes
 * are below, the description is wrong, and nothing is reported.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/cluster/roster.h"
#include "daemon/store/store.h"

#define SHORT_RATIO  0.5 /* far below */
#define MEETINGS_MAX 200000
#define PEERS_MIN    4 /* too few nodes for a majority */

struct meeting {
	uint32_t node, partner; /* ids */
	double ratio;
};

struct shortfall_run {
	TAILQ_ENTRY(shortfall_run) link;
	char run[64], class[DIAGNOSIS_CLASS_MAX], mpi[32], launcher[32];
	json_t *slurm;
	char machine[40];
	struct meeting *list;
	size_t count;
};

/* The best ratio of each place of one kind, nodes or leaves. */
struct best {
	double *ratio; /* by index; NAN: no data */
	uint32_t *met;
	uint32_t count, seen, below;
};

static struct shortfall_run *
shortfall_run_of(struct diagnosis *d, const struct diagnosis_source *from)
{
	struct shortfall_run *p;

	TAILQ_FOREACH (p, &d->shortfalls, link)
		if (strcmp(p->run, from->run) == 0)
			return p;
	p = xcalloc(1, sizeof(*p));
	snprintf(p->run, sizeof(p->run), "%s", from->run);
	snprintf(p->class, sizeof(p->class), "%s", from->class);
	snprintf(p->mpi, sizeof(p->mpi), "%s", from->mpi);
	snprintf(p->launcher, sizeof(p->launcher), "%s", from->launcher);
	p->slurm = json_incref(from->slurm);
	TAILQ_INSERT_TAIL(&d->shortfalls, p, link);
	return p;
}

static void
shortfall_run_free(struct diagnosis *d, struct shortfall_run *p)
{
	TAILQ_REMOVE(&d->shortfalls, p, link);
	free(p->list);
	json_decref(p->slurm);
	free(p);
}

void
shortfall_free(struct diagnosis *d)
{
	struct shortfall_run *p;

	while ((p = TAILQ_FIRST(&d->shortfalls)) != NULL)
		shortfall_run_free(d, p);
}

static void
shortfall_meeting_add(struct diagnosis *d, struct shortfall_run *p,
    const struct round_row *o)
{
	if (o->partner == NULL || !(o->ratio > 0) || p->count == MEETINGS_MAX)
		return;
	p->list = xmore(p->list, p->count, sizeof(*p->list));
	diagnosis_heard(d, o->node);
	/* judged by the prediction */
	diagnosis_node(d, o->node)->judged_ns = clk_ns();
	p->list[p->count++] = (struct meeting){ (uint32_t)o->node->id,
		(uint32_t)o->partner->id, o->ratio };
}

void
shortfall_record(struct diagnosis *d, const struct diagnosis_source *from,
    const struct round *round)
{
	struct shortfall_run *p;

	if (round->machine[0] == '\0' || !round->is_whole)
		return;
	/* The prediction is for other nodes than the measured ones. */
	if (round->is_unplaced) {
		log_info("run %s: nodes are not compared with machine %s: its "
			 "prediction is for another placement of the ranks",
		    from->run, round->machine);
		return;
	}
	p = shortfall_run_of(d, from);
	snprintf(p->machine, sizeof(p->machine), "%s", round->machine);
	for (size_t i = 0; i < round->row_count; i++)
		shortfall_meeting_add(d, p, &round->rows[i]);
}

/* ---- when the run is over ---- */

static void
shortfall_best_make(struct best *b, size_t count)
{
	b->count = (uint32_t)count;
	b->ratio = xcalloc(count + 1, sizeof(*b->ratio));
	b->met = xcalloc(count + 1, sizeof(*b->met));
	for (size_t i = 0; i < count; i++)
		b->ratio[i] = NAN;
}

static void
shortfall_best_clear(struct best *b)
{
	free(b->ratio);
	free(b->met);
}

static void
shortfall_best_take(struct best *b, uint32_t at, double ratio)
{
	b->ratio[at] = fmax(b->ratio[at], ratio); /* fmax ignores NAN */
	b->met[at]++;
}

static uint32_t
shortfall_leaf_of(struct diagnosis *d, uint32_t node)
{
	return diagnosis_leaf(d, roster_by_id(d->roster, node)->leaf);
}

static void
shortfall_tell(struct diagnosis *d, const struct shortfall_run *p,
    enum judge_kind kind, const struct best *b)
{
	struct diagnosis_source from = { p->run, "", p->class, p->mpi,
		p->launcher, p->slurm, NULL };

	for (uint32_t i = 0; i < b->count; i++) {
		struct shortfall_expected seen = { b->ratio[i], b->met[i], "" };

		snprintf(seen.machine, sizeof(seen.machine), "%s", p->machine);
		if (!isnan(b->ratio[i]))
			incident_shortfall(d, kind, i, &from,
			    b->ratio[i] < SHORT_RATIO ? &seen : NULL);
	}
}

static void
shortfall_judge_run(struct diagnosis *d, const struct shortfall_run *p)
{
	struct best nodes = { 0 }, leaves = { 0 };
	char text[200];

	shortfall_best_make(&nodes, roster_ids(d->roster));
	for (size_t i = 0; i < p->count; i++)
		shortfall_best_take(&nodes, p->list[i].node, p->list[i].ratio);
	for (uint32_t i = 0; i < nodes.count; i++) {
		nodes.seen += !isnan(nodes.ratio[i]);
		nodes.below += nodes.ratio[i] < SHORT_RATIO;
	}
	if (nodes.seen >= PEERS_MIN && 2 * nodes.below > nodes.seen) {
		snprintf(text, sizeof(text),
		    "%u of %u nodes are far below the prediction for machine "
		    "%s: check the machine file",
		    nodes.below, nodes.seen, p->machine);
		log_warnx("run %s: %s", p->run, text);
		store_put_event(d->store, "alarm", p->run, text);
		shortfall_best_clear(&nodes);
		return;
	}
	/* shortfall_leaf_of() may assign the number of a leaf */
	for (size_t i = 0; i < p->count; i++)
		(void)shortfall_leaf_of(d, p->list[i].node);
	shortfall_best_make(&leaves, d->leaf_count);
	/* Between leaves, only nodes that are not slow themselves. */
	for (size_t i = 0; i < p->count; i++) {
		const struct meeting *m = &p->list[i];
		uint32_t a = shortfall_leaf_of(d, m->node),
			 b = shortfall_leaf_of(d, m->partner);

		if (a != b && a != SCORE_NO_LEAF && b != SCORE_NO_LEAF &&
		    !(nodes.ratio[m->node] < SHORT_RATIO) &&
		    !(nodes.ratio[m->partner] < SHORT_RATIO))
			shortfall_best_take(&leaves, a, m->ratio);
	}
	shortfall_tell(d, p, JUDGE_NODE, &nodes);
	shortfall_tell(d, p, JUDGE_LEAF, &leaves);
	shortfall_best_clear(&nodes);
	shortfall_best_clear(&leaves);
}

void
shortfall_over(struct diagnosis *d, const char *run)
{
	struct shortfall_run *p;

	TAILQ_FOREACH (p, &d->shortfalls, link)
		if (strcmp(p->run, run) == 0)
			break;
	if (p == NULL)
		return;
	shortfall_judge_run(d, p);
	shortfall_run_free(d, p);
}
