/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - pass each key of coalmined.conf to its part, so that a part has
 * its options without knowing their section and key.
 */
#include "daemon/settings.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/file.h"
#include "common/log.h"
#include "common/str.h"
#include "daemon/cluster/topo.h"
#include "daemon/agents/tls.h"
#include "daemon/run/blackout.h"
#include "schema/options.h"

#define DEFAULT_PATH "/etc/coalmine/coalmined.conf"
#define REPORT_MAX   (64U << 20)

/* The address at which others reach this collector. */
static void
settings_url_make(struct settings *s, const char *host)
{
	const char *given = conf_string(s->conf, "cluster", "url");
	const char *listen = conf_string(s->conf, "http", "tls_listen");
	struct str_address at;

	if (given[0] != '\0' || str_address_parse(listen, &at) < 0)
		snprintf(s->url, sizeof(s->url), "%s", given);
	else if (at.host[0] == '\0' || strcmp(at.host, "0.0.0.0") == 0 ||
	    strcmp(at.host, "::") == 0)
		snprintf(s->url, sizeof(s->url), "https://%s:%s", host,
		    at.port);
	else
		snprintf(s->url, sizeof(s->url), "https://%s", listen);
}

static void
settings_fill(struct settings *s)
{
	const struct conf *c = s->conf;
	const char *listen = conf_string(c, "collector", "listen");
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(s->who, sizeof(s->who), "%s%.32s", host,
	    strrchr(listen, ':') != NULL ? strrchr(listen, ':') : "");
	s->store.who = s->who;
	s->store.lease_ns = conf_span_ns(c, "store", "lease");
	s->store.dir = conf_string(c, "collector", "state_dir");
	s->store.url = conf_string(c, "store", "url");
	s->store.cluster = conf_string(c, "cluster", "name");
	s->store.schema = s->store.cluster[0] != '\0'
	    ? s->store.cluster
	    : conf_string(c, "store", "schema");
	settings_url_make(s, host);
	s->store.retention_ns = conf_span_ns(c, "store", "retention");
	s->collector.retention_ns = s->store.retention_ns;
	s->store.raw_retention_ns = conf_span_ns(c, "store", "raw_retention");
	s->store.free_min_bytes = conf_bytes(c, "store", "free_min");
	s->collector.heartbeat_ns = conf_span_ns(c, "collector", "heartbeat");
	s->collector.links_ns = conf_span_ns(c, "links", "interval");
	s->collector.silence_ns = conf_span_ns(c, "collector", "silence");
	s->collector.agents_max = (size_t)conf_int(c, "collector",
	    "agents_max");
	s->collector.munge_users = conf_string(c, "enroll", "munge_users");
	s->collector.munge_socket = conf_string(c, "enroll", "munge_socket");
	s->collector.queue_bytes_max = (size_t)conf_bytes(c, "quota", "queue");
	s->http.listen = conf_string(c, "http", "listen");
	s->http.socket = conf_string(c, "http", "socket");
	s->http.tls_listen = conf_string(c, "http", "tls_listen");
	s->http.hosts = conf_string(c, "http", "hosts");
	s->http.connections_max = (int)conf_int(c, "http", "connections_max");
	s->store.jobs_retention_ns = conf_span_ns(c, "jobs", "retention");
	s->http.jobs_proxy = conf_string(c, "jobs", "proxy");

	diagnosis_options_read(c, &s->collector.diagnosis);
	mesh_options_read(c, &s->collector.mesh);
	runs_quota_read(c, &s->collector.quota);
	slurm_options_read(c, &s->slurm);
	cost_rules_read(c, &s->costs);
	react_options_read(c, &s->react);
	s->react.slurm = s->slurm.site;
	jobs_options_read(c, &s->collector.jobs);
	s->collector.jobs.slurm = s->slurm.site;
	s->collector.jobs.dir = s->store.dir;
	s->collector.jobs.sample_ns = s->collector.mesh.interval_ns;
}

