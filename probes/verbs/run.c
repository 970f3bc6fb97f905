/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - the verbs run and measure: rank 0 reads and writes files; all other
 * ranks get the campaign from it as text and hand their results back to it.
 */
#include <errno.h>
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
#include "probes/congestion/gpcnet_table.h"
#include "probes/congestion/link.h"
#include "probes/congestion/phases.h"
#include "probes/congestion/report.h"
#include "probes/job/control.h"
#include "probes/job/emit.h"
#include "probes/job/fabric.h"
#include "probes/job/rank_watch.h"
#include "probes/job/relay.h"
#include "probes/job/roles.h"
#include "probes/job/world.h"
#include "probes/measure/plan_report.h"
#include "probes/measure/plans.h"
#include "probes/catalog/patterns.h"
#include "probes/verbs/verbs.h"
#include "schema/options.h"
#include "schema/record.h"

#define SEED_MASK ((1ULL << 53) - 1) /* a double holds it */

struct run_args {
	const char *campaign; /* path; NULL: words */
	char *const *words;   /* PROBE option=value ... */
	int words_count;
	int steps;        /* of plans: time each step separately too */
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

/* ---- rank 0: the request ---- */

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
		log_warnx("--run %s: expected letters, digits and '-', at most "
			  "%d characters",
		    run, RECORD_RUN_MAX);
		return VERBS_USAGE;
	}
	if (emit_open(a->json, run, &r->emit) < 0)
		return VERBS_USAGE;
	if (a->campaign == NULL) {
		r->only = patterns_find(a->words[0]);
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

/* The first record of a run. */
static void
run_begin_put(struct run *r, json_t *begin)
{
	if (r->bound != NULL)
		json_object_set(begin, "affinity", r->bound);
	gpcnet_table_take(&r->table, begin);
	emit_put(r->emit, begin);
}

/* Rank 0 reads its own campaign; the others parse the text that it sends. */
static void
run_settings_share(struct run *r)
{
	int first = r->world.rank == 0, bytes = 0;
	struct conf *c = r->conf;
	char *text = NULL;
	struct err err;

	if (first) {
		text = conf_render_given(c);
		bytes = (int)strlen(text) + 1;
	}
	run_share(r, &bytes, sizeof(bytes));
	if (!first)
		text = xcalloc((size_t)bytes, 1);
	run_share(r, text, bytes);
	if (!first &&
	    conf_parse(options_campaign, "campaign", text, &c, &err) < 0)
		fatalx("invalid campaign received from rank 0: %s", err.text);
	settings_read(c, &r->settings);
	if (!first)
		conf_free(c);
	free(text);
}

/* The GPU of each rank, and by what its messages go; collective. */
static int
run_device_open(struct run *r, struct transport_team **ret, struct err *err)
{
	const struct settings *s = &r->settings;
	struct world *w = &r->world;
	int rc;

	if (strcmp(s->device, "host") == 0)
		return 0;
	rc = team_open(w, s->device, s->gpu_aware, ret, err);
	if (rc == 0)
		rc = team_shares_gpu(*ret, s->share_gpu, err);
	if (rc == 0)
		rc = link_choose(*ret, s->via, &w->via, err);
	if (rc == 0)
		w->team = *ret;
	return rc;
}

static void
run_canaries(struct run *r)
{
	struct gpcnet_table *t = &r->table;
	struct world *w = &r->world;
	struct transport_team *team = NULL;
	int first = w->rank == 0, needed, rc;
	struct err err;

	run_settings_share(r);
	if (world_roles(w, &r->settings, &needed) < 0) {
		err_say(&err,
		    "ranks are on %d node%s; this campaign needs at least %d "
		    "(%d for canaries, %d for each of %d kinds of congestors). "
		    "coalmine-lab emulates nodes on one machine",
		    w->nodes, w->nodes == 1 ? "" : "s", needed,
		    ROLES_CANARY_MIN, ROLES_PER_KIND, r->settings.kind_count);
		if (first)
			log_warnx("%s", err.text);
		run_fail_with(r, VERBS_USAGE, CAUSE_TOO_FEW_NODES, err.text);
		return;
	}
	rc = run_device_open(r, &team, &err);
	if (rc < 0) {
		if (first)
			log_warnx("%s", err.text);
		run_fail_with(r, VERBS_USAGE,
		    rc == -ENODEV ? CAUSE_NO_DEVICE : CAUSE_UNSUPPORTED,
		    err.text);
		team_close(team);
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
		/* before the ranks meet again, which takes long on busy cores
		 */
		run_begin_put(r, report_begin(w, &r->settings, r->conf));
	}
	world_split(w, &r->settings);
	relay_open(w, run_sink, r);
	phases_run(w, &r->settings);
	relay_close();
	w->team = NULL;
	team_close(team);
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
	/* The campaign's requirements, so that all ranks act alike. */
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
			wrong = "run: unknown option, or missing value of an "
				"option";
		}
	}
	args.words = argv + optind;
	args.words_count = argc - optind;
	is_probe = optind < argc && patterns_find(argv[optind]) != NULL;
	args.campaign = is_probe ? NULL : argv[optind];
	if (wrong == NULL && is_probe && args.override_count > 0)
		wrong = "-o is for campaign files: write option=value after "
			"the probe";
	else if (wrong == NULL && !is_probe && args.words_count != 1)
		wrong = "run: expected one campaign file, or a probe and its "
			"options";
	/* Records and tables would mix. */
	if (args.json != NULL && strcmp(args.json, "-") == 0)
		args.quiet = 1;
	status = wrong != NULL ? verbs_wrong_usage(wrong)
			       : run_campaign(&args, &argc, &argv);
	free(args.overrides);
	return status;
}
