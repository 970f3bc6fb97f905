/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident.c - one incident for a node or leaf, whichever kind of fault shows
 * it: opened, reported when its verdict changes, ended, and loaded from an
 * earlier collector.
 */
#include "daemon/diagnosis/incident.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/incident_show.h"
#include "daemon/diagnosis/spines.h"
#include "daemon/store/store.h"

/* ---- from its opening to its end ---- */

void
incident_free(struct incident *k)
{
	free(k->subject);
	free(k->data);
	free(k->mpi);
	free(k->launcher);
	free(k->class);
	json_decref(k->slurm);
	free(k);
}

const struct fault_kind *
incident_kind_of(const struct diagnosis *d, enum what what,
    const struct diagnosis_series *s, int is_share)
{
	enum fault_source source = s->sort >= SERIES_FACT ? FAULT_FACT
	    : series_kind(s->sort).is_loss                ? FAULT_LOSSES
							  : FAULT_ROUNDS;
	const struct fault_kind *f;

	for (int i = 0; (f = d->faults[i]) != NULL; i++)
		if ((f->what == what || (f->others >> what & 1)) &&
		    f->source == source && f->is_share <= is_share)
			return f;
	return NULL;
}

/* Set the kind of fault, and allocate its data. */
static void
incident_fault_set(struct incident *k, const struct fault_kind *fault)
{
	free(k->data);
	k->data = xcalloc(1, fault->bytes + 1);
	k->fault = fault;
	k->what = fault->what;
	k->verdict = fault->severity;
}

struct incident *
incident_make(const struct diagnosis *d, const struct fault_kind *fault,
    enum judge_kind kind, uint32_t index)
{
	struct incident *k = xcalloc(1, sizeof(*k));

	k->kind = kind;
	k->index = index;
	k->subject = xstrdup(kind == JUDGE_NODE
		? roster_by_id(d->roster, index)->name
		: kind == JUDGE_LEAF  ? d->leaves[index]
		: kind == JUDGE_STAGE ? d->stages->list[index].switches
				      : "fleet");
	k->since_unix_ns = clk_unix_ns();
	incident_fault_set(k, fault);
	return k;
}

struct incident *
incident_take(struct diagnosis *d, struct incident *k,
    const struct fault_kind *fault, enum judge_kind kind, uint32_t index)
{
	if (k == NULL) {
		k = incident_make(d, fault, kind, index);
		TAILQ_INSERT_TAIL(&d->incidents, k, link);
	} else if (k->fault != fault) {
		incident_fault_set(k, fault);
	}
	return k;
}

static void
incident_report(struct diagnosis *d, const struct diagnosis_verdict *v)
{
	if (v->node != NULL)
		diagnosis_node(d, v->node)->reported = (uint8_t)v->state;
	if (d->ops->changed != NULL)
		d->ops->changed(d->ctx, v);
}

void
incident_report_nodes(struct diagnosis *d)
{
	for (size_t i = 0; i < roster_ids(d->roster); i++) {
		const struct node *n = roster_by_id(d->roster, i);
		enum verdict state = diagnosis_of_node(d, n);
		const struct incident *k;
		struct err err;

		if (diagnosis_node(d, n)->reported == state)
			continue;
		k = incident_find(d, JUDGE_NODE, (uint32_t)n->id);
		err.text[0] = '\0';
		if (state == VERDICT_UNKNOWN)
			diagnosis_why_unknown(d, n, &err);
		incident_report(d,
		    &(struct diagnosis_verdict){ "node", n->name, n, state,
			k != NULL, k != NULL ? k->what : WHAT_NODE,
			k != NULL ? k->text : err.text, k != NULL ? k->run : "",
			k != NULL ? k->since_unix_ns : 0 });
	}
}

void
incident_tell(struct diagnosis *d, struct incident *k)
{
	char text[VERDICT_TEXT_MAX + 64];
	json_t *o;

	k->at_unix_ns = clk_unix_ns();
	snprintf(text, sizeof(text), "%s (%s): %s", names_verdicts[k->verdict],
	    names_whats[k->what].name, k->text);
	log_info("verdict %s", text);
	o = incident_json(d, k);
	/* The incident's verdict, even if the node's session ends meanwhile. */
	json_object_set_new(o, "verdict",
	    json_string(names_verdicts[k->verdict]));
	store_put_verdict(d->store, o,
	    &(struct store_event){ "verdict", k->subject, text, o });
	json_decref(o);
	incident_report(d,
	    &(struct diagnosis_verdict){ incident_kind_name(k->kind),
		k->subject,
		k->kind == JUDGE_NODE ? roster_by_id(d->roster, k->index)
				      : NULL,
		k->kind == JUDGE_NODE && !k->over
		    ? diagnosis_of_node(d, roster_by_id(d->roster, k->index))
		    : k->verdict,
		!k->over, k->what, k->text, k->run, k->since_unix_ns });
}

