/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_cluster.c - metrics of the cluster's current state from the api:
 * nodes, verdicts, runs and their schedule, the mesh, coverage, budget.
 */
#include "daemon/export/metrics_cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/export/exposition.h"
#include "schema/node_numbers.h"
#include "schema/names_link.h"

/* ---- nodes: a line for each in every family, most of the page. A node's
 * labels are written once and used in every family, so that a scrape of 10,000
 * nodes does not block the loop. ---- */

#define NODE_EXPIRY_S 86400 /* a node silent for longer is not shown */

static int
metrics_cluster_is_fresh(const struct api_node *n, double now_s)
{
	return n->state != AGENT_LOST ||
	    now_s - (double)n->last_seen_unix_ns / 1e9 < NODE_EXPIRY_S;
}

/* Families before and after those of node_numbers. */
enum node_value {
	NODE_UP,
	NODE_SEEN,
	NODE_MAINTENANCE,
	NODE_SCORE,
	NODE_VALUES
};

static const struct {
	const char *name, *help;
} node_families[NODE_VALUES] = {
	[NODE_UP] = { "coalmine_agent_up",
	    "1 while the node's agent is connected, 0 when it is lost; not "
	    "during maintenance." },
	[NODE_SEEN] = { "coalmine_agent_last_seen_timestamp_seconds",
	    "Time of the last contact with the node's agent." },
	[NODE_MAINTENANCE] = { "coalmine_node_maintenance_end_timestamp_"
			       "seconds",
	    "End of the node's maintenance, only while it is in "
	    "maintenance." },
	[NODE_SCORE] = { "coalmine_node_score",
	    "Robust z of the node against its peers, worst test; positive "
	    "is worse." },
};

/* NAN leaves a sample out: a lost node and one in maintenance have no score,
 * they are not measured. */
static double
metrics_cluster_node_value(const struct api_node *n, enum node_value what)
{
	int is_maintained = n->state == AGENT_MAINTENANCE;
	int up = n->state != AGENT_LOST && !is_maintained;

	if (what == NODE_MAINTENANCE)
		return is_maintained
		    ? (double)n->maintenance_until_unix_ns / 1e9
		    : NAN;
	if (what == NODE_UP)
		return is_maintained ? NAN : up;
	if (what == NODE_SEEN)
		return n->last_seen_unix_ns > 0
		    ? (double)n->last_seen_unix_ns / 1e9
		    : NAN;
	return up ? n->score : NAN;
}

/* Write one value of each node; its labels are from ends[i] to ends[i + 1]. */
struct node_labels {
	const struct api_node *nodes;
	size_t count, *ends;
	const char *text;
};

static void
metrics_cluster_node_add(struct strbuf *to, const struct node_labels *l,
    size_t i, const char *name, double value)
{
	size_t len = l->ends[i + 1] - l->ends[i];

	if (len == 0 || isnan(value))
		return;
	strbuf_add(to, name, strlen(name));
	strbuf_add(to, l->text + l->ends[i], len);
	exposition_value(to, value);
	strbuf_add(to, "\n", 1);
}

static void
metrics_cluster_node_family(struct strbuf *to, const struct node_labels *l,
    enum node_value f)
{
	exposition_family(to, node_families[f].name, "gauge",
	    node_families[f].help);
	for (size_t i = 0; i < l->count; i++)
		metrics_cluster_node_add(to, l, i, node_families[f].name,
		    metrics_cluster_node_value(&l->nodes[i], f));
}

static void
metrics_cluster_node_numbers(struct strbuf *to, const struct node_labels *l)
{
	for (size_t k = 0; k < NODE_NUMBERS; k++) {
		const struct node_number *row = &node_numbers[k];

		if (row->family == NULL)
			continue;
		exposition_family(to, row->family, "gauge", row->help);
		for (size_t i = 0; i < l->count; i++)
			if (l->nodes[i].state != AGENT_LOST &&
			    l->nodes[i].state != AGENT_MAINTENANCE)
				metrics_cluster_node_add(to, l, i, row->family,
				    l->nodes[i].numbers[k]);
	}
}

