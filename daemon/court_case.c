/* SPDX-License-Identifier: Apache-2.0 */
/*
 * court_case.c - one case for a node or leaf, whichever test shows it: opened
 * when a judge suspects it, told when its verdict changes, ended when no judge
 * suspects it any more.
 */
#include "daemon/court_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/member.h"
#include "daemon/roster.h"
#include "daemon/store.h"

void
court_case_free(struct court_case *k)
{
	free(k->subject);
	free(k->mpi);
	free(k->launcher);
	free(k->class);
	json_decref(k->slurm);
	free(k);
}

struct court_case *
court_case_find(const struct court *c, enum judge_kind kind, uint32_t index)
{
	struct court_case *k;

	TAILQ_FOREACH (k, &c->cases, link)
		if (k->kind == kind && k->index == index && !k->over)
			return k;
	return NULL;
}

static struct court_case *
case_new(struct court *c, enum judge_kind kind, uint32_t index)
{
	struct court_case *k = xcalloc(1, sizeof(*k));

	k->kind = kind;
	k->index = index;
	k->subject = xstrdup(kind == JUDGE_PLACE
		? roster_by_id(c->roster, index)->name
		: c->leaves[index]);
	k->what = kind == JUDGE_PLACE ? WORDS_NODE : WORDS_LEAF;
	k->verdict = VERDICT_WARN;
	k->since_unix_ns = clk_unix_ns();
	TAILQ_INSERT_TAIL(&c->cases, k, link);
	return k;
}

void
court_case_tell(struct court *c, struct court_case *k)
{
	char text[WORDS_MAX + 64];
	json_t *o;

	k->at_unix_ns = clk_unix_ns();
	snprintf(text, sizeof(text), "%s (%s): %s", names_verdicts[k->verdict],
	    words_whats[k->what], k->text);
	log_info("verdict %s", text);
	o = court_case_json(c, k);
	/* As the case says, whatever its node's session does meanwhile. */
	json_object_set_new(o, "verdict",
	    json_string(names_verdicts[k->verdict]));
	store_put_verdict(c->store, o);
	store_put_event(c->store, "verdict", k->subject, text);
	json_decref(o);
}

/* What troubled the host, in numbers. */
static void
write_host(const struct court *c, struct court_case *k)
{
	const char *trouble = c->nodes[k->index].trouble;

	snprintf(k->host, sizeof(k->host), "%s",
	    trouble != NULL ? trouble : "");
}

static void
source_set(struct court_case *k, const struct court_source *from)
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
court_case_suspect(struct court *c, struct court_series *s,
    enum judge_kind kind, uint32_t index, const struct court_source *from)
{
	struct court_case *k = court_case_find(c, kind, index);

	if (k != NULL && k->what < WORDS_DRIFT)
		return; /* another test shows it too */
	if (k == NULL)
		k = case_new(c, kind, index);
	k->what = kind == JUDGE_PLACE ? WORDS_NODE : WORDS_LEAF;
	k->series = s;
	source_set(k, from);
	if (kind == JUDGE_PLACE &&
	    judge_is_host(s->judge, judge_track(s->judge, kind, index))) {
		k->what = WORDS_HOST;
		write_host(c, k);
	}
	court_case_write(c, k);
	court_case_tell(c, k);
}

void
court_case_drift(struct court *c, struct court_series *s, uint32_t node,
    const struct court_source *from)
{
	struct court_case *k = court_case_find(c, JUDGE_PLACE, node);

	if (k != NULL)
		return; /* its peers tell more */
	k = case_new(c, JUDGE_PLACE, node);
	k->what = WORDS_DRIFT;
	k->series = s;
	source_set(k, from);
	court_case_write(c, k);
	court_case_tell(c, k);
}

void
court_case_promise(struct court *c, enum judge_kind kind, uint32_t index,
    const struct court_source *from, const struct court_promised *seen)
{
	struct court_case *k = court_case_find(c, kind, index);
	struct court_series *s = court_series_of(c, from->class, COURT_PROMISED,
	    PARTNERS_PAIR);

	if (s == NULL || (k != NULL && k->what != WORDS_PROMISE))
		return; /* its peers tell more */
	if (k == NULL)
		k = case_new(c, kind, index);
	k->what = WORDS_PROMISE;
	k->series = s;
	k->promised = *seen;
	source_set(k, from);
	court_case_write(c, k);
	court_case_tell(c, k);
}

