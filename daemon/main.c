/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - coalmined from start to end: app_open, which is the list of its
 * parts, and app_close, the same list in reverse.
 *
 * What the store remembers is asked for before the first agent or reader is let
 * in, so nobody meets a collector that does not know its own runs and settings.
 */
#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef COALMINE_MIMALLOC
#include <mimalloc.h>
#if MI_MALLOC_VERSION >= 200 && MI_MALLOC_VERSION < 210
#define KEEP_DELAY mi_option_decommit_delay
#else
#define KEEP_DELAY mi_option_reset_delay
#endif
#endif

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/notify.h"
#include "common/program.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/cluster/topo.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/events/alarm.h"
#include "daemon/events/events.h"
#include "daemon/http/http.h"
#include "daemon/jobs/jobs.h"
#include "daemon/mesh/mesh.h"
#include "daemon/agents/enroll.h"
#include "daemon/collector.h"
#include "daemon/agents/session.h"
#include "daemon/agents/tls.h"
#include "daemon/react/react.h"
#include "daemon/run/run.h"
#include "daemon/schedule/campaign.h"
#include "daemon/series/series.h"
#include "daemon/settings.h"
#include "daemon/slurm/slurm.h"
#include "daemon/standby.h"
#include "daemon/store/store.h"
#include "daemon/api/api_int.h"

#define EXIT_CONFIG 3
#define SETS_MAX    64
/* Limits of a run are seconds; a quarter is soon enough. */
#define TICK_US     (250 * 1000)
#define TICKS_PER_S 4
#define TOLD_TICKS  (3 * TICKS_PER_S) /* other clusters' collectors are told */
/* In which the last run and success of every campaign is looked for. */
#define RECENT_RUNS  500
#define LOADS_MAX    9                 /* questions to the store at the start */
#define MIRROR_TICKS (5 * TICKS_PER_S) /* a standby asks anew */
/* Agents that a standby refuses between two looks at the leader: their
 * handshakes take most of the time until the next. */
#define STANDBY_AGENTS 200
/* So many records between two ticks are a flow, which has ended after so many
 * ticks without. */
#define FLOW_RECORDS   250
#define FLOW_END_TICKS (5 * TICKS_PER_S)
#define FLOW_KEEP_MS   5000

/* They outlive the program that begins again. */
static const char *const sockets[] = { "http", "agents" };

struct app {
	struct settings settings;
	struct event_base *base;
	struct store *store;
	struct series *series;
	struct enroll *enroll;
	struct collector *collector;
	struct costs *costs;
	struct react *react;
	struct slurm *slurm;
	struct jobs *jobs;
	struct campaigns *campaigns;
	struct scheduler *agenda;
	struct api *api;
	struct listen *listen;
	struct http *http;
	struct events *events;
	struct alarm *alarm;
	struct event *tick;
	struct event *watchdog;
	struct event *signals[3];
	unsigned ticks;
	struct flow { /* of records, for memory_tick */
		uint64_t had;
		unsigned ticks_left;
		long usual_ms;
	} flow;
	struct load {
		enum store_question what;
		int shown; /* by a standby, too */
		json_t *args;
	} loads[LOADS_MAX];
	size_t loaded; /* so many are answered */
	int ready;
	int is_standby;
	char *authorities;     /* of store_options */
	struct standby leader; /* then */
};

