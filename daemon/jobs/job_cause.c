/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_cause.c - possible causes: a rank's node is lost, or its GPU or link has
 * counted an error since the job began, or a verdict is open on the node or its
 * leaf. Otherwise the cause is in the process.
 */
#include "daemon/jobs/job_cause.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "common/utf8.h"
#include "daemon/cluster/roster.h"

#define NAMED_MAX  3 /* nodes and leaves of a sentence */
#define HASH_SHOWN 10

static const char *
job_cause_at(int64_t unix_ns, char ret[24])
{
	time_t at_s = (time_t)(unix_ns / (int64_t)CLK_NS_PER_S);
	int64_t age_ns = (int64_t)clk_unix_ns() - unix_ns;
	struct tm tm;

	strftime(ret, 24,
	    age_ns > 12 * 3600 * (int64_t)CLK_NS_PER_S ? "%F %H:%M UTC"
						       : "%H:%M UTC",
	    gmtime_r(&at_s, &tm));
	return ret;
}

const json_t *
job_cause_case(const struct job_facts *facts, const char *kind,
    const char *subject)
{
	json_t *row;
	size_t i;

	json_array_foreach (facts->cases, i, row)
		if (strcmp(member_text(row, "kind"), kind) == 0 &&
		    strcmp(member_text(row, "subject"), subject) == 0)
			return row;
	return NULL;
}

/* Append "leaf r12 is slow since 13:58 UTC (TEXT)", with the verdict's text. */
static void
job_cause_case_add(struct strbuf *text, const json_t *row)
{
	char at[24], more[240];

	utf8_format(more, sizeof(more), "%.200s", member_text(row, "text"));
	strbuf_addf(text, "%.8s %.80s is %s since %s (%s)",
	    member_text(row, "kind"), member_text(row, "subject"),
	    member_text(row, "verdict"),
	    job_cause_at(member_int(row, "since_unix_ns"), at), more);
}

/* Return the newest error since the job began, or NULL. An error of a GPU comes
 * first, since jobs survive many errors of links. */
static const struct node_error *
job_cause_error(const struct job_facts *facts, const struct node *n)
{
	const struct node_error *const errors[] = { &n->gpu_error,
		&n->link_error };

	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (errors[i]->text != NULL &&
		    errors[i]->unix_ns >= facts->start_unix_ns)
			return errors[i];
	return NULL;
}

static void
job_cause_error_add(struct strbuf *text, const struct node *n,
    const struct node_error *error)
{
	const char *xid = strstr(error->text, "(xid_");
	char at[24];

	job_cause_at(error->unix_ns, at);
	if (xid != NULL)
		strbuf_addf(text, "GPU %.*s of node %.80s has Xid %.*s at %s",
		    (int)strcspn(error->text, " "), error->text, n->name,
		    (int)strspn(xid + 5, "0123456789"), xid + 5, at);
	else
		strbuf_addf(text, "%.160s at %s", error->text, at);
}

/* Return the cause in the state of one node or its leaf, and append its text;
 * JOB_CAUSE_NONE without text if nothing was found. */
static enum job_cause
job_cause_node(const struct job_facts *facts, const struct node *n,
    struct strbuf *text)
{
	const json_t *of_node = job_cause_case(facts, "node", n->name);
	const json_t *of_leaf = job_cause_case(facts, "leaf", n->leaf);
	const struct node_error *error = job_cause_error(facts, n);
	enum job_cause cause = JOB_CAUSE_NONE;
	char at[24];

	if (!roster_is_up(n)) {
		strbuf_addf(text, "the last contact with its agent was at %s",
		    job_cause_at((int64_t)n->last_seen_unix_ns, at));
		return JOB_CAUSE_NODE;
	}
	if (error != NULL) {
		job_cause_error_add(text, n, error);
		cause = error == &n->gpu_error ? JOB_CAUSE_GPU
					       : JOB_CAUSE_NETWORK;
	}
	if (of_node == NULL && of_leaf == NULL)
		return cause;
	if (cause != JOB_CAUSE_NONE)
		strbuf_addf(text, "; ");
	job_cause_case_add(text, of_node != NULL ? of_node : of_leaf);
	return cause != JOB_CAUSE_NONE ? cause : JOB_CAUSE_NETWORK;
}

/* Find the common node, or leaf with at least two nodes, of all ranks. */
static const struct node *
job_cause_one_node(const struct job_finding *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].node == NULL ||
		    f->list[i].node != f->list[0].node)
			return NULL;
	return f->count > 0 ? f->list[0].node : NULL;
}

static const char *
job_cause_one_leaf(const struct job_finding *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].node == NULL ||
		    f->list[i].node->leaf[0] == '\0' ||
		    strcmp(f->list[i].node->leaf, f->list[0].node->leaf) != 0)
			return NULL;
	return f->count > 0 && job_cause_one_node(f) == NULL
	    ? f->list[0].node->leaf
	    : NULL;
}

/* Append "rank 137 (node b07, GPU 3)", "8 ranks on node b07", "64 ranks on leaf
 * r12", "9 ranks, the first of them rank 4 (node b01)". */
