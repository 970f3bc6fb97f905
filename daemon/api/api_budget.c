/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_budget.c - continuous functions: the budget and its use, coverage, the
 * mesh, and runs that were missed.
 */
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "daemon/run/cost.h"
#include "daemon/run/budget.h"
#include "daemon/mesh/coverage.h"
#include "daemon/collector.h"
#include "daemon/mesh/mesh.h"
#include "daemon/cluster/roster.h"
#include "daemon/cluster/topo.h"
#include "daemon/run/run.h"
#include "daemon/api/api_int.h"
#include "schema/stages.h"

#define MISSING_MAX 200 /* names in an answer */

static uint64_t
api_budget_hour_now(void)
{
	return clk_unix_ns() / (3600 * CLK_NS_PER_S);
}

/* Leaves of known nodes, by number, and how many nodes each has. */
struct leaves {
	size_t count;
	size_t *nodes;
	const char **name;
};

static void
api_budget_leaves_find(struct api *api, struct leaves *ret)
{
	struct roster *r = collector_roster(api->p.collector);
	struct mesh *m = collector_mesh(api->p.collector);
	size_t count = roster_ids(r);

	ret->count = 0;
	ret->nodes = xcalloc(count + 1, sizeof(ret->nodes[0]));
	ret->name = xcalloc(count + 1, sizeof(ret->name[0]));
	for (size_t id = 0; id < count; id++) {
		const struct node *n = roster_by_id(r, id);
		size_t leaf = mesh_leaf_id(m, n->leaf);

		if (leaf > count)
			continue; /* leaves without nodes */
		ret->nodes[leaf]++;
		ret->name[leaf] = n->leaf;
		if (leaf >= ret->count)
			ret->count = leaf + 1;
	}
}

static void
api_budget_leaves_clear(struct leaves *l)
{
	free(l->nodes);
	free(l->name);
}

/* Return the links of a node as coverage counts them: its rails, at least one.
 */
static size_t
api_budget_links_of(const struct node *n,
    struct roster_rail ret_rails[ROSTER_RAILS_MAX])
{
	size_t count = roster_rails(n, ret_rails);

	if (count == 0)
		ret_rails[0] = (struct roster_rail){ "", "" };
	return count == 0 ? 1 : count;
}

void
api_always(struct api *api, struct api_always *ret)
{
	size_t nodes = roster_count(collector_roster(api->p.collector)),
	       used = 0, inner = 0;
	const struct budget_limits *limits;
	struct roster_rail rails[ROSTER_RAILS_MAX];
	struct coverage_counts did;
	struct budget_use use;
	struct leaves l;
	size_t links = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < nodes; i++)
		links += api_budget_links_of(roster_by_id(collector_roster(
							      api->p.collector),
						 i),
		    rails);
	coverage_count(mesh_coverage(collector_mesh(api->p.collector)),
	    api_budget_hour_now(), &did);
	api_budget_leaves_find(api, &l);
	for (size_t i = 0; i < l.count; i++) {
		used += l.nodes[i] > 0;
		inner += l.nodes[i] > 1;
	}
	api_budget_leaves_clear(&l);
	/* Count everything that can be exercised: all pairs of nodes, pairs of
	 * leaves, leaves with two nodes as a pair with themselves, links, and
	 * uplinks if there are two leaves. */
	ret->coverage[0] = (struct api_share){ "pairs", did.pairs,
		nodes < 2 ? 0 : nodes * (nodes - 1) / 2 };
	ret->coverage[1] = (struct api_share){ "leaves", did.leaves,
		inner + (used < 2 ? 0 : used * (used - 1) / 2) };
	ret->coverage[2] = (struct api_share){ "links", did.links, links };
	ret->coverage[3] = (struct api_share){ "uplinks", did.uplinks,
		used < 2 ? 0 : used };
	limits = budget_limits(costs_budget(api->p.costs));
	budget_look(costs_budget(api->p.costs), clk_ns(), &use);
	ret->budget[0] = (struct api_budget){ "bytes", limits->bytes_per_h,
		use.bytes, use.bytes_reserved, use.bytes_total };
	ret->budget[1] = (struct api_budget){ "node_seconds",
		limits->node_s_per_h, use.node_s, use.node_s_reserved,
		use.node_s_total };
	ret->link_share = use.link_share;
	ret->link_share_limit = limits->link_share;
	ret->refused = use.refused;
	ret->mesh_nodes = mesh_ready_count(collector_mesh(api->p.collector));
	for (int c = 0; c < MESH_CLASS_MAX; c++) {
		const struct mesh_sum *sum = mesh_sums(collector_mesh(
							   api->p.collector),
		    (enum mesh_class)c);

		if (sum != NULL)
			ret->mesh[c] = (struct api_mesh){ sum->answered,
				sum->lost, sum->unknown, &sum->rtt_s };
	}
	memcpy(ret->silence, api->silence, sizeof(ret->silence));
}

