/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_budget.c - the mesh, coverage, the budget and what did not run.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/mesh/mesh.h"
#include "daemon/export/metrics_int.h"

/* As in metrics_canary.c: powers of two are bounds of our own buckets. */
#define LE_FIRST -20
#define LE_LAST  1

#define MESH_HISTOGRAM "coalmine_mesh_rtt_seconds"

static uint64_t
below(const struct hist *h, int octave)
{
	uint64_t sum = 0;

	for (int i = HIST_FIRST; i <= octave * HIST_PER_OCTAVE; i++)
		sum += h->bucket[i - HIST_FIRST];
	return sum;
}

static void
rtt(struct strbuf *to, const char *class, const struct hist *h)
{
	char le[40];

	for (int octave = LE_FIRST; octave <= LE_LAST; octave++) {
		snprintf(le, sizeof(le), "%.17g", ldexp(1, octave));
		exposition_sample(to, MESH_HISTOGRAM "_bucket",
		    EXPOSITION_LABELS({ "class", class }, { "le", le }),
		    (double)below(h, octave));
	}
	exposition_sample(to, MESH_HISTOGRAM "_bucket",
	    EXPOSITION_LABELS({ "class", class }, { "le", "+Inf" }),
	    (double)h->count);
	exposition_sample(to, MESH_HISTOGRAM "_sum",
	    EXPOSITION_LABELS({ "class", class }), h->sum);
	exposition_sample(to, MESH_HISTOGRAM "_count",
	    EXPOSITION_LABELS({ "class", class }), (double)h->count);
}

static uint64_t
value_probes(const struct mesh_sum *s)
{
	return s->answered + s->lost;
}

static uint64_t
value_lost(const struct mesh_sum *s)
{
	return s->lost;
}

static uint64_t
value_unknown(const struct mesh_sum *s)
{
	return s->unknown;
}

void
metrics_mesh(const struct metrics_in *in, struct strbuf *to)
{
	static const struct {
		const char *name, *help;
		uint64_t (*value)(const struct mesh_sum *);
	} rows[] = {
		{ "coalmine_mesh_probes_total",
		    "Datagrams of the mesh that were answered or lost.",
		    value_probes },
		{ "coalmine_mesh_probes_lost_total",
		    "Of them, those that were lost.", value_lost },
		{ "coalmine_mesh_probes_unknown_total",
		    "Datagrams not counted: a host or an agent may have been "
		    "the reason.",
		    value_unknown },
	};
	struct view_always a;

	view_always(in->view, &a);
	exposition_single(to, "coalmine_mesh_nodes", "gauge",
	    "Nodes that take part in the mesh now.", (double)a.mesh_nodes);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		exposition_family(to, rows[i].name, "counter", rows[i].help);
		for (int c = 0; c < MESH_CLASS_MAX; c++)
			if (a.mesh[c] != NULL)
				exposition_sample(to, rows[i].name,
				    EXPOSITION_LABELS(
					{ "class", mesh_classes[c] }),
				    (double)rows[i].value(a.mesh[c]));
	}
	exposition_family(to, MESH_HISTOGRAM, "histogram",
	    "Round trips of the mesh since start, without the hosts' time.");
	for (int c = 0; c < MESH_CLASS_MAX; c++)
		if (a.mesh[c] != NULL)
			rtt(to, mesh_classes[c], &a.mesh[c]->rtt_s);
}

/* A share of nothing is left out: it is not 0 and not 1. */
void
metrics_coverage(const struct metrics_in *in, struct strbuf *to)
{
	struct view_always a;

	view_always(in->view, &a);
	exposition_family(to, "coalmine_coverage_ratio", "gauge",
	    "Share of pairs of nodes, pairs of leaves, links and uplinks that "
	    "were exercised in the last 24 hours.");
	for (int i = 0; i < VIEW_SHARES; i++)
		if (a.coverage[i].all > 0)
			exposition_sample(to, "coalmine_coverage_ratio",
			    EXPOSITION_LABELS({ "of", a.coverage[i].of }),
			    fmin(1,
				(double)a.coverage[i].part /
				    (double)a.coverage[i].all));
}

static void
budget_family(struct strbuf *to, const struct view_budget *b, const char *part,
    const char *type, const char *help, double value)
{
	char name[80], text[160];

	snprintf(name, sizeof(name), "coalmine_budget_%s_%s", b->of, part);
	snprintf(text, sizeof(text), "%s that %s",
	    strcmp(b->of, "bytes") == 0 ? "Bytes" : "Node-seconds", help);
	exposition_single(to, name, type, text, value);
}

void
metrics_budget(const struct metrics_in *in, struct strbuf *to)
{
	struct view_always a;

	view_always(in->view, &a);
	for (int i = 0; i < VIEW_BUDGETS; i++) {
		const struct view_budget *b = &a.budget[i];

		if (b->limit > 0)
			budget_family(to, b, "limit", "gauge",
			    "runs may take in an hour.", b->limit);
		budget_family(to, b, "used", "gauge",
		    "runs took in the last hour.", b->used);
		budget_family(to, b, "reserved", "gauge",
		    "live runs are expected to take.", b->reserved);
		budget_family(to, b, "total", "counter",
		    "runs took since start.", b->total);
	}
	if (a.link_share_limit > 0)
		exposition_single(to, "coalmine_budget_link_ratio_limit",
		    "gauge",
		    "Share of a node's link that runs may use in an hour.",
		    a.link_share_limit);
	exposition_single(to, "coalmine_budget_link_ratio_used", "gauge",
	    "Share of its link that runs used in the last hour, of the node "
	    "that was used most.",
	    a.link_share);
	exposition_single(to, "coalmine_budget_refused_total", "counter",
	    "Runs that were missed because of the budget or a blackout.",
	    (double)a.refused);
}

void
metrics_silence(const struct metrics_in *in, struct strbuf *to)
{
	struct view_always a;

	view_always(in->view, &a);
	exposition_family(to, "coalmine_runs_silent_total", "counter",
	    "Runs that did not happen when they were due, by state and "
	    "cause.");
	for (int s = 0; s < RUN_STATE_MAX; s++)
		for (int c = 0; c < CAUSE_MAX; c++)
			if (a.silence[s][c] > 0)
				exposition_sample(to,
				    "coalmine_runs_silent_total",
				    EXPOSITION_LABELS({ "state",
							  names_run_states[s]
							      .name },
					{ "cause", names_causes[c].name }),
				    (double)a.silence[s][c]);
}
