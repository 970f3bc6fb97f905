/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - what the collector's parts show and take: the seam between the
 * HTTP interface, metrics and alerts, and the cluster's state (roster, runs,
 * campaigns, schedule, diagnosis). They never reach deeper than this.
 *
 * Everything runs on the loop's thread and answers from memory; what is in the
 * store is asked through store.h. New json_t references belong to the caller.
 */
#ifndef DAEMON_VIEW_VIEW_H
#define DAEMON_VIEW_VIEW_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hist.h"
#include "schema/mesh.h"
#include "schema/names.h"

struct events;
struct series;
struct strbuf;
struct view; /* made by main from roster, runs, campaigns, schedule, store */

/* Nodes: [{node state since_unix_ns last_seen_unix_ns addr software boot
 * inventory run? busy? score? spool_bytes load}], human order. */
/* As JSON, for it is long. */
void view_nodes(struct view *v, struct strbuf *ret);
json_t *view_node(struct view *v, const char *node); /* NULL: unknown */

/* All nodes in few words, human order, for what is asked often and of all of
 * them. The list and its names live until the loop turns. */
struct view_node {
	const char *name;
	const char *leaf; /* "": not known */
	enum agent_state state;
	uint64_t since_unix_ns; /* of state */
	uint64_t last_seen_unix_ns;
	uint64_t spool_bytes;
	double score; /* NAN: unknown */
	enum verdict verdict;
};
size_t view_node_list(struct view *v, const struct view_node **ret);

/* Campaigns: [{campaign about class mpi launcher nodes ok error? source
 * every.. next_unix_ns? enabled last_run? last_state?}]. A broken file is
 * listed with ok false and its "file:line: ..." error. */
json_t *view_campaigns(struct view *v);
json_t *view_campaign(struct view *v, const char *name); /* adds text */
/* Parse without keeping: {ok, error?, rendered?}. */
json_t *view_campaign_validate(struct view *v, const char *name,
    const char *text);

/* Runs that live or ended lately; the rest is STORE_RUNS. Each: {run campaign
 * class mpi state cause text nodes head ranks seed created_unix_ns
 * started_unix_ns ended_unix_ns records progress{share phase test
 * remaining_s}? by}. */
json_t *view_runs(struct view *v);
json_t *view_run(struct view *v, const char *run); /* NULL: not in memory */

/* Schedule: [{campaign enabled every_s at window next_unix_ns last_run
 * last_state}]. */
json_t *view_schedule(struct view *v);

/* What the schedule will start within a span of time, and what will not fit
 * and why: [{campaign due_unix_ns at_unix_ns duration_s nodes node_seconds
 * bytes answer (runs, waits, missed) why}], in the order of time. */
json_t *view_forecast(struct view *v, uint64_t span_ns);
/* {bytes node_seconds {limit used reserved total} link_share {limit used}
 * refused}; a limit that is none is null. */
json_t *view_budget_json(struct view *v);
/* {hours, pairs leaves links uplinks {exercised all}, links_missing
 * leaves_missing uplinks_missing}. */
json_t *view_coverage(struct view *v);
/* Links that nothing tells apart: {hours alike [[{link or uplink}, ...], ...]}.
 */
json_t *view_identifiable(struct view *v);

/* The same in few words, for metrics. */
#define VIEW_SHARES  4
#define VIEW_BUDGETS 2
struct view_always {
	struct view_share {
		const char *of; /* pairs leaves links uplinks */
		uint64_t part, all;
	} coverage[VIEW_SHARES];
	struct view_budget {
		const char *of;                      /* bytes node_seconds */
		double limit, used, reserved, total; /* limit 0: none */
	} budget[VIEW_BUDGETS];
	double link_share, link_share_limit;
	uint64_t refused;
	size_t mesh_nodes; /* that take part now */
	struct view_mesh {
		uint64_t answered, lost, unknown; /* datagrams since start */
		const struct hist *rtt_s;         /* NULL: no such class */
	} mesh[MESH_CLASS_MAX];
	/* Runs that became missed, overdue or nonstart, by cause. */
	uint64_t silence[RUN_STATE_MAX][CAUSE_MAX];
};
void view_always(struct view *v, struct view_always *ret);
/* The baseline that the diagnosis keeps by itself, and nobody pins. */
#define VIEW_RECENT "recent"
/* The recent weeks as a baseline's body: {run records}. */
json_t *view_recent(struct view *v);
/* A baseline was pinned or, with NULL, dropped: it is stored, told to the event
 * log, and compared with from now on. -EINVAL: a name as a campaign's is
 * needed; -EBUSY: VIEW_RECENT. */
