/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_rows.c - a row of shares from the shares of all nodes and leaves.
 */
#include "daemon/objective/share_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/member.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "schema/names_agent.h"

#define RENEW_NS (86400 * CLK_NS_PER_S)
/* A rate that changed by less, relative to the last row, did not change. */
#define RATE_STEP 0.01

static int
share_rows_is_measured(const json_t *row)
{
	const char *state = member_text(row, "state");

	return member_int(row, "rounds") > 0 &&
	    strcmp(state, names_agent_states[AGENT_LOST]) != 0 &&
	    strcmp(state, names_agent_states[AGENT_MAINTENANCE]) != 0;
}

/* Append nodes or leaves slower than their peers. */
static void
share_rows_slow_add(const json_t *all, const char *kind, json_t *slow)
{
	json_t *row;
	size_t i;

	json_array_foreach (all, i, row)
		if (member_number(row, "share") < 1 &&
		    share_rows_is_measured(row))
			json_array_append_new(slow,
			    json_pack("{s:s, s:O, s:O, s:O}", "kind", kind,
				"subject", json_object_get(row, kind), "share",
				json_object_get(row, "share"), "spread",
				json_object_get(row, "spread")));
}

/* Return the median rate of measured nodes of the promise, or of leaves; NAN:
 * no rate. */
static double
share_rows_rate(const json_t *all, const json_t *of)
{
	double *x = xcalloc(json_array_size(all) + 1, sizeof(*x)), ret;
	json_t *row;
	size_t n = 0, i;

	json_array_foreach (all, i, row)
		if (member_number(row, "rate") > 0 &&
		    share_rows_is_measured(row) &&
		    (of == NULL ||
			json_object_get(of, member_text(row, "node")) != NULL))
			x[n++] = member_number(row, "rate");
	ret = robust_median(x, n);
	free(x);
	return n == 0 ? NAN : ret;
}

static void
share_rows_factor_put(json_t *o, const char *key, double factor,
    const json_t *last)
{
	double was = member_number(last, key);

	if (!isfinite(factor))
		return;
	if (was > 0 && fabs(log(factor / was)) < RATE_STEP)
		factor = was;
	json_object_set_new(o, key, json_real(factor));
}

/* Return the member promise, or NULL without promise or rates. */
static json_t *
share_rows_promise(const json_t *shares, const struct promised *p,
    const json_t *last)
{
	const json_t *nodes = json_object_get(shares, "nodes"), *was;
	double rate = p == NULL ? NAN : share_rows_rate(nodes, p->nodes);
	const char **names;
	json_t *ret, *row;
	size_t count = 0, i;
	char *known;

	if (!isfinite(rate))
		return NULL;
	names = xcalloc(json_array_size(nodes) + 1, sizeof(*names));
	json_array_foreach (nodes, i, row)
		if (share_rows_is_measured(row) &&
		    json_object_get(p->nodes, member_text(row, "node")) != NULL)
			names[count++] = member_text(row, "node");
	known = hostlist_format(names, count);
	ret = json_pack("{s:s}", "known", known);
	was = json_object_get(last, "promise");
	share_rows_factor_put(ret, "node", rate / p->node_rate, was);
	share_rows_factor_put(ret, "leaf",
	    share_rows_rate(json_object_get(shares, "leaves"), NULL) /
		p->leaf_rate,
	    was);
	free(known);
	free(names);
	return ret;
}

json_t *
share_rows_make(const json_t *shares, const struct promised *p,
    const json_t *last, uint64_t now_unix_ns)
{
	const json_t *nodes = json_object_get(shares, "nodes");
	const char **names = xcalloc(json_array_size(nodes) + 1,
	    sizeof(*names));
	json_t *slow = json_array(), *row, *ret = NULL;
	json_t *promise = share_rows_promise(shares, p, last);
	size_t count = 0, i;
	uint64_t last_unix_ns = member_unsigned(last, "at_unix_ns");
	char *known;

	json_array_foreach (nodes, i, row)
		if (share_rows_is_measured(row))
			names[count++] = member_text(row, "node");
	known = hostlist_format(names, count);
	share_rows_slow_add(nodes, "node", slow);
	share_rows_slow_add(json_object_get(shares, "leaves"), "leaf", slow);
	/* A row in the future is of a clock that was ahead. */
	if (last == NULL || !json_equal(json_object_get(last, "slow"), slow) ||
	    strcmp(member_text(last, "known"), known) != 0 ||
	    (promise != NULL &&
		!json_equal(json_object_get(last, "promise"), promise)) ||
	    now_unix_ns - last_unix_ns >= RENEW_NS)
		ret = json_pack("{s:I, s:s, s:O, s:O*}", "at_unix_ns",
		    (json_int_t)now_unix_ns, "known", known, "slow", slow,
		    "promise", promise);
	json_decref(slow);
	json_decref(promise);
	free(known);
	free(names);
	return ret;
}
