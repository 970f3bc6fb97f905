/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - coalmined from start to end: app_open is the list of its parts,
 * app_close the same list in reverse.
 *
 * What the store remembers is asked for before the first agent is let in, so
 * nobody is greeted by a collector that does not know its own runs.
 */
#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/notify.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/export/alarm.h"
#include "daemon/schedule/campaign.h"
#include "daemon/run/cost.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/http/http.h"
#include "daemon/net/hub.h"
#include "daemon/series/series.h"
#include "daemon/net/listen.h"
#include "daemon/react/react.h"
#include "daemon/cluster/roster.h"
#include "daemon/run/run.h"
#include "daemon/net/session.h"
#include "daemon/settings.h"
#include "daemon/store/store.h"
#include "daemon/net/tls.h"
#include "daemon/view/view_int.h"
#include "daemon/series/series_warm.h"

#define EXIT_CONFIG 3
#define SETS_MAX    64
/* Limits of a run are seconds; a quarter is soon enough. */
#define TICK_US     (250 * 1000)
#define TICKS_PER_S 4
/* In which the last run and success of every campaign is looked for. */
#define RECENT_RUNS 500

struct app {
	struct settings settings;
	struct event_base *base;
	struct store *store;
	struct series *series;
	struct hub *hub;
	struct costs *costs;
	struct react *react;
	struct slurm *slurm;
	struct campaigns *campaigns;
	struct scheduler *agenda;
	struct view *view;
	struct listen *listen;
	struct http *http;
	struct alarm *alarm;
	struct event *tick;
	struct event *watchdog;
	struct event *signals[3];
	unsigned ticks;
	unsigned loading; /* answers that are waited for */
	int ready;
};

static int
tls_make(struct app *a, SSL_CTX **ret)
{
	const struct settings *s = &a->settings;
	struct err err;
	int rc;

	rc = tls_server_new(s->tls_ca, s->tls_cert, s->tls_key, ret, &err);
	if (rc < 0)
		log_warnx("%s", err.text);
	return rc;
}

static void
status_notify(struct app *a)
{
	struct roster *r = hub_roster(a->hub);

	notify_status("%zu agents ok, %zu busy, %zu late, %zu lost; %zu runs "
		      "live",
	    roster_count_state(r, AGENT_OK), roster_count_state(r, AGENT_BUSY),
	    roster_count_state(r, AGENT_LATE),
	    roster_count_state(r, AGENT_LOST), runs_live(hub_runs(a->hub)));
}

static void
tick_cb(evutil_socket_t fd, short what, void *arg)
{
	struct app *a = arg;

	(void)fd;
	(void)what;
	if (!a->ready)
		return;
	hub_tick(a->hub);
	if (a->ticks++ % TICKS_PER_S == 0)
		scheduler_tick(a->agenda, clk_unix_ns());
	if (a->ticks % (5 * TICKS_PER_S) == 2)
		alarm_tick(a->alarm);
	if (a->ticks % (15 * TICKS_PER_S) == 1)
		status_notify(a);
}

/* The store has answered and so have we: both live. */
static void
alive_cb(int status, json_t *result, void *arg)
{
	(void)status;
	(void)arg;
	json_decref(result);
	notify_watchdog();
}

static void
watchdog_cb(evutil_socket_t fd, short what, void *arg)
{
	struct app *a = arg;

	(void)fd;
	(void)what;
	store_ask(a->store, STORE_SETTINGS, NULL, alive_cb, a);
}

static void
reload(struct app *a)
{
	SSL_CTX *tls;

	notify_reloading();
	scheduler_reload(a->agenda);
	/* With broken files the old certificates go on being used. */
	if (tls_make(a, &tls) == 0) {
		http_set_tls(a->http, tls);
		sessions_set_tls(hub_sessions(a->hub), tls);
		log_info("certificates and campaigns read again");
	}
	notify_ready();
}

