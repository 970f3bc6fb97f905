/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - the list of runs, and functions on one run that all other files of
 * this folder use. It calls none of them.
 */
#include "daemon/run/run_int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/log.h"
#include "common/utf8.h"
#include "common/xalloc.h"

#define FEW_NODES 64

void
runs_quota_read(const struct conf *c, struct runs_quota *ret)
{
	ret->records = (uint64_t)conf_int(c, "quota", "run_records");
	ret->bytes = (uint64_t)conf_bytes(c, "quota", "run_bytes");
}

const json_t *
runs_unused(const struct runs *rs)
{
	return rs->unused;
}

void
runs_set_quota(struct runs *rs, const struct runs_quota *quota)
{
	rs->quota = *quota;
}

void
runs_set_costs(struct runs *rs, struct costs *costs)
{
	rs->costs = costs;
}

void
runs_set_slurm(struct runs *rs, struct slurm *slurm)
{
	rs->slurm = slurm;
}

struct run *
run_find_live(const struct runs *rs, const char *id)
{
	struct run *r;

	TAILQ_FOREACH (r, &rs->live, link)
		if (strcmp(r->id, id) == 0)
			return r;
	return NULL;
}

struct run *
run_find(const struct runs *rs, const char *id)
{
	struct run *r = run_find_live(rs, id);

	if (r != NULL)
		return r;
	TAILQ_FOREACH (r, &rs->ended, link)
		if (strcmp(r->id, id) == 0)
			return r;
	return NULL;
}

int
run_is_final(const struct run *r)
{
	return names_run_states[r->state].final;
}

struct node *
run_head(const struct run *r)
{
	return r->node_count == 0 ? NULL : r->nodes[0].node;
}

void
run_nodes_changed(struct run *r)
{
	free(r->places);
	r->places = NULL;
}

/* Called for every message of every node: large runs have a table. */
long
run_node_index(struct run *r, const struct node *n)
{
	if (r->node_count <= FEW_NODES) {
		for (size_t i = 0; i < r->node_count; i++)
			if (r->nodes[i].node == n)
				return (long)i;
		return -ENOENT;
	}
	if (r->places == NULL) {
		r->place_count = roster_ids(r->all->roster);
		r->places = xcalloc(r->place_count + 1, sizeof(r->places[0]));
		for (size_t i = 0; i < r->node_count; i++)
			r->places[r->nodes[i].node->id] = (uint32_t)i + 1;
	}
	return n->id < r->place_count && r->places[n->id] > 0
	    ? (long)r->places[n->id] - 1
	    : -ENOENT;
}

int
run_send(const struct run *r, struct node *n, enum wire_type type, json_t *msg)
{
	return r->all->ops->send(r->all->ctx, n, type, msg);
}

void
run_step_set(struct run *r, enum step step)
{
	r->step = step;
	r->step_ns = clk_ns();
}

/* Signs known only by their effect, such as a deadline, have no onset and must
 * not count as the first: they begin now. */
void
run_sign(struct run *r, enum symptom_weight weight, enum run_state state,
    enum cause cause, uint64_t onset_ns, const char *fmt, ...)
{
	uint64_t now_ns = clk_ns();
	struct symptom *s;
	size_t max = RUN_SYMPTOMS_MAX;
	va_list ap;

	/* A run whose end record is on its way has succeeded, or the record
	 * says why not. */
	if (run_is_final(r) || r->end_seen)
		return;
	/* The death of a job of 10,000 ranks gives 10,000 signs. The first are
	 * kept, with room for signs that tell more. */
	if (weight == SYMPTOM_EXITED)
		max = RUN_EXIT_SYMPTOMS_MAX;
	else if (weight == SYMPTOM_RANK || weight == SYMPTOM_STUCK)
		max = RUN_RANK_SYMPTOMS_MAX;
	if (r->sign_count >= max)
		return;
	r->signs = xmore(r->signs, r->sign_count, sizeof(r->signs[0]));
	s = &r->signs[r->sign_count];
	*s = (struct symptom){ .weight = weight,
		.state = state,
		.cause = cause,
		.onset_ns = weight == SYMPTOM_DEADLINE ? now_ns : onset_ns };
	va_start(ap, fmt);
	vsnprintf(s->text, sizeof(s->text), fmt, ap);
	va_end(ap);
	utf8_clean(s->text);
	r->sign_count++;
	log_debug("run %s: sign: %s", r->id, s->text);
	if (r->decide_ns == 0)
		r->decide_ns = now_ns + RUN_SETTLE_NS;
}
