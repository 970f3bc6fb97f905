/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - each key of coalmined.conf goes to its part here, so a part
 * knows its options and not where they stand.
 */
#include "daemon/settings.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "daemon/cluster/topo.h"
#include "daemon/agents/tls.h"
#include "schema/options.h"

#define DEFAULT_PATH "/etc/coalmine/coalmined.conf"

/* Where others find this collector. */
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
	struct mesh_options *m = &s->collector.mesh;
	struct diagnosis_options *d = &s->collector.diagnosis;
	static const char *const sources[] = { [JOBS_OFF] = "off",
		[JOBS_SLURM] = "slurm",
		[JOBS_COMMAND] = "command" };
	static const char *const actions[] = { [REACT_NONE] = "none",
		[REACT_COMMAND] = "command",
		[REACT_SLURM] = "slurm-drain" };
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
	s->collector.quota.records = (uint64_t)conf_int(c, "quota",
	    "run_records");
	s->collector.quota.bytes = (uint64_t)conf_bytes(c, "quota",
	    "run_bytes");
	m->enabled = conf_bool(c, "mesh", "enabled");
	m->interval_ns = conf_span_ns(c, "mesh", "interval");
	m->round_ns = conf_span_ns(c, "mesh", "round");
	m->timeout_ns = conf_span_ns(c, "mesh", "timeout");
	m->port = (uint16_t)conf_int(c, "mesh", "port");
	m->burst = (int)conf_int(c, "mesh", "burst");
	m->leaf_targets = (size_t)conf_int(c, "mesh", "leaf_targets");
	m->spine_targets = (size_t)conf_int(c, "mesh", "spine_targets");
	m->rate = conf_real(c, "mesh", "rate");
	m->target_rate = conf_real(c, "mesh", "target_rate");
	m->net = conf_string(c, "mesh", "net");
	judge_options_read(c, &d->judge);
	d->stale_ns = conf_span_ns(c, "verdict", "stale");
	d->second_pass = conf_bool(c, "verdict", "second_pass");
	d->baseline = conf_string(c, "verdict", "baseline");
	d->second_pass_per_hour = (int)conf_int(c, "verdict",
	    "second_pass_per_hour");
	s->http.listen = conf_string(c, "http", "listen");
	s->http.socket = conf_string(c, "http", "socket");
	s->http.tls_listen = conf_string(c, "http", "tls_listen");
	s->http.hosts = conf_string(c, "http", "hosts");
	s->http.connections_max = (int)conf_int(c, "http", "connections_max");
	s->costs.limits.bytes_per_h = (double)conf_bytes(c, "budget", "bytes");
	s->costs.limits.node_s_per_h = conf_real(c, "budget", "node_seconds");
	s->costs.limits.link_share = conf_real(c, "budget", "link_share");
	s->slurm.site.dir = conf_string(c, "slurm", "dir");
	s->slurm.site.conf = conf_string(c, "slurm", "conf");
	s->slurm.idle = conf_bool(c, "slurm", "idle");
	s->store.jobs_retention_ns = conf_span_ns(c, "jobs", "retention");
	s->http.jobs_proxy = conf_string(c, "jobs", "proxy");
	s->collector.jobs = (struct jobs_options){
		.source = (enum jobs_source)CONF_CHOICE_OF(c, "jobs", "source",
		    sources),
		.slurm = s->slurm.site,
		.command = conf_string(c, "jobs", "command"),
		.interval_ns = conf_span_ns(c, "jobs", "interval"),
		.accounting = conf_bool(c, "jobs", "accounting"),
		.owner_names = conf_is(c, "jobs", "owners", "name"),
		.job_names = conf_bool(c, "jobs", "names"),
		.dir = s->store.dir,
		.sample_ns = m->interval_ns
	};
	s->react = (struct react_options){
		.action = (enum react_action)CONF_CHOICE_OF(c, "reaction",
		    "action", actions),
		.dry_run = conf_bool(c, "reaction", "dry_run"),
		.undo = conf_bool(c, "reaction", "undo"),
		.command = conf_string(c, "reaction", "command"),
		.slurm = s->slurm.site,
		.nodes_per_hour = (int)conf_int(c, "reaction",
		    "nodes_per_hour"),
		.share_per_hour = conf_real(c, "reaction", "share_per_hour")
	};
}

/* The schema of a cluster, which is none that PostgreSQL or all clusters have.
 */
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

/* What single rows cannot say. */
static int
settings_check(struct settings *s, struct err *err)
{
	const struct conf *c = s->conf;
	const char *cluster = s->store.cluster;
	struct err reason;

	if (cluster[0] != '\0' && !settings_cluster_name_is_good(cluster))
		return err_set(err, -EINVAL,
		    "%s: cluster.name is %.60s: allowed are a to z, 0 to 9 and "
		    "_, with a letter first, but not pg_..., public, "
		    "information_schema and coalmine_all",
		    conf_where(c, "cluster", "name"), cluster);
	if (cluster[0] != '\0' && conf_given(c, "store", "schema") &&
	    strcmp(conf_string(c, "store", "schema"), cluster) != 0)
		return err_set(err, -EINVAL,
		    "%s: store.schema is not cluster.name, which is the "
		    "schema: ALTER SCHEMA ... RENAME TO %.60s gives it that "
		    "name",
		    conf_where(c, "store", "schema"), cluster);
	if (strchr(s->url, ',') != NULL)
		return err_set(err, -EINVAL,
		    "%s: cluster.url is %.100s: allowed is one address",
		    conf_where(c, "cluster", "url"), s->url);
	if (s->store.lease_ns > 0 &&
	    (s->store.url[0] == '\0' || s->store.lease_ns < 2 * CLK_NS_PER_S))
		return err_set(err, -EINVAL,
		    "%s: store.lease is of collectors that share the database "
		    "of store.url, and at least 2s",
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
		    "%s: events.cert and events.key need each other",
		    conf_where(c, "events",
			conf_given(c, "events", "key") ? "key" : "cert"));
	if (mesh_net_check(s->collector.mesh.net, &reason) < 0)
		return err_set(err, -EINVAL, "%s: %s",
		    conf_where(c, "mesh", "net"), reason.text);
	if (s->react.action == REACT_COMMAND && s->react.command[0] == '\0')
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

	/* A start makes the last folder of the store's path. */
	str_format(parent, sizeof(parent), "%s", s->store.dir);
	rc = settings_folder_check(s->conf, "state_dir",
	    access(s->store.dir, F_OK) == 0 ? s->store.dir : dirname(parent),
	    R_OK | W_OK | X_OK);
	/* Without campaigns it starts all the same. */
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