static void
signal_cb(evutil_socket_t sig, short what, void *arg)
{
	struct app *a = arg;

	(void)what;
	if (sig == SIGHUP) {
		reload(a);
		return;
	}
	log_info("ending on %s; %zu live runs are left to the next collector",
	    strsignal((int)sig), runs_live(hub_runs(a->hub)));
	event_base_loopbreak(a->base);
}

/* Agents and people are let in. */
static void
loaded(struct app *a)
{
	if (--a->loading > 0)
		return;
	a->ready = 1;
	listen_start(a->listen);
	scheduler_tick(a->agenda, clk_unix_ns());
	log_info("ready: agents on %s, state in %s", a->settings.listen,
	    a->settings.state_dir);
	notify_ready();
}

static void
nodes_cb(int status, json_t *result, void *arg)
{
	struct app *a = arg;

	if (status == 0)
		roster_load(hub_roster(a->hub), result);
	json_decref(result);
	loaded(a);
}

static void
settings_cb(int status, json_t *result, void *arg)
{
	struct app *a = arg;

	if (status == 0) {
		scheduler_load(a->agenda, result);
		costs_load(a->costs, result);
		react_load(a->react, result);
	}
	json_decref(result);
	loaded(a);
}

static void
live_cb(int status, json_t *result, void *arg)
{
	struct app *a = arg;

	if (status == 0)
		runs_resume(hub_runs(a->hub), result);
	json_decref(result);
	loaded(a);
}

static void
verdicts_cb(int status, json_t *result, void *arg)
{
	struct app *a = arg;

	if (status == 0)
		diagnosis_load(hub_diagnosis(a->hub), result);
	json_decref(result);
	loaded(a);
}

/* Nothing waits for it: whoever is not in it is unknown for a moment. */
static void
heard_cb(int status, json_t *result, void *arg)
{
	struct app *a = arg;

	if (status == 0)
		diagnosis_load_heard(hub_diagnosis(a->hub), result);
	json_decref(result);
}

static void
baselines_cb(int status, json_t *result, void *arg)
{
	struct app *a = arg;

	if (status == 0)
		diagnosis_load_baselines(hub_diagnosis(a->hub), result);
	json_decref(result);
	loaded(a);
}

static void
recent_cb(int status, json_t *result, void *arg)
{
	struct app *a = arg;

	if (status == 0)
		view_load(a->view, result);
	json_decref(result);
	loaded(a);
}

static void
warm_cb(void *arg, const char *class, const json_t *record)
{
	struct app *a = arg;

	series_record_old(a->series, class, record);
	diagnosis_score_old(hub_diagnosis(a->hub), record);
}

static void
load_heard(struct app *a)
{
	uint64_t now_unix_ns = clk_unix_ns();
	uint64_t stale_ns = a->settings.diagnosis.stale_ns;
	json_t *args = json_pack("{s:I}", "since_unix_ns",
	    (json_int_t)(now_unix_ns > stale_ns ? now_unix_ns - stale_ns : 0));

	store_ask(a->store, STORE_HEARD, args, heard_cb, a);
	json_decref(args);
}

static void
load(struct app *a)
{
	json_t *none = json_object();
	json_t *recent = json_pack("{s:i}", "limit", RECENT_RUNS);

	json_t *open = json_pack("{s:b}", "open", 1);
	json_t *learned = json_pack("{s:s}", "name", DIAGNOSIS_RECENT);
	json_t *pinned = json_pack("{s:s}", "name",
	    a->settings.diagnosis.baseline);

	a->loading = 7;
	/* Nodes before runs, which name them: the reader keeps the order. */
	store_ask(a->store, STORE_NODES, none, nodes_cb, a);
	store_ask(a->store, STORE_BASELINES, pinned, baselines_cb, a);
	store_ask(a->store, STORE_BASELINES, learned, baselines_cb, a);
	store_ask(a->store, STORE_VERDICTS, open, verdicts_cb, a);
	store_ask(a->store, STORE_SETTINGS, none, settings_cb, a);
	store_ask(a->store, STORE_RUNS, recent, recent_cb, a);
	store_ask(a->store, STORE_LIVE_RUNS, none, live_cb, a);
	json_decref(none);
	json_decref(recent);
	json_decref(open);
	json_decref(learned);
	json_decref(pinned);
	load_heard(a);
	series_warm(a->store, warm_cb, a);
}

