/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs_expect.c - coalmine-probe expect: the time of a collective or a plan on
 * some nodes of a machine, given the current state of each node and leaf.
 * Requests and answers are JSON, several at once, for coalctl.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hostlist.h"
#include "common/member.h"
#include "common/xalloc.h"
#include "probes/catalog/patterns.h"
#include "probes/predict/expectation.h"
#include "probes/predict/model.h"
#include "probes/predict/closed_form.h"
#include "probes/verbs/verbs.h"

#define SHARE_MIN 1e-3 /* a rate of 0 would be no limit */

/* {machine, ranks_per_node, op or plan, nodes, leaves, asks}. */
struct question {
	const json_t *all;
	struct machine *m;
	json_t *rows; /* of nodes, by name */
	struct machine_leaf *leaves;
	uint32_t leaves_count;
	struct err *err;
};

static double
verbs_expect_share_of(const json_t *row)
{
	double share = member_number(row, "share");

	return share >= SHARE_MIN ? share : share < SHARE_MIN ? SHARE_MIN : 1;
}

static int
verbs_expect_leaf_find(const struct question *q, const char *name)
{
	for (uint32_t i = 0; i < q->leaves_count; i++)
		if (strcmp(q->leaves[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* Rows of leaves, and one for each leaf of a node that has none. */
static void
verbs_expect_leaves_read(struct question *q)
{
	const json_t *rows = json_object_get(q->all, "leaves"), *o;
	const json_t *nodes = json_object_get(q->all, "nodes");
	size_t i, most = json_array_size(rows) + json_array_size(nodes);

	q->leaves = xcalloc(most + 1, sizeof(*q->leaves));
	json_array_foreach (rows, i, o)
		q->leaves[q->leaves_count++] = (struct machine_leaf){
			member_text(o, "leaf"), verbs_expect_share_of(o)
		};
	q->rows = json_object();
	json_array_foreach (nodes, i, o) {
		if (verbs_expect_leaf_find(q, member_text(o, "leaf")) < 0)
			q->leaves[q->leaves_count++] = (struct machine_leaf){
				member_text(o, "leaf"), 1
			};
		json_object_set(q->rows, member_text(o, "node"),
		    (json_t *)(uintptr_t)o);
	}
}

static int
verbs_expect_plan_time(const struct question *q, uint32_t ranks,
    struct closed_form *ret)
{
	const json_t *words = json_object_get(q->all, "plan"), *word;
	struct pattern_site site = { .ranks = ranks, .machine = q->m };
	char *list[64];
	int count = 0, rc;
	const struct pattern *pt;
	struct expectation ol;
	struct expectation_ask ask = { .m = q->m, .links_max = 1 };
	struct plan *p;
	struct conf *c;
	size_t i;

	json_array_foreach (words, i, word)
		if (json_is_string(word) && count < 64)
			list[count++] = (char *)(uintptr_t)json_string_value(
			    word);
	pt = count > 0 ? patterns_find(list[0]) : NULL;
	if (pt == NULL)
		return err_set(q->err, -EINVAL,
		    "plan: unknown probe %.80s; coalmine-probe plan --help "
		    "lists them",
		    count > 0 ? list[0] : "");
	rc = pattern_options(pt, list + 1, count - 1, &c, q->err);
	if (rc < 0)
		return rc;
	rc = pattern_build(pt, c, &site, &p, q->err);
	if (rc == 0) {
		ask.pt = pt;
		ask.c = c;
		ask.p = p;
		ask.options.pace = predict_pace_for(p);
		if (p->ranks != ranks)
			rc = err_set(q->err, -EINVAL,
			    "the plan has %u ranks, but the nodes have %u",
			    p->ranks, ranks);
		else
			rc = expectation_make(&ask, &ol, q->err);
		plan_free(p);
	}
	conf_free(c);
	if (rc < 0)
		return rc;
	*ret = (struct closed_form){ .time_s = ol.time_s };
	if (ol.links_count > 0) {
		ret->limit_s = ol.links[0].busy * ol.time_s;
		ret->limit_per_s = ol.links[0].capacity_per_s;
		snprintf(ret->limit, sizeof(ret->limit), "%s",
		    ol.links[0].name);
	}
	expectation_clear(&ol);
	return 0;
}

/* One ask, {nodes: hostlist, bytes, slow?}, on the machine so placed. */
static int
verbs_expect_answer_placed(struct question *q, const json_t *ask,
    uint32_t nodes, json_t *answers)
{
	const char *op = member_text(q->all, "op");
	double bytes = member_number(ask, "bytes");
	uint32_t ranks = nodes * q->m->ranks;
	struct closed_form f;
	int rc;

	if (op[0] == '\0')
		rc = verbs_expect_plan_time(q, ranks, &f);
	else if (!(bytes > 0))
		rc = err_set(q->err, -EINVAL, "asks: missing bytes");
	else
		rc = closed_form(q->m, op, bytes, ranks, &f, q->err);
	if (rc < 0)
		return rc;
	json_array_append_new(answers,
	    json_pack("{s:i, s:i, s:f, s:s, s:f, s:f, s:s, s:s, s:f}", "nodes",
		(int)nodes, "ranks", (int)ranks, "time_s", f.time_s, "limit",
		f.limit, "busy", f.time_s > 0 ? f.limit_s / f.time_s : 0,
		"rate_bytes_per_s", f.limit_per_s, "gpu", q->m->gpu, "fabric",
		q->m->fabric, "node_gbps",
		q->m->out_per_s * q->m->nics * 8 / 1e9));
	return 0;
}

/* Return the share that a node or leaf reaches: from its row, or, with slow,
 * from that list for another time, at which others reached all. */
static double
verbs_expect_share_at(const json_t *ask, const char *kind, const char *subject,
    double now)
{
	const json_t *slow = json_object_get(ask, "slow"), *row;
	size_t i;

	json_array_foreach (slow, i, row)
		if (strcmp(member_text(row, "kind"), kind) == 0 &&
		    strcmp(member_text(row, "subject"), subject) == 0)
			return verbs_expect_share_of(row);
	return slow == NULL ? now : 1;
}

static int
verbs_expect_answer(struct question *q, const json_t *ask, json_t *answers)
{
	int rc = 0;
	struct machine_leaf *leaves = xcalloc(q->leaves_count + (size_t)1,
	    sizeof(*leaves));
	struct machine_place place = { .leaves = leaves,
		.leaves_count = q->leaves_count };
	struct machine_node *nodes;
	struct hostlist hl;

	if (hostlist_parse(member_text(ask, "nodes"), &hl, q->err) < 0) {
		free(leaves);
		return -EINVAL;
	}
	nodes = xcalloc(hl.count + 1, sizeof(*nodes));
	for (uint32_t i = 0; i < q->leaves_count; i++) {
		leaves[i] = q->leaves[i];
		leaves[i].share = verbs_expect_share_at(ask, "leaf",
		    leaves[i].name, leaves[i].share);
	}
	for (size_t i = 0; rc == 0 && i < hl.count; i++) {
		const json_t *row = json_object_get(q->rows, hl.names[i]);

		if (row == NULL)
			rc = err_set(q->err, -EINVAL,
			    "nodes: missing row of %s", hl.names[i]);
		else
			nodes[i] = (struct machine_node){ hl.names[i],
				(uint32_t)verbs_expect_leaf_find(q,
				    member_text(row, "leaf")),
				verbs_expect_share_at(ask, "node", hl.names[i],
				    verbs_expect_share_of(row)) };
	}
	place.nodes = nodes;
	place.nodes_count = (uint32_t)hl.count;
	q->m->place = &place;
	if (rc == 0)
		rc = verbs_expect_answer_placed(q, ask, place.nodes_count,
		    answers);
	q->m->place = NULL;
	free(nodes);
	free(leaves);
	hostlist_clear(&hl);
	return rc;
}

static int
verbs_expect_answer_all(struct question *q)
{
	char set[64];
	char *const sets[] = { set };
	json_t *answers = json_array(), *ask;
	size_t i;
	int rc;

	snprintf(set, sizeof(set), "node.ranks=%lld",
	    (long long)member_int(q->all, "ranks_per_node"));
	rc = machine_load(member_text(q->all, "machine"), sets, 1, &q->m,
	    q->err);
	if (rc == 0)
		verbs_expect_leaves_read(q);
	member_foreach (q->all, "asks", i, ask)
		if (rc == 0)
			rc = verbs_expect_answer(q, ask, answers);
	if (rc == 0) {
		json_dumpf(answers, stdout,
		    JSON_COMPACT | JSON_REAL_PRECISION(12));
		putchar('\n');
	}
	json_decref(answers);
	json_decref(q->rows);
	free(q->leaves);
	machine_free(q->m);
	return rc;
}

int
expect_main(int argc, char **argv)
{
	struct err err;
	struct question q = { .err = &err };
	json_error_t error;
	json_t *all;
	int rc;

	if (argc != 2) {
		fputs("usage: coalmine-probe expect FILE\n", stderr);
		return VERBS_USAGE;
	}
	all = json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error);
	if (all == NULL) {
		err_say(&err, "%.200s:%d: %s", argv[1], error.line, error.text);
		return verbs_complain(err.text);
	}
	q.all = all;
	rc = verbs_expect_answer_all(&q);
	json_decref(all);
	if (rc < 0)
		return verbs_complain(err.text);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : EXIT_FAILURE;
}
