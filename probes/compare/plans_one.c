/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/collective/allreduce.h"
#include "probes/pattern/binding.h"
#include "probes/pattern/stripe.h"
#include "probes/predict/predict.h"
#include "probes/compare/collective_run.h"
#include "probes/compare/neighbor_run.h"
#include "probes/compare/plans_part.h"
#include "probes/compare/nic_capacity.h"
#include "probes/compare/spmm.h"
#include "probes/job/team.h"

#define PS_PER_S 1e12

uint64_t
plans_largest(const struct plan *p)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].bytes > bytes)
			bytes = p->transfers[i].bytes;
	return bytes;
}

/* The volume that bandwidth is made of: what the pattern is for, not what it
 * takes on the way. */
void
plans_volume(struct plan_report *r)
{
	static const char *const names[] = { "message", "per_group",
		"delivered" };

	r->of = "footprint";
	r->bytes = plan_volume(r->plan);
	for (size_t i = 0; i < r->plan->notes_count; i++)
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (strcmp(r->plan->notes[i].name, names[k]) == 0) {
				r->of = names[k];
				r->bytes = r->plan->notes[i].value;
			}
}

static double
fastest(const struct plan *p, const struct trial *t)
{
	double best = 0;

	for (size_t i = 0; t->rank_s != NULL && i < p->transfers_count; i++) {
		const struct plan_transfer *tr = &p->transfers[i];
		double s = fmax(t->rank_s[tr->src], t->rank_s[tr->dst]);

		best = i == 0 ? s : fmin(best, s);
	}
	return best;
}

void
plans_report(struct plans *ps, const struct plan_report *r,
    const struct trial *t, int step)
{
	if (ps->world->rank != 0)
		return;
	if (ps->trying) {
		struct timing tm;

		timing_of(t->samples, t->count, &tm);
		ps->median_s = tm.median_middle_s;
		ps->memory_per_s = r->memory_bytes_per_s;
		return;
	}
	emit_put(ps->emit, plan_report_trial(r, t, step));
	plan_report_row(ps->table, r, t, step);
	ps->rows++;
	if (step == PLAN_REPORT_WHOLE)
		ps->fastest_s = fastest(r->plan, t);
}

/* 0, or -EBADMSG once it is reported. */
int
plans_fault(struct plans *ps, const struct plan_report *r, int rc,
    const struct exec_fault *f, const char *when)
{
	char text[PLANS_WHY_BYTES];

	if (rc == 0 || ps->world->rank != 0)
		return rc;
	plan_report_fault_text(r, f, when, text, sizeof(text));
	emit_put(ps->emit, plan_report_fault(r, f, when));
	plans_note(ps, PLANS_EXIT_BAD, CAUSE_WRONG_DATA, text);
	return rc;
}

static int
proven(struct plans *ps, struct exec *e, const struct plan_report *r,
    uint64_t data, const char *when)
{
	struct exec_fault f;
	int rc = trial_prove(ps->team, e, data, &f);

	return plans_fault(ps, r, rc, &f, when);
}

int
plans_prove_before(struct plans *ps, struct exec *e,
    const struct plan_report *r)
{
	return proven(ps, e, r, PLANS_FIRST_DATA, "before timing");
}

int
plans_prove_after(struct plans *ps, struct exec *e, const struct plan_report *r)
{
	struct exec_fault f;
	int rc = trial_compare(ps->team, e, PLANS_FIRST_DATA, &f);

	rc = plans_fault(ps, r, rc, &f, "in the timed part");
	return rc < 0 ? rc
		      : proven(ps, e, r, PLANS_SECOND_DATA, "after timing");
}

/* Can what repetitions leave be compared? Not where a result is written over
 * its own source. */
static int
repeats(const struct plan *p)
{
	for (size_t i = 0; i < p->promises_count; i++)
		if (p->bufs[p->promises[i].to].role == PLAN_IN)
			return 0;
	return 1;
}

void
plans_measure_steps(struct plans *ps, struct exec *e,
    const struct plan_report *r, const struct order *o)
{
	for (uint32_t i = 0; i < r->plan->steps; i++) {
		struct trial t;

		trial_time(e, i, i + 1, &o->ask, &t);
		plans_report(ps, r, &t, (int)i);
		trial_clear(&t);
	}
}

static void
report_neighbor(struct plans *ps, const struct plan_report *r,
    const struct neighbor_run *n)
{
	char text[PLANS_WHY_BYTES];

	if (ps->world->rank != 0)
		return;
	emit_put(ps->emit, neighbor_run_report(r, n));
	neighbor_run_text(n, text, sizeof(text));
	strbuf_addf(&ps->remarks, "%s\n", text);
}