void
metrics_nodes(const struct metrics_in *in, struct strbuf *to)
{
	const struct api_node *nodes;
	size_t count = api_node_list(in->api, &nodes);
	double now_s = (double)clk_unix_ns() / 1e9;
	uint64_t by_state[AGENT_STATE_MAX] = { 0 };
	/* Labels of all nodes; those of node i are from ends[i] to ends[i + 1].
	 */
	size_t *ends = xcalloc(count + 1, sizeof(*ends));
	struct strbuf labels = { 0 };
	struct node_labels l;

	for (size_t i = 0; i < count; i++) {
		if (metrics_cluster_is_fresh(&nodes[i], now_s)) {
			by_state[nodes[i].state]++;
			strbuf_add(&labels, "{node=\"", 7);
			exposition_escape(&labels, nodes[i].name);
			strbuf_add(&labels, "\"} ", 3);
		}
		ends[i + 1] = labels.len_bytes;
	}
	exposition_family(to, "coalmine_agents", "gauge", "Agents by state.");
	for (int s = 0; s < AGENT_STATE_MAX; s++)
		exposition_sample(to, "coalmine_agents",
		    EXPOSITION_LABELS({ "state", names_agent_states[s] }),
		    (double)by_state[s]);
	l = (struct node_labels){ nodes, count, ends, labels.text };
	metrics_cluster_node_family(to, &l, NODE_UP);
	metrics_cluster_node_family(to, &l, NODE_SEEN);
	metrics_cluster_node_family(to, &l, NODE_MAINTENANCE);
	metrics_cluster_node_numbers(to, &l);
	metrics_cluster_node_family(to, &l, NODE_SCORE);
	strbuf_clear(&labels);
	free(ends);
	exposition_family(to, "coalmine_outlier_threshold", "gauge",
	    "Score that the combined rounds of a node must reach to make the "
	    "node an outlier, for the nodes of the newest round.");
	if (isfinite(api_outlier_threshold(in->api)))
		exposition_sample(to, "coalmine_outlier_threshold", NULL,
		    api_outlier_threshold(in->api));
}

void
metrics_certificates(const struct metrics_in *in, struct strbuf *to)
{
	struct api_expiry list[API_EXPIRIES];
	size_t count = api_expiries(in->api, list);

	exposition_family(to, "coalmine_certificate_expiry_timestamp_seconds",
	    "gauge",
	    "When certificates end: of the authority, of the collector, and "
	    "the earliest of the connected agents.");
	for (size_t i = 0; i < count; i++)
		exposition_sample(to,
		    "coalmine_certificate_expiry_timestamp_seconds",
		    EXPOSITION_LABELS({ "of", list[i].of },
			{ "node", list[i].node }),
		    (double)list[i].end_unix_s);
}

/* ---- verdicts ---- */

#define CASES_MAX 512 /* the counts include more */

static void
metrics_cluster_incident_family(const struct api_incident *list, size_t count,
    const char *kind, struct strbuf *to)
{
	char family[40];

	snprintf(family, sizeof(family), "coalmine_%s_verdict", kind);
	exposition_family(to, family, "gauge",
	    "1 for every outlier; label verdict bad: confirmed by a "
	    "confirmation run.");
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].kind, kind) == 0)
			exposition_sample(to, family,
			    EXPOSITION_LABELS({ kind, list[i].subject },
				{ "verdict", names_verdicts[list[i].verdict] },
				{ "what", names_whats[list[i].what].name }),
			    1);
}

/* Write a series for every open incident and the number of nodes for each
 * verdict. There are few incidents, so a cluster without faults has four
 * series, independent of its size. */
