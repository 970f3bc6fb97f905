/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diags.c - the health checks: each row of checks is one of them.
 */
#include "daemon/diags/diags.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "daemon/jobs/jobs.h"
#include "daemon/run/networks.h"
#include "daemon/schedule/campaign.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/events/events.h"
#include "daemon/mesh/coverage.h"
#include "daemon/collector.h"
#include "daemon/agents/session.h"
#include "daemon/mesh/mesh.h"
#include "daemon/cluster/roster.h"
#include "daemon/cluster/topo.h"
#include "daemon/run/run.h"
#include "daemon/run/run_order.h"
#include "daemon/store/store.h"
#include "daemon/api/api_int.h"
#include "schema/options.h"

/* Users compare time stamps of nodes and collector; network time synchronises
 * them within some milliseconds. Heartbeats add their delay. */
#define SKEW_NS (1 * (int64_t)CLK_NS_PER_S)
/* Until then agents may still be connecting. */
#define YOUNG_NS    (30 * CLK_NS_PER_S)
#define STALLS_TOLD 8 /* jobs */
/* Default: half an hour. */
#define BLIND_INTERVALS 6
#define NAMES_SHOWN     5
/* A cluster of this many nodes has more than one leaf switch. */
#define MANY_NODES 64

static void __attribute__((format(printf, 4, 5))) diags_put(json_t *list,
    const char *severity, const char *remedy, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(list,
	    json_pack("{s:s, s:o, s:s}", "severity", severity, "text",
		text_json(text), "remedy", remedy));
}

/* Nodes that a check names, as "n1, n2 and 7 more". */
struct some {
	char names[300];
	size_t count;
};

static void
diags_some_add(struct some *s, const char *name)
{
	size_t len = strlen(s->names);

	if (s->count++ < NAMES_SHOWN)
		snprintf(s->names + len, sizeof(s->names) - len, "%s%.48s",
		    len == 0 ? "" : ", ", name);
}

static const char *
diags_some_text(struct some *s)
{
	size_t len = strlen(s->names);

	if (s->count > NAMES_SHOWN)
		snprintf(s->names + len, sizeof(s->names) - len,
		    " and %zu more", s->count - NAMES_SHOWN);
	return s->names;
}

static void
diags_check_agents(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);
	struct some lost = { .count = 0 }, away = { .count = 0 };

	if (roster_count(r) == 0) {
		diags_put(list,
		    clk_ns() - api->born_ns >= YOUNG_NS ? "bad" : "info",
		    "On each node, run the command that coalctl init prints. "
		    "If an agent runs, check journalctl -u coalmine-agent on "
		    "its node; a firewall may block the TCP port of "
		    "collector.listen.",
		    "no agent has ever connected");
		return;
	}
	for (size_t i = 0; i < roster_count(r); i++) {
		const struct node *n = roster_at(r, i);

		if (n->state == AGENT_LOST)
			diags_some_add(&lost, n->name);
		if (n->state == AGENT_MAINTENANCE)
			diags_some_add(&away, n->name);
	}
	if (away.count > 0)
		diags_put(list, "info",
		    "Nothing to do: maintenance ends automatically. To end it "
		    "earlier: coalctl node maintain NODE --end.",
		    "%zu of %zu nodes are in maintenance, not judged: %s",
		    away.count, roster_count(r), diags_some_text(&away));
	if (lost.count > 0 && clk_ns() - api->born_ns >= YOUNG_NS)
		diags_put(list, lost.count == roster_count(r) ? "bad" : "warn",
		    "Check that the node is up and its agent runs. On the "
		    "node: systemctl restart coalmine-agent; journalctl -u "
		    "coalmine-agent. For a node that was removed: coalctl "
		    "node forget NODE. For a node in repair: coalctl node "
		    "maintain NODE --for 8h --reason TEXT.",
		    "%zu of %zu agents are lost: %s", lost.count,
		    roster_count(r), diags_some_text(&lost));
}

static void
diags_check_versions(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);
	struct some other = { .count = 0 };

	for (size_t i = 0; i < roster_count(r); i++) {
		const struct node *n = roster_at(r, i);

		if (roster_is_watched(n) && n->software != NULL &&
		    strcmp(n->software, COALMINE_VERSION) != 0)
			diags_some_add(&other, n->name);
	}
	if (other.count > 0)
		diags_put(list, "warn",
		    "coalctl node upgrade-check shows whether the versions "
		    "are compatible. On these nodes: apt-get install the same "
		    "version.",
		    "agents of another version than " COALMINE_VERSION ": %s",
		    diags_some_text(&other));
}

