/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - coalmined from start to end: the table of its parts, in the order of
 * their start, and the table of their loads from the store.
 *
 * The listeners start after the loads, so that no agent and no client meets a
 * collector that does not know its own runs and settings.
 */
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
#include "daemon/diags/alarm.h"
#include "daemon/events/events.h"
#include "daemon/http/http.h"
#include "daemon/jobs/jobs.h"
#include "daemon/mesh/mesh.h"
#include "daemon/agents/enroll.h"
#include "daemon/arguments.h"
#include "daemon/collector.h"
#include "daemon/memory.h"
#include "daemon/agents/session.h"
#include "daemon/agents/listen.h"
#include "daemon/agents/tls.h"
#include "daemon/react/react.h"
#include "daemon/run/run.h"
#include "daemon/run/run_order.h"
#include "daemon/run/run_show.h"
#include "daemon/schedule/campaign.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/series/series.h"
#include "daemon/settings.h"
#include "daemon/slurm/slurm.h"
#include "daemon/standby.h"
#include "daemon/store/store.h"
#include "daemon/store/store_recover.h"
#include "daemon/api/api_int.h"
#include "pki/pki.h"

/* Limits of a run are seconds; a quarter is soon enough. */
#define TICK_US     (250 * 1000)
#define TICKS_PER_S 4
/* Interval of reports to collectors of other clusters. */
#define TOLD_TICKS (3 * TICKS_PER_S)
/* Number of runs that are searched for the last run and success of every
 * campaign. */
#define RECENT_RUNS  500
#define MIRROR_TICKS (5 * TICKS_PER_S) /* interval of a standby's queries */
/* Agents that a standby refuses between two checks of the lease: their
 * handshakes take most of the time until the next check. */
#define STANDBY_AGENTS 200

/* The sockets stay open when the program restarts itself. */
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
	struct campaigns *campaigns;
	struct scheduler *scheduler;
	struct api *api;
	struct listen *listen;
	struct http *http;
	struct events *events;
	struct alarm *alarm;
	struct event *tick;
	struct event *watchdog;
	struct event *signals[3];
	unsigned ticks;
	struct memory memory;
	size_t loaded; /* rows of loads that are answered */
	int ready;
	int is_standby;
	char *authorities;     /* of store_options */
	struct standby leader; /* then */
};

