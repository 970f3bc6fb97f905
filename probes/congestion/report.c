/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - the contents of a campaign's records: its begin and end, canaries
 * with their nodes and pairs, impacts, rates of congestors.
 */

#include "probes/congestion/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/log.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/congestion/canary.h"
#include "probes/congestion/canary_loop.h"
#include "probes/congestion/congestor.h"
#include "probes/job/collect.h"
#include "probes/job/fabric.h"
#include "probes/job/relay.h"
#include "probes/job/roles.h"
#include "probes/job/world.h"
#include "probes/sampling/impact.h"
#include "probes/sampling/pair_medians.h"
#include "probes/sampling/tally.h"
#include "schema/options.h"
#include "schema/record.h"

/* The nodes of a role as a host list: ten thousand of them fit in a line. */
static json_t *
report_role_nodes(const struct world *w, int role)
{
	const char **names = xcalloc((size_t)w->nodes, sizeof(*names));
	json_t *list;
	char *text;
	size_t n = 0;

	for (int i = 0; i < w->nodes; i++)
		if (w->node_roles[i] == role)
			names[n++] = w->names[i];
	text = hostlist_format(names, n);
	list = json_string(text);
	free(text);
	free(names);
	return list;
}

json_t *
report_options(const struct conf *c, const struct conf_row *rows)
{
	json_t *all = json_object();
	char name[128];

	for (; rows->key != NULL; rows++) {
		if (!conf_given(c, rows->section, rows->key))
			continue;
		snprintf(name, sizeof(name), "%s.%s", rows->section, rows->key);
		json_object_set_new(all, name,
		    json_string(conf_string(c, rows->section, rows->key)));
	}
	return all;
}

json_t *
report_begin(const struct world *w, const struct settings *s,
    const struct conf *c)
{
	char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	json_t *nodes = json_array(), *roles = json_object(), *o;
	struct device_facts facts = { 0 };
	int len;

	MPI_DO(MPI_Get_library_version(mpi, &len));
	mpi[strcspn(mpi, "\r\n")] = '\0';
	for (int i = 0; i < w->nodes; i++)
		json_array_append_new(nodes, json_string(w->names[i]));
	json_object_set_new(roles, "canary",
	    report_role_nodes(w, ROLES_CANARY));
	for (int k = 0; k < s->kind_count; k++)
		json_object_set_new(roles, names_congestors[s->kinds[k]].name,
		    report_role_nodes(w, k));
	o = json_pack("{s:s, s:s, s:o, s:i, s:o, s:o, s:I, s:o}", "probe",
	    "begin", "version", COALMINE_VERSION, "mpi",
	    json_stringn(mpi, strnlen(mpi, 100)), "ranks", w->size, "nodes",
	    nodes, "roles", roles, "seed", (json_int_t)s->seed, "options",
	    report_options(c, options_campaign));
	link_describe(w, o);
	if (w->team != NULL) {
		(void)w->team->ops->facts(w->team->device, &facts);
		json_object_set_new(o, "device_name", json_string(facts.name));
	}
	return o;
}

json_t *
report_end(uint64_t records, enum cause cause, const char *text)
{
	json_t *r = json_pack("{s:s, s:I, s:s}", "probe", "end", "records",
	    (json_int_t)records, "status",
	    cause == CAUSE_NONE ? "ok" : "failed");

	if (cause == CAUSE_NONE)
		return r;
	json_object_set_new(r, "cause", json_string(names_causes[cause].name));
	json_object_set_new(r, "text", json_string(text));
	return r;
}

/* The root's results for the nodes of a test in one phase, or of a kind of
 * congestors. */
struct measured {
	const struct world *world;
	const struct canary_loop_cell *cell; /* NULL: congestors */
	struct pair_medians *pairs;          /* NULL: none */
	struct collect_node *nodes;
	int count;
	int low_is_bad;
	int by_node; /* a node's number is its own, not that of pairs */
};

/* ---- nodes and pairs ---- */