/* If the files cannot be used, the old certificates stay in use. */
static int
main_trust_take(struct app *a)
{
	const struct conf *c = a->settings.conf;
	struct sessions *ss = collector_sessions(a->collector);
	struct tls_trust t = { 0 };
	struct err err;
	int rc = tls_trust_read(c, &t, &err);

	if (rc < 0) {
		log_warnx("%s", err.text);
		tls_trust_free(&t);
		return rc;
	}
	if (t.crl != NULL && strlen(t.crl) > WIRE_CRL_BYTES_MAX) {
		log_warnx("tls.crl is over %d bytes: agents do not get it",
		    WIRE_CRL_BYTES_MAX);
		free(t.crl);
		t.crl = NULL;
	}
	enroll_set(a->enroll, t.ca, t.root,
	    (int64_t)(conf_span_ns(c, "enroll", "life") / CLK_NS_PER_S));
	sessions_set_enroll(ss, t.enroll);
	sessions_set_tls(ss, t.agents);
	collector_set_crl(a->collector, t.crl);
	if (a->http != NULL)
		http_set_tls(a->http, t.http);
	else
		a->settings.http.tls = t.http; /* http_open takes its share */
	/* All but these were handed over. */
	t = (struct tls_trust){ .http = a->http != NULL ? t.http : NULL,
		.crl = t.crl };
	tls_trust_free(&t);
	return 0;
}

static void main_load(struct app *a);

/* Agents that connect meanwhile wait for the next life. */
static void
main_begin_again(const struct app *a)
{
	program_begin_again(sockets,
	    (const int[]){ a->settings.http.listen_fd, listen_fd(a->listen) },
	    ARRAY_LEN(sockets));
}

/* Agents that it refuses have no use from their handshake, and the active
 * collector may have gone: who comes then waits for whoever leads next. */
static void
main_standby_tick(struct app *a)
{
	if (standby_look(&a->leader, a->store)) {
		log_info("no active collector found; becoming active");
		main_begin_again(a);
	}
	if (a->ready)
		listen_start(a->listen,
		    a->leader.is_expired ? 0 : STANDBY_AGENTS);
	if (a->ticks++ % MIRROR_TICKS == MIRROR_TICKS - 1 &&
	    a->loaded == LOADS_MAX)
		main_load(a);
	if (a->ticks % (15 * TICKS_PER_S) == 1)
		notify_status("standby; the active collector is %s",
		    store_leader(a->store));
}

/* A batch of records is megabytes of small values, which are free once it is
 * committed. The allocator gives their pages back some milliseconds later, and
 * the next batch faults them in anew, which took half of the loop's time. So it
 * keeps them while records flow; always would be 3 KiB more for each agent, of
 * what handshakes leave. */
static void
main_memory_tick(struct app *a)
{
#ifdef COALMINE_MIMALLOC
	uint64_t records = runs_records(collector_runs(a->collector));
	struct flow *f = &a->flow;

	if (records - f->had >= FLOW_RECORDS) {
		if (f->ticks_left == 0) {
			f->usual_ms = mi_option_get(KEEP_DELAY);
			mi_option_set(KEEP_DELAY, FLOW_KEEP_MS);
		}
		f->ticks_left = FLOW_END_TICKS;
	} else if (f->ticks_left > 0 && --f->ticks_left == 0) {
		mi_option_set(KEEP_DELAY, f->usual_ms);
		mi_collect(0);
	}
	f->had = records;
#else
	(void)a;
#endif
}

static void
main_tick_cb(evutil_socket_t fd, short what, void *arg)
{
	struct app *a = arg;
	struct roster *r = collector_roster(a->collector);
	json_t *told;

	(void)fd;
	(void)what;
	if (a->is_standby) {
		main_standby_tick(a);
		return;
	}
	if (!store_leads(a->store)) {
		log_warnx("this collector does not lead any more: it begins "
			  "again");
		main_begin_again(a);
	}
	if (!a->ready)
		return;
	collector_tick(a->collector);
	events_tick(a->events);
	main_memory_tick(a);
	if (a->ticks++ % TICKS_PER_S == 0) {
		scheduler_tick(a->agenda, clk_unix_ns());
		jobs_tick(a->jobs);
	}
	if (a->ticks % (5 * TICKS_PER_S) == 2)
		alarm_tick(a->alarm);
	if (a->ticks % TOLD_TICKS == 3 && a->settings.store.url[0] != '\0' &&
	    a->settings.store.cluster[0] != '\0') {
		told = api_cluster(a->api);
		store_tell_others(a->store, told);
		json_decref(told);
	}
	if (a->ticks % (15 * TICKS_PER_S) == 1)
		notify_status("%zu agents ok, %zu busy, %zu late, %zu lost; "
			      "%zu runs live",
		    roster_count_state(r, AGENT_OK),
		    roster_count_state(r, AGENT_BUSY),
		    roster_count_state(r, AGENT_LATE),
		    roster_count_state(r, AGENT_LOST),
		    runs_live(collector_runs(a->collector)));
}

