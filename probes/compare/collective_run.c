/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/collective_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probes/predict/expectation.h"
#include "probes/compare/speedup.h"

static void
rival_cb(void *arg)
{
	struct collective_run *n = arg;

	baseline_collective_run(n->rival);
}

void
collective_run_open(struct exec *e, const struct plan *p,
    struct collective_run *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->exec = e;
	ret->rc = baseline_collective_open(e, p, &ret->rival, &ret->err);
	if (ret->rc < 0)
		return;
	ret->rc = baseline_collective_prove(ret->rival);
	if (ret->rc < 0) {
		err_say(&ret->err, "%s gave other data",
		    baseline_collective_name(ret->rival));
		baseline_collective_close(ret->rival);
		ret->rival = NULL;
	}
}

void
collective_run_close(struct collective_run *n)
{
	baseline_collective_close(n->rival);
	ab_timing_clear(&n->versus);
	memset(n, 0, sizeof(*n));
}

void
collective_run_time(struct collective_run *n, const struct trial_ask *ask,
    struct trial *ret)
{
	struct ab_timing *v = &n->versus;

	v->sides = n->rival != NULL ? AB_TIMING_SIDES : 1;
	v->side[0].run = ab_timing_exec_cb;
	v->side[0].arg = n->exec;
	v->side[1].run = rival_cb;
	v->side[1].arg = n;
	ab_timing_time(exec_team(n->exec), ask, v);
	*ret = v->side[0].trial;
}

static struct speedup
speedup_of(const struct collective_run *n)
{
	return (struct speedup){ &n->versus,
		n->rival != NULL ? baseline_collective_name(n->rival) : NULL,
		n->rc, n->err.text };
}

static void
put_number(json_t *o, const char *name, double x)
{
	json_object_set_new(o, name,
	    isfinite(x) && x > 0 ? json_real(x) : json_null());
}

/* Also where there is nothing to compare with. */
static void
put_throughput(json_t *o, const struct speedup *s, double bytes, double bound)
{
	double seconds[AB_TIMING_SIDES], own;

	speedup_seconds(s, seconds);
	own = bytes / seconds[0];
	json_object_set_new(o, "bytes", json_integer((json_int_t)bytes));
	put_number(o, "seconds", seconds[0]);
	put_number(o, "throughput", own);
	if (s->baseline != NULL)
		put_number(o, "baseline_throughput", bytes / seconds[1]);
	if (bound > 0) {
		put_number(o, "bound", bound);
		put_number(o, "bound_ratio", own / bound);
	}
}

json_t *
collective_run_report(const struct plan_report *r,
    const struct collective_run *n, const char *name, const struct bounds *b)
{
	struct speedup s = speedup_of(n);
	json_t *o = speedup_report(r, &s);
	const char *of;

	json_object_set_new(o, "collective", json_string(name));
	if (n->rival != NULL)
		json_object_set_new(o, "baseline_impl",
		    json_string(baseline_collective_impl(n->rival)));
	put_throughput(o, &s, expectation_data(r->plan, &of),
	    bounds_per_s(b, name));
	return o;
}

void
collective_run_text(const struct collective_run *n, char *ret, size_t cap_bytes)
{
	struct speedup s = speedup_of(n);

	speedup_text(&s, ret, cap_bytes);
}