/* Of more nodes than there are rows for: the worst by median. */
static json_t *
report_node_list(const struct measured *x)
{
	double bound = NAN, at = NAN, *p50, share;
	json_t *list = json_array();
	size_t count = 0;

	if (x->count > REPORT_NODES_MAX) {
		share = (double)RECORD_ROWS_WORST / x->count;
		p50 = xcalloc((size_t)x->count, sizeof(*p50));
		for (int i = 0; i < x->count; i++)
			if (x->nodes[i].n > 0)
				p50[count++] = x->nodes[i].p50;
		if (count > 0)
			at = robust_quantile(p50, count,
			    x->low_is_bad ? share : 1 - share);
		free(p50);
	}
	if (x->pairs != NULL)
		bound = pair_medians_bound(x->pairs);
	for (int i = 0; i < x->count; i++) {
		const struct collect_node *n = &x->nodes[i];
		double q25 = NAN, q75 = NAN;
		int node = (int)n->node, partners, slow;
		json_t *o;

		if (n->n == 0 || (x->low_is_bad ? n->p50 > at : n->p50 < at) ||
		    json_array_size(list) == REPORT_NODES_MAX)
			continue;
		o = json_pack("{s:s, s:I, s:o, s:o}", "node",
		    x->world->names[node], "n", (json_int_t)n->n, "p50",
		    record_number(n->p50), "p99", record_number(n->p99));
		json_array_append_new(list, o);
		if (x->pairs != NULL) {
			partners = pair_medians_partners(x->pairs, node, bound,
			    &slow);
			json_object_set_new(o, "partners",
			    json_integer(partners));
			json_object_set_new(o, "slow_partners",
			    json_integer(slow));
			q25 = x->low_is_bad
			    ? pair_medians_quantile(x->pairs, node, 0.25)
			    : pair_medians_score(x->pairs, node);
			q75 = x->low_is_bad
			    ? pair_medians_score(x->pairs, node)
			    : pair_medians_quantile(x->pairs, node, 0.75);
		}
		if (x->cell == NULL)
			continue;
		if (x->by_node) {
			q25 = n->q25;
			q75 = n->q75;
		}
		json_object_set_new(o, "q25", record_number(q25));
		json_object_set_new(o, "q75", record_number(q75));
		json_object_set_new(o, "wait_ratio",
		    record_number(cores_wait_ratio(n->run_s, n->wait_s)));
	}
	return list;
}

/* Return the score of every node: from its pairs, or from its own samples. */
static json_t *
report_node_scores(const struct measured *x)
{
	const char **names = xcalloc((size_t)x->count, sizeof(*names));
	double *q = xcalloc((size_t)x->count, sizeof(*q));
	json_t *scores;

	for (int i = 0; i < x->count; i++) {
		names[i] = x->world->names[(int)x->nodes[i].node];
		q[i] = !x->by_node
		    ? pair_medians_score(x->pairs, (int)x->nodes[i].node)
		    : x->low_is_bad ? x->nodes[i].q75
				    : x->nodes[i].q25;
	}
	scores = record_scores_make(names, q, (size_t)x->count,
	    x->low_is_bad ? "q75" : "q25");
	free(names);
	free(q);
	return scores;
}

/* The worst pairs, and all of them as a grid when their nodes are few. */
static void
report_put_pairs(json_t *r, const struct measured *x)
{
	struct pair_medians_row rows[RECORD_PAIRS_MAX];
	char(*name)[WORLD_NAME_BYTES] = x->world->names;
	json_t *list = json_array(), *names, *grid;
	int ids[RECORD_GRID_MAX], worst = 0, n = 0;
	double median;
	char text[32];

	json_object_set_new(r, "pairs", list);
	if (x->pairs == NULL)
		return;
	if (pair_medians_dropped(x->pairs) > 0)
		log_warnx("%llu medians of pairs of ranks dropped: the report "
			  "holds "
			  "no more pairs",
		    (unsigned long long)pair_medians_dropped(x->pairs));
	worst = pair_medians_worst(x->pairs, rows, RECORD_PAIRS_MAX);
	for (int i = 0; i < worst; i++) {
		json_t *row = json_pack("{s:s, s:s, s:I, s:f}", "a",
		    name[rows[i].a], "b", name[rows[i].b], "n",
		    (json_int_t)rows[i].n, "p50", rows[i].p50);

		for (int way = 0; x->cell != NULL && way < 2; way++)
			if (x->cell->ways[way] != NULL)
				json_object_set_new(row,
				    way == 0 ? "forth" : "back",
				    record_number(
					pair_medians_median(x->cell->ways[way],
					    rows[i].a, rows[i].b)));
		json_array_append_new(list, row);
	}

	for (int i = 0; i < x->count; i++)
		if (x->nodes[i].n > 0 && n++ < RECORD_GRID_MAX)
			ids[n - 1] = (int)x->nodes[i].node;
	if (n < 2 || n > RECORD_GRID_MAX)
		return;
	names = json_array();
	grid = json_array();
	for (int i = 0; i < n; i++) {
		json_t *row = json_array();

		for (int j = 0; j < i; j++) {
			/* Three digits are finer than the medians are. */
			median = pair_medians_median(x->pairs, ids[i], ids[j]);
			snprintf(text, sizeof(text), "%.3g", median);
			json_array_append_new(row,
			    record_number(
				isfinite(median) ? strtod(text, NULL) : NAN));
		}
		json_array_append_new(grid, row);
		json_array_append_new(names, json_string(name[ids[i]]));
	}
	json_object_set_new(r, "grid",
	    json_pack("{s:o, s:o}", "nodes", names, "p50", grid));
}