json_t *
api_budget_json(struct api *api)
{
	json_t *o = json_object();
	struct api_always a;

	api_always(api, &a);
	for (int i = 0; i < API_BUDGETS; i++)
		json_object_set_new(o, a.budget[i].of,
		    json_pack("{s:o, s:f, s:f, s:f}", "limit",
			a.budget[i].limit > 0 ? json_real(a.budget[i].limit)
					      : json_null(),
			"used", a.budget[i].used, "reserved",
			a.budget[i].reserved, "total", a.budget[i].total));
	json_object_set_new(o, "link_share",
	    json_pack("{s:o, s:f}", "limit",
		a.link_share_limit > 0 ? json_real(a.link_share_limit)
				       : json_null(),
		"used", a.link_share));
	json_object_set_new(o, "refused", json_integer((json_int_t)a.refused));
	return o;
}

json_t *
api_coverage(struct api *api)
{
	const struct coverage *c = mesh_coverage(
	    collector_mesh(api->p.collector));
	json_t *links = json_array(), *pairs = json_array(),
	       *uplinks = json_array();
	json_t *o = json_pack("{s:i, s:o, s:o, s:o}", "hours", COVERAGE_HOURS,
	    "links_missing", links, "leaves_missing", pairs, "uplinks_missing",
	    uplinks);
	struct roster *r = collector_roster(api->p.collector);
	struct roster_rail rails[ROSTER_RAILS_MAX];
	uint64_t hour = api_budget_hour_now();
	struct api_always all;
	size_t count;
	struct leaves l;

	api_always(api, &all);
	for (int i = 0; i < API_SHARES; i++)
		json_object_set_new(o, all.coverage[i].of,
		    json_pack("{s:I, s:I}", "exercised",
			(json_int_t)all.coverage[i].part, "all",
			(json_int_t)all.coverage[i].all));
	for (size_t i = 0;
	     i < roster_count(r) && json_array_size(links) < MISSING_MAX; i++) {
		const struct node *n = roster_at(r, i);

		count = api_budget_links_of(n, rails);
		for (size_t k = 0; k < count; k++)
			if (!coverage_has_link(c, hour, mesh_link_id(n, k)))
				json_array_append_new(links,
				    json_sprintf("%s%s%s", n->name,
					rails[k].name[0] == '\0' ? "" : " ",
					rails[k].name));
	}
	api_budget_leaves_find(api, &l);
	for (size_t a = 0; a < l.count; a++) {
		if (l.nodes[a] == 0)
			continue;
		if (!coverage_has_uplink(c, hour, a) && l.count > 1)
			json_array_append_new(uplinks, json_string(l.name[a]));
		for (size_t b = 0; b <= a; b++)
			if (json_array_size(pairs) < MISSING_MAX &&
			    l.nodes[b] > 0 && (a != b || l.nodes[a] > 1) &&
			    !coverage_has_leaves(c, hour, a, b))
				json_array_append_new(pairs,
				    json_pack("[s, s]", l.name[b], l.name[a]));
	}
	api_budget_leaves_clear(&l);
	return o;
}

static void
api_budget_put_alike(json_t *list, const char *of_a, const char *a,
    const char *of_b, const char *b)
{
	if (json_array_size(list) < MISSING_MAX)
		json_array_append_new(list,
		    json_pack("[{s:s}, {s:s}]", of_a, a, of_b, b));
}

/* Coverage of each stage of spines. Its switches and links cannot be
 * distinguished, since it is unknown which of them a path takes. */