void
metrics_verdicts(const struct metrics_in *in, struct strbuf *to)
{
	static struct api_incident list[CASES_MAX];
	size_t count = api_incidents(in->api, list, CASES_MAX);
	size_t nodes[VERDICT_MAX], outliers[WHAT_MAX] = { 0 };

	api_verdict_counts(in->api, nodes);
	exposition_family(to, "coalmine_nodes", "gauge",
	    "Nodes by verdict; unknown: no data.");
	for (int i = 0; i < VERDICT_MAX; i++)
		exposition_sample(to, "coalmine_nodes",
		    EXPOSITION_LABELS({ "verdict", names_verdicts[i] }),
		    (double)nodes[i]);
	for (size_t i = 0; i < count; i++)
		outliers[list[i].what]++;
	exposition_family(to, "coalmine_outliers", "gauge",
	    "Outliers that are not cleared yet, by what is slow.");
	for (int i = 0; i < WHAT_MAX; i++)
		exposition_sample(to, "coalmine_outliers",
		    EXPOSITION_LABELS({ "what", names_whats[i].name }),
		    (double)outliers[i]);
	metrics_cluster_incident_family(list, count, "node", to);
	metrics_cluster_incident_family(list, count, "leaf", to);
	metrics_cluster_incident_family(list, count, "spine", to);
}

/* ---- ports and GPUs: by class of node and kind, and the few worst by name.
 * There are too many ports for a series of each. ---- */

static void
metrics_cluster_link_family(const json_t *health, const char *name,
    const char *type, const char *help, const char *member, struct strbuf *to)
{
	json_t *class, *kind;
	size_t i;

	exposition_family(to, name, type, help);
	member_foreach (health, "classes", i, class)
		for (int k = 0; k < LINK_KIND_MAX; k++) {
			kind = json_object_get(json_object_get(class, "kinds"),
			    names_link_errors[k]);
			exposition_sample(to, name,
			    EXPOSITION_LABELS({ "class",
						  member_text(class, "class") },
				{ "kind", names_link_errors[k] }),
			    (double)member_int(kind, member));
		}
}

void
metrics_links(const struct metrics_in *in, struct strbuf *to)
{
	json_t *health = api_link_health(in->api), *row;
	size_t i;

	exposition_family(to, "coalmine_link_ports", "gauge",
	    "Ports and GPUs whose counters of errors are watched, by class of "
	    "node.");
	member_foreach (health, "classes", i, row)
		exposition_sample(to, "coalmine_link_ports",
		    EXPOSITION_LABELS({ "class", member_text(row, "class") }),
		    (double)member_int(row, "ports"));
	metrics_cluster_link_family(health, "coalmine_link_errors_total",
	    "counter",
	    "Errors that ports and GPUs have counted since the collector "
	    "started, by class of node and kind; congestion is not an error.",
	    "errors", to);
	metrics_cluster_link_family(health, "coalmine_link_ports_with_errors",
	    "gauge", "Ports and GPUs with new errors in the last hour.",
	    "ports", to);
	exposition_family(to, "coalmine_link_worst_errors_per_hour", "gauge",
	    "Errors of the last hour, of the five ports or GPUs that count the "
	    "most errors of each kind.");
	member_foreach (health, "worst", i, row)
		exposition_sample(to, "coalmine_link_worst_errors_per_hour",
		    EXPOSITION_LABELS({ "node", member_text(row, "node") },
			{ "port", member_text(row, "port") },
			{ "counter", member_text(row, "counter") },
			{ "kind", member_text(row, "kind") }),
		    member_number(row, "hour"));
	json_decref(health);
}

/* ---- runs and schedule, by campaign: there are few names of campaigns; ids of
 * runs are unlimited and not a label ---- */