static void
job_cause_who_add(const struct job_finding *f, struct strbuf *text)
{
	const struct node *node = job_cause_one_node(f);
	const char *leaf = job_cause_one_leaf(f);
	const struct job_rank *first = &f->list[0];

	if (f->total > 1 && (node != NULL || leaf != NULL)) {
		strbuf_addf(text, "%" PRId64 " ranks on %s %.80s", f->total,
		    node != NULL ? "node" : "leaf",
		    node != NULL ? node->name : leaf);
		return;
	}
	if (f->total > 1)
		strbuf_addf(text, "%" PRId64 " ranks, the first of them ",
		    f->total);
	strbuf_addf(text, "rank %" PRId64 " (%s %.80s", first->rank,
	    first->node != NULL ? "node" : "address",
	    first->node != NULL          ? first->node->name
		: first->addr[0] != '\0' ? first->addr
					 : "unknown");
	if (first->gpu >= 0)
		strbuf_addf(text, ", GPU %" PRId64, first->gpu);
	strbuf_addf(text, ")");
}

/* No rank or node of the job differs: search all of its nodes and leaves. */
static enum job_cause
job_cause_any(const struct job_facts *facts, struct strbuf *text)
{
	enum job_cause first = JOB_CAUSE_NONE, cause;
	const char *leaves[NAMED_MAX] = { "" };
	size_t named = 0;

	for (size_t i = 0; i < facts->node_count && named < NAMED_MAX; i++) {
		const struct node *n = facts->nodes[i];
		const json_t *of_leaf = job_cause_case(facts, "leaf", n->leaf);
		struct strbuf more = { 0 };
		int is_told = 0;

		for (size_t k = 0; k < named && of_leaf != NULL; k++)
			is_told |= strcmp(leaves[k], n->leaf) == 0;
		if (is_told && roster_is_up(n) &&
		    job_cause_error(facts, n) == NULL &&
		    job_cause_case(facts, "node", n->name) == NULL)
			continue;
		cause = job_cause_node(facts, n, &more);
		if (cause == JOB_CAUSE_NONE)
			continue; /* more is empty */
		strbuf_addf(text, "%s%s%.80s%s", named > 0 ? "; " : "",
		    cause == JOB_CAUSE_NODE ? "node " : "",
		    cause == JOB_CAUSE_NODE ? n->name : "",
		    cause == JOB_CAUSE_NODE ? ": " : "");
		strbuf_add(text, more.text, more.len_bytes);
		strbuf_clear(&more);
		leaves[named++] = of_leaf != NULL ? n->leaf : "";
		first = first == JOB_CAUSE_NONE ? cause : first;
	}
	if (named == 0)
		strbuf_addf(text,
		    "no fault was found in the nodes and leaves of the job");
	return first;
}

/* Return the cause of these ranks: their node's, or their leaf's. */
static enum job_cause
job_cause_ranks(const struct job_finding *f, const struct job_facts *facts,
    struct strbuf *text)
{
	const struct node *node = job_cause_one_node(f);
	const char *leaf = job_cause_one_leaf(f);
	enum job_cause cause = JOB_CAUSE_NONE;
	const json_t *of_leaf;

	strbuf_addf(text, "; ");
	if (leaf != NULL &&
	    (of_leaf = job_cause_case(facts, "leaf", leaf)) != NULL) {
		job_cause_case_add(text, of_leaf);
		return JOB_CAUSE_NETWORK;
	}
	for (size_t i = 0; i < f->count && cause == JOB_CAUSE_NONE; i++)
		if (f->list[i].node != NULL)
			cause = job_cause_node(facts, f->list[i].node, text);
	if (cause != JOB_CAUSE_NONE)
		return cause;
	if (node == NULL && f->total > 1)
		return job_cause_any(facts, text);
	if (node == NULL)
		strbuf_addf(text, "no node with an agent has this address");
	else if (facts->verdict(facts->arg, node) == VERDICT_OK)
		strbuf_addf(text,
		    "the node's network is normal, and its GPUs report no "
		    "error");
	else
		strbuf_addf(text,
		    "the node's network is not measured, and its GPUs report "
		    "no error");
	return JOB_CAUSE_PROCESS;
}

static enum job_cause
job_cause_say(const struct job_finding *f, const struct job_facts *facts,
    struct strbuf *text)
{
	char at[24];

	if (f->hash[0] != '\0')
		strbuf_addf(text,
		    "communicator %.*s of %" PRId64 " ranks: ", HASH_SHOWN,
		    f->hash, f->size);
	job_cause_at(f->since_unix_ns, at);
	if (f->count == 0) {
		strbuf_addf(text,
		    "no rank is behind, and no collective has been launched "
		    "since %s; ",
		    at);
		return job_cause_any(facts, text);
	}
	job_cause_who_add(f, text);
	if (f->kind == JOB_SILENT)
		strbuf_addf(text, " %s not answered since %s",
		    f->total == 1 ? "has" : "have", at);
	else
		strbuf_addf(text, " %s %" PRId64 " collective%s behind",
		    f->total == 1 ? "is" : "are", f->gap,
		    f->gap == 1 ? "" : "s");
	if (f->kind == JOB_STALLED)
		strbuf_addf(text, ", and none was launched since %s", at);
	return job_cause_ranks(f, facts, text);
}

enum job_cause
job_cause_find(const struct job_finding *f, const struct job_facts *facts,
    char ret_text[JOB_TEXT_BYTES])
{
	struct strbuf text = { 0 };
	enum job_cause cause = job_cause_say(f, facts, &text);

	utf8_format(ret_text, JOB_TEXT_BYTES, "%.479s", text.text);
	strbuf_clear(&text);
	return cause;
}