/* If the files cannot be used, the old certificates stay in use. */
static int
main_trust_take(struct app *a, struct err *err)
{
	const struct conf *c = a->settings.conf;
	struct sessions *ss = collector_sessions(a->collector);
	struct tls_trust t = { 0 };
	int rc = tls_trust_read(c, &t, err);

	if (rc < 0) {
		tls_trust_free(&t);
		return rc;
	}
	if (t.crl != NULL && strlen(t.crl) > WIRE_CRL_BYTES_MAX) {
		log_warnx("tls.crl exceeds %d bytes: not sent to agents",
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
	/* All others were handed over. */
	t = (struct tls_trust){ .http = a->http != NULL ? t.http : NULL,
		.crl = t.crl };
	tls_trust_free(&t);
	return 0;
}

static void main_mirror(struct app *a);

/* Agents that connect meanwhile wait for the restarted program. */
static void
main_begin_again(const struct app *a)
{
	program_begin_again(sockets,
	    (const int[]){ a->settings.http.listen_fd, listen_fd(a->listen) },
	    ARRAY_LEN(sockets));
}

/* A standby accepts only a few agents per tick, since handshakes are expensive
 * and would be wasted. If the active collector is gone, connections wait for
 * its successor. */
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
	if (a->ticks++ % MIRROR_TICKS == MIRROR_TICKS - 1)
		main_mirror(a);
	if (a->ticks % (15 * TICKS_PER_S) == 1)
		notify_status("standby; the active collector is %s",
		    store_leader(a->store));
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
		log_warnx("lost the lease; restarting as standby");
		main_begin_again(a);
	}
	if (!a->ready)
		return;
	collector_tick(a->collector);
	events_tick(a->events);
	memory_tick(&a->memory, runs_records(collector_runs(a->collector)));
	if (a->ticks++ % TICKS_PER_S == 0)
		scheduler_tick(a->scheduler, clk_unix_ns());
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

/* The store and the loop have answered: both are alive. */
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

/* Apply the topology file. */
static void
main_topo_keep(struct app *a)
{
	char *text = topology_write(topo_file(a->settings.topo));

	store_put_topology(a->store, text);
	free(text);
}

/* If the file is invalid, the old one stays in use. Return -1 then. */
static int
main_topo_reload(struct app *a)
{
	const struct conf *c = a->settings.conf;
	struct topo *old = a->settings.topo;
	struct err err;

	if (topo_load(conf_string(c, "topology", "leaves"),
		(unsigned)conf_int(c, "topology", "leaf_prefix"),
		&a->settings.topo, &err) < 0) {
		log_warnx("%s; the old leaves stay in use", err.text);
		store_put_event(a->store, "alarm", "topology", err.text);
		return -1;
	}
	collector_set_topo(a->collector, a->settings.topo);
	topo_free(old);
	main_topo_keep(a);
	return 0;
}

/* Files that cannot be used have no effect on the others. Each part logs its
 * own result. */
static void
main_reload(struct app *a)
{
	const char *error;
	struct err err;

	scheduler_reload(a->scheduler);
	error = campaigns_error(a->campaigns);
	if (error == NULL || error[0] == '\0')
		log_info("campaigns reloaded");
	else
		log_warnx("campaigns not reloaded: %s", error);
	if (main_topo_reload(a) == 0)
		log_info("leaves reloaded");
	if (main_trust_take(a, &err) == 0)
		log_info("certificates reloaded");
	else
		log_warnx("%s; the old certificates stay in use", err.text);
}

static void
main_signal_cb(evutil_socket_t sig, short what, void *arg)
{
	struct app *a = arg;

	(void)what;
	if (sig != SIGHUP) {
		log_info("stopping on %s; %zu live runs continue under the "
			 "next collector",
		    strsignal((int)sig),
		    runs_live(collector_runs(a->collector)));
		event_base_loopbreak(a->base);
		return;
	}
	notify_reloading();
	main_reload(a);
	if (a->ready)
		notify_ready();
}

static void
main_warm_cb(void *arg, const char *class, const json_t *record)
{
	collector_warm(((struct app *)arg)->collector, class, record);
}

static json_t *
main_args_baseline(const struct app *a)
{
	return json_pack("{s:s}", "name",
	    a->settings.collector.diagnosis.baseline);
}

static json_t *
main_args_recent(const struct app *a)
{
	(void)a;
	return json_pack("{s:s}", "name", DIAGNOSIS_RECENT);
}

static json_t *
main_args_open(const struct app *a)
{
	(void)a;
	return json_pack("{s:b}", "open", 1);
}

static json_t *
main_args_runs(const struct app *a)
{
	(void)a;
	return json_pack("{s:i}", "limit", RECENT_RUNS);
}

static json_t *
main_args_jobs(const struct app *a)
{
	(void)a;
	return json_pack("{s:I, s:i}", "from_unix_ns",
	    (json_int_t)(clk_unix_ns() - JOBS_LOAD_NS), "limit", 10000);
}

static json_t *
main_args_heard(const struct app *a)
{
	uint64_t now_unix_ns = clk_unix_ns();
	uint64_t stale_ns = a->settings.collector.diagnosis.stale_ns;

	return json_pack("{s:I}", "since_unix_ns",
	    (json_int_t)(now_unix_ns > stale_ns ? now_unix_ns - stale_ns : 0));
}

static void
main_load_nodes(struct app *a, const json_t *rows)
{
	struct roster *r = collector_roster(a->collector);

	roster_load(r, rows);
	for (size_t i = 0; i < roster_ids(r); i++)
		if (roster_by_id(r, i)->addr != NULL)
			sessions_know(collector_sessions(a->collector),
			    roster_by_id(r, i)->addr);
}

static void
main_mirror_nodes(struct app *a, const json_t *rows)
{
	collector_mirror(a->collector, rows, NULL);
}

static void
main_load_baselines(struct app *a, const json_t *rows)
{
	diagnosis_load_baselines(collector_diagnosis(a->collector), rows);
}

static void
main_load_verdicts(struct app *a, const json_t *rows)
{
	diagnosis_load(collector_diagnosis(a->collector), rows);
}

static void
main_mirror_verdicts(struct app *a, const json_t *rows)
{
	collector_mirror(a->collector, NULL, rows);
}

static void
main_load_settings(struct app *a, const json_t *settings)
{
	scheduler_load(a->scheduler, settings);
	costs_load(a->costs, settings);
	react_load(a->react, settings);
	jobs_load_settings(collector_jobs(a->collector), settings);
	events_load(a->events, settings);
}

static void
main_mirror_settings(struct app *a, const json_t *settings)
{
	scheduler_load(a->scheduler, settings);
	costs_load(a->costs, settings);
	scheduler_mirror(a->scheduler);
}

static void
main_load_runs(struct app *a, const json_t *rows)
{
	api_load(a->api, rows);
}

static void
main_load_live_runs(struct app *a, const json_t *rows)
{
	runs_resume(collector_runs(a->collector), rows);
}

static void
main_load_jobs(struct app *a, const json_t *rows)
{
	jobs_load(collector_jobs(a->collector), rows);
}

static void
main_load_heard(struct app *a, const json_t *rows)
{
	diagnosis_load_heard(collector_diagnosis(a->collector), rows);
}

/* Nodes are loaded before the runs that name them. Agents and users are
 * accepted once all rows except the last one are loaded. */
static const struct load {
	enum store_question what;
	json_t *(*args)(const struct app *a); /* NULL: none */
	void (*take)(struct app *a, const json_t *result);
	/* On a standby, every MIRROR_TICKS; NULL: not loaded. */
	void (*mirror)(struct app *a, const json_t *result);
} loads[] = {
	{ STORE_NODES, NULL, main_load_nodes, main_mirror_nodes },
	{ STORE_BASELINES, main_args_baseline, main_load_baselines, NULL },
	{ STORE_BASELINES, main_args_recent, main_load_baselines, NULL },
	{ STORE_VERDICTS, main_args_open, main_load_verdicts,
	    main_mirror_verdicts },
	{ STORE_SETTINGS, NULL, main_load_settings, main_mirror_settings },
	{ STORE_RUNS, main_args_runs, main_load_runs, main_load_runs },
	{ STORE_LIVE_RUNS, NULL, main_load_live_runs, NULL },
	{ STORE_JOBS, main_args_jobs, main_load_jobs, NULL },
	{ STORE_HEARD, main_args_heard, main_load_heard, main_load_heard },
};

static void main_load_cb(int status, json_t *result, void *arg);

static void
main_load_next(evutil_socket_t fd, short what, void *arg)
{
	struct app *a = arg;
	const struct load *l;
	json_t *args;

	(void)fd;
	(void)what;
	while (a->is_standby && loads[a->loaded].mirror == NULL)
		a->loaded++; /* the last row has one */
	l = &loads[a->loaded];
	args = l->args != NULL ? l->args(a) : NULL;
	store_ask(a->store, l->what, args, main_load_cb, a);
	json_decref(args);
}

static void
main_ready(struct app *a)
{
	a->ready = 1;
	collector_load_objectives(a->collector);
	if (!a->is_standby) {
		series_warm(a->store, main_warm_cb, a);
		listen_start(a->listen, SIZE_MAX);
	}
	http_start(a->http);
	if (!a->is_standby)
		scheduler_tick(a->scheduler, clk_unix_ns());
	log_info("%s: agents on %s, state in %s",
	    a->is_standby ? "standby" : "ready",
	    conf_string(a->settings.conf, "collector", "listen"),
	    a->settings.store.dir);
	notify_ready();
}

static void
main_load_cb(int status, json_t *result, void *arg)
{
	struct app *a = arg;
	const struct load *l = &loads[a->loaded];
	int again;

	if (status == -ECANCELED)
		return; /* a signal has ended the parts already */
	/* Without its state the collector would overwrite rows of it. Damaged
	 * rows will never be readable. */
	again = status < 0 && !a->ready && status != -EBADMSG;
	if (status < 0 && !a->ready)
		log_warnx("cannot load state from the store, step %zu of "
			  "%zu: %s%s",
		    a->loaded + 1, ARRAY_LEN(loads), strerror(-status),
		    again ? "; retrying" : "");
	if (again) {
		event_base_once(a->base, -1, EV_TIMEOUT, main_load_next, a,
		    &(struct timeval){ .tv_sec = 1 });
		return;
	}
	if (status == 0)
		(a->is_standby ? l->mirror : l->take)(a, result);
	json_decref(result);
	if (++a->loaded == ARRAY_LEN(loads))
		return;
	main_load_next(-1, 0, a);
	if (!a->ready && a->loaded == ARRAY_LEN(loads) - 1)
		main_ready(a);
}

/* A standby loads the state of the active collector periodically. */
static void
main_mirror(struct app *a)
{
	if (a->loaded < ARRAY_LEN(loads))
		return;
	collector_load_objectives(a->collector);
	a->loaded = 0;
	main_load_next(-1, 0, a);
}

/* The listeners of users and agents, and alerts. */
static int
main_doors_open(struct app *a, struct err *err)
{
	struct settings *s = &a->settings;
	const struct conf *c = s->conf;
	struct http_options *o = &s->http;
	const struct api_parts p = { a->collector, a->campaigns, a->scheduler,
		a->store, a->costs, a->series, a->enroll, a->events,
		s->store.cluster, s->who, s->url,
		conf_string(c, "alerts", "page") };
	int fds[ARRAY_LEN(sockets)], rc;

	a->api = api_new(&p);
	collector_set_changed(a->collector, api_run_changed, a->api);
	listen_activated(sockets, ARRAY_LEN(sockets), fds);
	o->listen_fd = fds[0];
	rc = main_trust_take(a, err);
	if (rc < 0)
		return rc;
	rc = http_open(o, a->base, a->api, a->store, &a->http);
	SSL_CTX_free(o->tls);
	o->tls = NULL;
	if (rc < 0)
		return rc; /* it has logged why */
	a->alarm = alarm_open(a->events, conf_string(c, "alerts", "page"),
	    a->api);
	return listen_open(conf_string(c, "collector", "listen"), fds[1],
	    collector_sessions(a->collector), &a->listen, err);
}

static void
main_doors_stop(struct app *a)
{
	alarm_close(a->alarm);
	http_close(a->http);
	listen_close(a->listen);
}

static void
main_doors_free(struct app *a)
{
	api_free(a->api);
}

static int
main_timers_open(struct app *a, struct err *err)
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
	(void)err;
	if (watchdog_ns == 0)
		return 0;
	a->watchdog = event_new(a->base, -1, EV_PERSIST, main_watchdog_cb, a);
	event_add(a->watchdog, &watch);
	return 0;
}