int view_pin_check(const char *name);
void view_pin(struct view *v, const char *name, const json_t *body,
    const char *by);

/* Verdicts, the worst first: {kind subject verdict what since_unix_ns
 * at_unix_ns text test class effect rounds ...}; all: those of normal nodes
 * too. */
json_t *view_verdicts(struct view *v, int all);
/* Ports that have counted more errors than usual lately; all of a node's, NULL:
 * unknown; classes of nodes and the worst: as of diagnosis.h. */
json_t *view_links(struct view *v);
json_t *view_node_links(struct view *v, const char *node);
json_t *view_link_health(struct view *v);
/* What nodes and leaves give today of what their like give. */
json_t *view_shares(struct view *v);
/* Open incidents in few words; kind: "node" or "leaf". */
struct view_incident {
	const char *kind, *subject; /* live until the loop turns */
	enum what what;
	enum verdict verdict;
};
size_t view_incidents(struct view *v, struct view_incident *ret, size_t cap);
/* Its name, or ""; and what others are told of it: {cluster collector url page
 * version at_unix_ns nodes reporting lost verdicts{ok warn bad unknown}
 * incidents}. */
const char *view_cluster_name(struct view *v);
json_t *view_cluster(struct view *v);
void view_verdict_counts(struct view *v, size_t ret[VERDICT_MAX]);
/* The combined z from which the judge takes a node for an outlier; NAN. */
double view_outlier_threshold(struct view *v);
/* When certificates end: the first of tls.ca, the collector's, and of the
 * connected agents the first. Returns how many are known. */
#define VIEW_EXPIRIES      3
#define VIEW_EXPIRY_SOON_S (30 * 86400)
struct view_expiry {
	const char *of;   /* ca, collector, agent */
	const char *node; /* of the agent; "" */
	int64_t end_unix_s;
};
size_t view_expiries(struct view *v, struct view_expiry ret[VIEW_EXPIRIES]);
/* The newest numbers of records. */
const struct series *view_series(struct view *v);
struct events *view_events(struct view *v); /* NULL: no sinks */

/* Orders. by: who gave it, for the event log. 0, or -errno and why.
 * overrides: {"section.key": "value"}, or NULL. text: a campaign's INI text
 * that is not in campaign_dir, or NULL. */
int view_submit(struct view *v, const char *campaign, const char *text,
    const json_t *overrides, const char *by, char ret_run[64], struct err *err);
int view_cancel(struct view *v, const char *run, const char *by,
    struct err *err);
/* Ends every live run now; the count of runs it ended. */
int view_stop_all(struct view *v, const char *by);
/* A token for nodes to enrol with, ret_token of PKI_TOKEN_TEXT bytes. uses 0:
 * as many as names. */
int view_token(struct view *v, const char *names, int uses, uint64_t span_ns,
    const char *by, char *ret_token, struct err *err);
int view_schedule_enable(struct view *v, const char *campaign, int enabled,
    const char *by, struct err *err);
/* Jobs of the batch system are asked for, and how a user is called there. */
int view_has_jobs(struct view *v);
#define VIEW_OWNER_BYTES 260
void view_job_owner(struct view *v, const char *user,
    char ret[VIEW_OWNER_BYTES]);
/* Problems in plain words with what to do: [{severity text remedy}]. */
json_t *view_diags(struct view *v);

/* For metrics: counts that only ever grow, by campaign and state. */
struct view_run_count {
	const char *campaign;
	int state; /* enum run_state, final ones */
	uint64_t count;
	double last_success_unix_s; /* 0: never */
};
size_t view_run_counts(struct view *v, const struct view_run_count **ret);

#endif
