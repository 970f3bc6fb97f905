/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_driver.c - the request that rank 0 sends to all ranks for one
 * measurement, and its preparation on each: device, executor, prediction.
 */

#include "probes/measure/plan_driver.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/execute/trial.h"
#include "probes/job/control.h"
#include "probes/job/world.h"
#include "probes/measure/measure.h"
#include "probes/measure/plan_report.h"
#include "probes/measure/probe.h"
#include "probes/catalog/patterns.h"
#include "probes/plan/check.h"
#include "probes/plan/pack.h"
#include "probes/predict/predict.h"
#include "probes/topology/machine_path.h"

#define PIECE_BYTES (1 << 30)
#define PS_PER_S    1e12
#define TOGETHER    "concurrent" /* probe of records of several plans */

/* More than ranks need to prepare a plan in host memory. */
#define SETUP_NS (60 * CLK_NS_PER_S)

/* From rank 0 to all: what comes next. */
struct order {
	enum { ORDER_END, ORDER_PLAN, ORDER_TOGETHER } what;
	int status; /* of the end */
	int steps;  /* each alone as well */
	int keep;   /* the plan, for later */
	int brief;  /* see struct plan_driver_brief */
	int take_turns;
	uint32_t pattern; /* of the table patterns */
	uint64_t plan_bytes;
	struct trial_ask ask;
	char device[16], gpu_aware[8];
	int share_gpu; /* ranks may */
	uint64_t stuck_ns;
};

static void
plan_driver_share(const struct plan_driver *s, void *data, size_t bytes)
{
	MPI_Request req;

	for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
		size_t n = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;

		MPI_DO(MPI_Ibcast((char *)data + at, (int)n, MPI_CHAR, 0,
		    s->world->control, &req));
		control_wait(&req);
	}
}

static void
plan_driver_order_fill(const struct plan_driver *s, struct order *o)
{
	const struct conf *c = s->conf;

	memset(o, 0, sizeof(*o));
	o->steps = s->steps;
	o->keep = conf_bool(c, "measure", "concurrent");
	o->ask.warmup = (int)conf_int(c, "measure", "warmup");
	o->ask.iterations = conf_given(c, "measure", "iterations")
	    ? (int)conf_int(c, "measure", "iterations")
	    : 0;
	o->ask.time_ns = conf_span_ns(c, "measure", "time");
	o->ask.precision = conf_real(c, "measure", "precision");
	snprintf(o->device, sizeof(o->device), "%s",
	    conf_string(c, "measure", "device"));
	snprintf(o->gpu_aware, sizeof(o->gpu_aware), "%s",
	    conf_string(c, "measure", "gpu_aware"));
	o->stuck_ns = conf_span_ns(c, "measure", "stuck");
	o->share_gpu = !s->is_campaign || conf_bool(c, "measure", "share_gpu");
}

/* ---- one plan, on all ranks ---- */

static void
plan_driver_drop_kept(struct plan_driver *s)
{
	while (s->kept_count > 0) {
		exec_free(s->kept[--s->kept_count].exec);
		plan_free(s->kept[s->kept_count].plan);
	}
	free(s->kept);
	s->kept = NULL;
}

void
plan_driver_refuse(struct plan_driver *s, const char *probe,
    const struct plan *p, int rc, const char *why)
{
	enum cause cause = rc == -ENODEV ? CAUSE_NO_DEVICE : CAUSE_UNSUPPORTED;

	plan_report_refusal(&s->report, probe, p->title, cause, why);
	plan_report_note(&s->report, PLAN_REPORT_WRONG, cause, why);
}

/* How long a rank waits for others that prepare a plan or end the last one; 0:
 * without a limit. */
static uint64_t
plan_driver_setup_ns(const struct plan_driver *s, const struct order *o)
{
	return s->team != NULL && s->team->ops->host_access && o->stuck_ns > 0
	    ? o->stuck_ns + SETUP_NS
	    : 0;
}

/* The device of the campaign is opened once. */
static int
plan_driver_exec_open(struct plan_driver *s, const struct order *o,
    struct measurement *c, struct plan *p, struct err *err)
{
	uint64_t start_ns;
	int rc = 0;