void
incident_source_set(struct incident *k, const struct diagnosis_source *from)
{
	json_t *slurm = json_incref(from->slurm);

	json_decref(k->slurm);
	k->slurm = slurm;
	xstrset(&k->mpi, from->mpi);
	xstrset(&k->launcher, from->launcher);
	xstrset(&k->class, from->class);
	snprintf(k->run, sizeof(k->run), "%s", from->run);
}

void
incident_show_from(struct diagnosis *d, struct incident *k,
    struct diagnosis_series *s, const struct diagnosis_source *from)
{
	k->series = s;
	if (from != NULL)
		incident_source_set(k, from);
	incident_write(d, k);
	if (from != NULL)
		incident_tell(d, k);
}

const struct diagnosis_source incident_no_run = { "", "", "", "", "", NULL,
	NULL };

void
incident_end(struct diagnosis *d, struct incident *k, enum verdict verdict,
    const char *why)
{
	char span[32];

	clk_span_format(clk_unix_ns() - k->since_unix_ns, span, sizeof(span));
	snprintf(k->text, sizeof(k->text), "%s: %s; the verdict was %s for %s",
	    k->subject, why, names_verdicts[k->verdict], span);
	k->verdict = verdict;
	k->over = 1;
	if (k->kind == JUDGE_NODE) /* it may have hidden a fact */
		diagnosis_node(d, roster_by_id(d->roster, k->index))
		    ->nics_serial = UINT64_MAX;
	incident_tell(d, k);
	TAILQ_REMOVE(&d->incidents, k, link);
	if (d->pass.of == k)
		d->pass.of = NULL;
	incident_free(k);
}

struct diagnosis_source
incident_source(const struct incident *k)
{
	return (struct diagnosis_source){ k->run, "", k->class, k->mpi,
		k->launcher, k->slurm, NULL };
}

void
incident_move(struct diagnosis *d, struct incident *k, enum judge_kind kind,
    uint32_t index, const char *why)
{
	struct incident *to = incident_take(d, NULL, k->fault, kind, index);
	struct diagnosis_source from = incident_source(k);

	to->series = k->series;
	incident_source_set(to, &from);
	to->what = k->what;
	to->verdict = k->verdict;
	to->confirm = k->confirm;
	to->confirm.tries = 0;
	to->confirm.next_ns = 0;
	to->since_unix_ns = k->since_unix_ns;
	if (kind == JUDGE_LEAF) {
		/* Write the text with the values that its node showed. */
		xstrset(&k->subject, to->subject);
		incident_write(d, k);
		snprintf(to->text, sizeof(to->text), "%s", k->text);
		xstrset(&k->subject, roster_by_id(d->roster, k->index)->name);
	} else {
		incident_write(d, to);
	}
	k->verdict = VERDICT_WARN; /* it was only suspected */
	incident_end(d, k, VERDICT_OK, why);
	incident_tell(d, to);
}

void
incidents_review(struct diagnosis *d, struct diagnosis_series *s)
{
	struct incident *k, *next;

	TAILQ_FOREACH_SAFE (k, &d->incidents, link, next)
		if (k->series == s && k->fault->still != NULL)
			k->fault->still(d, k);
}

/* ---- incidents of an earlier collector ---- */

/* Load the result of a confirmation run. */
static void
incident_load_confirmation(struct diagnosis *d, struct incident *k,
    const json_t *o)
{
	const json_t *c = json_object_get(o, "confirmation");
	int finding = STR_FIND(confirm_findings, member_text(c, "finding"));
	int way = STR_FIND(confirm_ways, member_text(c, "direction"));

	if (finding == CONFIRM_BETWEEN)
		k->confirm.other = diagnosis_leaf(d,
		    member_text(o, "other_leaf"));
	if (finding < 0 ||
	    (finding == CONFIRM_BETWEEN && k->confirm.other == SCORE_NO_LEAF))
		return;
	k->confirm.is_done = 1;
	k->confirm.finding = (enum confirm_finding)finding;
	k->confirm.report.finding = k->confirm.finding;
	k->confirm.report.way = way < 0 ? CONFIRM_WAY_UNKNOWN
					: (enum confirm_way)way;
	k->confirm.report.effect = member_number(c, "effect");
	k->confirm.report.partners = (size_t)member_int(c, "partners");
	k->confirm.report.slow_partners = (size_t)member_int(c,
	    "slow_partners");
	snprintf(k->confirm.run, sizeof(k->confirm.run), "%.63s",
	    member_text(c, "run"));
}

