/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "probes/compare/plans_part.h"
#include "probes/compare/baseline_sparse.h"
#include "probes/compare/speedup.h"

#define SECTION  "sparse"
#define BASELINE "MPI_Alltoallv"

struct sparse_run {
	struct exec *exec;
	struct baseline_sparse *rival; /* NULL: rc and why */
	int rc;
	struct err err;
	struct ab_timing versus; /* side 0 is the plan */
};

static void
rival_cb(void *arg)
{
	struct sparse_run *n = arg;

	baseline_sparse_run(n->rival);
}

/* The plan's results are there to compare with. */
static void
open_rival(struct sparse_run *n, const struct plan *p)
{
	n->rc = baseline_sparse_open(n->exec, p, &n->rival, &n->err);
	if (n->rc < 0)
		return;
	n->rc = baseline_sparse_prove(n->rival);
	if (n->rc == 0)
		return;
	err_say(&n->err, BASELINE " gave other data");
	baseline_sparse_close(n->rival);
	n->rival = NULL;
}

static void
time_turns(struct sparse_run *n, const struct trial_ask *ask)
{
	n->versus.sides = n->rival != NULL ? AB_TIMING_SIDES : 1;
	n->versus.side[0].run = ab_timing_exec_cb;
	n->versus.side[0].arg = n->exec;
	n->versus.side[1].run = rival_cb;
	n->versus.side[1].arg = n;
	ab_timing_time(exec_team(n->exec), ask, &n->versus);
}

/* What tells one pattern from another; of the file only its own name. */
static void
put_pattern(json_t *o, const struct conf *c)
{
	const char *file = conf_string(c, SECTION, "file");
	const char *slash = strrchr(file, '/');

	json_object_set_new(o, "pattern",
	    json_string(slash != NULL ? slash + 1 : file));
	json_object_set_new(o, "scope",
	    json_string(conf_string(c, SECTION, "scope")));
	json_object_set_new(o, "stripes",
	    json_integer(conf_int(c, SECTION, "stripes")));
}

static void
put_throughput(json_t *o, const struct speedup *s, uint64_t bytes)
{
	static const char *const names[AB_TIMING_SIDES] = { "throughput",
		"baseline_throughput" };
	double seconds[AB_TIMING_SIDES];

	speedup_seconds(s, seconds);
	json_object_set_new(o, "bytes", json_integer((json_int_t)bytes));
	for (int i = 0; i < (s->baseline != NULL ? AB_TIMING_SIDES : 1); i++)
		if (seconds[i] > 0)
			json_object_set_new(o, names[i],
			    json_real((double)bytes / seconds[i]));
}

static void
report(struct plans *ps, const struct plan_report *r,
    const struct sparse_run *n)
{
	struct speedup s = { &n->versus, n->rival != NULL ? BASELINE : NULL,
		n->rc, n->err.text };
	char text[PLANS_WHY_BYTES];
	json_t *o;

	if (ps->world->rank != 0)
		return;
	o = speedup_report(r, &s);
	put_pattern(o, ps->conf);
	put_throughput(o, &s, r->bytes);
	emit_put(ps->emit, o);
	speedup_text(&s, text, sizeof(text));
	strbuf_addf(&ps->remarks, "%s\n", text);
}

int
plans_run_sparse(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	struct sparse_run n = { .exec = e };
	int rc = plans_prove_before(ps, e, r);

	if (rc < 0)
		return rc;
	open_rival(&n, r->plan);
	exec_blank(e);
	time_turns(&n, &o->ask);
	rc = plans_prove_after(ps, e, r);
	if (rc == 0) {
		plans_report(ps, r, &n.versus.side[0].trial, -1);
		report(ps, r, &n);
		if (o->steps && r->plan->steps > 1)
			plans_measure_steps(ps, e, r, o);
	}
	baseline_sparse_close(n.rival);
	ab_timing_clear(&n.versus);
	return rc;
}
