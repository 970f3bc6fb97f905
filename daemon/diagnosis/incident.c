/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident.c - one case for a node or leaf, whichever test shows it: opened
 * when a judge suspects it, told when its verdict changes, ended when no judge
 * suspects it any more.
 */
#include "daemon/diagnosis/diagnosis_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "common/member.h"
#include "daemon/cluster/roster.h"
#include "daemon/store/store.h"

void
incident_free(struct incident *k)
{
	free(k->subject);
	free(k->mpi);
	free(k->launcher);
	free(k->class);
	json_decref(k->slurm);
	free(k);
}

struct incident *
incident_find(const struct diagnosis *c, enum judge_kind kind, uint32_t index)
{
	struct incident *k;

	TAILQ_FOREACH (k, &c->cases, link)
		if (k->kind == kind && k->index == index && !k->over)
			return k;
	return NULL;
}

static struct incident *
case_new(struct diagnosis *c, enum judge_kind kind, uint32_t index)
{
	struct incident *k = xcalloc(1, sizeof(*k));

	k->kind = kind;
	k->index = index;
	k->subject = xstrdup(kind == JUDGE_NODE
		? roster_by_id(c->roster, index)->name
		: c->leaves[index]);
	k->what = kind == JUDGE_NODE ? WHAT_NODE : WHAT_LEAF;
	k->verdict = VERDICT_WARN;
	k->since_unix_ns = clk_unix_ns();
	TAILQ_INSERT_TAIL(&c->cases, k, link);
	return k;
}

void
incident_tell(struct diagnosis *c, struct incident *k)
{
	char text[VERDICT_TEXT_MAX + 64];
	json_t *o;

	k->at_unix_ns = clk_unix_ns();
	snprintf(text, sizeof(text), "%s (%s): %s", names_verdicts[k->verdict],
	    names_whats[k->what], k->text);
	log_info("verdict %s", text);
	o = incident_json(c, k);
	/* As the case says, whatever its node's session does meanwhile. */
	json_object_set_new(o, "verdict",
	    json_string(names_verdicts[k->verdict]));
	store_put_verdict(c->store, o);
	store_put_event(c->store, "verdict", k->subject, text);
	json_decref(o);
}

/* What troubled the host, in numbers. */
static void
write_host(const struct diagnosis *c, struct incident *k)
{
	const char *trouble = c->nodes[k->index].trouble;

	snprintf(k->host, sizeof(k->host), "%s",
	    trouble != NULL ? trouble : "");
}

static void
source_set(struct incident *k, const struct diagnosis_source *from)
{
	json_t *slurm = json_incref(from->slurm);

	json_decref(k->slurm);
	k->slurm = slurm;
	free(k->mpi);
	free(k->launcher);
	free(k->class);
	k->mpi = xstrdup(from->mpi);
	k->launcher = xstrdup(from->launcher);
	k->class = xstrdup(from->class);
	snprintf(k->run, sizeof(k->run), "%s", from->run);
}

void
incident_suspect(struct diagnosis *c, struct diagnosis_series *s,
    enum judge_kind kind, uint32_t index, const struct diagnosis_source *from)
{
	struct incident *k = incident_find(c, kind, index);

	if (k != NULL && k->what < WHAT_DRIFT)
		return; /* another test shows it too */
	if (k == NULL)
		k = case_new(c, kind, index);
	k->what = kind == JUDGE_NODE ? WHAT_NODE : WHAT_LEAF;
	k->series = s;
	source_set(k, from);
	if (kind == JUDGE_NODE &&
	    judge_is_host(s->judge, judge_track(s->judge, kind, index))) {
		k->what = WHAT_HOST;
		write_host(c, k);
	}
	incident_write(c, k);
	incident_tell(c, k);
}

void
incident_drift(struct diagnosis *c, struct diagnosis_series *s, uint32_t node,
    const struct diagnosis_source *from)
{
	struct incident *k = incident_find(c, JUDGE_NODE, node);

	if (k != NULL)
		return; /* its peers tell more */
	k = case_new(c, JUDGE_NODE, node);
	k->what = WHAT_DRIFT;
	k->series = s;
	source_set(k, from);
	incident_write(c, k);
	incident_tell(c, k);
}

void
incident_promise(struct diagnosis *c, enum judge_kind kind, uint32_t index,
    const struct diagnosis_source *from, const struct shortfall_expected *seen)
{
	struct incident *k = incident_find(c, kind, index);
	struct diagnosis_series *s = diagnosis_series_of(c, from->class,
	    SHORTFALL_EXPECTED, PARTNERS_PAIR);

	if (s == NULL || (k != NULL && k->what != WHAT_PREDICTION))
		return; /* its peers tell more */
	if (k == NULL)
		k = case_new(c, kind, index);
	k->what = WHAT_PREDICTION;
	k->series = s;
	k->promised = *seen;
	source_set(k, from);
	incident_write(c, k);
	incident_tell(c, k);
}

void
incident_kept(struct diagnosis *c, enum judge_kind kind, uint32_t index)
{
	struct incident *k = incident_find(c, kind, index);

	if (k != NULL && k->what == WHAT_PREDICTION)
		incident_end(c, k, VERDICT_OK, "as predicted");
}