static void
report_spmm(struct plans *ps, const struct plan_report *r, struct spmm *s,
    int rc, const char *why)
{
	char text[PLANS_WHY_BYTES];

	if (ps->world->rank != 0)
		return;
	if (rc == 0) {
		emit_put(ps->emit, spmm_report(r, s, ps->plan_s));
		spmm_text(r, s, ps->plan_s, text, sizeof(text));
		strbuf_addf(&ps->remarks, "%s\n", text);
		return;
	}
	emit_put(ps->emit,
	    spmm_refusal(r,
		rc == -EBADMSG ? CAUSE_WRONG_DATA : CAUSE_UNSUPPORTED, why));
	if (rc == -EBADMSG)
		plans_note(ps, PLANS_EXIT_BAD, CAUSE_WRONG_DATA, why);
}

static void
run_spmm(struct plans *ps, struct neighbor_run *n, const struct plan_report *r,
    const struct order *o)
{
	struct err err = { 0 };
	struct spmm *s = NULL;
	int rc = spmm_open(n, &ps->neighbor.matrix, o->columns, &s, &err);

	if (rc == 0)
		rc = spmm_time(s, &o->ask, &err);
	report_spmm(ps, r, s, rc, err.text);
	spmm_close(s);
}

/* Neighborhood collectives are timed beside MPI's own. */
static int
run_neighbor(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	struct neighbor_run n;
	struct trial t;
	int rc;

	neighbor_run_open(e, r->plan, &n);
	rc = plans_prove_before(ps, e, r);
	if (rc < 0)
		goto out;
	exec_blank(e);
	neighbor_run_time(ps->world, &n, &o->ask, &t);
	rc = plans_prove_after(ps, e, r);
	if (rc < 0)
		goto out;
	plans_report(ps, r, &t, -1);
	report_neighbor(ps, r, &n);
	if (o->columns > 0)
		run_spmm(ps, &n, r, o);
	if (o->steps && r->plan->steps > 1)
		plans_measure_steps(ps, e, r, o);
out:
	neighbor_run_close(&n);
	return rc;
}

static void
report_collective(struct plans *ps, const struct plan_report *r,
    const struct collective_run *n)
{
	const char *name = r->probe;
	char text[PLANS_WHY_BYTES];

	if (ps->world->rank != 0)
		return;
	if (strcmp(r->probe, PLANS_COLLECTIVE) == 0)
		name = conf_string(ps->conf, PLANS_COLLECTIVE, "name");
	emit_put(ps->emit, collective_run_report(r, n, name, &ps->bounds));
	collective_run_text(n, text, sizeof(text));
	strbuf_addf(&ps->remarks, "%s\n", text);
}

/* Collectives too, with the sources and results of the proof. */
static int
run_collective(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	struct collective_run n;
	struct trial t;
	int rc;

	rc = plans_prove_before(ps, e, r);
	if (rc < 0)
		return rc;
	collective_run_open(e, r->plan, &n);
	exec_blank(e);
	collective_run_time(&n, &o->ask, &t);
	rc = plans_prove_after(ps, e, r);
	if (rc < 0)
		goto out;
	plans_report(ps, r, &t, -1);
	report_collective(ps, r, &n);
	if (o->steps && r->plan->steps > 1)
		plans_measure_steps(ps, e, r, o);
out:
	collective_run_close(&n);
	return rc;
}

static int
run_proven(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	struct trial t;
	int rc;

	rc = plans_prove_before(ps, e, r);
	if (rc < 0)
		return rc;
	if (repeats(r->plan))
		exec_blank(e);
	trial_time(e, 0, UINT32_MAX, &o->ask, &t);
	rc = repeats(r->plan)
	    ? plans_prove_after(ps, e, r)
	    : proven(ps, e, r, PLANS_SECOND_DATA, "after timing");
	if (rc == 0) {
		plans_report(ps, r, &t, -1);
		if (o->steps && r->plan->steps > 1)
			plans_measure_steps(ps, e, r, o);
	}
	trial_clear(&t);
	return rc;
}

/* A shape on trial: whichever is chosen is proven to the end when it counts. */
static int
run_tried(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	struct trial t;
	int rc;

	rc = plans_prove_before(ps, e, r);
	if (rc < 0)
		return rc;
	trial_time(e, 0, UINT32_MAX, &o->ask, &t);
	plans_report(ps, r, &t, -1);
	trial_clear(&t);
	return 0;
}

/* In place, turns would go on with what the last one left. */
static int
run_allreduce(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	return repeats(r->plan) ? run_collective(ps, e, r, o)
				: run_proven(ps, e, r, o);
}

void
plans_refuse(struct plans *ps, const char *probe, const struct plan *p, int rc,
    const char *why)
{
	enum cause cause = rc == -ENODEV ? CAUSE_NO_DEVICE : CAUSE_UNSUPPORTED;

	if (ps->world->rank != 0 || ps->trying)
		return;
	emit_put(ps->emit, plan_report_refusal(probe, p->title, cause, why));
	plans_note(ps, PLANS_EXIT_WRONG, cause, why);
}