/* Ports that are down while ports of that name are up on most nodes. A node
 * without such a port is of another kind and not counted. */
static void
diags_check_nics(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);
	json_t *balance = json_object(), *nic; /* by name: up minus down */
	struct some down = { .count = 0 };
	char remedy[256], what[64];
	size_t k;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < roster_count(r); i++) {
			const struct node *n = roster_at(r, i);
			const json_t *nics = json_object_get(n->inventory,
			    "nics");

			json_array_foreach (nics, k, nic) {
				const char *name = member_text(nic, "name");
				const char *state = member_text(nic, "state");
				json_int_t sum = member_int(balance, name);
				/* The kernel's state, and InfiniBand's. */
				int is_up = strcasecmp(state, "up") == 0 ||
				    strcasecmp(state, "active") == 0;

				if (!roster_is_up(n) ||
				    strcmp(member_text(nic, "kind"),
					"virtual") == 0)
					continue;
				if (pass == 0)
					json_object_set_new(balance, name,
					    json_integer(
						sum + (is_up ? 1 : -1)));
				if (pass == 0 || is_up || sum <= 0)
					continue;
				snprintf(what, sizeof(what), "%.40s %.20s",
				    n->name, name);
				if (down.count == 0)
					utf8_format(remedy, sizeof(remedy),
					    "On %.64s: ip link set %.32s up; "
					    "if the port stays down, check "
					    "its cable and the switch's port "
					    "with ethtool or ibstat.",
					    n->name, name);
				diags_some_add(&down, what);
			}
		}
	if (down.count > 0)
		diags_put(list, "warn", remedy,
		    "%zu ports are down that are up on most nodes: %s",
		    down.count, diags_some_text(&down));
	json_decref(balance);
}

/* Settings of a minority of the nodes of a kind. */
static void
diags_check_differences(struct api *api, json_t *list)
{
	json_t *all = api_differences(api), *o;
	struct some nodes = { .count = 0 };
	const char *last = "";
	char what[120];
	size_t i;

	member_foreach (all, "differences", i, o) {
		const char *node = member_text(o, "node");

		/* The rows of a node are consecutive. */
		if (strcmp(node, last) == 0)
			continue;
		last = node;
		snprintf(what, sizeof(what), "%.40s %.60s", node,
		    member_text(o, "setting"));
		diags_some_add(&nodes, what);
	}
	if (nodes.count > 0)
		diags_put(list, "warn",
		    "coalctl diff lists the settings with the value of most "
		    "nodes. Set the same value, or install the same version, "
		    "on all nodes of a kind.",
		    "settings of %zu nodes differ from those of most nodes of "
		    "their kind: %s",
		    nodes.count, diags_some_text(&nodes));
	json_decref(all);
}

/* Nodes that answer echoes of the mesh but cannot take part in runs. */
static void
diags_check_engines(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);
	struct some without = { .count = 0 };

	for (size_t i = 0; i < roster_count(r); i++) {
		const struct node *n = roster_at(r, i);
		const json_t *mpi = json_object_get(n->inventory, "mpi");

		if (roster_is_up(n) && json_is_array(mpi) &&
		    json_array_size(mpi) == 0)
			diags_some_add(&without, n->name);
	}
	if (without.count > 0)
		diags_put(list, "warn",
		    "Install coalmine-probe-openmpi or coalmine-probe-mpich "
		    "on these nodes, or build an engine for the site's MPI "
		    "with coalmine-build-probe(8); then systemctl restart "
		    "coalmine-agent.",
		    "%zu nodes have no MPI with an engine and take no part in "
		    "runs: %s",
		    without.count, diags_some_text(&without));
}