static void
changed(void *arg, const struct run *r)
{
	struct app *a = arg;

	view_run_changed(a->view, r);
}

static int
store_make(struct app *a)
{
	const struct settings *s = &a->settings;
	struct store_options o = { s->state_dir, s->retention_ns,
		s->raw_retention_ns, s->free_min_bytes };

	return store_open(&o, a->base, &a->store);
}

static int
http_make(struct app *a)
{
	const struct settings *s = &a->settings;
	struct http_options o = { .listen = s->http_listen,
		.listen_fd = socket_activation_socket("http"),
		.socket = s->http_socket,
		.tls_listen = s->http_tls_listen,
		.connections_max = (int)s->http_connections_max };
	int rc;

	if (o.listen_fd < 0)
		o.listen_fd = -1;
	rc = tls_make(a, &o.tls);
	if (rc < 0)
		return rc;
	rc = http_open(&o, a->base, a->view, a->store, &a->http);
	if (rc == 0)
		sessions_set_tls(hub_sessions(a->hub), o.tls);
	else
		SSL_CTX_free(o.tls);
	return rc;
}

static int
alarm_make(struct app *a)
{
	struct err err;
	int rc;

	rc = alarm_open(a->settings.alerts_webhook, a->settings.alerts_page,
	    a->view, &a->alarm, &err);
	if (rc < 0)
		log_warnx("%s: alerts.webhook %s",
		    conf_where(a->settings.conf, "alerts", "webhook"),
		    err.text);
	return rc;
}

static int
listen_make(struct app *a)
{
	struct err err;
	int rc;

	rc = listen_open(a->settings.listen, a->base, hub_sessions(a->hub),
	    &a->listen, &err);
	if (rc < 0)
		log_warnx("%s", err.text);
	return rc;
}

static int
parts_make(struct app *a)
{
	const struct settings *s = &a->settings;
	struct hub_options o = { s->heartbeat_ns, s->silence_ns, s->agents_max,
		s->diagnosis, s->topo, s->mesh, NULL, changed, a };
	struct view_parts p;

	a->series = series_new();
	o.react = a->react = react_new(a->base, a->store, &s->react);
	a->hub = hub_new(a->base, a->store, a->series, &o);
	if (a->hub == NULL)
		return -EINVAL;
	a->costs = costs_new(a->store, &s->costs);
	runs_set_costs(hub_runs(a->hub), a->costs);
	a->slurm = slurm_new(a->base, &s->slurm);
	runs_set_slurm(hub_runs(a->hub), a->slurm);
	a->campaigns = campaigns_new(s->campaign_dir);
	campaigns_scan(a->campaigns);
	a->agenda = scheduler_new(a->campaigns, hub_runs(a->hub), a->store);
	p.hub = a->hub;
	p.campaigns = a->campaigns;
	p.agenda = a->agenda;
	p.store = a->store;
	p.costs = a->costs;
	p.series = a->series;
	a->view = view_new(&p);
	return 0;
}

static void
events_make(struct app *a)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	uint64_t watchdog_ns = notify_watchdog_every_ns();
	struct timeval tick = { 0, TICK_US };
	struct timeval watch = { (time_t)(watchdog_ns / CLK_NS_PER_S),
		(suseconds_t)(watchdog_ns % CLK_NS_PER_S / CLK_NS_PER_US) };

	for (size_t i = 0; i < 3; i++) {
		a->signals[i] = evsignal_new(a->base, signals[i], signal_cb, a);
		evsignal_add(a->signals[i], NULL);
	}
	a->tick = event_new(a->base, -1, EV_PERSIST, tick_cb, a);
	event_add(a->tick, &tick);
	if (watchdog_ns == 0)
		return;
	a->watchdog = event_new(a->base, -1, EV_PERSIST, watchdog_cb, a);
	event_add(a->watchdog, &watch);
}