/* ---- canaries ---- */

static void
report_put_cause(json_t *r, enum cause cause, const char *text)
{
	if (cause == CAUSE_NONE)
		return;
	json_object_set_new(r, "cause", json_string(names_causes[cause].name));
	if (text[0] != '\0')
		json_object_set_new(r, "text", json_string(text));
}

static json_t *
report_interval(double level, double lo, double hi)
{
	if (!isfinite(lo) || !isfinite(hi))
		return json_null();
	return json_pack("{s:f, s:f, s:f}", "level", level, "lo", lo, "hi", hi);
}

/* Report the traffic of a role at its root; all ranks of the role call it. */
static json_t *
report_carried_by(const struct world *w, double sent_bytes, double wanted_bytes)
{
	double mine[] = { sent_bytes, wanted_bytes };
	double sums[ARRAY_LEN(mine)] = { 0 };

	MPI_DO(MPI_Reduce(mine, sums, (int)ARRAY_LEN(mine), MPI_DOUBLE, MPI_SUM,
	    0, w->group));
	return w->group_rank == 0 && sums[0] + sums[1] > 0
	    ? fabric_carried(sums[0], sums[1])
	    : NULL;
}

/* Records of the tests' own sizes do not name them. */
static void
report_put_bytes(json_t *r, const struct settings *s)
{
	if (s->bytes > 0)
		json_object_set_new(r, "bytes",
		    json_integer((json_int_t)s->bytes));
}

static void
report_canary(struct canary_loop *m, int i, enum phase phase)
{
	const struct settings *s = m->settings;
	const struct canary_loop_cell *cell = &m->tests[i].cells[phase];
	const struct hist *total = &cell->tally.total;
	enum canary_test test = s->tests[i];
	struct measured x = { .world = m->world,
		.cell = cell,
		.pairs = cell->pairs,
		.low_is_bad = canary_low_is_bad(test),
		.by_node = test == CANARY_INCAST };
	json_t *r, *carried, *headline = json_null();
	double lo, hi;

	x.count = collect_nodes(m->world, &cell->mine, &cell->cores, &x.nodes);
	carried = report_carried_by(m->world, cell->sent_bytes,
	    cell->wanted_bytes);
	if (m->world->group_rank != 0)
		return; /* nodes is NULL */
	r = json_pack("{s:s, s:s, s:s, s:s}", "probe", "canary", "test",
	    names_tests[test].name, "phase", names_phases[phase], "unit",
	    names_tests[test].unit);
	record_put_hist(r, total);
	json_object_set_new(r, "mean", record_number(tally_mean(&cell->tally)));
	json_object_set_new(r, x.low_is_bad ? "p01_time" : "p99_time",
	    record_number(hist_quantile_by_time(total, 0.99, x.low_is_bad)));
	if (x.low_is_bad) {
		/* The bad tail of a bandwidth is the lower one. */
		json_object_set_new(r, "p01",
		    record_number(hist_quantile(total, 0.01)));
		json_object_set_new(r, "p10",
		    record_number(hist_quantile(total, 0.1)));
	}
	if (s->exact && cell->rings.n > 0)
		json_object_set_new(r, "rings",
		    json_pack("{s:i, s:f, s:f, s:f, s:f, s:o}", "n",
			cell->rings.n, "min", cell->rings.min, "max",
			cell->rings.max, "avg",
			cell->rings.sum_mean / cell->rings.n, "avg_worst",
			cell->rings.sum_worst / cell->rings.n, "p001",
			record_number(hist_quantile(total, 0.001))));
	if (tally_interval(&cell->tally, canary_tail(test), s->level, &lo,
		&hi) == 0) {
		headline = json_pack("{s:s}", "of",
		    x.low_is_bad ? "p01" : "p99");
		json_object_update_new(headline,
		    report_interval(s->level, lo, hi));
	}
	if (carried != NULL)
		json_object_set_new(r, "carried", carried);
	json_object_set_new(r, "interval", headline);
	json_object_set_new(r, "nodes", report_node_list(&x));
	if (x.count > REPORT_NODES_MAX && (x.pairs != NULL || x.by_node))
		json_object_set_new(r, "scores", report_node_scores(&x));
	report_put_pairs(r, &x);
	json_object_set_new(r, "stopped_by",
	    json_string(names_stops[cell->stopped_by]));
	json_object_set_new(r, "rounds", json_integer(cell->rounds));
	json_object_set_new(r, "iterations", json_integer(cell->iterations));
	json_object_set_new(r, "seed", json_integer((json_int_t)s->seed));
	json_object_set_new(r, "partners",
	    json_string(names_partners[s->partners]));
	report_put_cause(r, cell->cause, m->tests[i].err.text);
	report_put_bytes(r, s);
	link_describe(m->world, r);
	relay_put(r);
	free(x.nodes);
}