/* Versions of one MPI: by version the number of nodes that have it. */
static void
diags_check_mpi(struct roster *r, const char *name, const json_t *versions,
    json_t *list)
{
	struct some others = { .count = 0 }, without = { .count = 0 };
	const char *version, *most = "";
	size_t have = 0;
	char what[80];
	json_t *count;

	json_object_foreach ((json_t *)(uintptr_t)versions, version, count) {
		have += (size_t)json_integer_value(count);
		if (json_integer_value(count) > member_int(versions, most))
			most = version;
	}
	for (size_t i = 0; i < roster_count(r); i++) {
		const struct node *n = roster_at(r, i);
		const json_t *all = json_object_get(n->inventory, "mpi"), *mpi;
		const char *own = NULL;
		size_t k;

		json_array_foreach (all, k, mpi)
			if (strcmp(member_text(mpi, "name"), name) == 0)
				own = member_text(mpi, "version");
		if (!roster_is_up(n) || json_array_size(all) == 0)
			continue;
		if (own == NULL)
			diags_some_add(&without, n->name);
		if (own == NULL || own[0] == '\0' || strcmp(own, most) == 0)
			continue;
		snprintf(what, sizeof(what), "%.40s %.30s", n->name, own);
		diags_some_add(&others, what);
	}
	if (others.count > 0)
		diags_put(list, "warn",
		    "Install one version on all nodes: ranks of different "
		    "versions may fail to connect. campaign.nodes keeps nodes "
		    "out of a campaign.",
		    "%.40s is %.30s on %" JSON_INTEGER_FORMAT
		    " nodes, and another version on %zu: %s",
		    name, most, member_int(versions, most), others.count,
		    diags_some_text(&others));
	if (without.count > 0 && without.count < have)
		diags_put(list, "info",
		    "Install this MPI on these nodes, or build a probe engine "
		    "for it with coalmine-build-probe(8); campaigns with this "
		    "MPI skip these nodes.",
		    "%zu nodes do not have %.40s, which %zu have: %s",
		    without.count, name, have, diags_some_text(&without));
}

static void
diags_check_mpis(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);
	json_t *by_name = json_object(), *mpi, *versions;
	const char *name, *version;
	size_t k;

	for (size_t i = 0; i < roster_count(r); i++) {
		const struct node *n = roster_at(r, i);

		if (!roster_is_up(n))
			continue;
		member_foreach (n->inventory, "mpi", k, mpi) {
			name = member_text(mpi, "name");
			version = member_text(mpi, "version");
			versions = json_object_get(by_name, name);
			if (name[0] == '\0' || version[0] == '\0')
				continue;
			if (versions == NULL) {
				versions = json_object();
				json_object_set_new(by_name, name, versions);
			}
			json_object_set_new(versions, version,
			    json_integer(member_int(versions, version) + 1));
		}
	}
	json_object_foreach (by_name, name, versions)
		diags_check_mpi(r, name, versions, list);
	json_decref(by_name);
}

/* Several networks that ranks could use, and no option selects one. */
static void
diags_check_networks(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);
	json_t *nets = networks_shared(r), *net;
	struct some open = { .count = 0 };
	char text[300] = "", remedy[200];
	size_t i, len = 0;

	for (i = 0; i < roster_count(r); i++)
		if (roster_is_up(roster_at(r, i)) &&
		    !networks_is_decided(roster_at(r, i)))
			diags_some_add(&open, roster_at(r, i)->name);
	json_array_foreach (nets, i, net)
		if (len + 80 < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			    "%s%s", i == 0 ? "" : ", ", json_string_value(net));
	if (json_array_size(nets) > 1 && open.count > 1) {
		snprintf(remedy, sizeof(remedy),
		    "Set mpi.net in coalmine-agent.conf of the nodes to the "
		    "network of jobs, for example mpi.net = %s; otherwise "
		    "ranks may use all these networks.",
		    json_string_value(json_array_get(nets, 0)));
		diags_put(list, "info", remedy,
		    "nodes share %zu networks (%s), but mpi.net does not "
		    "select one for ranks on %zu: %s",
		    json_array_size(nets), text, open.count,
		    diags_some_text(&open));
	}
	json_decref(nets);
}

/* Addresses of a bridge for containers are the same on all nodes, and no
 * fault: its network has no other address. */
static void
diags_check_addresses(struct api *api, json_t *list)
{
	json_t *repeated = networks_repeated(
	    collector_roster(api->p.collector));
	json_t *nodes, *nic;
	struct some places = { .count = 0 };
	const char *addr, *node;
	char what[128];

	json_object_foreach (repeated, addr, nodes)
		json_object_foreach (nodes, node, nic) {
			snprintf(what, sizeof(what), "%.24s %.15s %s", node,
			    json_string_value(nic), addr);
			diags_some_add(&places, what);
		}
	if (places.count > 0)
		diags_put(list, "warn",
		    "Give each node its own address. Until then ranks do not "
		    "use this interface, unless mpi.net in "
		    "coalmine-agent.conf names its network.",
		    "%zu addresses are set on several nodes: %s",
		    json_object_size(repeated), diags_some_text(&places));
	json_decref(repeated);
}

