/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/settings.h"

#include "common/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schema/options.h"

#define DEFAULT_PATH "/etc/coalmine/coalmined.conf"

/* What single rows cannot say. */
static int
check(const struct settings *s, struct err *err)
{
	struct err reason;

	if (s->silence_ns < 2 * s->heartbeat_ns)
		return err_set(err, -EINVAL,
		    "%s: collector.silence is shorter than two heartbeats",
		    conf_where(s->conf, "collector", "silence"));
	if (s->diagnosis.judge.votes > s->diagnosis.judge.window)
		return err_set(err, -EINVAL,
		    "%s: verdict.votes is more than verdict.window",
		    conf_where(s->conf, "verdict", "votes"));
	if (mesh_net_check(s->mesh.net, &reason) < 0)
		return err_set(err, -EINVAL, "%s: %s",
		    conf_where(s->conf, "mesh", "net"), reason.text);
	if (conf_choice(s->conf, "reaction", "action") == REACT_COMMAND &&
	    conf_string(s->conf, "reaction", "command")[0] == '\0')
		return err_set(err, -EINVAL,
		    "%s: reaction.action = command needs reaction.command",
		    conf_where(s->conf, "reaction", "action"));
	return 0;
}

static void
fill_mesh(const struct conf *c, struct mesh_options *o)
{
	o->enabled = conf_bool(c, "mesh", "enabled");
	o->interval_ns = conf_span_ns(c, "mesh", "interval");
	o->round_ns = conf_span_ns(c, "mesh", "round");
	o->timeout_ns = conf_span_ns(c, "mesh", "timeout");
	o->port = (uint16_t)conf_int(c, "mesh", "port");
	o->burst = (int)conf_int(c, "mesh", "burst");
	o->leaf_targets = (size_t)conf_int(c, "mesh", "leaf_targets");
	o->spine_targets = (size_t)conf_int(c, "mesh", "spine_targets");
	o->rate = conf_real(c, "mesh", "rate");
	o->target_rate = conf_real(c, "mesh", "target_rate");
	o->net = conf_string(c, "mesh", "net");
}

static void
fill_costs(const struct conf *c, struct cost_rules *ret)
{
	ret->limits.bytes_per_h = (double)conf_bytes(c, "budget", "bytes");
	ret->limits.node_s_per_h = conf_real(c, "budget", "node_seconds");
	ret->limits.link_share = conf_real(c, "budget", "link_share");
}

static struct slurm_site
slurm_read(const struct conf *c)
{
	struct slurm_site site = { conf_string(c, "slurm", "dir"),
		conf_string(c, "slurm", "conf") };

	return site;
}

static void
fill_react(const struct conf *c, struct react_options *ret)
{
	ret->action = (enum react_action)conf_choice(c, "reaction", "action");
	ret->dry_run = conf_bool(c, "reaction", "dry_run");
	ret->undo = conf_bool(c, "reaction", "undo");
	ret->command = conf_string(c, "reaction", "command");
	ret->slurm = slurm_read(c);
	ret->nodes_per_hour = (int)conf_int(c, "reaction", "nodes_per_hour");
	ret->share_per_hour = conf_real(c, "reaction", "share_per_hour");
}

static int
blackout_read(struct settings *s, struct err *err)
{
	struct err reason;
	int rc = blackout_parse(conf_string(s->conf, "budget", "blackout"),
	    &s->costs.blackout, &reason);

	if (rc < 0)
		err_say(err, "%s: budget.blackout %s",
		    conf_where(s->conf, "budget", "blackout"), reason.text);
	return rc;
}

static void
fill_diagnosis(struct settings *s)
{
	struct diagnosis_options *o = &s->diagnosis;
	const struct conf *c = s->conf;

	judge_options_read(c, &o->judge);
	o->stale_ns = conf_span_ns(c, "verdict", "stale");
	o->second_pass = conf_bool(c, "verdict", "second_pass");
	o->baseline = conf_string(c, "verdict", "baseline");
	o->second_pass_per_hour = (int)conf_int(c, "verdict",
	    "second_pass_per_hour");
}

static void
fill(struct settings *s)
{
	struct conf *c = s->conf;

	s->listen = conf_string(c, "collector", "listen");
	s->state_dir = conf_string(c, "collector", "state_dir");
	s->campaign_dir = conf_string(c, "collector", "campaign_dir");
	s->log = (enum log_level)conf_choice(c, "collector", "log");
	s->agents_max = (size_t)conf_int(c, "collector", "agents_max");
	s->heartbeat_ns = conf_span_ns(c, "collector", "heartbeat");
	s->silence_ns = conf_span_ns(c, "collector", "silence");
	s->tls_ca = conf_string(c, "tls", "ca");
	s->tls_cert = conf_string(c, "tls", "cert");
	s->tls_key = conf_string(c, "tls", "key");
	s->http_listen = conf_string(c, "http", "listen");
	s->http_socket = conf_string(c, "http", "socket");
	s->http_tls_listen = conf_string(c, "http", "tls_listen");
	s->http_connections_max = (size_t)conf_int(c, "http",
	    "connections_max");
	s->alerts_webhook = conf_string(c, "alerts", "webhook");
	s->alerts_page = conf_string(c, "alerts", "page");
	s->retention_ns = conf_span_ns(c, "store", "retention");
	s->raw_retention_ns = conf_span_ns(c, "store", "raw_retention");
	fill_mesh(c, &s->mesh);
	fill_costs(c, &s->costs);
	fill_react(c, &s->react);
	s->slurm.site = s->react.slurm;
	s->slurm.idle = conf_bool(c, "slurm", "idle");
	s->free_min_bytes = conf_bytes(c, "store", "free_min");
	fill_diagnosis(s);
}

int
settings_load(const char *path, char *const *sets, size_t set_count,
    struct settings *ret, struct err *err)
{
	struct settings s = { 0 };
	int rc;

	if (path == NULL && access(DEFAULT_PATH, F_OK) < 0)
		rc = conf_parse(options_daemon, "default", "", &s.conf, err);
	else
		rc = conf_load(options_daemon,
		    path != NULL ? path : DEFAULT_PATH, &s.conf, err);
	for (size_t i = 0; rc == 0 && i < set_count; i++)
		rc = conf_override(s.conf, sets[i], "-o", err);
	if (rc == 0) {
		fill(&s);
		rc = check(&s, err);
	}
	if (rc == 0)
		rc = blackout_read(&s, err);
	if (rc == 0)
		rc = topo_load(conf_string(s.conf, "topology", "leaves"),
		    (unsigned)conf_int(s.conf, "topology", "leaf_prefix"),
		    &s.topo, err);
	if (rc < 0)
		settings_clear(&s);
	else
		*ret = s;
	return rc;
}

void
settings_clear(struct settings *s)
{
	topo_free(s->topo);
	s->topo = NULL;
	conf_free(s->conf);
	s->conf = NULL;
}
