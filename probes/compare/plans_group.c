/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/pattern/stripe.h"
#include "probes/compare/binding_run.h"
#include "probes/compare/plans_part.h"
#include "probes/compare/stripe_run.h"

static void
report_stripe(struct plans *ps, const struct plan_report *r,
    const struct stripe_run *s)
{
	json_t *synchronous;

	if (ps->world->rank != 0)
		return;
	emit_put(ps->emit, stripe_run_report(s, r));
	synchronous = stripe_run_synchronous(s, r);
	if (synchronous != NULL)
		emit_put(ps->emit, synchronous);
	stripe_run_text(s, r, &ps->remarks);
}

int
plans_run_stripe(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	struct stripe_run s;
	struct trial t;
	int rc;

	rc = plans_prove_before(ps, e, r);
	if (rc < 0)
		return rc;
	stripe_run_open(e, r->plan, &s);
	exec_blank(e);
	stripe_run_time(&s, &o->ask, &t);
	rc = plans_prove_after(ps, e, r);
	if (rc < 0)
		goto out;
	plans_report(ps, r, &t, -1);
	for (uint32_t i = 0; i < r->plan->steps; i++)
		plans_report(ps, r, &s.steps[i], (int)i);
	report_stripe(ps, r, &s);
out:
	stripe_run_close(&s);
	return rc;
}

static void
record_cb(void *arg, json_t *record)
{
	emit_put(((struct plans *)arg)->emit, record);
}

static void
report_binding(struct plans *ps, const struct plan_report *r,
    const struct binding_run *b)
{
	struct binding_limits limits;

	if (ps->world->rank != 0)
		return;
	limits.tolerance = conf_real(ps->conf, BINDING_SECTION, "tolerance");
	limits.weak = conf_real(ps->conf, BINDING_SECTION, "weak");
	binding_run_report(b, r, &limits, record_cb, ps, &ps->remarks);
}

int
plans_run_binding(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	struct plan_report part = *r;
	struct binding_run b;
	int rc;

	rc = plans_prove_before(ps, e, r);
	if (rc < 0)
		return rc;
	exec_blank(e);
	binding_run_open(r->plan, &b);
	for (uint32_t i = 0; i < r->plan->steps; i++) {
		struct trial t;

		uint32_t k;

		trial_time(e, i, i + 1, &o->ask, &t);
		binding_run_step(&b, i, &t);
		part.pattern = binding_parts[binding_step(b.g, i, &k)];
		part.direction = i + 1 < r->plan->steps ? "out" : "bi";
		part.k = (int)k;
		plans_report(ps, &part, &t, (int)i);
		trial_clear(&t);
	}
	rc = plans_prove_after(ps, e, r);
	if (rc == 0) {
		binding_run_rivals(&b, ps->team, &o->ask);
		report_binding(ps, r, &b);
	}
	binding_run_close(&b);
	return rc;
}
