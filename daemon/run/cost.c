/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.c - the last run's cost is the estimate of the next; the site's
 * blackouts apply to exclusive runs, a campaign's own to all of its runs.
 */
#include "daemon/run/cost.h"
#include "daemon/run/blackout.h"
#include "daemon/run/budget.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/member.h"
#include "common/clk.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/store/store.h"

struct costs {
	struct store *store;
	struct cost_rules rules;
	struct budget *budget;
	json_t *known; /* campaign: [duration_s, bytes_per_node] */
};

void
cost_rules_read(const struct conf *c, struct cost_rules *ret)
{
	ret->limits.bytes_per_h = (double)conf_bytes(c, "budget", "bytes");
	ret->limits.node_s_per_h = conf_real(c, "budget", "node_seconds");
	ret->limits.link_share = conf_real(c, "budget", "link_share");
}

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
		if (strcmp(key, "budget") == 0 && json_is_string(v))
			budget_restore(cs->budget, clk_ns(), clk_unix_ns(),
			    json_string_value(v));
	}
}

struct budget *
costs_budget(struct costs *cs)
{
	return cs->budget;
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

void
costs_use(struct costs *cs, double bytes, double node_s)
{
	struct strbuf text = { 0 };

	budget_use(cs->budget, clk_ns(), bytes, node_s);
	budget_save(cs->budget, clk_ns(), clk_unix_ns(), &text);
	if (text.text != NULL)
		store_put_setting(cs->store, "budget", text.text, NULL, NULL);
	strbuf_clear(&text);
}

void
costs_learn(struct costs *cs, const char *campaign, double duration_s,
    double bytes_per_node)
{
	char key[128], value[80];

	json_object_set_new(cs->known, campaign,
	    json_pack("[f, f]", duration_s, bytes_per_node));
	snprintf(key, sizeof(key), "cost/%s", campaign);
	snprintf(value, sizeof(value), "%.3f %.0f", duration_s, bytes_per_node);
	store_put_setting(cs->store, key, value, NULL, NULL);
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

	if (conf_is(conf, "campaign", "class", "exclusive"))
		hit = blackout_hits(&cs->rules.blackout, at_unix_ns, span_ns,
		    ret_end_unix_ns);
	if (!hit &&
	    blackout_parse(conf_string(conf, "schedule", "blackout"), &own,
		NULL) == 0)
		hit = blackout_hits(&own, at_unix_ns, span_ns, ret_end_unix_ns);
	if (!hit)
		return 0;
	clk_unix_format(*ret_end_unix_ns, ends, sizeof(ends));
	err_say(err, "the run could last into a blackout, which ends at %s",
	    ends);
	return 1;
}

double
costs_link(const struct node *n)
{
	double best = 0;
	json_t *nic;
	size_t i;

	member_foreach (n->inventory, "nics", i, nic) {
		const char *kind = member_text_or(nic, "kind", NULL);
		double bits_per_s = json_number_value(
		    json_object_get(nic, "speed_bps"));

		if (kind != NULL && strcmp(kind, "virtual") != 0)
			best = fmax(best, bits_per_s / 8);
	}
	return best;
}
