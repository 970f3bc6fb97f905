/* SPDX-License-Identifier: Apache-2.0 */
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

static json_t *
roles(const struct world *w, const struct settings *s)
{
	json_t *all = json_object();

	json_object_set_new(all, "canary", role_nodes(w, ROLES_CANARY));
	for (int k = 0; k < s->kind_count; k++)
		json_object_set_new(all, names_congestors[s->kinds[k]].name,
		    role_nodes(w, k));
	return all;
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

static json_t *
mpi_version(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int len;

	MPI_DO(MPI_Get_library_version(text, &len));
	text[strcspn(text, "\r\n")] = '\0';
	return json_stringn(text, strnlen(text, 100));
}

json_t *
report_begin(const struct world *w, const struct settings *s,
    const struct conf *c)
{
	json_t *nodes = json_array();

	for (int i = 0; i < w->nodes; i++)
		json_array_append_new(nodes, json_string(w->names[i]));
	return json_pack("{s:s, s:s, s:o, s:i, s:o, s:o, s:I, s:o}", "probe",
	    "begin", "version", COALMINE_VERSION, "mpi", mpi_version(), "ranks",
	    w->size, "nodes", nodes, "roles", roles(w, s), "seed",
	    (json_int_t)s->seed, "options",
	    report_options(c, options_campaign));
}

json_t *
report_phase(const char *event, enum phase phase, int visit, int visits,
    double stop_s)
{
	json_t *r = json_pack("{s:s, s:s, s:s, s:i, s:i}", "probe", "phase",
	    "event", event, "phase", names_phases[phase], "visit", visit + 1,
	    "visits", visits);

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

/* The lower tail too: that is the bad one of a bandwidth. */
static void
put_tail(json_t *r, const struct hist *h)
{
	json_object_set_new(r, "p01", record_number(hist_quantile(h, 0.01)));
	json_object_set_new(r, "p10", record_number(hist_quantile(h, 0.1)));
}

json_t *
report_round(const struct canary_loop *m, int test, enum phase phase, int visit,
    int number_, const struct hist *h)
{
	enum canary_test t = m->settings->tests[test];
	json_t *r = json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "probe",
	    "round", "test", names_tests[t].name, "phase", names_phases[phase],
	    "unit", names_tests[t].unit, "visit", visit + 1, "round",
	    number_ + 1);

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

static json_t *
headline(const struct canary_loop *m, const struct canary_loop_cell *cell,
    enum canary_test test)
{
	double lo, hi;
	json_t *r;

	if (tally_interval(&cell->tally, canary_loop_tail(test),
		m->settings->level, &lo, &hi) < 0)
		return json_null();
	r = json_pack("{s:s}", "of",
	    canary_loop_low_is_bad(test) ? "p01" : "p99");
	json_object_update_new(r, interval(m->settings->level, lo, hi));
	return r;
}

static json_t *
quartile(const struct canary_loop_cell *cell, const struct collect_node *n,
    double q)
{
	return record_number(cell->pairs == NULL
		? NAN
		: pair_medians_quantile(cell->pairs, (int)n->node, q));
}

/* The value below which, or for bandwidths above which, a node is left out of
 * a list that would be too long. */
static double
cut_off(const struct collect_node *nodes, int count, int low_is_bad)
{
	double *x, at;

	if (count <= REPORT_NODES_MAX)
		return NAN;
	x = xcalloc((size_t)count, sizeof(*x));
	for (int i = 0; i < count; i++)
		x[i] = nodes[i].p50;
	at = (double)RECORD_ROWS_WORST / count;
	at = robust_quantile(x, (size_t)count, low_is_bad ? at : 1 - at);
	free(x);
	return at;
}

static void
put_partners(json_t *o, const struct pair_medians *p, int node, double typical)
{
	int slow, count = pair_medians_partners(p, node, typical, &slow);

	json_object_set_new(o, "partners", json_integer(count));
	json_object_set_new(o, "slow_partners", json_integer(slow));
}

static json_t *
node_list(const struct world *w, const struct canary_loop_cell *cell,
    const struct collect_node *nodes, int count, int low_is_bad)
{
	double at = cut_off(nodes, count, low_is_bad);
	double typical = cell == NULL || cell->pairs == NULL
	    ? NAN
	    : pair_medians_typical(cell->pairs);
	json_t *list = json_array();

	for (int i = 0; i < count; i++) {
		const struct collect_node *n = &nodes[i];
		json_t *o;

		if (n->n == 0 || (low_is_bad ? n->p50 > at : n->p50 < at) ||
		    json_array_size(list) == REPORT_NODES_MAX)
			continue;
		o = json_pack("{s:s, s:I, s:o, s:o}", "node",
		    w->names[(int)n->node], "n", (json_int_t)n->n, "p50",
		    record_number(n->p50), "p99", record_number(n->p99));
		if (cell != NULL && cell->pairs != NULL)
			put_partners(o, cell->pairs, (int)n->node, typical);
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
static void
put_scores(json_t *r, const struct world *w,
    const struct canary_loop_cell *cell, const struct collect_node *nodes,
    int count, int low_is_bad)
{
	const char **names;
	double *q;

	if (count <= REPORT_NODES_MAX || cell->pairs == NULL)
		return;
	names = xcalloc((size_t)count, sizeof(*names));
	q = xcalloc((size_t)count, sizeof(*q));
	for (int i = 0; i < count; i++) {
		names[i] = w->names[(int)nodes[i].node];
		q[i] = pair_medians_quantile(cell->pairs, (int)nodes[i].node,
		    low_is_bad ? 0.75 : 0.25);
	}
	json_object_set_new(r, "scores",
	    record_scores_make(names, q, (size_t)count,
		low_is_bad ? "q75" : "q25"));
	free(names);
	free(q);
}

static json_t *
pair_list(const struct world *w, const struct pair_medians *p)
{
	struct pair_medians_row rows[RECORD_PAIRS_MAX];
	json_t *list = json_array();
	int count = p == NULL ? 0
			      : pair_medians_worst(p, rows, RECORD_PAIRS_MAX);

	for (int i = 0; i < count; i++)
		json_array_append_new(list,
		    json_pack("{s:s, s:s, s:I, s:f}", "a", w->names[rows[i].a],
			"b", w->names[rows[i].b], "n", (json_int_t)rows[i].n,
			"p50", rows[i].p50));
	return list;
}

/* Three digits are finer than the medians are. */
static json_t *
short_number(double x)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3g", x);
	return record_number(isfinite(x) ? strtod(text, NULL) : NAN);
}

/* Every pair of those that were measured, when they are few. */
static void
put_grid(json_t *r, const struct world *w, const struct pair_medians *p,
    const struct collect_node *nodes, int count)
{
	int ids[RECORD_GRID_MAX], n = 0;
	json_t *names = json_array(), *rows = json_array();

	for (int i = 0; i < count && n <= RECORD_GRID_MAX; i++)
		if (nodes[i].n > 0 && n++ < RECORD_GRID_MAX)
			ids[n - 1] = (int)nodes[i].node;
	for (int i = 0; i < n && n <= RECORD_GRID_MAX; i++) {
		json_t *row = json_array();

		for (int j = 0; j < i; j++)
			json_array_append_new(row,
			    short_number(
				pair_medians_median(p, ids[i], ids[j])));
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

static json_t *
canary_record(const struct canary_loop *m, int i, enum phase phase,
    const struct collect_node *nodes, int count)
{
	const struct settings *s = m->settings;
	const struct canary_loop_cell *cell = &m->tests[i].cells[phase];
	enum canary_test test = s->tests[i];
	json_t *r = json_pack("{s:s, s:s, s:s, s:s}", "probe", "canary", "test",
	    names_tests[test].name, "phase", names_phases[phase], "unit",
	    names_tests[test].unit);

	record_put_hist(r, &cell->tally.total);
	if (canary_loop_low_is_bad(test))
		put_tail(r, &cell->tally.total);
	json_object_set_new(r, "interval", headline(m, cell, test));
	json_object_set_new(r, "nodes",
	    node_list(m->world, cell, nodes, count,
		canary_loop_low_is_bad(test)));
	put_scores(r, m->world, cell, nodes, count,
	    canary_loop_low_is_bad(test));
	json_object_set_new(r, "pairs", pair_list(m->world, cell->pairs));
	if (cell->pairs != NULL)
		put_grid(r, m->world, cell->pairs, nodes, count);
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
	struct collect_node *nodes;
	int count = collect_nodes(m->world, &cell->mine, &cell->cores, &nodes);

	if (m->world->group_rank == 0)
		relay_put(canary_record(m, i, phase, nodes, count));
	free(nodes);
}

static void
report_impact(struct canary_loop *m, int i, enum impact_of of)
{
	const struct settings *s = m->settings;
	const struct canary_loop_cell *quiet = &m->tests[i].cells[s->quiet];
	const struct canary_loop_cell *loaded =
	    &m->tests[i].cells[PHASE_CONGESTED];
	struct impact_ask ask = { &quiet->tally, &loaded->tally,
		canary_loop_low_is_bad(s->tests[i]), s->visits, s->level,
		s->seed };
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
	struct collect_node *nodes;
	int count = collect_nodes(w, &l->rates[phase], NULL, &nodes);
	enum cause cause = l->cause;
	json_t *r;

	collect_sum(w->group, &l->rates[phase], all);
	if (cause == CAUSE_NONE && all->count == 0)
		cause = CAUSE_TIMEOUT; /* not one batch in all its time */
	if (w->group_rank == 0) {
		r = json_pack("{s:s, s:s, s:s, s:s}", "probe", "congestor",
		    "test", names_congestors[l->kind].name, "phase",
		    names_phases[phase], "unit", "B/s");
		record_put_hist(r, all);
		json_object_set_new(r, "interval", json_null());
		json_object_set_new(r, "nodes",
		    node_list(w, NULL, nodes, count, 1));
		json_object_set_new(r, "pairs", json_array());
		put_cause(r, cause, l->err.text);
		relay_put(r);
	}
	free(nodes);
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
