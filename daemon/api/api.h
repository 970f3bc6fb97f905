/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the cluster's state (roster, runs, campaigns, schedule, diagnosis)
 * as the HTTP interface, metrics and alerts read it. These readers do not
 * include the headers of the parts that own the state. orders.h has the orders,
 * diags/diags.h the health checks.
 *
 * Everything runs on the loop's thread and answers from memory; stored data is
 * read through store.h. New json_t references belong to the caller.
 */
#ifndef DAEMON_API_API_H
#define DAEMON_API_API_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hist.h"
#include "daemon/objective/objectives.h"
#include "schema/mesh.h"
#include "schema/names_agent.h"
#include "schema/names_job.h"
#include "schema/names_run.h"
#include "schema/names_verdict.h"

struct events;
struct series;
struct strbuf;
struct api; /* made by main from roster, runs, campaigns, schedule, store */

/* Append the nodes, [{node state since_unix_ns last_seen_unix_ns addr software
 * boot inventory run? busy? score? spool_bytes load}], in natural order, as
 * text and not as json_t, because the list is long. */
void api_nodes(struct api *api, struct strbuf *ret);
/* Return one node; NULL: unknown. */
json_t *api_node(struct api *api, const char *node);

/* A summary of all nodes in human order, for frequent requests. The list and
 * its names are valid until the callback returns to the loop. */
struct api_node {
	const char *name;
	const char *leaf; /* "": unknown */
	enum agent_state state;
	uint64_t since_unix_ns; /* begin of state */
	uint64_t last_seen_unix_ns;
	uint64_t maintenance_until_unix_ns; /* 0: not in maintenance */
	const double *numbers; /* values of node_numbers; NAN: unknown */
	double score;          /* NAN: unknown */
	enum verdict verdict;
};
/* Return the summaries of all nodes in *ret, and their number. */
size_t api_node_list(struct api *api, const struct api_node **ret);

/* Return the campaigns: [{campaign about class mpi launcher nodes ok error?
 * source every.. next_unix_ns? enabled last_run? last_state?}]. A broken file
 * is listed with ok false and its "file:line: ..." error. */
json_t *api_campaigns(struct api *api);
/* Return one campaign, also with its text; NULL: unknown. */
json_t *api_campaign(struct api *api, const char *name);
/* Parse the text of a campaign, and store nothing. Return {ok, error?,
 * rendered?}. */
json_t *api_campaign_validate(const char *name, const char *text);

/* Return live and recent runs; older ones are in STORE_RUNS. Each: {run
 * campaign class mpi state cause text nodes head ranks seed created_unix_ns
 * started_unix_ns ended_unix_ns records progress{share phase test
 * remaining_s}? by}. */
json_t *api_runs(struct api *api, int is_brief);
json_t *api_run(struct api *api, const char *run); /* NULL: not in memory */

/* Return the schedule: [{campaign enabled every_s at window next_unix_ns
 * last_run last_state}]. */
json_t *api_schedule(struct api *api);

/* Return the budget: {bytes node_seconds {limit used reserved total} link_share
 * {limit used} refused}; an absent limit is null. */
json_t *api_budget_json(struct api *api);
/* Return the coverage: {hours, pairs leaves links uplinks {exercised all},
 * links_missing leaves_missing uplinks_missing}. */
json_t *api_coverage(struct api *api);
/* Return the links that measurements cannot distinguish: {hours alike [[{link
 * or uplink},
 * ...], ...]}. */
json_t *api_identifiable(struct api *api);

/* A summary of budget, coverage, mesh and missed runs, for metrics. */
#define API_SHARES  4
#define API_BUDGETS 2
struct api_always {
	struct api_share {
		const char *of; /* pairs leaves links uplinks */
		uint64_t part, all;
	} coverage[API_SHARES];
	struct api_budget {
		const char *of;                      /* bytes node_seconds */
		double limit, used, reserved, total; /* limit 0: none */
	} budget[API_BUDGETS];
	double link_share, link_share_limit;
	uint64_t refused;
	size_t mesh_nodes; /* nodes in the mesh now */
	struct api_mesh {
		uint64_t answered, lost, unknown; /* datagrams since start */
		const struct hist *rtt_s;         /* NULL: no such class */
	} mesh[MESH_CLASS_MAX];
	/* Runs that became missed, overdue or nonstart, by cause. */
	uint64_t silence[RUN_STATE_MAX][CAUSE_MAX];
};
/* Read the summary of budget, coverage, mesh and missed runs. */
void api_always(struct api *api, struct api_always *ret);
/* The name of the baseline that the diagnosis maintains; it cannot be pinned.
 */