void
metrics_run_counts(const struct metrics_in *in, struct strbuf *to)
{
	const struct api_run_count *rows;
	size_t count = api_run_counts(in->api, &rows);

	exposition_family(to, "coalmine_runs_total", "counter",
	    "Runs that ended, by campaign and state.");
	for (size_t i = 0; i < count; i++)
		exposition_sample(to, "coalmine_runs_total",
		    EXPOSITION_LABELS({ "campaign", rows[i].campaign },
			{ "state", names_run_states[rows[i].state].name }),
		    (double)rows[i].count);
	exposition_family(to,
	    "coalmine_campaign_last_success_timestamp_seconds", "gauge",
	    "When the newest finished run of the campaign ended.");
	for (size_t i = 0; i < count; i++) {
		double newest = rows[i].last_success_unix_s;
		size_t first = 0;

		while (strcmp(rows[first].campaign, rows[i].campaign) != 0)
			first++;
		for (size_t j = i; j < count; j++)
			if (strcmp(rows[j].campaign, rows[i].campaign) == 0 &&
			    rows[j].last_success_unix_s > newest)
				newest = rows[j].last_success_unix_s;
		if (first == i && newest > 0)
			exposition_sample(to,
			    "coalmine_campaign_last_success_timestamp_seconds",
			    EXPOSITION_LABELS({ "campaign", rows[i].campaign }),
			    newest);
	}
}

void
metrics_live_runs(const struct metrics_in *in, struct strbuf *to)
{
	uint64_t by_state[RUN_STATE_MAX] = { 0 };
	json_t *runs = api_runs(in->api, 1), *run;
	size_t i;

	json_array_foreach (runs, i, run) {
		int state = STR_FIND(names_run_states,
		    member_text(run, "state"));

		if (state >= 0)
			by_state[state]++;
	}
	json_decref(runs);
	exposition_family(to, "coalmine_runs", "gauge", "Live runs, by state.");
	for (int s = 0; s < RUN_STATE_MAX; s++)
		if (!names_run_states[s].final)
			exposition_sample(to, "coalmine_runs",
			    EXPOSITION_LABELS(
				{ "state", names_run_states[s].name }),
			    (double)by_state[s]);
}

void
metrics_schedule(const struct metrics_in *in, struct strbuf *to)
{
	json_t *schedule = api_schedule(in->api), *row;
	size_t i;

	exposition_family(to, "coalmine_campaign_next_start_timestamp_seconds",
	    "gauge", "Time of the next start of the campaign.");
	json_array_foreach (schedule, i, row) {
		double next_s = member_number(row, "next_unix_ns") / 1e9;

		if (next_s > 0 && member_text(row, "campaign")[0] != '\0')
			exposition_sample(to,
			    "coalmine_campaign_next_start_timestamp_seconds",
			    EXPOSITION_LABELS(
				{ "campaign", member_text(row, "campaign") }),
			    next_s);
	}
	exposition_family(to, "coalmine_campaign_schedule_enabled", "gauge",
	    "1 while the schedule of the campaign is enabled.");
	json_array_foreach (schedule, i, row)
		if (member_text(row, "campaign")[0] != '\0')
			exposition_sample(to,
			    "coalmine_campaign_schedule_enabled",
			    EXPOSITION_LABELS(
				{ "campaign", member_text(row, "campaign") }),
			    member_bool(row, "enabled"));
	json_decref(schedule);
}

/* ---- mesh, coverage, budget, missed runs ---- */