static json_t *
api_budget_spines_json(struct api *api, const uint32_t *leaf_of)
{
	struct roster *r = collector_roster(api->p.collector);
	const struct topo *topo = roster_topo(r);
	size_t count = roster_ids(r), n;
	uint32_t *stage_of = xcalloc(count + 1, sizeof(stage_of[0]));
	json_t *list = json_array();
	struct stages *s;
	uint64_t *pairs;

	if (topo == NULL) {
		free(stage_of);
		return list;
	}
	s = stages_new(topo_file(topo));
	n = stages_are_named(s) ? s->count : 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t leaf = topology_find_switch(topo_file(topo),
		    roster_by_id(r, i)->leaf);

		stage_of[i] = leaf == TOPOLOGY_NONE ? STAGE_NONE
						    : s->of_switch[leaf];
	}
	pairs = xcalloc(n * n + 1, sizeof(pairs[0]));
	coverage_between(mesh_coverage(collector_mesh(api->p.collector)),
	    api_budget_hour_now(), leaf_of, stage_of, count, n, pairs);
	for (uint32_t k = 0; k < n && k < MISSING_MAX; k++) {
		uint64_t over = 0;

		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = a; b < n; b++)
				if (pairs[a * n + b] > 0 &&
				    stages_cross(s, k, a, b))
					over += pairs[a * n + b];
		json_array_append_new(list,
		    json_pack("{s:s, s:i, s:I, s:I, s:I}", "switches",
			s->list[k].switches, "tier", s->list[k].tier, "count",
			(json_int_t)s->list[k].switch_count, "links",
			(json_int_t)s->list[k].links, "pairs",
			(json_int_t)over));
	}
	stages_free(s);
	free(pairs);
	free(stage_of);
	return list;
}

/* Two links cannot be distinguished if every path measured over one also went
 * over the other: the links of two nodes that were measured only with each
 * other, of two such leaves, and of the only measured node of a leaf and the
 * uplink of the leaf. */
json_t *
api_identifiable(struct api *api)
{
	struct roster *r = collector_roster(api->p.collector);
	size_t count = roster_ids(r);
	uint32_t *leaf_of = xcalloc(count + 1, sizeof(leaf_of[0]));
	struct coverage_met *nodes = xcalloc(count + 1, sizeof(nodes[0]));
	struct coverage_met *leaves = xcalloc(count + 1, sizeof(leaves[0]));
	size_t *far = xcalloc(count + 1, sizeof(far[0])); /* nodes, by leaf */
	json_t *alike = json_array(), *ret;
	struct leaves l;

	api_budget_leaves_find(api, &l);
	for (size_t i = 0; i < count; i++) {
		size_t leaf = mesh_leaf_id(collector_mesh(api->p.collector),
		    roster_by_id(r, i)->leaf);

		/* Where nodes have moved, numbers of leaves go beyond count:
		 * such leaves are counted as one. */
		leaf_of[i] = (uint32_t)(leaf < count ? leaf : count);
	}
	coverage_met(mesh_coverage(collector_mesh(api->p.collector)),
	    api_budget_hour_now(), leaf_of, count, nodes, leaves);
	for (size_t i = 0; i < count; i++)
		far[leaf_of[i]] += nodes[i].others > 0;
	for (size_t i = 0; i < count; i++) {
		const char *name = roster_by_id(r, i)->name;
		size_t leaf = leaf_of[i];

		if (nodes[i].others == 1 && nodes[i].one > i &&
		    nodes[nodes[i].one].others == 1)
			api_budget_put_alike(alike, "link", name, "link",
			    roster_by_id(r, nodes[i].one)->name);
		if (nodes[i].others > 0 && leaf < l.count && far[leaf] == 1)
			api_budget_put_alike(alike, "link", name, "uplink",
			    l.name[leaf]);
	}
	for (size_t i = 0; i < l.count; i++)
		if (leaves[i].others == 1 && leaves[i].one > i &&
		    leaves[i].one < l.count &&
		    leaves[leaves[i].one].others == 1)
			api_budget_put_alike(alike, "uplink", l.name[i],
			    "uplink", l.name[leaves[i].one]);
	ret = json_pack("{s:i, s:o, s:o}", "hours", COVERAGE_HOURS, "alike",
	    alike, "spines", api_budget_spines_json(api, leaf_of));
	api_budget_leaves_clear(&l);
	free(leaf_of);
	free(nodes);
	free(leaves);
	free(far);
	return ret;
}