static void
diags_check_clocks(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);
	struct some skewed = { .count = 0 };

	for (size_t i = 0; i < roster_count(r); i++) {
		const struct node *n = roster_at(r, i);

		if (roster_is_watched(n) && n->last_ns != 0 &&
		    (n->skew_ns > SKEW_NS || n->skew_ns < -SKEW_NS))
			diags_some_add(&skewed, n->name);
	}
	if (skewed.count > 0)
		diags_put(list, "warn",
		    "On these nodes: systemctl enable --now chrony; chronyc "
		    "tracking.",
		    "clocks differ from the collector's by over %d s: %s",
		    (int)(SKEW_NS / (int64_t)CLK_NS_PER_S),
		    diags_some_text(&skewed));
}

/* With a wrong clock the collector rejects all certificates. */
static void
diags_check_own_clock(struct api *api, json_t *list)
{
	struct sessions_dated dated;
	char now[32];

	sessions_dated(collector_sessions(api->p.collector), &dated);
	if (dated.count == 0)
		return;
	clk_unix_format(clk_unix_ns(), now, sizeof(now));
	diags_put(list, "bad",
	    "If the clock of this host is wrong: systemctl enable --now "
	    "chrony. Otherwise renew the certificates of the rejected nodes "
	    "with coalctl pki renew; journalctl -u coalmined names these "
	    "nodes.",
	    "%u connections were rejected because of the dates in a "
	    "certificate, the last from %s; the clock of this host is %s",
	    dated.count, dated.addr, now);
}

/* A certificate of an authority that expires cuts off all agents at once. */
static void
diags_check_certificates(struct api *api, json_t *list)
{
	int64_t now_s = (int64_t)(clk_unix_ns() / CLK_NS_PER_S);
	struct roster *r = collector_roster(api->p.collector);
	struct api_expiry own[API_EXPIRIES];
	size_t count = api_expiries(api, own);
	struct some soon = { .count = 0 };

	for (size_t i = 0; i < count; i++) {
		double days = (double)(own[i].end_unix_s - now_s) / 86400;
		int is_ca = strcmp(own[i].of, "ca") == 0;

		if (own[i].node[0] != '\0' ||
		    own[i].end_unix_s - now_s > API_EXPIRY_SOON_S)
			continue;
		diags_put(list, days < 0 ? "bad" : "warn",
		    is_ca
			? "Create another authority with coalctl pki init, add "
			  "its ca.pem to tls.ca on all hosts, then issue all "
			  "certificates again."
			: "coalctl pki renew DIR collector, then systemctl "
			  "kill -s HUP --kill-who=main coalmined.",
		    days < 0 ? "the certificate of the %s expired %.0f days ago"
			     : "the certificate of the %s ends in %.0f days",
		    is_ca ? "authority (tls.ca)" : "collector (tls.cert)",
		    days < 0 ? -days : days);
	}
	for (size_t i = 0; i < roster_count(r); i++) {
		const struct node *n = roster_at(r, i);

		if (n->session != NULL &&
		    session_cert_end_unix_s(n->session) - now_s <=
			API_EXPIRY_SOON_S)
			diags_some_add(&soon, n->name);
	}
	if (soon.count > 0)
		diags_put(list, "warn",
		    "coalctl pki renew DIR NODE for each, copy the file to "
		    "the node, then systemctl kill -s HUP --kill-who=main "
		    "coalmine-agent there: the next connection of the agent "
		    "uses the new certificate.",
		    "certificates of %zu agents end within %d days: %s",
		    soon.count, API_EXPIRY_SOON_S / 86400,
		    diags_some_text(&soon));
}

static void
diags_check_alarms(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);

	for (size_t i = 0; i < roster_count(r); i++) {
		const struct node *n = roster_at(r, i);

		if (roster_is_watched(n) && n->alarm != NULL)
			diags_put(list, "warn",
			    "On that node: journalctl -u coalmine-agent.",
			    "agent of %s: %s", n->name, n->alarm);
	}
}

