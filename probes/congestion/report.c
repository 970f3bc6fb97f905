/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - what was measured becomes records: phases, rounds, canaries,
 * impacts and congestors.
 */
#include "probes/congestion/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "probes/job/collect.h"
#include "probes/sampling/impact.h"
#include "probes/job/relay.h"
#include "probes/job/roles.h"
#include "schema/options.h"
#include "schema/record.h"

/* The nodes of a role as a host list: ten thousand of them fit in a line. */
static json_t *
role_nodes(const struct world *w, int role)
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
	json_t *nodes = json_array(), *roles = json_object();
	int len;

	for (int i = 0; i < w->nodes; i++)
		json_array_append_new(nodes, json_string(w->names[i]));
	json_object_set_new(roles, "canary", role_nodes(w, ROLES_CANARY));
	for (int k = 0; k < s->kind_count; k++)
		json_object_set_new(roles, names_congestors[s->kinds[k]].name,
		    role_nodes(w, k));
	MPI_DO(MPI_Get_library_version(mpi, &len));
	mpi[strcspn(mpi, "\r\n")] = '\0';
	return json_pack("{s:s, s:s, s:o, s:i, s:o, s:o, s:I, s:o}", "probe",
	    "begin", "version", COALMINE_VERSION, "mpi",
	    json_stringn(mpi, strnlen(mpi, 100)), "ranks", w->size, "nodes",
	    nodes, "roles", roles, "seed", (json_int_t)s->seed, "options",
	    report_options(c, options_campaign));
}

json_t *
report_phase(const char *event, const struct report_stretch *at, double stop_s)
{
	json_t *r = json_pack("{s:s, s:s, s:s, s:i, s:i}", "probe", "phase",
	    "event", event, "phase", names_phases[at->phase], "visit",
	    at->visit + 1, "visits", at->visits);

	if (stop_s >= 0)
		json_object_set_new(r, "stop_s", json_real(stop_s));
	return r;
}

json_t *
report_progress(double share, enum phase phase, enum canary_test test,
    double remaining_s)
{
	return json_pack("{s:s, s:f, s:s, s:s, s:f}", "probe", "progress",
	    "share", share, "phase", names_phases[phase], "test",
	    names_tests[test].name, "remaining_s", remaining_s);
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

json_t *
report_round(enum canary_test test, const struct report_stretch *at, int number,
    const struct hist *h)
{
	json_t *r = json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "probe",
	    "round", "test", names_tests[test].name, "phase",
	    names_phases[at->phase], "unit", names_tests[test].unit, "visit",
	    at->visit + 1, "round", number + 1);

	record_put_hist(r, h);
	if (h->count == 0)
		json_object_set_new(r, "cause", json_string("timeout"));
	return r;
}

/* ---- canaries ---- */

static json_t *
interval(double level, double lo, double hi)
{
	if (!isfinite(lo) || !isfinite(hi))
		return json_null();
	return json_pack("{s:f, s:f, s:f}", "level", level, "lo", lo, "hi", hi);
}

/* What the ranks of each node measured, together. */
struct nodes {
	struct collect_node *all;
	int count;
	int low_is_bad;
};

static json_t *
quartile(const struct canary_loop_cell *cell, const struct collect_node *n,
    double q)
{
	return record_number(cell->pairs == NULL
		? NAN
		: pair_medians_quantile(cell->pairs, (int)n->node, q));
}

/* Every node's numbers; where that would be too long a list, the worst. */
static json_t *
node_list(const struct world *w, const struct canary_loop_cell *cell,
    const struct nodes *nodes)
{
	const struct pair_medians *pairs = cell == NULL ? NULL : cell->pairs;
	double typical = pairs == NULL ? NAN : pair_medians_typical(pairs);
	double at = NAN, *x;
	json_t *list = json_array();

	if (nodes->count > REPORT_NODES_MAX) {
		x = xcalloc((size_t)nodes->count, sizeof(*x));
		for (int i = 0; i < nodes->count; i++)
			x[i] = nodes->all[i].p50;
		at = (double)RECORD_ROWS_WORST / nodes->count;
		at = robust_quantile(x, (size_t)nodes->count,
		    nodes->low_is_bad ? at : 1 - at);
		free(x);
	}
	for (int i = 0; i < nodes->count; i++) {
		const struct collect_node *n = &nodes->all[i];
		json_t *o;

		if (n->n == 0 ||
		    (nodes->low_is_bad ? n->p50 > at : n->p50 < at) ||
		    json_array_size(list) == REPORT_NODES_MAX)
			continue;
		o = json_pack("{s:s, s:I, s:o, s:o}", "node",
		    w->names[(int)n->node], "n", (json_int_t)n->n, "p50",
		    record_number(n->p50), "p99", record_number(n->p99));
		if (pairs != NULL) {
			int slow,
			    count = pair_medians_partners(pairs, (int)n->node,
				typical, &slow);

			json_object_set_new(o, "partners", json_integer(count));
			json_object_set_new(o, "slow_partners",
			    json_integer(slow));
		}
		if (cell != NULL) {
			json_object_set_new(o, "q25", quartile(cell, n, 0.25));
			json_object_set_new(o, "q75", quartile(cell, n, 0.75));
			json_object_set_new(o, "wait_ratio",
			    record_number(
				cores_wait_ratio(n->run_s, n->wait_s)));
		}
		json_array_append_new(list, o);
	}
	return list;
}