	if (s->team == NULL || strcmp(s->device, o->device) != 0) {
		plan_driver_drop_kept(s);
		team_close(s->team);
		s->team = NULL;
		snprintf(s->device, sizeof(s->device), "%s", o->device);
		/* equal on all ranks, also after canaries */
		s->world->at = 0;
		s->world->stuck_ns = o->stuck_ns;
		rc = team_open(s->world, o->device, o->gpu_aware, &s->team,
		    err);
	}
	if (rc == 0)
		rc = team_shares_gpu(s->team, o->share_gpu, err);
	start_ns = clk_ns();
	if (rc == 0) {
		transport_choose_vias(s->team, p);
		control_watch_plan(s->world, plan_driver_setup_ns(s, o));
		rc = exec_new(s->team, p, &c->exec, err);
		control_watch(s->world, NULL);
	}
	c->subject.setup_s = (double)(clk_ns() - start_ns) /
	    (double)CLK_NS_PER_S;
	c->subject.team = s->team;
	return rc;
}

struct pattern_site
plan_driver_site(const struct plan_driver *s)
{
	return (struct pattern_site){ .ranks = (uint32_t)s->world->size,
		.nodes = (uint32_t)s->world->nodes,
		.keep_auto = 1,
		.machine = s->machine != NULL ? s->machine : s->seen };
}

/* How many ranks a node has, where each has as many, side by side, as a machine
 * numbers them; 0: they lie otherwise. */
static uint32_t
plan_driver_ranks_a_node(const struct transport_team *team)
{
	uint32_t a_node = 1, count = (uint32_t)team->ranks;

	while (a_node < count && team->nodes[a_node] == team->nodes[0])
		a_node++;
	for (uint32_t i = a_node; i < count; i++)
		if ((team->nodes[i] == team->nodes[i - 1]) != (i % a_node != 0))
			return 0;
	return a_node;
}

/* Rank 0: predict a plan; none if the machine cannot run it. The prediction
 * uses the actual placement of ranks. If the machine cannot have them so, it is
 * made for ranks as the machine numbers them, and is not used for verdicts. */
static void
plan_driver_predict(const struct plan_driver *s, const struct measurement *c,
    struct subject *r, double **ret_rank_s)
{
	const struct machine *m = s->machine;
	uint32_t a_node = plan_driver_ranks_a_node(s->team);
	struct machine as, fit;
	struct predict pr;
	struct err err;

	if (m == NULL && c->probe->is_tuned)
		m = s->seen;
	if (m == NULL)
		return;
	as = *m;
	fit = machine_fit(m, r->plan->ranks);
	if (a_node > 0 && s->world->nodes > 1 && m->ranks_fit) {
		as.ranks = a_node;
		as.ranks_fit = 0;
		fit = as;
	}
	r->placed = a_node > 0 && fit.ranks == a_node;
	if (predict_plan(r->plan, &as, NULL, &pr, &err) < 0) {
		log_warnx("cannot predict the time of the plan: %s", err.text);
		return;
	}
	r->machine = m->name;
	r->predicted_s = (double)pr.total_ps / PS_PER_S;
	*ret_rank_s = xcalloc(r->plan->ranks, sizeof(**ret_rank_s));
	for (uint32_t i = 0; i < r->plan->ranks; i++)
		(*ret_rank_s)[i] = (double)pr.rank_ps[i] / PS_PER_S;
	r->predicted_rank_s = *ret_rank_s;
	predict_clear(&pr);
}

/* Takes p. */
static void
plan_driver_run_plan(struct plan_driver *s, const struct order *o,
    struct plan *p, struct plan_driver_outcome *ret)
{
	struct measurement c = { .probe = probe_of(patterns[o->pattern]),
		.ask = o->ask,
		.steps = o->steps,
		.brief = o->brief };
	struct subject *r = &c.subject;
	double *rank_s = NULL, *memory = NULL;
	struct err err = { 0 };
	int rc, first = s->world->rank == 0;