static void
diags_check_store(struct api *api, json_t *list)
{
	struct store_health health;

	store_health(api->p.store, &health);
	if (health.alarm[0] != '\0')
		diags_put(list, "bad",
		    "Make room on the disk that holds collector.state_dir, or "
		    "lower store.retention; agents keep their records "
		    "meanwhile.",
		    "store: %s", health.alarm);
	if (health.dropped_rows > 0)
		diags_put(list, "warn",
		    "The disk of collector.state_dir is too slow or too busy: "
		    "check it with iostat -x 5.",
		    "store: %" PRIu64 " rows were dropped",
		    health.dropped_rows);
}

/* A campaign that waits until the cluster has enough nodes: normal in the first
 * hour. Return 1 if it waits. */
static int
diags_check_few(struct api *api, const struct campaign *c, json_t *list)
{
	size_t known = runs_known_nodes(collector_runs(api->p.collector),
	    c->conf);
	int64_t min = conf_int(c->conf, "campaign", "nodes_min");

	if ((int64_t)known >= min)
		return 0;
	if (roster_count(collector_roster(api->p.collector)) > 0)
		diags_put(list,
		    clk_ns() - api->born_ns < API_NEWS_NS ? "info" : "warn",
		    "Enrol more nodes with the command that coalctl init "
		    "prints, or set campaign.nodes_min to the number of "
		    "nodes.",
		    "campaign %s waits for nodes: %zu have had an agent, and "
		    "campaign.nodes_min is %" PRId64,
		    c->name, known, min);
	return 1;
}

static void
diags_check_campaign(struct api *api, const struct campaign *c, json_t *list)
{
	uint64_t every_ns = c->schedule.every_ns != 0 ? c->schedule.every_ns
						      : 86400 * CLK_NS_PER_S;
	double now_s = (double)clk_unix_ns() / 1e9;
	double from_s = (double)(c->read_unix_ns > api->born_unix_ns
				? c->read_unix_ns
				: api->born_unix_ns) /
	    1e9;
	char since[32];

	if (c->error != NULL) {
		diags_put(list, "bad",
		    "Correct the file, which is reloaded automatically; check "
		    "it with coalctl campaign validate FILE.",
		    "campaign %s is broken: %.300s", c->name, c->error);
		return;
	}
	if (!scheduler_is_enabled(api->p.scheduler, c) ||
	    diags_check_few(api, c, list))
		return;
	from_s = fmax(from_s, (double)c->few_unix_ns / 1e9);
	from_s = fmax(from_s, c->last_success_unix_s);
	/* Windows cause gaps of up to a day. */
	if (c->schedule.window.count > 0)
		every_ns += 86400 * CLK_NS_PER_S;
	if (now_s - from_s > 3 * (double)every_ns / 1e9) {
		/* The text must not change: it identifies an alert. */
		clk_unix_format((uint64_t)(from_s * 1e9), since, sizeof(since));
		diags_put(list, "bad",
		    "coalctl run list shows why its runs do not "
		    "finish.",
		    "campaign %s is scheduled and has not finished since %s",
		    c->name, since);
	} else if (c->next_unix_ns == 0)
		diags_put(list, "warn",
		    "Set schedule.window so that a start of schedule.every is "
		    "within it.",
		    "campaign %s is scheduled and will never start", c->name);
}

static void
diags_check_campaigns(struct api *api, json_t *list)
{
	const char *error = campaigns_error(api->p.campaigns);
	const struct campaign *c;

	if (error[0] != '\0')
		diags_put(list, "bad",
		    "Create the directory, or set collector.campaign_dir.",
		    "campaigns cannot be read: %s", error);
	TAILQ_FOREACH (c, campaigns_list(api->p.campaigns), link)
		diags_check_campaign(api, c, list);
}

/* It compares nodes one by one, which verdicts need. */
static int
diags_judges(const struct campaign *c)
{
	return c->conf != NULL && options_runs_canaries(c->conf) &&
	    !conf_is(c->conf, "canary", "partners", "ring") &&
	    strcmp(conf_string(c->conf, "congestor", "mix"), "none") == 0;
}