void
metrics_mesh(const struct metrics_in *in, struct strbuf *to)
{
	static const char *const names[][2] = {
		{ "coalmine_mesh_probes_total",
		    "Datagrams of the mesh that were answered or lost, in "
		    "total." },
		{ "coalmine_mesh_probes_lost_total",
		    "Lost datagrams of the mesh." },
		{ "coalmine_mesh_probes_unknown_total",
		    "Datagrams not counted, because a host or an agent may be "
		    "the cause." },
	};
	struct api_always a;

	api_always(in->api, &a);
	exposition_single(to, "coalmine_mesh_nodes", "gauge",
	    "Nodes that take part in the mesh now.", (double)a.mesh_nodes);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		exposition_family(to, names[i][0], "counter", names[i][1]);
		for (int c = 0; c < MESH_CLASS_MAX; c++) {
			const struct api_mesh *m = &a.mesh[c];
			const uint64_t values[] = { m->answered + m->lost,
				m->lost, m->unknown };

			if (m->rtt_s != NULL)
				exposition_sample(to, names[i][0],
				    EXPOSITION_LABELS(
					{ "class", mesh_classes[c] }),
				    (double)values[i]);
		}
	}
	exposition_family(to, "coalmine_mesh_rtt_seconds", "histogram",
	    "Round trip times of the mesh since the collector started, without "
	    "the time spent on the hosts.");
	for (int c = 0; c < MESH_CLASS_MAX; c++) {
		char labels[64];

		snprintf(labels, sizeof(labels), "{class=\"%s\"}",
		    mesh_classes[c]);
		if (a.mesh[c].rtt_s != NULL)
			exposition_histogram(to, "coalmine_mesh_rtt_seconds",
			    labels, a.mesh[c].rtt_s, 1);
	}
}

/* A share of nothing is omitted: it is neither 0 nor 1. */
void
metrics_coverage(const struct metrics_in *in, struct strbuf *to)
{
	struct api_always a;

	api_always(in->api, &a);
	exposition_family(to, "coalmine_coverage_ratio", "gauge",
	    "Share of pairs of nodes, pairs of leaves, links and uplinks that "
	    "were measured in the last 24 hours.");
	for (int i = 0; i < API_SHARES; i++)
		if (a.coverage[i].all > 0)
			exposition_sample(to, "coalmine_coverage_ratio",
			    EXPOSITION_LABELS({ "of", a.coverage[i].of }),
			    fmin(1,
				(double)a.coverage[i].part /
				    (double)a.coverage[i].all));
}

static void
metrics_cluster_budget_family(struct strbuf *to, const struct api_budget *b,
    const char *part, const char *type, const char *help, double value)
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
	struct api_always a;

	api_always(in->api, &a);
	for (int i = 0; i < API_BUDGETS; i++) {
		const struct api_budget *b = &a.budget[i];

		if (b->limit > 0)
			metrics_cluster_budget_family(to, b, "limit", "gauge",
			    "runs may use in an hour.", b->limit);
		metrics_cluster_budget_family(to, b, "used", "gauge",
		    "runs used in the last hour.", b->used);
		metrics_cluster_budget_family(to, b, "reserved", "gauge",
		    "live runs are expected to use.", b->reserved);
		metrics_cluster_budget_family(to, b, "total", "counter",
		    "runs used since the collector started.", b->total);
	}
	if (a.link_share_limit > 0)
		exposition_single(to, "coalmine_budget_link_ratio_limit",
		    "gauge",
		    "Share of a node's link that runs may use in an hour.",
		    a.link_share_limit);
	exposition_single(to, "coalmine_budget_link_ratio_used", "gauge",
	    "Share of the link of a node that runs used in the last hour, on "
	    "the node where it was highest.",
	    a.link_share);
	exposition_single(to, "coalmine_budget_refused_total", "counter",
	    "Runs that were missed because of the budget or a blackout.",
	    (double)a.refused);
}