static void
report_impact(struct canary_loop *m, int i, enum impact_of of)
{
	const struct settings *s = m->settings;
	struct impact_ask ask = canary_loop_impact(m, i);
	struct impact im = { NAN, NAN, NAN };
	enum cause cause = m->tests[i].cells[s->quiet].cause;
	json_t *r;

	/* Without enough samples im stays as it is. */
	int rc = impact_take(&ask, of, &im);
	if (cause == CAUSE_NONE)
		cause = m->tests[i].cells[PHASE_CONGESTED].cause;
	if (cause == CAUSE_NONE && rc == -ERANGE)
		cause = CAUSE_TOO_FEW_SAMPLES;
	r = json_pack("{s:s, s:s, s:s, s:o, s:o}", "probe", "impact", "test",
	    names_tests[s->tests[i]].name, "of", impact_names[of], "value",
	    record_number(im.value), "interval",
	    report_interval(s->level, im.lo, im.hi));
	report_put_cause(r, cause, m->tests[i].err.text);
	report_put_bytes(r, s);
	link_describe(m->world, r);
	relay_put(r);
}

void
report_canaries(struct canary_loop *m)
{
	const struct settings *s = m->settings;
	int loaded = settings_congested(s);

	for (int i = 0; i < s->test_count; i++) {
		report_canary(m, i, s->quiet);
		if (loaded)
			report_canary(m, i, PHASE_CONGESTED);
	}
	if (!loaded || m->world->group_rank != 0)
		return;
	for (int i = 0; i < s->test_count; i++)
		for (int of = 0; of < IMPACT_OF_MAX; of++)
			report_impact(m, i, (enum impact_of)of);
}

/* ---- congestors ---- */

static void
report_rates(struct congestor_load *l, enum phase phase)
{
	struct hist *all = xcalloc(1, sizeof(*all));
	struct measured x = { .world = l->world, .low_is_bad = 1 };
	enum cause cause = l->cause;
	double spans[2] = { l->busy_ns[phase], l->span_ns[phase] };
	json_t *r, *carried;

	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, spans, 2, MPI_DOUBLE, MPI_SUM,
	    l->world->group));
	x.count = collect_nodes(l->world, &l->rates[phase], NULL, &x.nodes);
	collect_sum(l->world->group, &l->rates[phase], all);
	carried = report_carried_by(l->world, l->sent_bytes[phase],
	    l->wanted_bytes[phase]);
	if (cause == CAUSE_NONE && all->count == 0)
		cause = CAUSE_TIMEOUT; /* not one batch in all its time */
	if (l->world->group_rank == 0) {
		r = json_pack("{s:s, s:s, s:s, s:s}", "probe", "congestor",
		    "test", names_congestors[l->kind].name, "phase",
		    names_phases[phase], "unit", "B/s");
		record_put_hist(r, all);
		json_object_set_new(r, "interval", json_null());
		json_object_set_new(r, "nodes", report_node_list(&x));
		json_object_set_new(r, "pairs", json_array());
		if (carried != NULL)
			json_object_set_new(r, "carried", carried);
		if (l->settings->burst_ns > 0 || l->settings->strength < 1)
			json_object_set_new(r, "busy",
			    record_number(spans[0] / spans[1]));
		report_put_cause(r, cause, l->err.text);
		link_describe(l->world, r);
		relay_put(r);
	}
	free(x.nodes);
	free(all);
}

void
report_load(struct congestor_load *l)
{
	if (l->kind == CONGESTOR_IDLE)
		return; /* has no rate to report */
	if (l->settings->rates)
		report_rates(l, PHASE_ISOLATED);
	report_rates(l, PHASE_CONGESTED);
}