/* No verdict yet, or none possible: missing data is a problem. */
static void
diags_check_judged(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);
	size_t counts[VERDICT_MAX], judged;
	const struct campaign *c;
	uint64_t next_unix_ns = 0;
	int enabled = 0, finished = 0;
	char at[32];

	api_verdict_counts(api, counts);
	judged = counts[VERDICT_OK] + counts[VERDICT_WARN] +
	    counts[VERDICT_BAD];
	TAILQ_FOREACH (c, campaigns_list(api->p.campaigns), link) {
		if (!diags_judges(c))
			continue;
		finished |= c->last_success_unix_s > 0;
		if (!scheduler_is_enabled(api->p.scheduler, c))
			continue;
		enabled = 1;
		if (c->next_unix_ns != 0 &&
		    (next_unix_ns == 0 || c->next_unix_ns < next_unix_ns))
			next_unix_ns = c->next_unix_ns;
	}
	if (roster_count(r) == 0)
		return;
	clk_unix_format(next_unix_ns, at, sizeof(at));
	if (!enabled)
		diags_put(list, "warn",
		    "Run: coalctl schedule enable watch. Otherwise only runs "
		    "that a user starts give verdicts.",
		    "no enabled campaign gives verdicts on nodes");
	else if ((judged == 0 || !finished) && next_unix_ns != 0)
		diags_put(list, "info",
		    "Nothing to do: a verdict takes three rounds. To measure "
		    "now: coalctl campaign run watch.",
		    judged == 0
			? "nodes are not measured yet, first measurements at %s"
			: "no campaign has measured nodes in pairs yet, so a "
			  "node that is ok may have a slow link; next run at "
			  "%s",
		    at);
}

/* Runs that TCP carried, on nodes with a fabric. */
static void
diags_check_unused(struct api *api, json_t *list)
{
	const json_t *unused = runs_unused(collector_runs(api->p.collector));
	struct some nodes = { .count = 0 };
	const char *name, *device = "";
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)unused, name, value) {
		diags_some_add(&nodes, name);
		device = json_string_value(value);
	}
	if (nodes.count > 0)
		diags_put(list, "warn",
		    "Check that probes may open the devices: on a node, "
		    "systemctl show -p DeviceAllow coalmine-agent, and that "
		    "the MPI has the fabric's library (mpi.fabric).",
		    "measurements used tcp although %.40s is up, on %zu nodes: "
		    "%s",
		    device, nodes.count, diags_some_text(&nodes));
}

/* An agent that is up but not in the mesh. */
static void
diags_check_mesh(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);
	struct some out = { .count = 0 };
	const char *why = NULL;

	for (size_t i = 0; i < roster_count(r); i++) {
		const struct node *n = roster_at(r, i);
		const char *trouble = mesh_trouble(collector_mesh(
						       api->p.collector),
		    n);

		if (!roster_is_up(n) || trouble == NULL)
			continue;
		diags_some_add(&out, n->name);
		why = why == NULL ? trouble : why;
	}
	if (out.count > 0)
		diags_put(list, "warn",
		    "Find the program that uses mesh.port (default 17702) on "
		    "the node: ss -lunp; see mesh.port and mesh.net in "
		    "coalmine.conf(5).",
		    "%zu nodes take no part in the mesh (%.120s): %s",
		    out.count, why, diags_some_text(&out));
}

/* Runs that were due and did not start, or were ended at their deadline, of
 * campaigns without a good run since then. */
static void
diags_check_silence(struct api *api, json_t *list)
{
	const struct api_run_count *c;
	size_t count = api_run_counts(api, &c);
	char remedy[128], ago[32];

	for (; count > 0; count--, c++) {
		const char *state = names_run_states[c->state].name;
		uint64_t since_ns = clk_ns() - c->news_ns;

		if (c->news_count == 0 || since_ns > API_NEWS_NS)
			continue;
		snprintf(remedy, sizeof(remedy),
		    "coalctl run list --state %s shows the reason%s.", state,
		    c->news_count == 1 ? "" : "s");
		clk_span_format((since_ns / CLK_NS_PER_S + 1) * CLK_NS_PER_S,
		    ago, sizeof(ago));
		diags_put(list, "warn",
		    c->news_cause == CAUSE_BUDGET
			? "coalctl schedule forecast shows which starts exceed "
			  "the budget or are in a blackout."
			: remedy,
		    c->news_count == 1
			? "%" PRIu64 " run of campaign %s was %s, %s ago: %s"
			: "%" PRIu64 " runs of campaign %s were %s, the last "
			  "%s ago: %s",
		    c->news_count, c->campaign, state, ago,
		    names_causes[c->news_cause].text);
	}
}

