/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - the verbs run and measure: rank 0 reads and writes files; all other
 * ranks get the campaign from it as text and hand their results back to it.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/member.h"
#include "common/rng.h"
#include "common/xalloc.h"
#include "probes/job/world.h"
#include "probes/job/emit.h"
#include "probes/job/fabric.h"
#include "probes/congestion/gpcnet_table.h"
#include "probes/compare/compare.h"
#include "probes/congestion/congestion.h"
#include "probes/job/roles.h"
#include "schema/options.h"
#include "probes/verbs/verbs.h"
#include "schema/record.h"

#define SEED_MASK ((1ULL << 53) - 1) /* a double holds it */
#define ALONE_NS  CLK_NS_PER_S       /* for a congestor's own rate */

struct run_args {
	const char *campaign; /* path; NULL: words */
	char *const *words;   /* PROBE option=value ... */
	int words_count;
	int steps;        /* of plans: each by itself as well */
	const char *json; /* NULL: no records; "-": standard output */
	const char *run;  /* id; NULL: one is made up */
	char **overrides; /* section.key=value */
	int override_count;
	int quiet; /* no tables */
};

struct run {
	const struct run_args *args;
	struct world world;
	struct settings settings;
	struct conf *conf;          /* rank 0: as the file gave it */
	struct emit *emit;          /* rank 0 */
	const struct pattern *only; /* rank 0: the probe written out */
	json_t *bound;              /* rank 0: where ranks may run */
	struct plans_result end;
	struct gpcnet_table table;
};

/* ---- rank 0: what is asked for ---- */

/* The first failure is the run's. */
static void
run_fail_with(struct run *r, int status, enum cause cause, const char *why)
{
	if (status > r->end.status)
		r->end.status = status;
	if (r->end.cause != CAUSE_NONE)
		return;
	r->end.cause = cause;
	err_say(&r->end.why, "%s", why);
}

static void
run_end_with(struct run *r, enum cause cause, const char *text)
{
	emit_put(r->emit, report_end(emit_count(r->emit) + 1, cause, text));
}

/* 0, or VERBS_USAGE once the reason is logged and recorded. */
static int
run_begin_alone(struct run *r)
{
	const struct run_args *a = r->args;
	char id[RECORD_RUN_MAX + 1], seed[32];
	const char *run = a->run;
	struct err err = { 0 };
	int rc;

	snprintf(id, sizeof(id), "local-%llu",
	    (unsigned long long)(clk_unix_ns() / CLK_NS_PER_MS));
	if (run == NULL)
		run = id;
	if (record_run_check(run) < 0) {
		log_warnx("--run %s: letters, digits and '-', at most %d", run,
		    RECORD_RUN_MAX);
		return VERBS_USAGE;
	}
	if (emit_open(a->json, run, &r->emit) < 0)
		return VERBS_USAGE;
	if (a->campaign == NULL) {
		r->only = pattern_find(a->words[0]);
		rc = pattern_options(r->only, a->words + 1, a->words_count - 1,
		    &r->conf, &err);
	} else {
		rc = conf_load(options_campaign, a->campaign, &r->conf, &err);
		for (int i = 0; rc == 0 && i < a->override_count; i++)
			rc = conf_override(r->conf, a->overrides[i], "-o",
			    &err);
		if (rc == 0)
			rc = options_campaign_check(r->conf, &err);
		snprintf(seed, sizeof(seed), "%llu",
		    (unsigned long long)((rng_entropy() & SEED_MASK) | 1));
		if (rc == 0 && conf_int(r->conf, "campaign", "seed") == 0)
			rc = conf_set(r->conf, "campaign", "seed", seed,
			    "drawn", &err);
	}
	if (rc < 0) {
		log_warnx("%s", err.text);
		run_end_with(r, CAUSE_CONFIG, err.text);
		return VERBS_USAGE;
	}
	return 0;
}

/* ---- all ranks ---- */

/* Opening a pipe without a reader blocks rank 0, so the others wait asleep. */
static void
run_share(const struct run *r, void *data, int bytes)
{
	MPI_Request req;

	MPI_DO(MPI_Ibcast(data, bytes, MPI_CHAR, 0, r->world.control, &req));
	control_wait(&req);
}

/* Records of all ranks come through here, at rank 0. */
static void
run_sink(void *arg, json_t *record)
{
	const json_t *seen = json_object_get(record, "carried");
	struct run *r = arg;

	if (json_object_get(seen, "verdict") != NULL) {
		log_warnx("%s", member_text(seen, "text"));
		run_fail_with(r, PLAN_REPORT_BAD, CAUSE_WRONG_NETWORK,
		    member_text(seen, "text"));
	}
	gpcnet_table_take(&r->table, record);
	emit_put(r->emit, record);
}

