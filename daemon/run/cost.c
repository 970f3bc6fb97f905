/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/run/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "daemon/run/run_int.h"

struct costs {
	struct store *store;
	struct cost_rules rules;
	struct budget *budget;
	json_t *known; /* campaign: [duration_s, bytes_per_node] */
};

struct costs *
costs_new(struct store *store, const struct cost_rules *rules)
{
	struct costs *cs = xcalloc(1, sizeof(*cs));

	cs->store = store;
	cs->rules = *rules;
	cs->budget = budget_new(&rules->limits);
	cs->known = json_object();
	return cs;
}

void
costs_free(struct costs *cs)
{
	if (cs == NULL)
		return;
	budget_free(cs->budget);
	json_decref(cs->known);
	free(cs);
}

void
costs_load(struct costs *cs, const json_t *settings)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)settings, key, v) {
		double duration_s, bytes;

		if (strncmp(key, "cost/", 5) == 0 && json_is_string(v) &&
		    sscanf(json_string_value(v), "%lf %lf", &duration_s,
			&bytes) == 2 &&
		    duration_s >= 0 && bytes >= 0)
			json_object_set_new(cs->known, key + 5,
			    json_pack("[f, f]", duration_s, bytes));
	}
}

struct budget *
costs_budget(struct costs *cs)
{
	return cs->budget;
}

const struct cost_rules *
costs_rules(const struct costs *cs)
{
	return &cs->rules;
}

void
costs_expect(const struct costs *cs, const char *campaign,
    const struct conf *conf, double *ret_duration_s, double *ret_bytes_per_node)
{
	const json_t *known = json_object_get(cs->known, campaign);
	double said = (double)conf_bytes(conf, "campaign", "bytes");

	*ret_duration_s = (double)conf_span_ns(conf, "campaign", "deadline") /
	    1e9;
	*ret_bytes_per_node = said;
	if (known == NULL)
		return;
	*ret_duration_s = fmin(*ret_duration_s,
	    json_number_value(json_array_get(known, 0)));
	if (said == 0)
		*ret_bytes_per_node = json_number_value(
		    json_array_get(known, 1));
}

static void
learn(struct costs *cs, const struct run *r, double duration_s,
    double bytes_per_node)
{
	char key[128], value[80];

	json_object_set_new(cs->known, r->campaign,
	    json_pack("[f, f]", duration_s, bytes_per_node));
	snprintf(key, sizeof(key), "cost/%s", r->campaign);
	snprintf(value, sizeof(value), "%.3f %.0f", duration_s, bytes_per_node);
	store_put_setting(cs->store, key, value);
}

int
costs_black(const struct costs *cs, const struct conf *conf,
    uint64_t at_unix_ns, double duration_s, uint64_t *ret_end_unix_ns,
    struct err *err)
{
	uint64_t span_ns = (uint64_t)(duration_s * 1e9);
	struct blackout own;
	char ends[40];
	int hit = 0;

	if (conf_choice(conf, "campaign", "class") == 1)
		hit = blackout_hits(&cs->rules.blackout, at_unix_ns, span_ns,
		    ret_end_unix_ns);
	if (!hit &&
	    blackout_parse(conf_string(conf, "schedule", "blackout"), &own,
		NULL) == 0)
		hit = blackout_hits(&own, at_unix_ns, span_ns, ret_end_unix_ns);
	if (!hit)
		return 0;
	clk_unix_format(*ret_end_unix_ns, ends, sizeof(ends));
	err_say(err, "would run into a blackout that ends at %s", ends);
	return 1;
}

double
costs_link(const struct node *n)
{
	double best = 0;
	json_t *nic;
	size_t i;

	json_array_foreach (json_object_get(n->inventory, "nics"), i, nic) {
		const char *kind = json_string_value(
		    json_object_get(nic, "kind"));
		double bits_per_s = json_number_value(
		    json_object_get(nic, "speed_bps"));

		if (kind != NULL && strcmp(kind, "virtual") != 0)
			best = fmax(best, bits_per_s / 8);
	}
	return best;
}

/* The slowest that is known among the nodes of a run. */
static double
link_least(const struct run *r)
{
	double least = 0;

	for (size_t i = 0; i < r->node_count; i++) {
		double link = costs_link(r->nodes[i].node);

		if (link > 0 && (least == 0 || link < least))
			least = link;
	}
	return least;
}

enum budget_answer
cost_ask(struct run *r, size_t nodes, struct err *err)
{
	struct costs *cs = r->all->costs;
	struct budget_cost *c = &r->cost;
	uint64_t end;

	if (cs == NULL)
		return BUDGET_FITS;
	costs_expect(cs, r->campaign, r->conf, &c->duration_s,
	    &c->bytes_per_node);
	c->nodes = (double)nodes;
	if (costs_black(cs, r->conf, clk_unix_ns(), c->duration_s, &end, err))
		return BUDGET_LATER;
	return budget_ask(cs->budget, clk_ns(), c, err);
}

void
cost_begin(struct run *r)
{
	if (r->all->costs == NULL)
		return;
	r->cost.nodes = (double)r->node_count;
	r->cost.link_bytes_per_s = link_least(r);
	budget_reserve(r->all->costs->budget, &r->cost);
	r->cost_held = 1;
}

/* Bytes that left by any device of the machine: an upper bound, for a device
 * may stand on another. */
static double
sent_bytes(const json_t *nics)
{
	double sum = 0;
	json_t *nic;
	size_t i;

	json_array_foreach (nics, i, nic)
		sum += json_number_value(
		    json_object_get(json_object_get(nic, "counters"),
			"tx_bytes"));
	return sum;
}

void
cost_counters(struct run *r, size_t index, const json_t *nics)
{
	struct run_node *rn = &r->nodes[index];
	double bytes = sent_bytes(nics);

	if (!rn->counted)
		rn->first_bytes = bytes;
	rn->counted = 1;
	rn->last_bytes = bytes;
}

void
cost_end(struct run *r)
{
	struct costs *cs = r->all->costs;
	double bytes = 0, spent_s;
	size_t counted = 0;

	if (cs == NULL || !r->cost_held)
		return;
	r->cost_held = 0;
	budget_release(cs->budget, &r->cost);
	spent_s = r->start_ns == 0 ? 0 : (double)(clk_ns() - r->start_ns) / 1e9;
	for (size_t i = 0; i < r->node_count; i++) {
		const struct run_node *rn = &r->nodes[i];
		double sent = rn->counted ? rn->last_bytes - rn->first_bytes
					  : 0;

		if (!rn->counted || sent < 0)
			continue; /* its counters began anew */
		counted++;
		bytes += sent;
		budget_use_link(cs->budget, clk_ns(), rn->node->id, sent,
		    costs_link(rn->node));
	}
	/* Who did not count is taken for what was expected. */
	if (r->start_ns != 0)
		bytes += (double)(r->node_count - counted) *
		    r->cost.bytes_per_node;
	budget_use(cs->budget, clk_ns(), bytes,
	    spent_s * (double)r->node_count);
	if (r->state == RUN_FINISHED && r->node_count > 0)
		learn(cs, r, spent_s, bytes / (double)r->node_count);
}