/* The store has answered and so have we: both live. */
static void
main_alive_cb(int status, json_t *result, void *arg)
{
	(void)status;
	(void)arg;
	json_decref(result);
	notify_watchdog();
}

static void
main_watchdog_cb(evutil_socket_t fd, short what, void *arg)
{
	struct app *a = arg;

	(void)fd;
	(void)what;
	store_ask(a->store, STORE_SETTINGS, NULL, main_alive_cb, a);
}

/* What the file of leaves says, from now on. */
static void
main_topo_keep(struct app *a)
{
	char *text = topology_write(topo_file(a->settings.topo));

	store_put_topology(a->store, text);
	free(text);
}

/* With a broken file the old one goes on being used. */
static void
main_topo_reload(struct app *a)
{
	const struct conf *c = a->settings.conf;
	struct topo *old = a->settings.topo;
	struct err err;

	if (topo_load(conf_string(c, "topology", "leaves"),
		(unsigned)conf_int(c, "topology", "leaf_prefix"),
		&a->settings.topo, &err) < 0) {
		log_warnx("%s", err.text);
		store_put_event(a->store, "alarm", "topology", err.text);
		return;
	}
	roster_set_topo(collector_roster(a->collector), a->settings.topo);
	diagnosis_leaves_changed(collector_diagnosis(a->collector));
	topo_free(old);
	main_topo_keep(a);
}

static void
main_signal_cb(evutil_socket_t sig, short what, void *arg)
{
	struct app *a = arg;

	(void)what;
	if (sig != SIGHUP) {
		log_info("ending on %s; %zu live runs are left to the next "
			 "collector",
		    strsignal((int)sig),
		    runs_live(collector_runs(a->collector)));
		event_base_loopbreak(a->base);
		return;
	}
	notify_reloading();
	scheduler_reload(a->agenda);
	main_topo_reload(a);
	/* With broken files the old certificates go on being used. */
	if (main_trust_take(a) == 0)
		log_info("certificates, campaigns and leaves read again");
	if (a->ready)
		notify_ready();
}

static void
main_warm_cb(void *arg, const char *class, const json_t *record)
{
	struct app *a = arg;

	series_record_old(a->series, class, record);
	diagnosis_score_old(collector_diagnosis(a->collector), record);
}

static void main_load_cb(int status, json_t *result, void *arg);

static void
main_load_next(evutil_socket_t fd, short what, void *arg)
{
	struct app *a = arg;
	const struct load *l;

	(void)fd;
	(void)what;
	while (a->is_standby && !a->loads[a->loaded].shown)
		a->loaded++; /* the last one is shown */
	l = &a->loads[a->loaded];
	store_ask(a->store, l->what, l->args, main_load_cb, a);
}

/* Gives each part what the store has for it. Agents and users are let in once
 * all parts are loaded, except who was heard lately, which comes a moment
 * later. */