static void
run_put_phase(const struct world *w, const struct settings *s, int stretch,
    const char *event, double stop_s)
{
	int visit;
	enum phase phase = settings_phase(s, stretch, &visit);
	json_t *r;

	if (w->rank != 0)
		return;
	r = json_pack("{s:s, s:s, s:s, s:i, s:i}", "probe", "phase", "event",
	    event, "phase", names_phases[phase], "visit", visit + 1, "visits",
	    s->visits);
	if (stop_s >= 0)
		json_object_set_new(r, "stop_s", json_real(stop_s));
	relay_put(r);
}

/* One visit to one phase; ranks without a part in it sleep. m is NULL for a
 * congestor, l for a canary. */
static void
run_stretch(const struct world *w, const struct settings *s, int stretch,
    struct canary_loop *m, struct congestor_load *l)
{
	int visit;
	enum phase phase = settings_phase(s, stretch, &visit);
	int loaded = phase == PHASE_CONGESTED;
	uint64_t done_ns = 0;
	double stop_s = loaded ? 0 : -1;

	control_barrier(w->control);
	run_put_phase(w, s, stretch, "begin", -1);
	if (m != NULL) {
		if (loaded)
			control_barrier(w->control); /* congestors are warm */
		canary_loop_visit(m, phase, visit, stretch);
		done_ns = clk_ns();
		if (loaded)
			control_barrier(w->control); /* canaries are done */
	} else if (loaded) {
		congestor_run(l);
	}
	control_barrier(w->control); /* the last congestor has stopped */
	control_watch(w, NULL);
	/* By the clock of the root, which saw its own test end last. */
	if (loaded && w->rank == w->canary_root)
		stop_s = (double)(clk_ns() - done_ns) / (double)CLK_NS_PER_S;
	if (loaded)
		stop_s = control_max(w->control, stop_s);
	run_put_phase(w, s, stretch, "end", stop_s);
}

/* Pairs of phases until all tests know enough, then the records of all roles in
 * turn. */
static void
run_measure_all(struct run *r)
{
	struct world *w = &r->world;
	const struct settings *s = &r->settings;
	struct canary_loop *m = NULL;
	struct congestor_load *l = NULL;
	int left = 1;

	if (w->role == ROLES_CANARY)
		m = canary_loop_new(w, s);
	else
		l = congestor_new(w, s);
	if (s->rates) {
		/* Each kind in its turn while all others sleep. */
		for (int kind = 0; kind < s->kind_count; kind++) {
			control_barrier(w->control);
			if (w->role == kind)
				congestor_run_alone(l, ALONE_NS);
		}
		control_barrier(w->control);
	}
	for (int i = 0; i < settings_stretches(s) && left > 0; i++) {
		run_stretch(w, s, i, m, l);
		if (!settings_congested(s) || i % 2 == 0)
			continue;
		left = m == NULL ? 0 : canary_loop_pair(m, (i + 1) / 2);
		left = (int)control_max(w->control, left);
	}

	if (m != NULL)
		report_canaries(m);
	relay_turn(w->canary_root);
	for (int kind = 0; kind < s->kind_count; kind++) {
		if (w->role == kind)
			report_load(l);
		relay_turn(w->kind_root[kind]);
	}
	canary_loop_free(m);
	congestor_free(l);
}

/* The first record of a run. */
static void
run_begin_put(struct run *r, json_t *begin)
{
	if (r->bound != NULL)
		json_object_set(begin, "affinity", r->bound);
	emit_put(r->emit, begin);
}

static void
run_canaries(struct run *r)
{
	struct gpcnet_table *t = &r->table;
	struct world *w = &r->world;
	int first = w->rank == 0, needed, bytes = 0;
	char *text = NULL;
	struct conf *c;
	struct err err;

	/* The same text for everyone, so that every rank reads the same
	 * numbers. */
	if (first) {
		text = conf_render_given(r->conf);
		bytes = (int)strlen(text) + 1;
	}
	run_share(r, &bytes, sizeof(bytes));
	if (!first)
		text = xcalloc((size_t)bytes, 1);
	run_share(r, text, bytes);
	if (conf_parse(options_campaign, "campaign", text, &c, &err) < 0)
		fatalx("campaign from rank 0: %s", err.text);
	settings_read(c, &r->settings);
	conf_free(c);
	free(text);
	if (world_split(w, &r->settings, &needed) < 0) {
		err_say(&err,
		    "ranks are on %d node%s, and this campaign needs at least "
		    "%d (%d for canaries, %d for each of %d kinds of "
		    "congestors); coalmine-lab emulates nodes on one machine",
		    w->nodes, w->nodes == 1 ? "" : "s", needed,
		    ROLES_CANARY_MIN, ROLES_PER_KIND, r->settings.kind_count);
		if (first)
			log_warnx("%s", err.text);
		run_fail_with(r, VERBS_USAGE, CAUSE_TOO_FEW_NODES, err.text);
		return;
	}
	if (first) {
		gpcnet_table_init(t);
		t->ranks = w->size;
		t->nodes = w->nodes;
		t->kinds = r->settings.kind_count;
		t->congested = settings_congested(&r->settings);
		t->exact = r->settings.exact;
		for (int i = 0; i < w->nodes; i++)
			t->canaries += w->node_roles[i] == ROLES_CANARY;
		run_begin_put(r, report_begin(w, &r->settings, r->conf));
	}
	relay_open(w, run_sink, r);
	run_measure_all(r);
	relay_close();
	if (first && !r->args->quiet)
		gpcnet_table_print(t, stdout);
}