void
plans_drop_kept(struct plans *ps)
{
	while (ps->kept_count > 0) {
		exec_free(ps->kept[--ps->kept_count].exec);
		plan_free(ps->kept[ps->kept_count].plan);
	}
	free(ps->kept);
	ps->kept = NULL;
}

/* The device of the campaign, opened once. */
static int
team_for(struct plans *ps, const char *device, struct err *err)
{
	if (ps->team != NULL && strcmp(ps->device, device) == 0)
		return 0;
	plans_drop_kept(ps);
	team_close(ps->team);
	ps->team = NULL;
	snprintf(ps->device, sizeof(ps->device), "%s", device);
	return team_open(ps->world, device, &ps->team, err);
}

/* Beside what is measured; a plan that the machine could not run has none. */
static void
predict(struct plans *ps, const struct plan *p, struct plan_report *r,
    double **ret_rank_s)
{
	const struct machine *m = ps->machine;
	struct err err;
	struct predict pr;

	*ret_rank_s = NULL;
	if (m == NULL && strcmp(r->probe, PLANS_COLLECTIVE) == 0)
		m = ps->seen;
	if (m == NULL)
		return;
	if (predict_plan(p, m, NULL, &pr, &err) < 0) {
		log_warnx("no prediction: %s", err.text);
		return;
	}
	r->machine = m->name;
	r->predicted_s = (double)pr.total_ps / PS_PER_S;
	*ret_rank_s = xcalloc(p->ranks, sizeof(**ret_rank_s));
	for (uint32_t i = 0; i < p->ranks; i++)
		(*ret_rank_s)[i] = (double)pr.rank_ps[i] / PS_PER_S;
	r->predicted_rank_s = *ret_rank_s;
	predict_clear(&pr);
}

#define COMPOSE_SECTION "compose"

static int
run_probe(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	static const struct {
		const char *probe;
		int (*run)(struct plans *ps, struct exec *e,
		    const struct plan_report *r, const struct order *o);
		int turns; /* what is asked for is the result, not the way */
	} rows[] = { { NEIGHBOR_SECTION, run_neighbor, 0 },
		{ PLANS_COLLECTIVE, run_collective, 1 },
		{ ALLREDUCE_SECTION, run_allreduce, 0 },
		{ PLANS_TRIED, run_tried, 1 },
		{ COMPOSE_SECTION, run_proven, 1 },
		{ "sparse", plans_run_sparse, 0 },
		{ STRIPE_SECTION, plans_run_stripe, 0 },
		{ BINDING_SECTION, plans_run_binding, 0 } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(r->probe, rows[i].probe) != 0)
			continue;
		if (rows[i].turns)
			exec_take_turns(e);
		return rows[i].run(ps, e, r, o);
	}
	return run_proven(ps, e, r, o);
}

/* What a record says of a group besides its title. */
static void
name_group(const struct plans *ps, struct plan_report *r)
{
	static const char section[] = "group";

	if (ps->world->rank != 0 || strcmp(r->probe, section) != 0)
		return;
	r->pattern = conf_string(ps->conf, section, "pattern");
	r->direction = conf_string(ps->conf, section, "direction");
	r->k = (int)conf_int(ps->conf, section, "k");
	r->groups = (int)conf_int(ps->conf, section, "n");
	r->rated_per_s = nic_capacity_node_per_s(ps->machine, "");
}

void
plans_run(struct plans *ps, const char *probe, struct plan *p,
    const struct order *o)
{
	struct plan_report r = { .world = ps->world,
		.probe = probe,
		.plan = p };
	struct err err = { 0 };
	double *rank_s = NULL, *memory = NULL;
	struct exec *e = NULL;
	uint64_t start_ns;
	int rc;

	rc = team_for(ps, o->device, &err);
	start_ns = clk_ns();
	if (rc == 0)
		rc = exec_new(ps->team, p, &e, &err);
	if (rc < 0) {
		plans_refuse(ps, probe, p, rc, err.text);
		return;
	}
	r.setup_s = (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
	r.team = ps->team;
	r.staging = exec_staging(e);
	r.memory_bytes_per_s = trial_memory(ps->team, plans_largest(p),
	    &memory);
	r.memory_rank_per_s = memory;
	name_group(ps, &r);
	plans_volume(&r);
	predict(ps, p, &r, &rank_s);
	rc = run_probe(ps, e, &r, o);
	free(rank_s);
	free(memory);
	if (rc < 0 || !o->keep) {
		exec_free(e);
		return;
	}
	ps->kept = xreallocarray(ps->kept, ps->kept_count + 1,
	    sizeof(*ps->kept));
	ps->kept[ps->kept_count++] = (struct kept){ p, e };
}