static void
main_load_cb(int status, json_t *result, void *arg)
{
	struct app *a = arg;
	enum store_question what = a->loads[a->loaded].what;
	int again;

	if (status == -ECANCELED)
		return; /* a signal came first: the parts are gone */
	again = !a->ready && (status == -ENOTCONN || status == -ETIMEDOUT);
	if (status < 0 && !a->ready)
		log_warnx("the store does not say what it remembers, %zu of "
			  "%d: %s%s",
		    a->loaded + 1, LOADS_MAX, strerror(-status),
		    again ? "; it is asked again" : "");
	if (again) {
		event_base_once(a->base, -1, EV_TIMEOUT, main_load_next, a,
		    &(struct timeval){ .tv_sec = 1 });
		return;
	}
	switch (status == 0 ? what : STORE_QUESTION_MAX) {
	case STORE_NODES:
		if (a->is_standby)
			collector_mirror(a->collector, result, NULL);
		else
			roster_load(collector_roster(a->collector), result);
		break;
	case STORE_BASELINES:
		diagnosis_load_baselines(collector_diagnosis(a->collector),
		    result);
		break;
	case STORE_VERDICTS:
		if (a->is_standby)
			collector_mirror(a->collector, NULL, result);
		else
			diagnosis_load(collector_diagnosis(a->collector),
			    result);
		break;
	case STORE_SETTINGS:
		scheduler_load(a->agenda, result);
		costs_load(a->costs, result);
		if (a->is_standby) {
			scheduler_mirror(a->agenda);
			break;
		}
		react_load(a->react, result);
		jobs_load_settings(a->jobs, result);
		events_load(a->events, result);
		break;
	case STORE_RUNS:
		api_load(a->api, result);
		break;
	case STORE_LIVE_RUNS:
		runs_resume(collector_runs(a->collector), result);
		break;
	case STORE_JOBS:
		jobs_load(a->jobs, result);
		break;
	case STORE_HEARD:
		diagnosis_load_heard(collector_diagnosis(a->collector), result);
		break;
	default:
		break;
	}
	json_decref(result);
	if (++a->loaded == LOADS_MAX)
		return;
	main_load_next(-1, 0, a);
	if (a->loads[a->loaded].what != STORE_HEARD)
		return;
	if (a->ready)
		return; /* a standby, once more */
	if (!a->is_standby)
		series_warm(a->store, main_warm_cb, a);
	a->ready = 1;
	if (!a->is_standby)
		listen_start(a->listen, SIZE_MAX);
	http_start(a->http);
	if (!a->is_standby)
		scheduler_tick(a->agenda, clk_unix_ns());
	log_info("%s: agents on %s, state in %s",
	    a->is_standby ? "standby" : "ready",
	    conf_string(a->settings.conf, "collector", "listen"),
	    a->settings.store.dir);
	notify_ready();
}

static void
main_load(struct app *a)
{
	const struct diagnosis_options *o = &a->settings.collector.diagnosis;
	uint64_t now_unix_ns = clk_unix_ns();
	/* Nodes are loaded before the runs that name them. */
	const struct load asked[] = {
		{ STORE_NODES, 1, NULL },
		{ STORE_BASELINES, 0, json_pack("{s:s}", "name", o->baseline) },
		{ STORE_BASELINES, 0,
		    json_pack("{s:s}", "name", DIAGNOSIS_RECENT) },
		{ STORE_VERDICTS, 1, json_pack("{s:b}", "open", 1) },
		{ STORE_SETTINGS, 1, NULL },
		{ STORE_RUNS, 1, json_pack("{s:i}", "limit", RECENT_RUNS) },
		{ STORE_LIVE_RUNS, 0, NULL },
		{ STORE_JOBS, 0,
		    json_pack("{s:I, s:i}", "from_unix_ns",
			(json_int_t)(now_unix_ns - JOBS_LOAD_NS), "limit",
			10000) },
		{ STORE_HEARD, 1,
		    json_pack("{s:I}", "since_unix_ns",
			(json_int_t)(now_unix_ns > o->stale_ns
				? now_unix_ns - o->stale_ns
				: 0)) },
	};

	_Static_assert(sizeof(asked) == sizeof(a->loads), "one load each");
	for (size_t i = 0; i < LOADS_MAX; i++)
		json_decref(a->loads[i].args);
	memcpy(a->loads, asked, sizeof(asked));
	a->loaded = 0;
	main_load_next(-1, 0, a);
}

static void
main_changed(void *arg, const struct run *r)
{
	struct app *a = arg;

	api_run_changed(a->api, r);
}