	r->world = s->world;
	r->probe = patterns[o->pattern]->name;
	r->plan = p;
	rc = plan_driver_exec_open(s, o, &c, p, &err);
	if (rc < 0) {
		if (first && !o->brief)
			plan_driver_refuse(s, r->probe, p, rc, err.text);
		plan_free(p);
		return;
	}
	r->staging = exec_staging(c.exec);
	measure_watch(&c);
	r->memory_bytes_per_s = trial_memory(s->team, measure_largest(p),
	    &memory);
	control_watch(s->world, NULL);
	r->memory_rank_per_s = memory;
	measure_volume(r);
	if (first) {
		c.report = &s->report;
		c.conf = s->conf;
		c.bounds = &s->bounds;
		c.machine = s->machine;
		if (!o->brief)
			plan_driver_predict(s, &c, r, &rank_s);
		if (!o->brief && c.probe->describe != NULL)
			c.probe->describe(&c, r);
	}
	if (o->take_turns)
		exec_take_turns(c.exec);
	rc = measure_run(&c);
	if (ret != NULL && rc == 0) {
		const double *rank_own_s = c.whole.rank_s;

		ret->median_s = trial_median_s(&c.whole);
		for (size_t i = 0; rank_own_s != NULL && i < p->transfers_count;
		     i++) {
			double both_s = fmax(rank_own_s[p->transfers[i].src],
			    rank_own_s[p->transfers[i].dst]);

			ret->fastest_s = i == 0 ? both_s
						: fmin(ret->fastest_s, both_s);
		}
		ret->memory_per_s = r->memory_bytes_per_s;
	}
	measure_clear(&c);
	free(rank_s);
	free(memory);
	if (rc < 0 || !o->keep) {
		exec_free(c.exec);
		plan_free(p);
		return;
	}
	s->kept = xreallocarray(s->kept, s->kept_count + 1, sizeof(*s->kept));
	s->kept[s->kept_count++] = (struct plan_driver_kept){ p, c.exec };
}

/* ---- all that were kept, at once ---- */

/* Each plan's data is proven as if it had been alone. */
static int
plan_driver_prove_together(struct plan_driver *s, struct exec *const *list,
    uint64_t data)
{
	struct exec_fault f;
	int rc = 0;

	for (size_t i = 0; i < s->kept_count; i++)
		exec_fill(list[i], data);
	transport_agree(s->team, 0);
	exec_run_all(list, s->kept_count);
	transport_agree(s->team, 0);
	for (size_t i = 0; i < s->kept_count && rc == 0; i++) {
		struct subject r = { .world = s->world,
			.team = s->team,
			.probe = TOGETHER,
			.plan = s->kept[i].plan };

		rc = trial_compare(s->team, list[i], data, &f);
		if (rc < 0 && s->world->rank == 0)
			plan_report_fault(&s->report, &r, &f,
			    "among concurrent plans");
	}
	return rc;
}

static void
plan_driver_run_together(struct plan_driver *s, const struct order *o)
{
	struct exec **list = xcalloc(s->kept_count + 1, sizeof(struct exec *));
	struct subject r = { .world = s->world,
		.team = s->team,
		.probe = TOGETHER,
		.staging = "" };
	struct strbuf title = { 0 };
	struct trial t = { 0 };
	struct plan *all;

	for (size_t i = 0; i < s->kept_count; i++)
		strbuf_addf(&title, "%s%s", i > 0 ? " + " : "",
		    s->kept[i].plan->title);
	/* What all of them are, as one: only the sums count. */
	all = plan_new((uint32_t)s->world->size, title.text);
	strbuf_clear(&title);
	for (size_t i = 0; i < s->kept_count; i++) {
		const struct plan *p = s->kept[i].plan;

		list[i] = s->kept[i].exec;
		for (size_t k = 0; k < p->transfers_count; k++)
			plan_transfer_add(all, &p->transfers[k]);
	}
	r.plan = all;
	control_watch_plan(s->world, plan_driver_setup_ns(s, o));
	r.memory_bytes_per_s = trial_memory(s->team, measure_largest(all),
	    NULL);
	measure_volume(&r);
	if (plan_driver_prove_together(s, list, 1) == 0) {
		trial_time_all(s->team, list, s->kept_count, &o->ask, &t);
		if (plan_driver_prove_together(s, list, 2) == 0 &&
		    s->world->rank == 0)
			plan_report_trial(&s->report, &r, &t,
			    SUBJECT_CONCURRENT);
	}
	control_watch(s->world, NULL);
	trial_clear(&t);
	plan_free(all);
	free(list);
}