/* Close a case in the store that cannot be loaded. */
static void
incident_load_refuse(struct diagnosis *d, const json_t *o, const char *why)
{
	json_t *over = json_deep_copy(o);

	json_object_set_new(over, "verdict",
	    json_string(names_verdicts[VERDICT_UNKNOWN]));
	json_object_set_new(over, "text",
	    json_sprintf("%s: %s", member_text(o, "subject"), why));
	json_object_set_new(over, "at_unix_ns",
	    json_integer((json_int_t)clk_unix_ns()));
	store_put_verdict(d->store, over,
	    &(struct store_event){ "verdict", member_text(o, "subject"),
		member_text(over, "text"), over });
	json_decref(over);
}

/* Find the subject: 0, or -ENOENT. */
static int
incident_load_subject(struct diagnosis *d, const json_t *o,
    const struct diagnosis_series *s, enum judge_kind *ret_kind,
    uint32_t *ret_index)
{
	const char *kind = member_text(o, "kind");
	const char *subject = member_text(o, "subject");
	const struct node *n = roster_find(d->roster, subject);

	if (strcmp(kind, "leaf") == 0) {
		*ret_kind = JUDGE_LEAF;
		*ret_index = diagnosis_leaf(d, subject);
		return *ret_index == SCORE_NO_LEAF ? -ENOENT : 0;
	}
	if (strcmp(kind, "spine") == 0) {
		*ret_kind = JUDGE_STAGE;
		*ret_index = spines_find(d, subject);
		return *ret_index == STAGE_NONE ? -ENOENT : 0;
	}
	if (strcmp(kind, "fleet") == 0) {
		*ret_kind = JUDGE_FLEET;
		*ret_index = (uint32_t)(s - d->series);
		return s->fleet.from == DRIFT_NONE ? -ENOENT : 0;
	}
	*ret_kind = JUDGE_NODE;
	*ret_index = n != NULL ? (uint32_t)n->id : 0;
	return n == NULL ? -ENOENT : 0;
}

void
incident_load(struct diagnosis *d, const json_t *o)
{
	struct diagnosis_series *s = diagnosis_series_stored(d, o);
	int bad = strcmp(member_text(o, "verdict"), "bad") == 0;
	int rc, what = STR_FIND(names_whats, member_text(o, "what"));
	const struct fault_kind *fault = s == NULL || what < 0
	    ? NULL
	    : incident_kind_of(d, (enum what)what, s, member_bool(o, "paths"));
	struct diagnosis_source from = { member_text(o, "run"), "",
		member_text(o, "class"), member_text(o, "mpi"),
		member_text(o, "launcher"), json_object_get(o, "slurm"), NULL };
	enum judge_kind kind;
	struct incident *k;
	uint32_t index;

	if (!bad && strcmp(member_text(o, "verdict"), "warn") != 0)
		return;
	if (fault == NULL ||
	    incident_load_subject(d, o, s, &kind, &index) < 0 ||
	    (fault->about >> kind & 1) == 0 ||
	    incident_find(d, kind, index) != NULL) {
		incident_load_refuse(d, o,
		    "the stored verdict was closed: its node, leaf, link or "
		    "measurement is unknown to this collector");
		return;
	}
	k = incident_take(d, NULL, fault, kind, index);
	k->series = s;
	k->what = (enum what)what;
	k->verdict = bad ? VERDICT_BAD : VERDICT_WARN;
	k->since_unix_ns = (uint64_t)member_int(o, "since_unix_ns");
	incident_load_confirmation(d, k, o);
	snprintf(k->text, sizeof(k->text), "%s", member_text(o, "text"));
	incident_source_set(k, &from);
	rc = fault->is_volatile      ? -EAGAIN
	    : fault->restore == NULL ? 0
				     : fault->restore(d, k, o);
	if (rc == 0)
		return;
	TAILQ_REMOVE(&d->incidents, k, link);
	incident_free(k);
	if (rc == -EAGAIN)
		incident_load_refuse(d, o,
		    "the stored verdict was closed when the collector "
		    "restarted; if the fault persists, a new verdict follows");
}