static void
main_recorded(void *arg, const struct run *r, const json_t *record)
{
	struct app *a = arg;
	size_t count = run_node_count(r);
	uint32_t *nodes;

	if (a->jobs == NULL)
		return;
	nodes = xcalloc(count + 1, sizeof(*nodes));
	for (size_t i = 0; i < count; i++)
		nodes[i] = (uint32_t)run_node_at(r, i)->id;
	jobs_canary(a->jobs, nodes, count, record);
	free(nodes);
}

static void
main_pairs_seen(void *arg, const struct mesh_path *paths, size_t count,
    uint64_t until_unix_ns)
{
	struct app *a = arg;

	jobs_paths(a->jobs, paths, count, (int64_t)until_unix_ns);
}

static json_t *
main_shares_now(void *arg)
{
	struct app *a = arg;

	return api_shares(a->api);
}

static void
main_in_band_seen(void *arg, const char *node, const json_t *list)
{
	struct app *a = arg;

	jobs_in_band(a->jobs, node, list);
}

/* Where people, alerts and agents come in. */
static int
main_doors_open(struct app *a)
{
	const struct conf *c = a->settings.conf;
	struct http_options *o = &a->settings.http;
	int fds[ARRAY_LEN(sockets)], rc;
	struct err err;

	socket_activation_sockets(sockets, ARRAY_LEN(sockets), fds);
	o->listen_fd = fds[0];
	rc = main_trust_take(a);
	if (rc < 0)
		return rc;
	rc = http_open(o, a->base, a->api, a->store, &a->http);
	SSL_CTX_free(o->tls);
	o->tls = NULL;
	if (rc < 0)
		return rc;
	a->alarm = alarm_open(a->events, conf_string(c, "alerts", "page"),
	    a->api);
	rc = listen_open(conf_string(c, "collector", "listen"), fds[1],
	    collector_sessions(a->collector), &a->listen, &err);
	if (rc < 0)
		log_warnx("%s", err.text);
	return rc;
}

static void
main_events_make(struct app *a)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	uint64_t watchdog_ns = notify_watchdog_every_ns();
	struct timeval tick = { 0, TICK_US };
	struct timeval watch = clk_timeval(watchdog_ns);

	for (size_t i = 0; i < 3; i++) {
		a->signals[i] = evsignal_new(a->base, signals[i],
		    main_signal_cb, a);
		evsignal_add(a->signals[i], NULL);
	}
	a->tick = event_new(a->base, -1, EV_PERSIST, main_tick_cb, a);
	event_add(a->tick, &tick);
	if (watchdog_ns == 0)
		return;
	a->watchdog = event_new(a->base, -1, EV_PERSIST, main_watchdog_cb, a);
	event_add(a->watchdog, &watch);
}

/* An agent is a descriptor: as many as we may have. */
static void
main_limits_raise(const struct settings *s)
{
	size_t want = s->collector.agents_max +
	    (size_t)s->http.connections_max + 2048;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return;
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
	if (rl.rlim_cur < want)
		log_info("limit of descriptors is %llu; for "
			 "collector.agents_max %zu are needed",
		    (unsigned long long)rl.rlim_cur, want);
}