/* Of more nodes than there are rows: the good quartile of each. */
static json_t *
score_list(const struct world *w, const struct pair_medians *p,
    const struct nodes *nodes)
{
	const char **names = xcalloc((size_t)nodes->count, sizeof(*names));
	double *q = xcalloc((size_t)nodes->count, sizeof(*q));
	json_t *list;

	for (int i = 0; i < nodes->count; i++) {
		names[i] = w->names[(int)nodes->all[i].node];
		q[i] = pair_medians_quantile(p, (int)nodes->all[i].node,
		    nodes->low_is_bad ? 0.75 : 0.25);
	}
	list = record_scores_make(names, q, (size_t)nodes->count,
	    nodes->low_is_bad ? "q75" : "q25");
	free(names);
	free(q);
	return list;
}

/* Every pair of those that were measured, when they are few. */
static void
put_grid(json_t *r, const struct world *w, const struct pair_medians *p,
    const struct nodes *nodes)
{
	int ids[RECORD_GRID_MAX], n = 0;
	json_t *names = json_array(), *rows = json_array();

	for (int i = 0; i < nodes->count && n <= RECORD_GRID_MAX; i++)
		if (nodes->all[i].n > 0 && n++ < RECORD_GRID_MAX)
			ids[n - 1] = (int)nodes->all[i].node;
	for (int i = 0; i < n && n <= RECORD_GRID_MAX; i++) {
		json_t *row = json_array();

		for (int j = 0; j < i; j++) {
			double x = pair_medians_median(p, ids[i], ids[j]);
			char text[32];

			/* three digits are finer than the medians are */
			snprintf(text, sizeof(text), "%.3g", x);
			json_array_append_new(row,
			    record_number(
				isfinite(x) ? strtod(text, NULL) : NAN));
		}
		json_array_append_new(rows, row);
		json_array_append_new(names, json_string(w->names[ids[i]]));
	}
	if (json_array_size(names) > 1)
		json_object_set_new(r, "grid",
		    json_pack("{s:O, s:O}", "nodes", names, "p50", rows));
	json_decref(names);
	json_decref(rows);
}

static void
put_cause(json_t *r, enum cause cause, const char *text)
{
	if (cause == CAUSE_NONE)
		return;
	json_object_set_new(r, "cause", json_string(names_causes[cause].name));
	if (text[0] != '\0')
		json_object_set_new(r, "text", json_string(text));
}