/* An agent is a descriptor: as many as we may have. */
static void
limits_raise(const struct settings *s)
{
	size_t want = s->agents_max + s->http_connections_max + 2048;
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
app_open(struct app *a)
{
	int rc;

	limits_raise(&a->settings);
	signal(SIGPIPE, SIG_IGN);
	a->base = event_base_new();
	if (a->base == NULL)
		return -ENOMEM;
	rc = store_make(a);
	if (rc < 0)
		return rc;
	rc = parts_make(a);
	if (rc == 0)
		rc = http_make(a);
	if (rc == 0)
		rc = alarm_make(a);
	if (rc == 0)
		rc = listen_make(a);
	if (rc < 0)
		return rc;
	events_make(a);
	load(a);
	return 0;
}

static void
app_close(struct app *a)
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
	if (a->hub != NULL)
		diagnosis_keep(hub_diagnosis(a->hub));
	/* Answers of the store still find hub and view. */
	store_close(a->store);
	view_free(a->view);
	scheduler_free(a->agenda);
	campaigns_free(a->campaigns);
	hub_free(a->hub);
	costs_free(a->costs);
	react_free(a->react);
	slurm_free(a->slurm);
	series_free(a->series);
	if (a->base != NULL)
		event_base_free(a->base);
	settings_clear(&a->settings);
	libevent_global_shutdown();
}

enum act { ACT_RUN, ACT_CHECK, ACT_PRINT };

struct args {
	enum act act;
	const char *config;
	char *sets[SETS_MAX];
	size_t set_count;
};

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: coalmined [--config FILE] [-o SECTION.KEY=VALUE]...\n"
	    "                 [--check-config | --print-config] "
	    "[--foreground] [--version]\n");
}

static void
args_read(int argc, char **argv, struct args *ret)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "option", required_argument, NULL, 'o' },
		{ "check-config", no_argument, NULL, 'n' },
		{ "print-config", no_argument, NULL, 'p' },
		{ "foreground", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:o:npfhV", options, NULL)) != -1)
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
		case 'f':
			break; /* it never does anything else */
		case 'h':
			usage(stdout);
			exit(0);
		case 'V':
			printf("coalmined " COALMINE_VERSION "\n");
			exit(0);
		default:
			usage(stderr);
			exit(EXIT_CONFIG);
		}
	if (optind < argc) {
		usage(stderr);
		exit(EXIT_CONFIG);
	}
}

static void
config_print(const struct settings *s)
{
	char *text = conf_render(s->conf);

	fputs(text, stdout);
	free(text);
}

int
main(int argc, char **argv)
{
	struct args args = { .act = ACT_RUN };
	struct app app = { .ready = 0 };
	struct err err;
	int rc;

	log_init("coalmined", LOG_LEVEL_INFO);
	/* One arena: three threads need no more, and memory stays small. */
	mallopt(M_ARENA_MAX, 1);
	args_read(argc, argv, &args);
	if (settings_load(args.config, args.sets, args.set_count, &app.settings,
		&err) < 0)
		fatalx("%s", err.text);
	if (args.act != ACT_RUN) {
		if (args.act == ACT_PRINT)
			config_print(&app.settings);
		settings_clear(&app.settings);
		return 0;
	}
	log_set_level(app.settings.log);
	notify_init();
	rc = app_open(&app);
	if (rc == 0)
		event_base_dispatch(app.base);
	app_close(&app);
	return rc == 0 ? 0 : EXIT_CONFIG;
}