static int
main_app_open(struct app *a)
{
	struct event_config *config = event_config_new();
	struct settings *s = &a->settings;
	struct api_parts p;
	struct err err;
	int rc;

	main_limits_raise(s);
	/* Without this each message that is written at once costs two epoll
	 * calls. It does not allow duplicated descriptors, and we have none. */
	event_config_set_flag(config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
	a->base = event_base_new_with_config(config);
	event_config_free(config);
	if (a->base == NULL)
		return -ENOMEM;
	a->authorities = tls_authorities(s->conf);
	s->store.authorities = a->authorities;
	rc = store_open(&s->store, a->base, &a->store);
	if (rc < 0)
		return rc;
	a->is_standby = store_is_standby(a->store);
	rc = enroll_open(s->store.dir, &a->enroll, &err);
	if (rc < 0) {
		log_warnx("%s", err.text);
		return rc;
	}
	rc = enroll_start(a->enroll, a->base);
	if (rc < 0)
		return rc;
	a->series = series_new();
	a->react = react_new(a->base, a->store, &s->react);
	s->collector.term = s->store.lease_ns > 0 ? store_term(a->store) : 1;
	s->collector.topo = s->topo;
	s->collector.react = a->react;
	s->collector.enroll = a->enroll;
	s->collector.changed = main_changed;
	s->collector.record = main_recorded;
	s->collector.paths = main_pairs_seen;
	s->collector.in_band = main_in_band_seen;
	s->collector.arg = a;
	a->collector = collector_new(a->base, a->store, a->series,
	    &s->collector);
	if (a->collector == NULL)
		return -EINVAL;
	a->costs = costs_new(a->store, &s->costs);
	runs_set_costs(collector_runs(a->collector), a->costs);
	a->slurm = slurm_new(a->base, &s->slurm);
	runs_set_slurm(collector_runs(a->collector), a->slurm);
	s->jobs.base = a->base;
	s->jobs.store = a->store;
	s->jobs.roster = collector_roster(a->collector);
	s->jobs.shares = main_shares_now;
	s->jobs.arg = a;
	rc = jobs_open(&s->jobs, &a->jobs, &err);
	if (rc < 0) {
		log_warnx("%s", err.text);
		return rc;
	}
	a->campaigns = campaigns_new(
	    conf_string(s->conf, "collector", "campaign_dir"));
	campaigns_scan(a->campaigns);
	a->agenda = scheduler_new(a->campaigns, collector_runs(a->collector),
	    a->store);
	rc = events_open(s->conf, a->store, &a->events, &err);
	if (rc < 0) {
		log_warnx("%s", err.text);
		return rc;
	}
	p = (struct api_parts){ a->collector, a->campaigns, a->agenda, a->store,
		a->costs, a->series, a->enroll, a->jobs, a->events,
		s->store.cluster, s->who, s->url,
		conf_string(s->conf, "alerts", "page") };
	a->api = api_new(&p);
	rc = main_doors_open(a);
	if (rc < 0)
		return rc;
	main_events_make(a);
	main_load(a);
	main_topo_keep(a);
	return 0;
}

static void
main_app_close(struct app *a)
{
	notify_stopping();
	if (a->watchdog != NULL)
		event_free(a->watchdog);
	if (a->tick != NULL)
		event_free(a->tick);
	for (size_t i = 0; i < 3; i++)
		if (a->signals[i] != NULL)
			event_free(a->signals[i]);
	alarm_close(a->alarm);
	http_close(a->http);
	listen_close(a->listen);
	if (a->collector != NULL)
		diagnosis_keep(collector_diagnosis(a->collector));
	events_stop(a->events);
	/* Answers of the store still find collector, api and events. */
	store_close(a->store);
	events_free(a->events);
	api_free(a->api);
	scheduler_free(a->agenda);
	campaigns_free(a->campaigns);
	enroll_close(a->enroll); /* its answers still find the collector */
	collector_free(a->collector);
	costs_free(a->costs);
	react_free(a->react);
	slurm_free(a->slurm);
	jobs_free(a->jobs);
	series_free(a->series);
	if (a->base != NULL)
		event_base_free(a->base);
	free(a->authorities);
	for (size_t i = 0; i < LOADS_MAX; i++)
		json_decref(a->loads[i].args);
	topo_free(a->settings.topo);
	conf_free(a->settings.conf);
	libevent_global_shutdown();
}

enum act { ACT_RUN, ACT_CHECK, ACT_PRINT, ACT_RESTORE, ACT_COPY };

struct args {
	enum act act;
	const char *config;
	const char *backup; /* of ACT_RESTORE */
	char *const *ends;  /* of ACT_COPY: two */
	char *sets[SETS_MAX];
	size_t set_count;
};

static void
main_usage(FILE *to)
{
	fprintf(to,
	    "usage: coalmined [--config FILE] [-o SECTION.KEY=VALUE]...\n"
	    "                 [--check-config | --print-config | "
	    "--restore BACKUP |\n"
	    "                 --copy FROM TO]\n"
	    "                 [--foreground] [--version]\n");
}

static void
main_args_read(int argc, char **argv, struct args *ret)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "option", required_argument, NULL, 'o' },
		{ "check-config", no_argument, NULL, 'n' },
		{ "print-config", no_argument, NULL, 'p' },
		{ "restore", required_argument, NULL, 'r' },
		{ "copy", no_argument, NULL, 'C' },
		{ "takeover", no_argument, NULL, 't' },
		{ "foreground", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while (
	    (c = getopt_long(argc, argv, "c:o:npr:tfhV", options, NULL)) != -1)
		switch (c) {
		case 'c':
			ret->config = optarg;
			break;
		case 'o':
			if (ret->set_count == SETS_MAX)
				fatalx("more than %d times -o", SETS_MAX);
			ret->sets[ret->set_count++] = optarg;
			break;
		case 'n':
			ret->act = ACT_CHECK;
			break;
		case 'p':
			ret->act = ACT_PRINT;
			break;
		case 'r':
			ret->act = ACT_RESTORE;
			ret->backup = optarg;
			break;
		case 't':
			fatalx("--takeover was removed: the store's file is "
			       "not copied to a second machine any more; use "
			       "PostgreSQL with standby collectors (store.url, "
			       "store.lease)");
		case 'C':
			ret->act = ACT_COPY;
			break;
		case 'f':
			break; /* it never does anything else */
		case 'h':
			main_usage(stdout);
			exit(0);
		case 'V':
			printf("coalmined " COALMINE_VERSION "\n");
			exit(0);
		default:
			main_usage(stderr);
			exit(EXIT_CONFIG);
		}
	ret->ends = argv + optind;
	if (argc - optind != (ret->act == ACT_COPY ? 2 : 0)) {
		main_usage(stderr);
		exit(EXIT_CONFIG);
	}
}