/* Nothing is measured on another network than the one that is wanted. */
static int
run_fabric_check(struct run *r)
{
	struct err err = { 0 };
	json_t *carried = NULL;
	int rc = fabric_open(&r->world, r->only != NULL ? NULL : r->conf,
	    &carried, &err);

	if (r->world.rank == 0)
		emit_carried(r->emit, carried);
	if (rc == 0)
		return 1;
	if (r->world.rank == 0)
		log_warnx("%s", err.text);
	run_fail_with(r, PLAN_REPORT_BAD, CAUSE_WRONG_NETWORK, err.text);
	return 0;
}

static int
run_campaign(const struct run_args *args, int *argc, char ***argv)
{
	struct run *r = xcalloc(1, sizeof(*r));
	/* What the campaign asks for, so that all ranks do the same. */
	struct {
		int status; /* not 0: nothing */
		int canaries, plans;
	} parts = { 0 };
	struct plans_ask ask = { 0 };
	struct plans_result res;
	int first, status, good;

	r->args = args;
	world_open(&r->world, argc, argv);
	rank_watch_open(r->world.rank);
	first = r->world.rank == 0;
	if (first) {
		parts.status = run_begin_alone(r);
		parts.canaries = parts.status == 0 && r->only == NULL &&
		    options_runs_canaries(r->conf);
		parts.plans = parts.status == 0 &&
		    (r->only != NULL || options_runs_plans(r->conf));
	}
	run_share(r, &parts, sizeof(parts));
	r->end.status = parts.status;
	good = parts.status == 0 && run_fabric_check(r);
	if (good)
		r->bound = world_affinity(&r->world);
	if (parts.canaries && good)
		run_canaries(r);
	else if (first && parts.status == 0)
		run_begin_put(r, plan_report_begin(&r->world, r->conf));
	if (parts.plans && good && r->end.status == 0) {
		ask = (struct plans_ask){ r->emit, r->conf, r->only,
			args->steps, !args->quiet };
		plans_run(&r->world, first ? &ask : NULL, &res);
		run_fail_with(r, res.status, res.cause, res.why.text);
	}
	if (first && parts.status == 0)
		run_end_with(r, r->end.cause, r->end.why.text);
	fflush(stdout);
	/* All records are written and the pipe is closed before any rank says
	 * bye. */
	emit_close(r->emit);
	conf_free(r->conf);
	json_decref(r->bound);
	control_barrier(r->world.control);
	rank_watch_bye();
	status = r->end.status;
	world_close(&r->world, status);
	free(r);
	return status;
}

/* ---- the command line ---- */

int
run_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", required_argument, NULL, 'j' },
		{ "run", required_argument, NULL, 'r' },
		{ "quiet", no_argument, NULL, 'q' },
		{ NULL, 0, NULL, 0 },
	};
	struct run_args args = { .steps = strcmp(argv[0], "measure") == 0 };
	const char *wrong = NULL;
	int c, status, is_probe;

	args.overrides = xcalloc((size_t)argc, sizeof(*args.overrides));
	opterr = 0;
	while (wrong == NULL &&
	    (c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			args.json = optarg;
			break;
		case 'r':
			args.run = optarg;
			break;
		case 'q':
			args.quiet = 1;
			break;
		case 'o':
			args.overrides[args.override_count++] = optarg;
			break;
		default:
			wrong = "run: unknown option, or one without its value";
		}
	}
	args.words = argv + optind;
	args.words_count = argc - optind;
	is_probe = optind < argc && pattern_find(argv[optind]) != NULL;
	args.campaign = is_probe ? NULL : argv[optind];
	if (wrong == NULL && is_probe && args.override_count > 0)
		wrong = "-o is for campaign files: write option=value behind "
			"the probe";
	else if (wrong == NULL && !is_probe && args.words_count != 1)
		wrong = "run: one campaign file is needed, or a probe and its "
			"options";
	/* Records and tables would mix. */
	if (args.json != NULL && strcmp(args.json, "-") == 0)
		args.quiet = 1;
	status = wrong != NULL ? verbs_wrong_usage(wrong)
			       : run_campaign(&args, &argc, &argv);
	free(args.overrides);
	return status;
}