#define API_RECENT "recent"
/* The recent weeks as a baseline's body: {run records}. */
json_t *api_recent(struct api *api);

/* Return the verdicts, the worst first: {kind subject verdict what
 * since_unix_ns at_unix_ns text test class effect rounds ...}; all: those of
 * normal nodes too. */
json_t *api_verdicts(struct api *api, int all);
/* Return nodes and leaves without a case that are measured again because of a
 * large effect: [{kind subject text}]. */
json_t *api_suspects(struct api *api);
/* Return, as diagnosis.h describes them: ports with more errors than usual; all
 * ports of a node, or NULL for an unknown node; classes of nodes and the worst
 * ports. */
json_t *api_links(struct api *api);
json_t *api_node_links(struct api *api, const char *node);
json_t *api_link_health(struct api *api);
/* Return the settings of nodes that differ from those of most nodes of their
 * kind, as differences_end does: a new reference. */
json_t *api_differences(struct api *api);
/* Return all objectives with their budgets, as objectives_json does; or write
 * one of them to *ret. The texts are valid until the callback returns to the
 * loop. */
json_t *api_objectives(struct api *api);
size_t api_objectives_count(struct api *api);
void api_objective(struct api *api, size_t at, struct objectives_view *ret);
/* Return today's throughput of nodes and leaves as a share of the throughput of
 * their peers, as diagnosis_shares does. */
json_t *api_shares(struct api *api);
/* Open incidents; kind: "node", "leaf", "spine" or "fleet". */
struct api_incident {
	const char *kind, *subject, *text; /* live until the loop turns */
	enum what what;
	enum verdict verdict;
};
/* Write up to cap open incidents to ret. Return their number. */
size_t api_incidents(struct api *api, struct api_incident *ret, size_t cap);
/* Return the name of the cluster, or ""; and its summary for other clusters:
 * {cluster collector url page version at_unix_ns nodes reporting lost
 * verdicts{ok warn bad unknown} incidents}. */
const char *api_cluster_name(struct api *api);
json_t *api_cluster(struct api *api);
/* Count the nodes by verdict. */
void api_verdict_counts(struct api *api, size_t ret[VERDICT_MAX]);
/* Return the combined z from which the judge considers a node an outlier; NAN:
 * unknown. */
double api_outlier_threshold(struct api *api);
/* Expiry dates of certificates: the earliest of tls.ca, the collector's, and
 * the earliest of connected agents. */
#define API_EXPIRIES      3
#define API_EXPIRY_SOON_S (30 * 86400)
struct api_expiry {
	const char *of;   /* ca, collector, agent */
	const char *node; /* node of the agent; else "" */
	int64_t end_unix_s;
};
/* Write the known expiry dates to ret. Return their number. */
size_t api_expiries(struct api *api, struct api_expiry ret[API_EXPIRIES]);
/* Return the series of numbers of records (series.h), and the sinks. */
const struct series *api_series(struct api *api);
struct events *api_events(struct api *api); /* NULL: no sinks */

/* Return 1 if jobs of the batch system are observed. */
int api_has_jobs(struct api *api);
/* Write the owner of jobs, in the batch system's format, for a user. */
#define API_OWNER_BYTES 260
void api_job_owner(struct api *api, const char *user,
    char ret[API_OWNER_BYTES]);
/* Return the state that NCCL's RAS interface reports for one job and for all
 * jobs, and count the jobs by finding, as jobs_ras_json, jobs_ras_list and
 * jobs_ras_counts do. */
json_t *api_job_ras(struct api *api, const json_t *job);
json_t *api_jobs_ras(struct api *api);
void api_jobs_ras_counts(struct api *api, size_t ret[JOB_FINDING_MAX]);

/* Counters for metrics, by campaign and state. */
struct api_run_count {
	const char *campaign;
	int state; /* enum run_state, a final state */
	uint64_t count;
	double last_success_unix_s; /* 0: never */
	/* Runs that did not start or timed out, for diags; news_count is 0 if a
	 * later run was good. The others are of the last one. */
	uint64_t news_count, news_ns;
	enum cause news_cause;
	int news_by_user;
};
/* Return these counters in *ret, and their number. */
size_t api_run_counts(struct api *api, const struct api_run_count **ret);

#endif