int
main(int argc, char **argv)
{
	struct args args = { .act = ACT_RUN };
	struct app app = { .ready = 0 };
	struct settings *s = &app.settings;
	struct err err;
	char *text;
	int rc;

	log_init("coalmined", LOG_LEVEL_INFO);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* whoever started us may ignore it */
	program_remember(argv);
	main_args_read(argc, argv, &args);
	if (settings_load(args.config, args.sets, args.set_count, s, &err) < 0)
		fatalx("%s", err.text);
	if (args.act != ACT_RUN) {
		rc = 0;
		if (args.act == ACT_PRINT) {
			text = conf_render(s->conf);
			fputs(text, stdout);
			free(text);
		} else if (args.act == ACT_CHECK) {
			rc = settings_check_files(s);
			if (rc == 0)
				puts("ok");
		} else if (args.act == ACT_RESTORE) {
			rc = s->store.url[0] != '\0'
			    ? err_set(&err, -ENOTSUP,
				  "store.url: a server's database is restored "
				  "with its own tools: pg_restore")
			    : store_restore(s->store.dir, args.backup, &err);
			log_info("%s", err.text);
		} else if (args.act == ACT_COPY) {
			rc = store_copy(args.ends[0], args.ends[1],
			    s->store.schema, &err);
			log_info("%s", rc < 0 ? err.text : "copied");
		}
		topo_free(s->topo);
		conf_free(s->conf);
		return rc == 0 ? 0 : EXIT_CONFIG;
	}
	log_set_level((enum log_level)conf_choice(s->conf, "collector", "log"));
	notify_init();
	rc = main_app_open(&app);
	if (rc == 0)
		event_base_dispatch(app.base);
	main_app_close(&app);
	return rc == 0 ? 0 : EXIT_CONFIG;
}