/* Check the schema of a cluster, which must not be one of PostgreSQL's or the
 * shared one. */
static int
settings_cluster_name_is_good(const char *name)
{
	return name[0] >= 'a' && name[0] <= 'z' &&
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] ==
	    '\0' &&
	    strncmp(name, "pg_", 3) != 0 && strcmp(name, "public") != 0 &&
	    strcmp(name, "information_schema") != 0 &&
	    strcmp(name, "coalmine_all") != 0;
}

/* Read the report of an acceptance, on which objectives of a promise rest. */
static int
settings_promised_read(struct settings *s, struct err *err)
{
	const char *path = conf_string(s->conf, "objective", "report");
	size_t len;
	char *text;
	int rc;

	for (size_t i = 0; i < s->collector.objective_count; i++)
		if (path[0] == '\0' &&
		    s->collector.objectives[i].basis == OBJECTIVE_PROMISE)
			return err_set(err, -EINVAL,
			    "%s: %s needs objective.report",
			    conf_where(s->conf, "objective", "rows"),
			    s->collector.objectives[i].name);
	if (path[0] == '\0')
		return 0;
	rc = file_read(path, REPORT_MAX, &text, &len, err);
	if (rc < 0)
		return rc;
	rc = promised_parse(path, text, &s->promised, err);
	free(text);
	s->collector.promised = s->promised;
	return rc;
}

/* Older rows are deleted, and a restart would lose them. */
static int
settings_objectives_read(struct settings *s, struct err *err)
{
	struct collector_options *o = &s->collector;
	int count = objective_parse(conf_string(s->conf, "objective", "rows"),
	    o->objectives, err);

	for (int i = 0; i < count; i++)
		if (o->objectives[i].window_ns > s->store.retention_ns)
			return err_set(err, -EINVAL,
			    "the window of %s is longer than store.retention",
			    o->objectives[i].name);
	o->objective_count = count < 0 ? 0 : (size_t)count;
	return count < 0 ? count : 0;
}