void
court_case_kept(struct court *c, enum judge_kind kind, uint32_t index)
{
	struct court_case *k = court_case_find(c, kind, index);

	if (k != NULL && k->what == WORDS_PROMISE)
		court_case_end(c, k, VERDICT_OK, "as promised");
}

void
court_case_end(struct court *c, struct court_case *k, enum verdict verdict,
    const char *why)
{
	char span[32];

	clk_span_format(clk_unix_ns() - k->since_unix_ns, span, sizeof(span));
	snprintf(k->text, sizeof(k->text), "%s: %s; was %s for %s", k->subject,
	    why, names_verdicts[k->verdict], span);
	k->verdict = verdict;
	k->over = 1;
	court_case_tell(c, k);
	TAILQ_REMOVE(&c->cases, k, link);
	if (c->pass.of == k)
		c->pass.of = NULL;
	court_case_free(k);
}

/* A judge that still suspects it: the case's own, or any other. */
static struct court_series *
suspecting(struct court *c, const struct court_case *k)
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
review_drift(struct court *c, struct court_case *k)
{
	const struct drift *d = court_drift_of(k->series, k->index);

	if (d == NULL || d->from == DRIFT_NONE)
		court_case_end(c, k, VERDICT_OK, "as it was");
	else
		court_case_write(c, k);
}

static void
review(struct court *c, struct court_case *k)
{
	struct court_series *s;
	char why[80];

	if (k->what == WORDS_DRIFT) {
		review_drift(c, k);
		return;
	}
	s = suspecting(c, k);
	if (s == NULL) {
		snprintf(why, sizeof(why), "normal for %d rounds",
		    c->o.judge.clean);
		court_case_end(c, k, VERDICT_OK, why);
		return;
	}
	k->series = s;
	/* Nothing new was seen: what it was accused of still holds. */
	if (judge_effect(s->judge, judge_track(s->judge, k->kind, k->index)) >
	    0)
		court_case_write(c, k);
}

void
court_cases_review(struct court *c, struct court_series *s, const char *run)
{
	struct court_case *k, *next;

	(void)run;
	for (k = TAILQ_FIRST(&c->cases); k != NULL; k = next) {
		next = TAILQ_NEXT(k, link);
		if (k->series == s)
			review(c, k);
	}
}

/* ---- what an earlier collector left ---- */

static struct court_series *
series_find(struct court *c, const json_t *o)
{
	const char *class = member_text(o, "class");
	int sort = court_sort_find(member_text(o, "test"));

	return sort < 0 ? NULL
			: court_series_of(c, class, sort, court_partners(o));
}

static int
what_find(const char *name)
{
	for (int i = 0; i < WORDS_WHAT_MAX; i++)
		if (strcmp(words_whats[i], name) == 0)
			return i;
	return -1;
}

static void
load_one(struct court *c, const json_t *o)
{
	struct court_series *s = series_find(c, o);
	const struct node *n = roster_find(c->roster,
	    member_text(o, "subject"));
	int is_leaf = strcmp(member_text(o, "kind"), "leaf") == 0;
	int bad = strcmp(member_text(o, "verdict"), "bad") == 0;
	int what = what_find(member_text(o, "what"));
	enum judge_kind kind = is_leaf ? JUDGE_LEAF : JUDGE_PLACE;
	struct court_source from = { member_text(o, "run"), "",
		member_text(o, "class"), member_text(o, "mpi"),
		member_text(o, "launcher"), json_object_get(o, "slurm") };
	struct court_case *k;
	uint32_t index;

	if (s == NULL || what < 0 || (!is_leaf && n == NULL) ||
	    (!bad && strcmp(member_text(o, "verdict"), "warn") != 0))
		return;
	index = is_leaf ? court_leaf(c, member_text(o, "subject"))
			: (uint32_t)n->id;
	if (what < WORDS_DRIFT)
		judge_restore(s->judge, kind, index,
		    bad ? JUDGE_BAD : JUDGE_SUSPECT);
	k = case_new(c, kind, index);
	k->series = s;
	k->what = (enum words_what)what;
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
court_load(struct court *c, const json_t *verdicts)
{
	json_t *o;
	size_t i;

	json_array_foreach (verdicts, i, o)
		load_one(c, o);
}
