/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_show.c - read access to runs: JSON, counts, single facts.
 */
#include "daemon/run/run_show.h"

#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/run/run_int.h"
#include "daemon/run/run_order.h"
#include "schema/names_probe.h"
#include "schema/options.h"

static void
run_show_time_put(json_t *o, const char *key, uint64_t unix_ns)
{
	json_object_set_new(o, key,
	    unix_ns == 0 ? json_null() : json_integer((json_int_t)unix_ns));
}

const char *const run_origins[RUN_ORIGIN_MAX] = {
	[RUN_BY_USER] = "user",
	[RUN_BY_SCHEDULE] = "schedule",
	[RUN_BY_CONFIRMATION] = "confirmation",
	[RUN_BY_AGAIN] = "again",
	[RUN_BY_SEARCH] = "search",
};

/* nodes: taken; NULL: only their number is shown. */
static json_t *
run_show_json(const struct run *r, json_t *nodes)
{
	int64_t per_node = conf_int(r->conf, "campaign", "ranks_per_node");
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o*, s:I, "
			      "s:I, s:o, s:I}",
	    "run", r->id, "campaign", r->campaign, "class", r->class, "mpi",
	    r->mpi, "state", names_run_states[r->state].name, "cause",
	    names_causes[r->cause].name, "text", text_json(r->text), "nodes",
	    nodes, "ranks", (json_int_t)((int64_t)r->node_count * per_node),
	    "seed", (json_int_t)r->seed, "by", text_json(r->by), "records",
	    (json_int_t)r->records);

	json_object_set_new(o, "head",
	    r->node_count == 0 ? json_null()
			       : json_string(r->nodes[0].node->name));
	run_show_time_put(o, "created_unix_ns", r->created_unix_ns);
	run_show_time_put(o, "started_unix_ns", r->started_unix_ns);
	run_show_time_put(o, "ended_unix_ns", r->ended_unix_ns);
	if (r->progress != NULL && !run_is_final(r))
		json_object_set(o, "progress", r->progress);
	return o;
}

json_t *
run_json(const struct run *r)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < r->node_count; i++)
		json_array_append_new(nodes,
		    json_string(r->nodes[i].node->name));
	return run_show_json(r, nodes);
}

static json_t *
run_show_hostlist(const struct run *r)
{
	const char **names = xcalloc(r->node_count + 1, sizeof(*names));
	char *list;
	json_t *ret;

	for (size_t i = 0; i < r->node_count; i++)
		names[i] = r->nodes[i].node->name;
	hostlist_sort(names, r->node_count);
	list = hostlist_format(names, r->node_count);
	ret = json_string(list);
	free(list);
	free(names);
	return ret;
}

static json_t *
run_show_listed(const struct run *r, int is_brief)
{
	json_t *o = run_show_json(r, is_brief ? NULL : run_show_hostlist(r));

	json_object_set_new(o, "node_count",
	    json_integer((json_int_t)r->node_count));
	return o;
}

json_t *
runs_json(struct runs *rs, int is_brief)
{
	json_t *a = json_array();
	struct run *r;

	TAILQ_FOREACH (r, &rs->live, link)
		json_array_append_new(a, run_show_listed(r, is_brief));
	TAILQ_FOREACH (r, &rs->ended, link)
		json_array_append_new(a, run_show_listed(r, is_brief));
	return a;
}

json_t *
run_json_whole(const struct run *r)
{
	char *text = conf_render_given(r->conf);
	json_t *o = run_json(r);

	json_object_set_new(o, "origin", json_string(run_origins[r->origin]));
	json_object_set_new(o, "attempt", json_integer(r->attempt));
	if (json_object_size(r->overrides) > 0)
		json_object_set(o, "overrides", r->overrides);
	json_object_set_new(o, "campaign_text", text_json(text));
	free(text);
	return o;
}

json_t *
runs_json_one(struct runs *rs, const char *run)
{
	struct run *r = run_find(rs, run);

	return r == NULL ? NULL : run_json_whole(r);
}

size_t
runs_live(const struct runs *rs)
{
	const struct run *r;
	size_t count = 0;

	TAILQ_FOREACH (r, &rs->live, link)
		count += (size_t)!run_is_final(r);
	return count;
}

const char *
runs_find_campaign(const struct runs *rs, const char *campaign)
{
	const struct run *r;

	TAILQ_FOREACH (r, &rs->live, link)
		if (!run_is_final(r) && strcmp(r->campaign, campaign) == 0)
			return r->id;
	return NULL;
}

const char *
runs_on_node(const struct runs *rs, const struct node *n)
{
	struct run *r;

	if (n->exclusive == NULL && n->shared == 0)
		return NULL;
	TAILQ_FOREACH (r, &rs->live, link)
		if (run_node_index(r, n) >= 0)
			return r->id;
	return NULL;
}

struct run_facts
run_facts(const struct run *r)
{
	return (struct run_facts){ .run = r->id,
		.campaign = r->campaign,
		.class = r->class,
		.mpi = r->mpi,
		.launcher = conf_string(r->conf, "campaign", "launcher"),
		.state = r->state,
		.cause = r->cause,
		.by_user = r->origin == RUN_BY_USER,
		.created_ns = r->created_ns,
		/* A search for a stuck pair measures nothing. */
		.measures_all = r->origin != RUN_BY_SEARCH &&
		    options_runs_canaries(r->conf) &&
		    conf_real(r->conf, "canary", "share") >= 1,
		/* In an incast every node receives in turn. */
		.measures_rings = conf_is(r->conf, "canary", "partners",
				      "ring") &&
		    !options_has_test(r->conf, CANARY_INCAST),
		.ended_unix_s = (double)r->ended_unix_ns / 1e9,
		.devices = conf_string(r->conf, "mpi", "devices"),
		.carried = r->carried };
}

json_t *
run_slurm(const struct run *r)
{
	const struct conf_row *row;
	json_t *set = NULL;

	/* Called for every record. */
	if (strcmp(conf_string(r->conf, "campaign", "launcher"), "slurm") != 0)
		return NULL;
	for (row = options_slurm(NULL); row != NULL; row = options_slurm(row)) {
		const char *word = conf_string(r->conf, "slurm", row->key);

		if (word[0] == '\0')
			continue;
		if (set == NULL)
			set = json_object();
		json_object_set_new(set, row->key, json_string(word));
	}
	return set;
}

size_t
run_node_count(const struct run *r)
{
	return r->node_count;
}

struct node *
run_node_at(const struct run *r, size_t i)
{
	return r->nodes[i].node;
}
