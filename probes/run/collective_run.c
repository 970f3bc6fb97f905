/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/run/collective_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void
plan_cb(void *arg)
{
	struct collective_run *n = arg;

	exec_start(n->exec, 0, UINT32_MAX);
	exec_wait(n->exec);
}

static void
rival_cb(void *arg)
{
	struct collective_run *n = arg;

	rival_coll_run(n->rival);
}

void
collective_run_open(struct exec *e, const struct plan *p,
    struct collective_run *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->exec = e;
	ret->rc = rival_coll_open(e, p, &ret->rival, ret->why,
	    sizeof(ret->why));
	if (ret->rc < 0)
		return;
	ret->rc = rival_coll_prove(ret->rival);
	if (ret->rc < 0) {
		snprintf(ret->why, sizeof(ret->why), "%s gave other data",
		    rival_coll_name(ret->rival));
		rival_coll_close(ret->rival);
		ret->rival = NULL;
	}
}

void
collective_run_close(struct collective_run *n)
{
	rival_coll_close(n->rival);
	versus_clear(&n->versus);
	memset(n, 0, sizeof(*n));
}

void
collective_run_time(struct collective_run *n, const struct trial_ask *ask,
    struct trial *ret)
{
	struct versus *v = &n->versus;

	v->sides = n->rival != NULL ? VERSUS_SIDES : 1;
	v->side[0].run = plan_cb;
	v->side[1].run = rival_cb;
	v->side[0].arg = v->side[1].arg = n;
	versus_time(exec_team(n->exec), ask, v);
	*ret = v->side[0].trial;
}

static json_t *
per_s(double bytes, const struct timing *t)
{
	return t->median_middle_s > 0 ? json_real(bytes / t->median_middle_s)
				      : json_null();
}

static void
put_speedup(json_t *o, const struct collective_run *n)
{
	const struct versus_side *side = n->versus.side;
	double bytes = (double)rival_coll_bytes(n->rival);
	struct timing both, own, other;

	versus_ratio(&n->versus, &both);
	timing_of(side[0].trial.samples, side[0].trial.count, &own);
	timing_of(side[1].trial.samples, side[1].trial.count, &other);
	json_object_set_new(o, "collective",
	    json_string(rival_coll_of(n->rival)));
	json_object_set_new(o, "n", json_integer((json_int_t)both.n));
	json_object_set_new(o, "value", json_real(both.median_middle_s));
	json_object_set_new(o, "interval",
	    isfinite(both.lo_s)
		? json_pack("{s:s, s:f, s:f, s:f}", "of", "median", "level",
		      0.95, "lo", both.lo_s, "hi", both.hi_s)
		: json_null());
	json_object_set_new(o, "bytes", json_integer((json_int_t)bytes));
	json_object_set_new(o, "seconds", json_real(own.median_middle_s));
	json_object_set_new(o, "baseline_seconds",
	    json_real(other.median_middle_s));
	json_object_set_new(o, "throughput", per_s(bytes, &own));
	json_object_set_new(o, "baseline_throughput", per_s(bytes, &other));
}

json_t *
collective_run_report(const struct plan_report *r,
    const struct collective_run *n)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:f}", "probe",
	    "speedup", "of", r->probe, "plan", r->plan->title, "baseline",
	    n->rival != NULL ? rival_coll_name(n->rival) : "", "ranks",
	    r->team->ranks, "setup_s", r->setup_s);

	if (n->rival != NULL) {
		put_speedup(o, n);
		return o;
	}
	json_object_set_new(o, "n", json_integer(0));
	json_object_set_new(o, "value", json_null());
	json_object_set_new(o, "interval", json_null());
	json_object_set_new(o, "cause",
	    json_string(names_causes[n->rc == -EBADMSG ? CAUSE_WRONG_DATA
						       : CAUSE_UNSUPPORTED]
			    .name));
	json_object_set_new(o, "text", json_string(n->why));
	return o;
}

void
collective_run_text(const struct collective_run *n, char *ret, size_t cap_bytes)
{
	char interval[64] = "";
	struct timing t, own, other;

	if (n->rival == NULL) {
		snprintf(ret, cap_bytes, "no speed-up: %s", n->why);
		return;
	}
	versus_ratio(&n->versus, &t);
	timing_of(n->versus.side[0].trial.samples,
	    n->versus.side[0].trial.count, &own);
	timing_of(n->versus.side[1].trial.samples,
	    n->versus.side[1].trial.count, &other);
	if (isfinite(t.lo_s))
		snprintf(interval, sizeof(interval), " (%.2f to %.2f)", t.lo_s,
		    t.hi_s);
	snprintf(ret, cap_bytes,
	    "speed-up over %s: %.2f%s, %.3g ms against %.3g ms, %zu turns each",
	    rival_coll_name(n->rival), t.median_middle_s, interval,
	    own.median_middle_s * 1e3, other.median_middle_s * 1e3, t.n);
}