static int
diags_has_any_link(const struct coverage *c, uint64_t hour,
    const struct node *n)
{
	for (size_t k = 0; k < ROSTER_RAILS_MAX; k++)
		if (coverage_has_link(c, hour, mesh_link_id(n, k)))
			return 1;
	return 0;
}

/* Nodes without any measurement for a day are blind spots. */
static void
diags_check_coverage(struct api *api, json_t *list)
{
	const struct coverage *c = mesh_coverage(
	    collector_mesh(api->p.collector));
	uint64_t hour = clk_unix_ns() / (3600 * CLK_NS_PER_S);
	struct roster *r = collector_roster(api->p.collector);
	struct some blind = { .count = 0 };

	if (clk_ns() - api->born_ns < BLIND_INTERVALS *
		mesh_interval_ns(collector_mesh(api->p.collector)))
		return;
	for (size_t i = 0; i < roster_count(r); i++)
		if (roster_is_up(roster_at(r, i)) &&
		    !diags_has_any_link(c, hour, roster_at(r, i)))
			diags_some_add(&blind, roster_at(r, i)->name);
	if (blind.count > 0)
		diags_put(list, "warn",
		    "Check that firewalls allow the mesh's datagrams "
		    "(mesh.port, UDP). coalctl coverage shows more.",
		    "%zu nodes that are up have no recent measurement: %s",
		    blind.count, diags_some_text(&blind));
}

/* A topology file that is older than the cluster. */
static void
diags_check_topology(struct api *api, json_t *list)
{
	struct roster *r = collector_roster(api->p.collector);
	const struct topo *t = roster_topo(r);
	struct some apart = { .count = 0 }, unheard = { .count = 0 };

	if (t == NULL || topo_file(t)->node_count == 0) {
		if (roster_count(r) >= MANY_NODES)
			diags_put(list, "info",
			    "Set topology.leaves to the file that coalctl "
			    "topology import makes from ibnetdiscover, Slurm, "
			    "LLDP or a table, then restart the collector.",
			    "leaves of %zu nodes are guessed from their "
			    "addresses (topology.leaf_prefix)",
			    roster_count(r));
		return;
	}
	for (size_t i = 0; i < roster_count(r); i++)
		if ((roster_is_alone(r, roster_at(r, i))
			    ? topology_find_host(topo_file(t),
				  roster_at(r, i)->name)
			    : topology_find_node(topo_file(t),
				  roster_at(r, i)->name)) == TOPOLOGY_NONE)
			diags_some_add(&apart, roster_at(r, i)->name);
	for (size_t i = 0; i < topo_file(t)->node_count; i++)
		if (roster_find_host(r, topo_file(t)->nodes[i].name) == NULL)
			diags_some_add(&unheard, topo_file(t)->nodes[i].name);
	if (apart.count > 0)
		diags_put(list, "warn",
		    "Import the fabric again: coalctl topology import, then "
		    "send SIGHUP to the collector. coalctl topology check "
		    "shows more.",
		    "topology.leaves has no leaf for %zu nodes: %s",
		    apart.count, diags_some_text(&apart));
	if (unheard.count > 0 && clk_ns() - api->born_ns >= YOUNG_NS)
		diags_put(list, "warn",
		    "Start coalmine-agent on these nodes, or leave them out "
		    "of the topology file: coalctl topology import --skip.",
		    "%zu nodes of topology.leaves have never had an agent: %s",
		    unheard.count, diags_some_text(&unheard));
}

