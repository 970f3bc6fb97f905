/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_prediction.c - nodes and links far below their prediction.
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
#include "common/member.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"
#include "daemon/store/store.h"

#define SHORT_RATIO  0.5    /* far below */
#define MEETINGS_MAX 200000 /* of a run; further ones are not compared */
#define PEERS_MIN    4      /* too few nodes for a majority */

/* The result of a node or link relative to the prediction for a machine. */
struct expected {
	double ratio; /* with its best partner */
	uint32_t met;
	char machine[40];
};

struct meeting {
	uint32_t node, partner; /* ids */
	double ratio;
};

struct prediction_run {
	TAILQ_ENTRY(prediction_run) link;
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

static struct prediction_run *
fault_prediction_run_of(struct diagnosis *d,
    const struct diagnosis_source *from)
{
	struct prediction_run *p;

	TAILQ_FOREACH (p, &d->predictions, link)
		if (strcmp(p->run, from->run) == 0)
			return p;
	p = xcalloc(1, sizeof(*p));
	snprintf(p->run, sizeof(p->run), "%s", from->run);
	snprintf(p->class, sizeof(p->class), "%s", from->class);
	snprintf(p->mpi, sizeof(p->mpi), "%s", from->mpi);
	snprintf(p->launcher, sizeof(p->launcher), "%s", from->launcher);
	p->slurm = json_incref(from->slurm);
	TAILQ_INSERT_TAIL(&d->predictions, p, link);
	return p;
}

static void
fault_prediction_run_free(struct diagnosis *d, struct prediction_run *p)
{
	TAILQ_REMOVE(&d->predictions, p, link);
	free(p->list);
	json_decref(p->slurm);
	free(p);
}

static void
fault_prediction_free(struct diagnosis *d)
{
	struct prediction_run *p;

	while ((p = TAILQ_FIRST(&d->predictions)) != NULL)
		fault_prediction_run_free(d, p);
}

static void
fault_prediction_meeting_add(struct diagnosis *d, struct prediction_run *p,
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

static void
fault_prediction_record(struct diagnosis *d,
    const struct diagnosis_source *from, const struct round *round)
{
	struct prediction_run *p;

	if (round->machine[0] == '\0' || !round->is_whole)
		return;
	/* The prediction is for other nodes than the measured ones. */
	if (round->is_unplaced) {
		log_info("run %s: nodes are not compared with machine %s: its "
			 "prediction is for another placement of the ranks",
		    from->run, round->machine);
		return;
	}
	p = fault_prediction_run_of(d, from);
	snprintf(p->machine, sizeof(p->machine), "%s", round->machine);
	for (size_t i = 0; i < round->row_count; i++)
		fault_prediction_meeting_add(d, p, &round->rows[i]);
}

/* ---- when the run is over ---- */

static void
fault_prediction_best_make(struct best *b, size_t count)
{
	b->count = (uint32_t)count;
	b->ratio = xcalloc(count + 1, sizeof(*b->ratio));
	b->met = xcalloc(count + 1, sizeof(*b->met));
	for (size_t i = 0; i < count; i++)
		b->ratio[i] = NAN;
}

static void
fault_prediction_best_clear(struct best *b)
{
	free(b->ratio);
	free(b->met);
}

static void
fault_prediction_best_take(struct best *b, uint32_t at, double ratio)
{
	b->ratio[at] = fmax(b->ratio[at], ratio); /* fmax ignores NAN */
	b->met[at]++;
}

static uint32_t
fault_prediction_leaf_of(struct diagnosis *d, uint32_t node)
{
	return diagnosis_leaf(d, roster_by_id(d->roster, node)->leaf);
}

/* It is far below a prediction, or (NULL) no longer. */
static void
fault_prediction_open(struct diagnosis *d, enum judge_kind kind, uint32_t index,
    const struct diagnosis_source *from, const struct expected *seen)
{
	struct incident *k = incident_find(d, kind, index);
	struct diagnosis_series *s;

	if (seen == NULL) {
		if (k != NULL && k->fault == &fault_prediction)
			incident_end(d, k, VERDICT_OK, "as fast as predicted");
		return;
	}
	s = diagnosis_series_of(d, from->class, SERIES_FACT + WHAT_PREDICTION,
	    PARTNERS_PAIR);
	if (s == NULL || (k != NULL && k->fault != &fault_prediction))
		return; /* the comparison with peers is more exact */
	k = incident_take(d, k, &fault_prediction, kind, index);
	memcpy(k->data, seen, sizeof(*seen));
	incident_show_from(d, k, s, from);
}

static void
fault_prediction_tell(struct diagnosis *d, const struct prediction_run *p,
    enum judge_kind kind, const struct best *b)
{
	struct diagnosis_source from = { p->run, "", p->class, p->mpi,
		p->launcher, p->slurm, NULL };

	for (uint32_t i = 0; i < b->count; i++) {
		struct expected seen = { b->ratio[i], b->met[i], "" };

		snprintf(seen.machine, sizeof(seen.machine), "%s", p->machine);
		if (!isnan(b->ratio[i]))
			fault_prediction_open(d, kind, i, &from,
			    b->ratio[i] < SHORT_RATIO ? &seen : NULL);
	}
}

static void
fault_prediction_judge(struct diagnosis *d, const struct prediction_run *p)
{
	struct best nodes = { 0 }, leaves = { 0 };
	char text[200];

	fault_prediction_best_make(&nodes, roster_ids(d->roster));
	for (size_t i = 0; i < p->count; i++)
		fault_prediction_best_take(&nodes, p->list[i].node,
		    p->list[i].ratio);
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
		fault_prediction_best_clear(&nodes);
		return;
	}
	/* fault_prediction_leaf_of() may assign the number of a leaf */
	for (size_t i = 0; i < p->count; i++)
		(void)fault_prediction_leaf_of(d, p->list[i].node);
	fault_prediction_best_make(&leaves, d->leaf_count);
	/* Between leaves, only nodes that are not slow themselves. */
	for (size_t i = 0; i < p->count; i++) {
		const struct meeting *m = &p->list[i];
		uint32_t a = fault_prediction_leaf_of(d, m->node),
			 b = fault_prediction_leaf_of(d, m->partner);

		if (a != b && a != SCORE_NO_LEAF && b != SCORE_NO_LEAF &&
		    !(nodes.ratio[m->node] < SHORT_RATIO) &&
		    !(nodes.ratio[m->partner] < SHORT_RATIO))
			fault_prediction_best_take(&leaves, a, m->ratio);
	}
	fault_prediction_tell(d, p, JUDGE_NODE, &nodes);
	fault_prediction_tell(d, p, JUDGE_LEAF, &leaves);
	fault_prediction_best_clear(&nodes);
	fault_prediction_best_clear(&leaves);
}

static void
fault_prediction_over(struct diagnosis *d, const char *run)
{
	struct prediction_run *p;

	TAILQ_FOREACH (p, &d->predictions, link)
		if (strcmp(p->run, run) == 0)
			break;
	if (p == NULL)
		return;
	fault_prediction_judge(d, p);
	fault_prediction_run_free(d, p);
}

/* ---- an open case ---- */

static void
fault_prediction_text(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	const struct expected *seen = k->data;
	int is_leaf = k->kind == JUDGE_LEAF;

	(void)d;
	fault_text_add(text,
	    "%s%s: its speed is %.0f %% of the prediction for machine %s",
	    is_leaf ? "uplink of leaf " : "", k->subject, 100 * seen->ratio,
	    seen->machine);
	if (is_leaf)
		fault_text_add(text,
		    ", while pairs inside the leaf are as predicted");
	else if (seen->met > 1)
		fault_text_add(text, ", with the best of %u partners",
		    seen->met);
	else
		fault_text_add(text,
		    "; measured with one partner only, which may be the slow "
		    "one");
}

static void
fault_prediction_json(const struct diagnosis *d, const struct incident *k,
    json_t *o)
{
	const struct expected *seen = k->data;

	(void)d;
	json_object_set_new(o, "effect", json_real(-log(seen->ratio)));
	json_object_set_new(o, "ratio", json_real(seen->ratio));
	json_object_set_new(o, "met", json_integer((json_int_t)seen->met));
	json_object_set_new(o, "machine", json_string(seen->machine));
}

static int
fault_prediction_restore(struct diagnosis *d, struct incident *k,
    const json_t *o)
{
	struct expected *seen = k->data;

	(void)d;
	seen->ratio = member_number(o, "ratio");
	seen->met = (uint32_t)member_int(o, "met");
	snprintf(seen->machine, sizeof(seen->machine), "%s",
	    member_text(o, "machine"));
	return 0;
}

const struct fault_kind fault_prediction = {
	.what = WHAT_PREDICTION,
	.about = 1 << JUDGE_NODE | 1 << JUDGE_LEAF,
	.severity = VERDICT_WARN,
	.source = FAULT_FACT,
	.bytes = sizeof(struct expected),
	.hear_record = fault_prediction_record,
	.run_over = fault_prediction_over,
	.free = fault_prediction_free,
	.text = fault_prediction_text,
	.json = fault_prediction_json,
	.restore = fault_prediction_restore,
};