void
incident_end(struct diagnosis *c, struct incident *k, enum verdict verdict,
    const char *why)
{
	char span[32];

	clk_span_format(clk_unix_ns() - k->since_unix_ns, span, sizeof(span));
	snprintf(k->text, sizeof(k->text), "%s: %s; was %s for %s", k->subject,
	    why, names_verdicts[k->verdict], span);
	k->verdict = verdict;
	k->over = 1;
	incident_tell(c, k);
	TAILQ_REMOVE(&c->cases, k, link);
	if (c->pass.of == k)
		c->pass.of = NULL;
	incident_free(k);
}

/* A judge that still suspects it: the case's own, or any other. */
static struct diagnosis_series *
suspecting(struct diagnosis *c, const struct incident *k)
{
	const struct judge_track *t = judge_track(k->series->judge, k->kind,
	    k->index);

	if (t != NULL && t->state >= JUDGE_SUSPECT)
		return k->series;
	for (size_t i = 0; i < c->series_count; i++) {
		t = judge_track(c->series[i].judge, k->kind, k->index);
		if (t != NULL && t->state >= JUDGE_SUSPECT)
			return &c->series[i];
	}
	return NULL;
}

/* A judge that suspects it now has made another case of it. */
static void
review_drift(struct diagnosis *c, struct incident *k)
{
	const struct drift *d = series_drift_of(k->series, k->index);

	if (d == NULL || d->from == DRIFT_NONE)
		incident_end(c, k, VERDICT_OK, "as it was");
	else
		incident_write(c, k);
}

static void
review(struct diagnosis *c, struct incident *k)
{
	struct diagnosis_series *s;
	struct err err;

	if (k->what == WHAT_DRIFT) {
		review_drift(c, k);
		return;
	}
	s = suspecting(c, k);
	if (s == NULL) {
		err_say(&err, "normal for %d rounds", c->o.judge.clean);
		incident_end(c, k, VERDICT_OK, err.text);
		return;
	}
	k->series = s;
	/* Nothing new was seen: what it was accused of still holds. */
	if (judge_effect(s->judge, judge_track(s->judge, k->kind, k->index)) >
	    0)
		incident_write(c, k);
}

void
incidents_review(struct diagnosis *c, struct diagnosis_series *s,
    const char *run)
{
	struct incident *k, *next;

	(void)run;
	for (k = TAILQ_FIRST(&c->cases); k != NULL; k = next) {
		next = TAILQ_NEXT(k, link);
		if (k->series == s)
			review(c, k);
	}
}

/* ---- what an earlier collector left ---- */

static struct diagnosis_series *
series_find(struct diagnosis *c, const json_t *o)
{
	const char *class = member_text(o, "class");
	int sort = series_kind_find(member_text(o, "test"));

	return sort < 0
	    ? NULL
	    : diagnosis_series_of(c, class, sort, diagnosis_partners(o));
}

static int
what_find(const char *name)
{
	for (int i = 0; i < WHAT_MAX; i++)
		if (strcmp(names_whats[i], name) == 0)
			return i;
	return -1;
}

static void
load_one(struct diagnosis *c, const json_t *o)
{
	struct diagnosis_series *s = series_find(c, o);
	const struct node *n = roster_find(c->roster,
	    member_text(o, "subject"));
	int is_leaf = strcmp(member_text(o, "kind"), "leaf") == 0;
	int bad = strcmp(member_text(o, "verdict"), "bad") == 0;
	int what = what_find(member_text(o, "what"));
	enum judge_kind kind = is_leaf ? JUDGE_LEAF : JUDGE_NODE;
	struct diagnosis_source from = { member_text(o, "run"), "",
		member_text(o, "class"), member_text(o, "mpi"),
		member_text(o, "launcher"), json_object_get(o, "slurm") };
	struct incident *k;
	uint32_t index;

	if (s == NULL || what < 0 || (!is_leaf && n == NULL) ||
	    (!bad && strcmp(member_text(o, "verdict"), "warn") != 0))
		return;
	index = is_leaf ? diagnosis_leaf(c, member_text(o, "subject"))
			: (uint32_t)n->id;
	if (what < WHAT_DRIFT)
		judge_restore(s->judge, kind, index,
		    bad ? JUDGE_BAD : JUDGE_SUSPECT);
	k = case_new(c, kind, index);
	k->series = s;
	k->what = (enum what)what;
	k->verdict = bad ? VERDICT_BAD : VERDICT_WARN;
	k->since_unix_ns = (uint64_t)json_integer_value(
	    json_object_get(o, "since_unix_ns"));
	snprintf(k->text, sizeof(k->text), "%s", member_text(o, "text"));
	k->promised.ratio = member_number(o, "ratio");
	k->promised.met = (uint32_t)json_integer_value(
	    json_object_get(o, "met"));
	snprintf(k->promised.machine, sizeof(k->promised.machine), "%s",
	    member_text(o, "machine"));
	source_set(k, &from);
}

void
diagnosis_load(struct diagnosis *c, const json_t *verdicts)
{
	json_t *o;
	size_t i;

	json_array_foreach (verdicts, i, o)
		load_one(c, o);
}