/* The scheduler's reports on jobs, and the impossible ones among them. */
static void
diags_check_jobs(struct api *api, json_t *list)
{
	struct jobs_health h;

	jobs_health(collector_jobs(api->p.collector), &h);
	if (h.source == JOBS_OFF)
		return;
	if (h.error[0] != '\0')
		diags_put(list, "warn",
		    "Run the command as the collector's user; after the "
		    "command works again, jobs that ended meanwhile are "
		    "listed too, with exact times from accounting.",
		    "the job list is unavailable: %s", h.error);
	if (h.accounting_error[0] != '\0')
		diags_put(list, "info",
		    "If this Slurm has no accounting, set jobs.accounting = "
		    "no.",
		    "end times of jobs that left squeue are unknown: %s",
		    h.accounting_error);
	if (h.unreadable > 0)
		diags_put(list, "warn",
		    "Compare the scheduler's output with "
		    "JOB|OWNER|STATE|START|END|NODES|NAME: coalmined(8).",
		    "%" PRIu64 " lines of jobs could not be read since the "
		    "collector started",
		    h.unreadable);
	if (h.backwards > 0)
		diags_put(list, "warn",
		    "The end time of these jobs is set to their start time. "
		    "Check the clocks of the scheduler's hosts.",
		    "%" PRIu64
		    " jobs ended before they began, as the scheduler reports",
		    h.backwards);
	if (h.vanished > 0)
		diags_put(list, "info",
		    "Until accounting reports the end of these jobs, the time "
		    "of the last job list that contained them is used.",
		    "%" PRIu64
		    " jobs disappeared from the job list without an end time",
		    h.vanished);
	if (h.ahead_s * (int64_t)CLK_NS_PER_S > SKEW_NS)
		diags_put(list, "warn", "Synchronise clocks: chronyc tracking.",
		    "a job began %" PRId64
		    " s in the future: the scheduler's clock is ahead",
		    h.ahead_s);
	if (h.unknown > 0)
		diags_put(list, "info",
		    "Start coalmine-agent on these nodes: slow nodes without "
		    "an agent are not detected.",
		    "jobs ran on %zu nodes that never had an agent, such as %s",
		    h.unknown, h.unknown_as);
}

/* Jobs that do not progress. The text is the subject of an alert, so it has no
 * time and no count that change while the job stalls. */
static void
diags_check_stalls(struct api *api, json_t *list)
{
	json_t *all = api_jobs_ras(api), *o;
	size_t i, listed = 0;

	json_array_foreach (all, i, o) {
		int kind = STR_FIND(names_job_findings,
		    member_text(o, "state"));

		if (listed == STALLS_TOLD ||
		    (kind != JOB_SILENT && kind != JOB_STALLED))
			continue;
		listed++;
		diags_put(list, "warn",
		    "coalctl job show lists the ranks and the state of their "
		    "nodes.",
		    "job %.80s: %s", member_text(o, "job"),
		    kind == JOB_SILENT ? "ranks do not answer NCCL"
				       : "NCCL launches no collectives");
	}
	json_decref(all);
}

/* Its text must not change meanwhile: it is the subject of an alert. */
static void
diags_check_sinks(struct api *api, json_t *list)
{
	struct events *e = api->p.events;
	struct events_sink s;

	for (size_t i = 0; i < events_count(e); i++) {
		events_look(e, i, &s);
		if (s.oldest_unix_ns != 0 &&
		    clk_unix_ns() > s.oldest_unix_ns + events_behind_ns(e))
			diags_put(list, "bad",
			    "Check the service of this sink and the network to "
			    "it. Waiting events are retried automatically for "
			    "the time events.keep.",
			    "sink %s is behind: %s", s.name,
			    s.error[0] != '\0'
				? s.error
				: "the sink accepts events too slowly");
		if (s.expired + s.refused > 0)
			diags_put(list, "warn",
			    "journalctl -u coalmined names these events.",
			    "sink %s: %" PRIu64 " events were not sent", s.name,
			    s.expired + s.refused);
	}
}

/* A verdict needs some more runs, and then names the fault. */
static void
diags_check_suspects(struct api *api, json_t *list)
{
	json_t *all = api_suspects(api), *o;
	size_t i;

	json_array_foreach (all, i, o)
		diags_put(list, "info",
		    "Nothing to do yet: confirmation runs are in progress.",
		    "%s %.80s: %s", member_text(o, "kind"),
		    member_text(o, "subject"), member_text(o, "text"));
	json_decref(all);
}

static void (*const checks[])(struct api *api,
    json_t *list) = { diags_check_store, diags_check_agents, diags_check_nics,
	diags_check_differences, diags_check_engines, diags_check_mpis,
	diags_check_networks, diags_check_addresses, diags_check_campaigns,
	diags_check_versions, diags_check_clocks, diags_check_own_clock,
	diags_check_certificates, diags_check_alarms, diags_check_mesh,
	diags_check_silence, diags_check_coverage, diags_check_topology,
	diags_check_jobs, diags_check_stalls, diags_check_sinks,
	diags_check_suspects, diags_check_judged, diags_check_unused };

json_t *
diags_json(struct api *api)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		checks[i](api, list);
	return list;
}