static void
main_timers_stop(struct app *a)
{
	if (a->watchdog != NULL)
		event_free(a->watchdog);
	if (a->tick != NULL)
		event_free(a->tick);
	for (size_t i = 0; i < 3; i++)
		if (a->signals[i] != NULL)
			event_free(a->signals[i]);
}

static int
main_base_open(struct app *a, struct err *err)
{
	struct event_config *config = event_config_new();
	size_t want = a->settings.collector.agents_max +
	    (size_t)a->settings.http.connections_max + 2048,
	       have;

	/* an agent is a descriptor */
	have = program_files_raise();
	if (have < want)
		log_info("limit of file descriptors is %zu; "
			 "collector.agents_max needs %zu",
		    have, want);
	/* Without this flag each message that is written immediately costs two
	 * epoll calls. It requires that no descriptors are duplicated, which is
	 * the case here. */
	event_config_set_flag(config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
	a->base = event_base_new_with_config(config);
	event_config_free(config);
	if (a->base == NULL)
		return err_set(err, -ENOMEM,
		    "cannot create the event loop of libevent");
	return 0;
}

static void
main_base_free(struct app *a)
{
	if (a->base != NULL)
		event_base_free(a->base);
}

static int
main_store_open(struct app *a, struct err *err)
{
	struct settings *s = &a->settings;
	int rc;

	a->authorities = tls_authorities(s->conf);
	s->store.authorities = a->authorities;
	rc = store_open(&s->store, a->base, &a->store);
	(void)err; /* it has logged why */
	if (rc < 0)
		return rc;
	a->is_standby = store_is_standby(a->store);
	return 0;
}

static void
main_store_stop(struct app *a)
{
	store_close(a->store);
	free(a->authorities);
}

static int
main_enroll_open(struct app *a, struct err *err)
{
	int rc = enroll_open(a->settings.store.dir, &a->enroll, err);

	if (rc == 0)
		rc = enroll_start(a->enroll, a->base);
	return rc;
}

static void
main_enroll_stop(struct app *a)
{
	enroll_close(a->enroll); /* its answers still use the collector */
}

static int
main_collector_open(struct app *a, struct err *err)
{
	struct settings *s = &a->settings;

	a->series = series_new();
	a->react = react_new(a->base, a->store, &s->react);
	s->collector.term = s->store.lease_ns > 0 ? store_term(a->store) : 1;
	s->collector.topo = s->topo;
	s->collector.react = a->react;
	s->collector.enroll = a->enroll;
	a->collector = collector_new(a->base, a->store, a->series,
	    &s->collector);
	if (a->collector == NULL)
		return -EINVAL;
	(void)err; /* it has logged why */
	a->costs = costs_new(a->store, &s->costs);
	runs_set_costs(collector_runs(a->collector), a->costs);
	a->slurm = slurm_new(a->base, &s->slurm);
	runs_set_slurm(collector_runs(a->collector), a->slurm);
	a->campaigns = campaigns_new(
	    conf_string(s->conf, "collector", "campaign_dir"));
	campaigns_scan(a->campaigns);
	a->scheduler = scheduler_new(a->campaigns, collector_runs(a->collector),
	    a->store);
	return 0;
}

static void
main_collector_stop(struct app *a)
{
	if (a->collector != NULL)
		diagnosis_keep(collector_diagnosis(a->collector));
}

static void
main_collector_free(struct app *a)
{
	scheduler_free(a->scheduler);
	campaigns_free(a->campaigns);
	collector_free(a->collector);
	costs_free(a->costs);
	react_free(a->react);
	slurm_free(a->slurm);
	series_free(a->series);
}

static int
main_events_open(struct app *a, struct err *err)
{
	return events_open(a->settings.conf, a->store, &a->events, err);
}

static void
main_events_stop(struct app *a)
{
	events_stop(a->events);
}

static void
main_events_free(struct app *a)
{
	events_free(a->events);
}

/* In the order of their start. They end in the reverse order. First all stop,
 * the store as the last but one, so that the answers that it cancels can still
 * use every part. Then all are freed. Each may be NULL. */
static const struct part {
	int (*open)(struct app *a, struct err *err);
	void (*stop)(struct app *a);
	void (*free)(struct app *a);
} parts[] = {
	{ main_base_open, NULL, main_base_free },
	{ main_store_open, main_store_stop, NULL },
	{ main_enroll_open, main_enroll_stop, NULL },
	{ main_collector_open, main_collector_stop, main_collector_free },
	{ main_events_open, main_events_stop, main_events_free },
	{ main_doors_open, main_doors_stop, main_doors_free },
	{ main_timers_open, main_timers_stop, NULL },
};

static int
main_app_open(struct app *a)
{
	struct err err = { "" };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(parts); i++)
		rc = parts[i].open(a, &err);
	if (rc < 0) {
		if (err.text[0] != '\0')
			log_warnx("%s", err.text);
		return rc;
	}
	main_load_next(-1, 0, a);
	main_topo_keep(a);
	return 0;
}