void
metrics_silence(const struct metrics_in *in, struct strbuf *to)
{
	struct api_always a;

	api_always(in->api, &a);
	exposition_family(to, "coalmine_runs_silent_total", "counter",
	    "Scheduled runs that did not take place, by state and cause.");
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

/* Omitted if no agent reads NCCL's RAS. */
void
metrics_jobs(const struct metrics_in *in, struct strbuf *to)
{
	size_t counts[JOB_FINDING_MAX], all = 0;

	api_jobs_ras_counts(in->api, counts);
	for (int i = 0; i < JOB_FINDING_MAX; i++)
		all += counts[i];
	if (all == 0)
		return;
	exposition_family(to, "coalmine_jobs_nccl", "gauge",
	    "Running jobs by the state that the RAS service of NCCL reports.");
	for (int i = 0; i < JOB_FINDING_MAX; i++)
		exposition_sample(to, "coalmine_jobs_nccl",
		    EXPOSITION_LABELS({ "state", names_job_findings[i] }),
		    (double)counts[i]);
}

/* ---- objectives: families with a sample for each objective and alert; an
 * unknown number has no sample ---- */

enum objective_value {
	OBJECTIVE_TARGET,
	OBJECTIVE_GOOD,
	OBJECTIVE_BUDGET,
	OBJECTIVE_MEASURED,
	OBJECTIVE_VALUES
};

static const struct {
	const char *name, *help;
} objective_families[OBJECTIVE_VALUES] = {
	[OBJECTIVE_TARGET] = { "coalmine_objective_target_ratio",
	    "Share of node-hours that must be good." },
	[OBJECTIVE_GOOD] = { "coalmine_objective_good_ratio",
	    "Share of the measured node-hours of the window that were good; "
	    "missing until enough hours are measured." },
	[OBJECTIVE_BUDGET] = { "coalmine_objective_budget_ratio",
	    "Share of the error budget that is left, below 0 if it is "
	    "overspent; missing until enough hours are measured." },
	[OBJECTIVE_MEASURED] = { "coalmine_objective_measured_seconds",
	    "Time in the window in which something was measured." },
};

static double
metrics_cluster_objective_value(const struct objectives_view *v,
    enum objective_value what)
{
	return what == OBJECTIVE_TARGET ? v->target
	    : what == OBJECTIVE_GOOD    ? v->state.good
	    : what == OBJECTIVE_BUDGET  ? v->state.budget
					: v->state.measured_hours * 3600;
}

static void
metrics_cluster_objective_burns(const struct objectives_view *list,
    size_t count, struct strbuf *to)
{
	exposition_family(to, "coalmine_objective_burn_rate", "gauge",
	    "Share of bad node-hours in the long or short window of an alert "
	    "over the share that the objective permits; at 1 the budget lasts "
	    "for one window.");
	for (size_t i = 0; i < count; i++)
		for (int k = 0; k < 2 * OBJECTIVE_ALERT_MAX; k++) {
			const struct objective_burn *b =
			    &list[i].state.burn[k / 2];
			double rate = k % 2 == 0 ? b->long_rate : b->short_rate;

			if (!isnan(rate))
				exposition_sample(to,
				    "coalmine_objective_burn_rate",
				    EXPOSITION_LABELS({ "objective",
							  list[i].name },
					{ "of", list[i].of },
					{ "alert", objective_alerts[k / 2] },
					{ "window",
					    k % 2 == 0 ? "long" : "short" }),
				    rate);
		}
	exposition_family(to, "coalmine_objective_alert", "gauge",
	    "1 while the budget of the objective is spent too fast.");
	for (size_t i = 0; i < count; i++)
		for (int a = 0; a < OBJECTIVE_ALERT_MAX; a++)
			exposition_sample(to, "coalmine_objective_alert",
			    EXPOSITION_LABELS({ "objective", list[i].name },
				{ "of", list[i].of },
				{ "alert", objective_alerts[a] }),
			    list[i].state.burn[a].fires);
}

void
metrics_objectives(const struct metrics_in *in, struct strbuf *to)
{
	struct objectives_view list[OBJECTIVE_MAX];
	size_t count = api_objectives_count(in->api);

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		api_objective(in->api, i, &list[i]);
	for (int f = 0; f < OBJECTIVE_VALUES; f++) {
		exposition_family(to, objective_families[f].name, "gauge",
		    objective_families[f].help);
		for (size_t i = 0; i < count; i++) {
			double value = metrics_cluster_objective_value(&list[i],
			    (enum objective_value)f);

			if (!isnan(value))
				exposition_sample(to,
				    objective_families[f].name,
				    EXPOSITION_LABELS({ "objective",
							  list[i].name },
					{ "of", list[i].of }),
				    value);
		}
	}
	metrics_cluster_objective_burns(list, count, to);
}