/* ---- rank 0 ---- */

int
plan_driver_check(struct plan_driver *s, const char *probe,
    const struct plan *p)
{
	struct check_fault fault;
	struct err err;

	if (check_plan(p, &fault) == 0)
		return 0;
	err_say(&err, "refused: %.100s: %s: %s", p->title,
	    check_kinds[fault.kind], fault.text);
	plan_report_refusal(&s->report, probe, p->title, CAUSE_INTERNAL,
	    err.text);
	plan_report_note(&s->report, PLAN_REPORT_BAD, CAUSE_INTERNAL, err.text);
	return -EPROTO;
}

/* To all, and run it; takes p. Notes of the plan stay with rank 0, which
 * reports them. */
static void
plan_driver_send_plan(struct plan_driver *s, struct order *o,
    const struct pattern *pt, struct plan *p, struct plan_driver_outcome *ret)
{
	size_t bytes;
	void *packed = plan_pack(p, &bytes);

	*ret = (struct plan_driver_outcome){ .median_s = NAN };
	o->what = ORDER_PLAN;
	o->plan_bytes = bytes;
	while (patterns[o->pattern] != pt)
		o->pattern++;
	control_watch_plan(s->world, plan_driver_setup_ns(s, o));
	plan_driver_share(s, o, sizeof(*o));
	plan_driver_share(s, packed, bytes);
	control_watch(s->world, NULL);
	free(packed);
	plan_driver_run_plan(s, o, p, ret);
}

void
plan_driver_measure(struct plan_driver *s, const struct pattern *pt,
    struct plan *p, struct plan_driver_outcome *ret)
{
	struct order o;

	plan_driver_order_fill(s, &o);
	o.take_turns = probe_of(pt)->take_turns;
	plan_driver_send_plan(s, &o, pt, p, ret);
}

void
plan_driver_measure_briefly(struct plan_driver *s,
    const struct plan_driver_brief *b, struct plan *p,
    struct plan_driver_outcome *ret)
{
	struct order o;

	plan_driver_order_fill(s, &o);
	o.brief = 1;
	o.steps = o.keep = 0;
	o.take_turns = b->turns;
	o.ask.warmup = 0; /* the proof was one */
	o.ask.iterations = b->times;
	plan_driver_send_plan(s, &o, b->pattern, p, ret);
}

void
plan_driver_measure_together(struct plan_driver *s)
{
	struct order o;

	if (s->kept_count < 2)
		return;
	plan_driver_order_fill(s, &o);
	o.what = ORDER_TOGETHER;
	plan_driver_share(s, &o, sizeof(o));
	plan_driver_run_together(s, &o);
}

void
plan_driver_end(struct plan_driver *s, int status)
{
	struct order o = { .what = ORDER_END, .status = status };

	plan_driver_share(s, &o, sizeof(o));
}

/* ---- the others ---- */

int
plan_driver_follow(struct plan_driver *s)
{
	struct order o;
	void *packed;

	for (;;) {
		plan_driver_share(s, &o, sizeof(o));
		if (o.what == ORDER_END)
			return o.status;
		if (o.what == ORDER_TOGETHER) {
			plan_driver_run_together(s, &o);
			continue;
		}
		packed = xcalloc(o.plan_bytes, 1);
		plan_driver_share(s, packed, o.plan_bytes);
		plan_driver_run_plan(s, &o, plan_unpack(packed, o.plan_bytes),
		    NULL);
		free(packed);
	}
}

void
plan_driver_close(struct plan_driver *s)
{
	plan_driver_drop_kept(s);
	team_close(s->team);
	machine_free(s->machine);
	machine_free(s->seen);
	plan_report_close(&s->report);
}