static void
main_app_close(struct app *a)
{
	notify_stopping();
	for (size_t i = ARRAY_LEN(parts); i-- > 0;)
		if (parts[i].stop != NULL)
			parts[i].stop(a);
	for (size_t i = ARRAY_LEN(parts); i-- > 0;)
		if (parts[i].free != NULL)
			parts[i].free(a);
	topo_free(a->settings.topo);
	promised_free(a->settings.promised);
	conf_free(a->settings.conf);
	libevent_global_shutdown();
}

int
main(int argc, char **argv)
{
	struct arguments args = { .act = ACT_RUN };
	struct app app = { .ready = 0 };
	struct settings *s = &app.settings;
	enum log_level level = LOG_LEVEL_INFO;
	struct err err;
	char *text;
	int rc;

	log_init("coalmined", LOG_LEVEL_INFO);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* the parent process may ignore it */
	/* A missing value or timer would be noticed much later. */
	pki_memory_set();
	json_set_alloc_funcs(xmalloc, free);
	event_set_mem_functions(xmalloc, xrealloc, free);
	program_remember(argv);
	arguments_read(argc, argv, &args);
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
				  "store.url: restore a database with the "
				  "tools of its server: pg_restore")
			    : store_restore(s->store.dir, args.backup, &err);
			log_info("%s", err.text);
		} else if (args.act == ACT_COPY) {
			rc = store_copy(args.ends[0], args.ends[1],
			    s->store.schema, &err);
			log_info("%s", rc < 0 ? err.text : "copied");
		} else if (args.act == ACT_RECOVER) {
			rc = store_recover(args.ends[0], args.ends[1], &err);
			log_info("%s", err.text);
		}
		topo_free(s->topo);
		promised_free(s->promised);
		conf_free(s->conf);
		return rc < 0 ? EXIT_CONFIG : rc;
	}
	log_level_parse(conf_string(s->conf, "collector", "log"), &level);
	log_set_level(level);
	notify_init();
	rc = main_app_open(&app);
	if (rc == 0)
		event_base_dispatch(app.base);
	main_app_close(&app);
	return rc == 0 ? 0 : EXIT_CONFIG;
}