/* One test in one phase. */
static json_t *
canary_record(const struct canary_loop *m, int i, enum phase phase,
    const struct nodes *nodes)
{
	struct pair_medians_row rows[RECORD_PAIRS_MAX];
	const struct settings *s = m->settings;
	const struct canary_loop_cell *cell = &m->tests[i].cells[phase];
	const struct hist *all = &cell->tally.total;
	enum canary_test test = s->tests[i];
	json_t *headline = json_null(), *pairs = json_array();
	json_t *r = json_pack("{s:s, s:s, s:s, s:s}", "probe", "canary", "test",
	    names_tests[test].name, "phase", names_phases[phase], "unit",
	    names_tests[test].unit);
	double lo, hi;
	int count;

	record_put_hist(r, all);
	if (nodes->low_is_bad) {
		/* the lower tail too: that is the bad one of a bandwidth */
		json_object_set_new(r, "p01",
		    record_number(hist_quantile(all, 0.01)));
		json_object_set_new(r, "p10",
		    record_number(hist_quantile(all, 0.1)));
	}
	if (tally_interval(&cell->tally, canary_tail(test), s->level, &lo,
		&hi) == 0) {
		headline = json_pack("{s:s}", "of",
		    nodes->low_is_bad ? "p01" : "p99");
		json_object_update_new(headline, interval(s->level, lo, hi));
	}
	json_object_set_new(r, "interval", headline);
	json_object_set_new(r, "nodes", node_list(m->world, cell, nodes));
	if (nodes->count > REPORT_NODES_MAX && cell->pairs != NULL)
		json_object_set_new(r, "scores",
		    score_list(m->world, cell->pairs, nodes));
	count = cell->pairs == NULL
	    ? 0
	    : pair_medians_worst(cell->pairs, rows, RECORD_PAIRS_MAX);
	for (int k = 0; k < count; k++)
		json_array_append_new(pairs,
		    json_pack("{s:s, s:s, s:I, s:f}", "a",
			m->world->names[rows[k].a], "b",
			m->world->names[rows[k].b], "n", (json_int_t)rows[k].n,
			"p50", rows[k].p50));
	json_object_set_new(r, "pairs", pairs);
	if (cell->pairs != NULL)
		put_grid(r, m->world, cell->pairs, nodes);
	json_object_set_new(r, "stopped_by",
	    json_string(names_stops[cell->stopped_by]));
	json_object_set_new(r, "rounds", json_integer(cell->rounds));
	json_object_set_new(r, "iterations", json_integer(cell->iterations));
	json_object_set_new(r, "seed", json_integer((json_int_t)s->seed));
	json_object_set_new(r, "partners",
	    json_string(names_partners[s->partners]));
	put_cause(r, cell->cause, m->tests[i].err.text);
	return r;
}

static void
report_canary(struct canary_loop *m, int i, enum phase phase)
{
	const struct canary_loop_cell *cell = &m->tests[i].cells[phase];
	struct nodes nodes = { .low_is_bad = canary_low_is_bad(
				   m->settings->tests[i]) };

	nodes.count = collect_nodes(m->world, &cell->mine, &cell->cores,
	    &nodes.all);
	if (m->world->group_rank == 0)
		relay_put(canary_record(m, i, phase, &nodes));
	free(nodes.all);
}

static void
report_impact(struct canary_loop *m, int i, enum impact_of of)
{
	const struct settings *s = m->settings;
	const struct canary_loop_cell *quiet = &m->tests[i].cells[s->quiet];
	const struct canary_loop_cell *loaded =
	    &m->tests[i].cells[PHASE_CONGESTED];
	struct impact_ask ask = { &quiet->tally, &loaded->tally,
		canary_low_is_bad(s->tests[i]), s->visits, s->level, s->seed };
	struct impact im = { NAN, NAN, NAN };
	enum cause cause = quiet->cause;
	json_t *r;

	impact_take(&ask, of, &im); /* without samples im stays as it is */
	if (cause == CAUSE_NONE)
		cause = loaded->cause;
	r = json_pack("{s:s, s:s, s:s, s:o, s:o}", "probe", "impact", "test",
	    names_tests[s->tests[i]].name, "of", impact_names[of], "value",
	    record_number(im.value), "interval",
	    interval(s->level, im.lo, im.hi));
	put_cause(r, cause, m->tests[i].err.text);
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
report_rates(struct congestor_loop *l, enum phase phase)
{
	const struct world *w = l->world;
	struct hist *all = xcalloc(1, sizeof(*all));
	struct nodes nodes = { .low_is_bad = 1 };
	enum cause cause = l->cause;
	json_t *r;

	nodes.count = collect_nodes(w, &l->rates[phase], NULL, &nodes.all);
	collect_sum(w->group, &l->rates[phase], all);
	if (cause == CAUSE_NONE && all->count == 0)
		cause = CAUSE_TIMEOUT; /* not one batch in all its time */
	if (w->group_rank == 0) {
		r = json_pack("{s:s, s:s, s:s, s:s}", "probe", "congestor",
		    "test", names_congestors[l->kind].name, "phase",
		    names_phases[phase], "unit", "B/s");
		record_put_hist(r, all);
		json_object_set_new(r, "interval", json_null());
		json_object_set_new(r, "nodes", node_list(w, NULL, &nodes));
		json_object_set_new(r, "pairs", json_array());
		put_cause(r, cause, l->err.text);
		relay_put(r);
	}
	free(nodes.all);
	free(all);
}

void
report_load(struct congestor_loop *l)
{
	if (l->kind == CONGESTOR_IDLE)
		return; /* has no rate to report */
	if (l->settings->rates)
		report_rates(l, PHASE_ISOLATED);
	report_rates(l, PHASE_CONGESTED);
}