/* Check rules on several options. */
static int
settings_check(struct settings *s, struct err *err)
{
	const struct conf *c = s->conf;
	const char *cluster = s->store.cluster;
	struct err reason;

	if (cluster[0] != '\0' && !settings_cluster_name_is_good(cluster))
		return err_set(err, -EINVAL,
		    "%s: cluster.name is %.60s: expected a to z, 0 to 9 and "
		    "_, with a letter first, but not pg_..., public, "
		    "information_schema and coalmine_all",
		    conf_where(c, "cluster", "name"), cluster);
	if (cluster[0] != '\0' && conf_given(c, "store", "schema") &&
	    strcmp(conf_string(c, "store", "schema"), cluster) != 0)
		return err_set(err, -EINVAL,
		    "%s: store.schema differs from cluster.name, which names "
		    "the schema: remove store.schema; to keep the data: "
		    "ALTER SCHEMA ... RENAME TO %.60s",
		    conf_where(c, "store", "schema"), cluster);
	if (strchr(s->url, ',') != NULL)
		return err_set(err, -EINVAL,
		    "%s: cluster.url is %.100s: expected one address",
		    conf_where(c, "cluster", "url"), s->url);
	if (s->store.lease_ns > 0 &&
	    (s->store.url[0] == '\0' || s->store.lease_ns < 2 * CLK_NS_PER_S))
		return err_set(err, -EINVAL,
		    "%s: store.lease requires a database (store.url), and at "
		    "least 2s",
		    conf_where(c, "store", "lease"));
	if (s->collector.silence_ns < 2 * s->collector.heartbeat_ns)
		return err_set(err, -EINVAL,
		    "%s: collector.silence is shorter than two heartbeats",
		    conf_where(c, "collector", "silence"));
	if (s->collector.diagnosis.judge.votes >
	    s->collector.diagnosis.judge.window)
		return err_set(err, -EINVAL,
		    "%s: verdict.votes is more than verdict.window",
		    conf_where(c, "verdict", "votes"));
	if (conf_span_ns(c, "events", "keep") > s->store.retention_ns)
		return err_set(err, -EINVAL,
		    "%s: events.keep is longer than store.retention",
		    conf_where(c, "events", "keep"));
	if ((conf_string(c, "events", "cert")[0] == '\0') !=
	    (conf_string(c, "events", "key")[0] == '\0'))
		return err_set(err, -EINVAL,
		    "%s: events.cert and events.key must both be set",
		    conf_where(c, "events",
			conf_given(c, "events", "key") ? "key" : "cert"));
	if (mesh_net_check(s->collector.mesh.net, &reason) < 0)
		return err_set(err, -EINVAL, "%s: %s",
		    conf_where(c, "mesh", "net"), reason.text);
	if (strcmp(s->react.action, REACT_COMMAND) == 0 &&
	    s->react.command[0] == '\0')
		return err_set(err, -EINVAL,
		    "%s: reaction.action = command needs reaction.command",
		    conf_where(c, "reaction", "action"));
	if (s->collector.jobs.source == JOBS_COMMAND &&
	    s->collector.jobs.command[0] == '\0')
		return err_set(err, -EINVAL,
		    "%s: jobs.source = command needs jobs.command",
		    conf_where(c, "jobs", "source"));
	if (blackout_parse(conf_string(c, "budget", "blackout"),
		&s->costs.blackout, &reason) < 0)
		return err_set(err, -EINVAL, "%s: budget.blackout %s",
		    conf_where(c, "budget", "blackout"), reason.text);
	if (settings_objectives_read(s, &reason) < 0)
		return err_set(err, -EINVAL, "%s: objective.rows: %s",
		    conf_where(c, "objective", "rows"), reason.text);
	if (settings_promised_read(s, err) < 0)
		return -EINVAL;
	return topo_load(conf_string(c, "topology", "leaves"),
	    (unsigned)conf_int(c, "topology", "leaf_prefix"), &s->topo, err);
}

static int
settings_folder_check(const struct conf *c, const char *key, const char *path,
    int mode)
{
	if (access(path, mode) == 0)
		return 0;
	log_warn("%s: collector.%s %s", conf_where(c, "collector", key), key,
	    path);
	return -EACCES;
}

int
settings_check_files(const struct settings *s)
{
	struct tls_trust trust = { 0 };
	char parent[PATH_MAX];
	struct err err;
	int rc;

	/* A start creates the last folder of the store's path. */
	str_format(parent, sizeof(parent), "%s", s->store.dir);
	rc = settings_folder_check(s->conf, "state_dir",
	    access(s->store.dir, F_OK) == 0 ? s->store.dir : dirname(parent),
	    R_OK | W_OK | X_OK);
	/* The collector starts without campaigns, too. */
	(void)settings_folder_check(s->conf, "campaign_dir",
	    conf_string(s->conf, "collector", "campaign_dir"), R_OK | X_OK);
	if (tls_trust_read(s->conf, &trust, &err) < 0) {
		log_warnx("%s", err.text);
		rc = -EINVAL;
	}
	tls_trust_free(&trust);
	return rc;
}

int
settings_load(const char *path, char *const *sets, size_t set_count,
    struct settings *s, struct err *err)
{
	int rc;

	if (path == NULL && access(DEFAULT_PATH, F_OK) < 0)
		rc = conf_parse(options_daemon, "default", "", &s->conf, err);
	else
		rc = conf_load(options_daemon,
		    path != NULL ? path : DEFAULT_PATH, &s->conf, err);
	for (size_t i = 0; rc == 0 && i < set_count; i++)
		rc = conf_override(s->conf, sets[i], "-o", err);
	if (rc < 0)
		return rc;
	settings_fill(s);
	return settings_check(s, err);
}
