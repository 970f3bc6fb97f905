/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold.c - the nodes and the budget that a run holds.
 */
#include "daemon/run/hold.h"
#include "daemon/run/run_int.h"

#include "common/xalloc.h"
#include "daemon/slurm/slurm.h"

int
hold_needs_idle(const struct runs *rs, const struct launcher *launcher,
    int exclusive)
{
	return rs->slurm != NULL &&
	    ((launcher != NULL && launcher->idle) ||
		(exclusive && slurm_wants_idle(rs->slurm)));
}

int
hold_asks_slurm(const struct run *r)
{
	return hold_needs_idle(r->all, r->launcher, r->exclusive);
}

void
hold_node(struct run *r, struct node *n)
{
	if (r->exclusive)
		n->exclusive = r;
	else
		n->shared++;
}

void
hold_let_go(struct run *r, struct node *n)
{
	if (!r->exclusive && n->shared > 0)
		n->shared--;
	else if (n->exclusive == r)
		n->exclusive = NULL;
}

void
hold_release(struct run *r)
{
	for (size_t i = 0; r->step != STEP_WAIT && i < r->node_count; i++)
		hold_let_go(r, r->nodes[i].node);
}

void
hold_restore(struct run *r, const json_t *names)
{
	json_t *name;
	size_t i;

	r->nodes = xcalloc(json_array_size(names) + 1, sizeof(r->nodes[0]));
	json_array_foreach (names, i, name) {
		struct node *n = !json_is_string(name)
		    ? NULL
		    : roster_find(r->all->roster, json_string_value(name));

		if (n == NULL)
			continue;
		r->nodes[r->node_count].node = n;
		r->nodes[r->node_count].ready = READY_YES;
		r->node_count++;
		hold_node(r, n);
	}
	run_nodes_changed(r);
}

void
hold_counters(struct run *r, size_t index, const json_t *nics)
{
	struct run_node *rn = &r->nodes[index];
	double bytes = 0;
	json_t *nic;
	size_t i;

	/* The sum over all devices is an upper bound, since a device may be a
	 * part of another one. */
	json_array_foreach (nics, i, nic)
		bytes += json_number_value(
		    json_object_get(json_object_get(nic, "counters"),
			"tx_bytes"));
	if (!rn->counted)
		rn->first_bytes = bytes;
	rn->counted = 1;
	rn->last_bytes = bytes;
}

void
hold_cost_end(struct run *r)
{
	struct costs *cs = r->all->costs;
	double bytes = 0, spent_s;
	size_t counted = 0;

	if (cs == NULL || !r->cost_held)
		return;
	r->cost_held = 0;
	budget_release(costs_budget(cs), &r->cost);
	spent_s = r->start_ns == 0 ? 0 : (double)(clk_ns() - r->start_ns) / 1e9;
	for (size_t i = 0; i < r->node_count; i++) {
		const struct run_node *rn = &r->nodes[i];
		double sent = rn->counted ? rn->last_bytes - rn->first_bytes
					  : 0;

		if (!rn->counted || sent < 0)
			continue; /* its counters were reset */
		counted++;
		bytes += sent;
		budget_use_link(costs_budget(cs), clk_ns(), rn->node->id, sent,
		    costs_link(rn->node));
	}
	/* A node without counters counts with the expected bytes. */
	if (r->start_ns != 0)
		bytes += (double)(r->node_count - counted) *
		    r->cost.bytes_per_node;
	costs_use(cs, bytes, spent_s * (double)r->node_count);
	if (r->state == RUN_FINISHED && r->node_count > 0)
		costs_learn(cs, r->campaign, spent_s,
		    bytes / (double)r->node_count);
}
